package reproduce

import (
	"errors"
	"fmt"

	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// Errors of FromRows.
var (
	ErrNoGrid = errors.New("its runs follow from a search, not from its grid alone")
	ErrNoRows = errors.New("the lab has none of its runs")
)

// Counted is how many runs a recipe had when it was judged, and whether a budget had been spent before all of them had ended.
type Counted struct {
	Runs, Finished int
	Partly         bool
}

// FromRows says what a lab's runs of the recipe show: it computes nothing, opens no data set, and leaves the lab as it is. The lab must have the
// runs that were there when the recipe was judged, and no others of it.
func (j *Job) FromRows(lab *store.Reader, was Counted) (found findings.RecipeFindings, now Counted, err error) {
	if j.Recipe.Search != nil || j.Recipe.Source(j.Choice) != nil {
		return found, now, ErrNoGrid
	}
	made := computed{partly: was.Partly}
	if made.runs, err = j.Recipe.Expand(j.Choice, nil); err != nil {
		return found, now, err
	}
	known, err := byLikeness(lab)
	if err != nil {
		return found, now, err
	}
	distinct := map[string]bool{}
	for _, run := range made.runs {
		like := likeness(run.Config)
		distinct[like] = true
		hash := ""
		switch hashes := known[like]; len(hashes) {
		case 0:
		case 1:
			hash = hashes[0]
		default:
			return found, now, fmt.Errorf("runs %.12s and %.12s have the same settings, on other images", hashes[0], hashes[1])
		}
		made.hashes = append(made.hashes, hash)
	}
	now = Counted{len(distinct), len(made.names()), was.Partly}
	switch {
	case now.Finished == 0:
		return found, now, ErrNoRows
	case now.Finished != was.Finished:
		return found, now, fmt.Errorf("the lab has %s of it that are finished, and there were %d", format.Count(now.Finished, "run"), was.Finished)
	case !was.Partly && was.Finished < was.Runs:
		return found, now, fmt.Errorf("%s failed, of which a copy of numbers has nothing", format.Count(was.Runs-was.Finished, "run"))
	}
	found, err = j.show(lab, made)
	return found, now, err
}

// byLikeness are the finished training runs of a lab by their likeness, which is known without their images.
func byLikeness(lab *store.Reader) (map[string][]string, error) {
	runs, err := lab.List(store.Filter{})
	if err != nil {
		return nil, err
	}
	known := map[string][]string{}
	for _, run := range runs {
		if run.Kind != store.Train || run.Status != store.Done {
			continue
		}
		c, err := train.ConfigOf(lab.RunDir(run.Hash))
		if err != nil {
			return nil, fmt.Errorf("run %.12s: %w", run.Hash, err)
		}
		like := likeness(c)
		known[like] = append(known[like], run.Hash)
	}
	return known, nil
}

// likeness is that of a run wherever its images lie.
func likeness(c train.Config) string {
	c.Data.Dir = ""
	return train.Likeness(c)
}
