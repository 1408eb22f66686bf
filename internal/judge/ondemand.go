package judge

import (
	"slices"
	"sync"

	"collapse.example/collapse/internal/script"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// source reads the values of runs that were loaded together. A page about many runs shows few of their measures, so a measure is read,
// of all these runs at once, when it is first asked for.
type source struct {
	mu     sync.Mutex // also guards the series of the runs
	lab    LabReader
	hashes []string
	series []map[SeriesKey][]store.Point // of each run
	known  map[string]bool               // measures that have been read
	whole  bool                          // every measure has
	err    error                         // the first that reading has met
}

// LoadOnDemand is Load without the values, which are read when they are asked for. ReadError has what went wrong then.
func LoadOnDemand(lab LabReader, prefixes ...string) ([]Run, error) {
	s := &source{lab: lab, known: map[string]bool{}}
	out := make([]Run, len(prefixes))
	for i, prefix := range prefixes {
		row, err := find(lab, prefix)
		if err != nil {
			return nil, err
		}
		s.hashes = append(s.hashes, row.Hash)
		out[i] = Run{Run: row}
		if err := out[i].configure(); err != nil {
			return nil, err
		}
		out[i].FeaturesIn(lab.RunDir(row.Hash))
	}
	spent, err := lab.SumEach(s.hashes, train.SpentKey)
	if err != nil {
		return nil, err
	}
	reported, err := lab.SumEach(s.hashes, script.ReportKey)
	if err != nil {
		return nil, err
	}
	for i := range out {
		r := &out[i]
		r.series, r.last, r.Spent, r.source = map[SeriesKey][]store.Point{}, r.LastEpoch, spent[i]+reported[i], s
		s.series = append(s.series, r.series)
	}
	return out, nil
}

// ReadError is the first error that reading values of these runs has met; nil for runs that Load read.
func ReadError(runs []Run) error {
	for i := range runs {
		if s := runs[i].source; s != nil {
			s.mu.Lock()
			err := s.err
			s.mu.Unlock()
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// points returns the series of a run, of which it first reads the measure for all runs.
func (s *source) points(of map[SeriesKey][]store.Point, key SeriesKey) []store.Point {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.whole && !s.known[key.Measure] && s.err == nil {
		values, err := s.lab.PickEach(s.hashes, []string{key.Measure})
		s.add(values, err)
		s.known[key.Measure] = true
	}
	return of[key]
}

// add puts values into the runs' series.
func (s *source) add(values [][]store.Value, err error) {
	if err != nil {
		s.err = err
		return
	}
	for i, of := range values {
		one := Run{series: s.series[i]}
		one.addValues(of)
		sortSteps(one.series)
	}
}

// readAll reads every measure of every run.
func (s *source) readAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.whole || s.err != nil {
		return
	}
	values := make([][]store.Value, len(s.hashes))
	for i, hash := range s.hashes {
		all, err := s.lab.Values(hash)
		if err != nil {
			s.err = err
			return
		}
		values[i] = slices.DeleteFunc(all, func(v store.Value) bool { return s.known[v.Measure] })
	}
	s.add(values, nil)
	s.whole = true
}
