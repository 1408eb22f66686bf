package serve

import (
	"fmt"
	"strings"
	"time"

	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/store"
)

// runRow is a run in a list.
type runRow struct {
	judge.Run
	Name         string
	Study        string // in lists of several studies
	Of           int64  // planned epochs, 0 if unknown
	Measured     int64  // the epoch of the values below
	Left         string
	Accuracy     string
	Test         string
	NC1          string
	Dilation     string
	Memorization string
	Reported     string // by a script that has none of the above, in lists of several studies

	leftSeconds, wholeSeconds float64
}

// mixed loads list rows of runs that may belong to several studies: each is named by how it differs within its own
// study.
func (s *Server) mixed(lab *store.Reader, rows []store.Run) ([]runRow, error) {
	runs, err := s.cache.newest(lab, rows, findings.StudyMeasures)
	if err != nil {
		return nil, err
	}
	var hashes []string
	for _, row := range rows {
		hashes = append(hashes, row.Hash)
	}
	of, err := lab.Memberships(hashes)
	if err != nil {
		return nil, err
	}
	out := listed(runs, time.Now())
	for i := range out {
		out[i].member(of[out[i].Hash])
		if out[i].Kind == store.Script && out[i].Measured == 0 {
			if out[i].Reported, err = reported(lab, rows[i]); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// reported are the newest of the first two values that a script reports.
func reported(lab *store.Reader, run store.Run) (string, error) {
	keys, err := ownColumns(lab, []store.Run{run})
	if err != nil || len(keys) == 0 {
		return "", err
	}
	keys = keys[:min(len(keys), 2)]
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Measure
	}
	newest, err := lab.NewestEach([]string{run.Hash}, names)
	if err != nil {
		return "", err
	}
	var words []string
	for _, k := range keys {
		for _, v := range newest[0] {
			if v.Split != k.Split || v.Measure != k.Measure {
				continue
			}
			text := format.Measure(k.Measure, v.Value)
			if p := (store.Point{Missing: v.Missing}); v.Missing != "" {
				text = p.Lack()
			}
			words = append(words, judge.NameOf(k)+" "+text)
		}
	}
	return strings.Join(words, ", "), nil
}

// member names a run as its study does.
func (r *runRow) member(m store.Membership) {
	if m.Note != "" {
		r.Name, r.Study = m.Note, m.Study
	}
}

// load reads all values of many runs; judge reads their features when a claim or a picture needs them.
func (s *Server) load(lab *store.Reader, rows []store.Run) ([]judge.Run, error) {
	out := make([]judge.Run, 0, len(rows))
	for _, row := range rows {
		run, err := s.cache.load(lab, row)
		if err != nil {
			return nil, err
		}
		out = append(out, run)
	}
	return out, nil
}

func listed(runs []judge.Run, now time.Time) []runRow {
	names := judge.Names(runs)
	out := make([]runRow, len(runs))
	for i, run := range runs {
		row := runRow{Run: run, Name: names[i], Of: run.Epochs()}
		if run.Label != "" {
			row.Name = run.Label + ": " + row.Name
		}
		row.measured()
		if run.Status == store.Running && run.LastEpoch > 0 && row.Of > run.LastEpoch {
			// A resumed run computed its earlier epochs before this time, so the estimate is too low until it has caught up.
			spent := now.Sub(run.Started).Seconds()
			row.wholeSeconds = spent * float64(row.Of) / float64(run.LastEpoch)
			row.leftSeconds = row.wholeSeconds - spent
			row.Left = duration(row.leftSeconds)
		}
		out[i] = row
	}
	return out
}

// measured fills in the newest values. A run that is measured every few epochs has them from an earlier epoch than its
// last.
func (r *runRow) measured() {
	newest := func(split, key string) string {
		p, ok := r.Newest(split, key)
		if !ok {
			return "–"
		}
		r.Measured = max(r.Measured, p.Step)
		return format.Measure(key, p.Value)
	}
	r.Accuracy, r.Test = newest("train", "accuracy"), newest("test", "accuracy")
	r.NC1, r.Dilation = newest("train", "nc1_pinv"), newest("test", "dilation")
	if r.Memorization = "–"; r.Noise > 0 || r.Kind == store.Script { // else no sample is flipped, and it is 0
		r.Memorization = newest("train", "memorization_flipped")
	}
}

// Remarks are notes after a run's epoch in a list.
func (r *runRow) Remarks() string {
	var words []string
	if r.Left != "" {
		words = append(words, r.Left+" left")
	}
	if r.Measured > 0 && r.Measured < r.LastEpoch {
		words = append(words, fmt.Sprintf("measured at %d", r.Measured))
	}
	return strings.Join(words, ", ")
}
