package judge

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge/inference"
	"collapse.example/collapse/internal/spelling"
	"collapse.example/collapse/internal/store"
)

// Table asks for numbers of runs by their settings: a row for each combination of values, a column for each measure, with the mean over
// seeds and its 95 % interval at the last epoch that all these runs have.
type Table struct {
	Title   string    `toml:"title"`
	Caption string    `toml:"caption"`
	Rows    []string  `toml:"rows"`    // settings
	Values  []string  `toml:"values"`  // names, as in claims
	Percent []string  `toml:"percent"` // those of the values that are shares, shown as percentages
	Where   selection `toml:"where"`   // only runs with these settings
	Runs    string    `toml:"runs"`    // only "regular" or "degenerate" runs
}

// mostColumns bounds the settings and the values of a table.
const mostColumns = 30

// Check reports what is wrong with a table before any run exists.
func (t Table) Check(words Vocabulary) error {
	if t.Title == "" || len(t.Rows) == 0 || len(t.Values) == 0 || len(t.Rows)+len(t.Values) > mostColumns {
		return fmt.Errorf("table %q: title, rows (settings) and values (names) must be given, at most %d together", t.Title, mostColumns)
	}
	var errs []error
	for _, key := range append(slices.Sorted(maps.Keys(t.Where)), t.Rows...) {
		if !words.Setting(key) {
			errs = append(errs, words.Unknown("rows or where names", key))
		}
	}
	for _, name := range t.Values {
		errs = append(errs, words.Name(name))
	}
	for _, name := range t.Percent {
		if !slices.Contains(t.Values, name) {
			errs = append(errs, fmt.Errorf("percent names %q, which is not among values%s", name, spelling.Suggestion(name, t.Values)))
		}
	}
	if err := errors.Join(append(errs, CheckConfiguration(t.Runs))...); err != nil {
		return fmt.Errorf("table %q: %w", t.Title, err)
	}
	return nil
}

// Tabled is a table with its numbers.
type Tabled struct {
	Title   string      `json:"title"`
	Caption string      `json:"caption"` // with what the reader has to know of epochs and intervals
	Rows    []string    `json:"settings"`
	Values  []string    `json:"values"`
	Percent []bool      `json:"percent"`
	Lines   []TableLine `json:"rows"`
}

// TableLine is a combination of settings.
type TableLine struct {
	Settings []string    `json:"settings"`
	Cells    []TableCell `json:"cells"`
}

// TableCell is the mean of a value over seeds; missing numbers are NaN, null in JSON.
type TableCell struct {
	Mean    Quantity `json:"mean"`
	Lo      Quantity `json:"lo"`
	Hi      Quantity `json:"hi"`
	N       int      `json:"n"`    // seeds with a value
	Runs    int      `json:"runs"` // runs with a value
	Of      int      `json:"of"`   // runs of this combination that finished or failed
	Failed  int      `json:"failed,omitempty"`
	Missing string   `json:"missing,omitempty"`
}

// Fill computes a table from finished runs; those that failed have no values. The error names a value that no finished run has.
func (t Table) Fill(runs []Run) (Tabled, error) {
	done := only(Finished(runs), func(s *JudgedRun) bool { return s.Matches(t.Where) && s.In(t.Runs) })
	out := Tabled{Title: t.Title, Rows: t.Rows, Values: t.Values}
	var epochs []int64
	for _, name := range t.Values {
		out.Percent = append(out.Percent, slices.Contains(t.Percent, name))
		epoch, err := commonEpoch(done, name)
		if err != nil {
			return out, fmt.Errorf("table %q: %w", t.Title, err)
		}
		epochs = append(epochs, epoch)
	}
	ended := slices.Concat(done, only(failed(runs), func(s *JudgedRun) bool { return s.Matches(t.Where) && s.In(t.Runs) }))
	for _, cell := range cellsOf(t.Rows, ended) {
		in, line := only(ended, func(s *JudgedRun) bool { return s.Matches(cell) }), TableLine{}
		for _, key := range t.Rows {
			line.Settings = append(line.Settings, fmt.Sprint(cell[key]))
		}
		for i, name := range t.Values {
			line.Cells = append(line.Cells, tableCell(in, name, epochs[i]))
		}
		out.Lines = append(out.Lines, line)
	}
	out.Caption = t.describe(done, epochs)
	return out, nil
}

