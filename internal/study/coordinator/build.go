package coordinator

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// BuildError is returned for a study that another build of the program has begun: its numbers would be of two builds.
type BuildError struct {
	Study string
	Runs  map[string]int // by other builds: how many runs each has computed or begun
	Here  string
}

func (e *BuildError) Error() string {
	var others []string
	for _, build := range slices.Sorted(maps.Keys(e.Runs)) {
		others = append(others, fmt.Sprintf("%d by collapse %s", e.Runs[build], build))
	}
	return fmt.Sprintf("study: runs of %s were computed by another build of the program (%s), and this is collapse %s, whose numbers may differ: "+
		"continue with that build, or take what there is and give --other-build", e.Study, strings.Join(others, ", "), e.Here)
}

// sameBuild refuses to continue studies that another build has begun.
func (e *coordinator) sameBuild() error {
	if e.o.OtherBuild {
		return nil
	}
	for _, name := range e.names {
		builds, err := e.lab.StudyVersions(name)
		if err != nil {
			return err
		}
		delete(builds, e.o.Queue.Version)
		if len(builds) > 0 {
			return &BuildError{Study: name, Runs: builds, Here: e.o.Queue.Version}
		}
	}
	return nil
}
