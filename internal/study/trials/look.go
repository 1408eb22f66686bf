package trials

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"sort"

	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
)

// Row is the outcome of one run of a search.
type Row struct {
	study.Trial
	Hash    string
	Status  store.Status
	Error   string
	Reached int      // the last epoch with values, of this run or of one that it goes on from
	Value   float64  // the search's metric at the run's last epoch; NaN: none
	Lacks   string   // what a run that has ended has instead of a value: failed, NaN, no value, …
	Newest  *float64 // the newest value of a run that is under way; nil: none
	Test    float64  // test accuracy at that epoch
	Further *Row     // the run, not ended, that goes on from this one to the next rung
}

func (r Row) ended() bool { return r.Status == store.Done || r.Status == store.Failed }

// Found is what a search found in one place.
type Found struct {
	Where   string
	Wanted  int   // trials in all
	Rows    []Row // trials by number, each at the furthest rung that ended, or that was asked for if none has; last those of an earlier version
	Best    int   // index in Rows of the best among those that went furthest; -1: none
	Default *Row
	Final   []Row // runs on all samples
	Spent   int   // epochs that trials which ended have values of, each counted once
	Whole   int   // epochs that all trials would take without early stopping
	// Reported are the values of a trial, as split/measure, if no trial that is done has the search's metric.
	Reported []string
}

// Look reads how far the searches of a study have got, place by place. It reads no data set.
func Look(lab *store.Reader, f *study.File) ([]Found, error) {
	runs, err := lab.StudyRuns(f.Name)
	if err != nil {
		return nil, err
	}
	places := f.Places()
	found := make([]Found, len(places))
	for i, c := range places {
		found[i] = Found{Where: c.Where, Wanted: c.Trials(), Best: -1}
	}
	for _, r := range runs {
		row := Row{Trial: study.TrialOf(r.Payload), Hash: r.Hash, Status: r.Status, Error: r.Error, Reached: int(r.Epoch), Value: math.NaN(), Test: math.NaN()}
		if row.Role == "" || row.Place < 0 || row.Place >= len(found) {
			continue // left from an earlier source of the study
		}
		if r.Status == store.Done {
			row.Reached = row.Epochs
			if row.Value, row.Lacks, err = lastOrWhy(lab, r.Hash, f.Search.Keys(), row.Epochs); err != nil {
				return nil, err
			}
			if row.Test, err = lastOf(lab, r.Hash, []store.Key{{Series: "epoch", Split: "test", Measure: "accuracy"}}, row.Epochs); err != nil {
				return nil, err
			}
		}
		if r.Status == store.Running || r.Status == store.Interrupted {
			newest, err := lastOf(lab, r.Hash, f.Search.Keys(), row.Reached)
			if err != nil {
				return nil, err
			}
			if !math.IsNaN(newest) {
				row.Newest = &newest
			}
		}
		if r.Status == store.Failed {
			row.Lacks = string(store.Failed)
		}
		found[row.Place].take(row)
	}
	open := slices.ContainsFunc(runs, func(r store.StudyRun) bool { return r.Status != store.Done && r.Status != store.Failed })
	for i := range found {
		found[i].conclude(f.Search.Goal)
		found[i].Whole = max(found[i].Wanted, len(found[i].Rows)) * f.Search.Epochs
		if at := found[i].Best; at >= 0 && !open && found[i].whole(f.Search) && found[i].Rows[at].Epochs < f.Search.Epochs {
			found[i].Best = -1 // those that went on have no values
		}
		if err := found[i].unreported(lab, f); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// unreported notes what a trial reports, if it has no value of the search's metric, and none of the others has.
func (f *Found) unreported(lab *store.Reader, def *study.File) error {
	done := func(r Row) bool { return r.Status == store.Done }
	at := slices.IndexFunc(f.Rows, done)
	if at < 0 || slices.ContainsFunc(f.Rows, func(r Row) bool { return !math.IsNaN(r.Value) }) {
		return nil
	}
	err, never := unreported(lab, def, f.Rows[at].Hash), (*UnreportedError)(nil)
	if errors.As(err, &never) {
		f.Reported = never.Reported
		return nil
	}
	return err
}

// whole reports whether all trials have begun, and one went to the last epoch.
func (f *Found) whole(d *study.Search) bool {
	begun := 0
	for _, r := range f.Rows {
		if r.Number < f.Wanted { // not of an earlier version
			begun++
		}
	}
	return begun >= f.Wanted && slices.ContainsFunc(f.Rows, func(r Row) bool { return r.Epochs >= d.Epochs })
}

// Ended reports whether the search of a study has begun all its trials and brought one to the last epoch; true for a study that is no search.
// Between two rounds every run has ended, and the search has not.
func Ended(lab *store.Reader, s store.Study) (bool, error) {
	f, err := study.SearchOf(s)
	if err != nil || f == nil {
		return true, err
	}
	found, err := Look(lab, f)
	if err != nil {
		return false, err
	}
	for _, p := range found {
		working := slices.ContainsFunc(p.Rows, func(r Row) bool { return r.Status != store.Failed })
		if !p.whole(f.Search) && (working || len(p.Rows) < p.Wanted) {
			if s.Open() > 0 || len(p.Rows) < p.Wanted {
				return false, nil
			}
			plan, err := planOf(lab, f, nil) // without values nobody may go on to the last epoch
			return err == nil && plan.last, err
		}
	}
	return true, nil
}

func (f *Found) take(row Row) {
	switch row.Role {
	case study.RoleTrial:
		at := slices.IndexFunc(f.Rows, func(r Row) bool { return r.Number == row.Number })
		if at < 0 {
			f.Rows = append(f.Rows, row)
			return
		}
		f.Rows[at] = f.Rows[at].with(row)
	case study.RoleDefault:
		f.Default = &row
	default:
		f.Final = append(f.Final, row)
	}
}

// with joins two runs of a trial: the one that went furthest of those that ended, with the one that goes on from it.
func (r Row) with(other Row) Row {
	kept, rest := r, other
	if other.ended() == r.ended() && r.Epochs < other.Epochs || other.ended() && !r.ended() {
		kept, rest = other, r
	}
	if kept.ended() && rest.ended() {
		kept.Reached = max(kept.Reached, rest.Reached)
	}
	kept.Further = nil
	for _, next := range []*Row{r.Further, other.Further, &rest} {
		if next != nil && kept.ended() && !next.ended() && next.Epochs > kept.Epochs {
			kept.Further = next
		}
	}
	return kept
}

func (f *Found) conclude(goal string) {
	sort.Slice(f.Rows, func(i, j int) bool { a, b := &f.Rows[i], &f.Rows[j]; return cmp.Compare(a.Number, b.Number) < 0 })
	for i, r := range f.Rows {
		if r.ended() {
			f.Spent += r.Reached
		}
		if math.IsNaN(r.Value) {
			continue
		}
		if f.Best < 0 || r.Epochs > f.Rows[f.Best].Epochs || r.Epochs == f.Rows[f.Best].Epochs && better(r.Value, f.Rows[f.Best].Value, goal) {
			f.Best = i
		}
	}
}

func better(a, b float64, goal string) bool {
	if goal == study.GoalMin {
		return a < b
	}
	return a > b
}