// describe completes the caption.
func (t Table) describe(done []*JudgedRun, epochs []int64) string {
	words := "Mean ± half of Student’s 95 % interval over seeds, n of them"
	if keys := (Statement{Cells: append(slices.Clone(t.Rows), slices.Sorted(maps.Keys(t.Where))...)}).averaged(done); len(keys) > 0 {
		words += ", each a mean over " + format.List(keys)
	}
	last := int64(0)
	for _, s := range done {
		last = max(last, s.LastStep())
	}
	var early []string
	for i, e := range epochs {
		if e >= 0 && e < last {
			early = append(early, fmt.Sprintf("%s at epoch %d", t.Values[i], e))
		}
	}
	if len(early) > 0 {
		words += ", at the last epoch that all runs have: " + strings.Join(early, ", ")
	}
	return strings.TrimSpace(t.Caption + " " + words + ".")
}

// constant stands for the epoch of values that have none: settings, and what is derived from what a run kept.
const constant = -1

// Missed says that none of some runs has a value, and which one was probably meant; "" if one has it, or if there are none.
func Missed(runs []*JudgedRun, name string) string {
	if _, err := commonEpoch(runs, name); err != nil {
		return err.Error()
	}
	return ""
}

// commonEpoch is the last epoch at which every run that has a value at all has one.
func commonEpoch(done []*JudgedRun, name string) (int64, error) {
	if split, _, _ := SplitName(name); split == derivedSplit {
		return constant, nil
	}
	have, with := map[int64]int{}, 0
	var reported []string
	for _, s := range done {
		if _, setting := s.Settings[name]; setting {
			return constant, nil
		}
		points := s.Named(name)
		if len(points) > 0 {
			with++
		} else if reported == nil {
			reported = s.ownNames()
		}
		for _, p := range points {
			have[p.Step]++
		}
	}
	common := int64(constant)
	for epoch, n := range have {
		if n == with {
			common = max(common, epoch)
		}
	}
	switch {
	case len(done) > 0 && with == 0 && strings.Contains(name, "("):
		return 0, fmt.Errorf("no run has %s: a table takes names alone, such as test.loss", name)
	case len(done) > 0 && with == 0:
		return 0, fmt.Errorf("no run has %s%s", name, spelling.Suggestion(name, reported))
	case with > 0 && common == constant:
		return 0, fmt.Errorf("%s has no epoch at which all its runs have it", name)
	}
	return common, nil
}

// tableCell is the mean over seeds of the mean over a seed's runs.
func tableCell(in []*JudgedRun, name string, epoch int64) TableCell {
	in, _ = withSeeds(in) // a trial of a search is no replicate
	cell, bySeedValues := TableCell{Of: len(in), Mean: Quantity(math.NaN()), Lo: Quantity(math.NaN()), Hi: Quantity(math.NaN())}, map[uint64][]float64{}
	for _, s := range in {
		if s.Status == store.Failed {
			cell.Failed++
			cell.Missing = cmp.Or(cell.Missing, fmt.Sprintf("run %.12s failed", s.Hash))
			continue
		}
		v, err := s.valueAt(name, epoch)
		if err != nil {
			cell.Missing = cmp.Or(cell.Missing, err.Error())
			continue
		}
		cell.Runs++
		bySeedValues[s.Seed] = append(bySeedValues[s.Seed], v)
	}
	var values []float64
	for _, seed := range slices.Sorted(maps.Keys(bySeedValues)) {
		values = append(values, Mean(bySeedValues[seed]))
	}
	if len(values) > 0 {
		e := inference.Mean(values)
		cell.Mean, cell.Lo, cell.Hi, cell.N = Quantity(e.Value), Quantity(e.Lo), Quantity(e.Hi), e.N
	}
	return cell
}

// valueAt is Value at an epoch, exactly.
func (r *JudgedRun) valueAt(name string, epoch int64) (float64, error) {
	if epoch == constant {
		return r.Value(name, 1)
	}
	for _, p := range r.Named(name) {
		if p.Step == epoch {
			if p.Missing != "" {
				return 0, fmt.Errorf("%s of run %.12s is missing: %s", name, r.Hash, p.Missing)
			}
			return p.Value, nil
		}
	}
	return 0, fmt.Errorf("run %.12s has no %s at epoch %d", r.Hash, name, epoch)
}
