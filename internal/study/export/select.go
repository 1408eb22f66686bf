package export

import (
	"fmt"
	"maps"
	"slices"

	"collapse.example/collapse/internal/spelling"
	"collapse.example/collapse/internal/store"
)

// Selected is a run to export, with the study that was named; "" if the run itself was. Of every run of a lab it is the newest study that
// has the run, "" if none has.
type Selected struct {
	Study string
	store.StudyRun
}

// Select returns the runs of the named studies, and runs named by the start of their hash, each once per study; without names, every
// run of the lab. A name that is neither is an error.
func Select(lab *store.Reader, names []string) ([]Selected, error) {
	if len(names) == 0 {
		return everyRun(lab)
	}
	studies, err := lab.Studies()
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, s := range studies {
		known[s.Name] = true
	}
	var out []Selected
	seen := map[[2]string]bool{}
	add := func(s Selected) {
		if key := [2]string{s.Study, s.Hash}; !seen[key] {
			seen[key], out = true, append(out, s)
		}
	}
	for _, name := range names {
		if !known[name] {
			r, err := lab.Find(name)
			if err != nil {
				return nil, fmt.Errorf("study: %q is neither a study of the lab nor the start of one run's hash%s: %w", name, spelling.Suggestion(name, slices.Collect(maps.Keys(known))), err)
			}
			add(alone(r))
			continue
		}
		runs, err := lab.StudyRuns(name)
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			add(Selected{name, r})
		}
	}
	return out, nil
}

func everyRun(lab *store.Reader) ([]Selected, error) {
	studies, err := lab.Studies()
	if err != nil {
		return nil, err
	}
	members := map[string]Selected{}
	for _, s := range studies { // the newest first
		runs, err := lab.StudyRuns(s.Name)
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			if _, has := members[r.Hash]; !has {
				members[r.Hash] = Selected{s.Name, r}
			}
		}
	}
	runs, err := lab.List(store.Filter{})
	if err != nil {
		return nil, err
	}
	var out []Selected
	for _, r := range runs {
		if member, ok := members[r.Hash]; ok {
			out = append(out, member)
		} else {
			out = append(out, alone(r))
		}
	}
	return out, nil
}

// alone returns a run as selected by itself, outside any study.
func alone(r store.Run) Selected {
	return Selected{StudyRun: store.StudyRun{Hash: r.Hash, Kind: r.Kind, Status: r.Status, Error: r.Error, Note: r.Label,
		Epoch: r.LastEpoch, Started: r.Started, Finished: r.Finished}}
}
