package trials

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/train"
)

// Winner is the best that a search found for a cell, that is, for the places that agree in the given settings.
type Winner struct {
	Cell     []string // "key=value" of the given settings
	Settings []string // "key=value" of the searched parameters
	Value    float64  // mean of the search's metric over Seeds
	Epochs   int      // the epoch of that value
	Seeds    []uint64 // the seeds whose searches tried these settings to the end
	Trial    int      // its number, from 0, in the search of the first of these seeds
}

// Unfinished says that a search has not yet finished.
type Unfinished struct{ Study, Why string }

func (e *Unfinished) Error() string { return fmt.Sprintf("the search %s %s", e.Study, e.Why) }

// Winners returns the best settings of a finished search for each cell, in the order of the grid. Trials that tried the same
// settings with several seeds count as one, with their mean; among equals the earliest wins. Only trials that went furthest are
// compared, and settings that failed for any seed are excluded. If the search has not finished, the error is *Unfinished.
func Winners(lab *store.Reader, f *study.File, keys []string) ([]Winner, error) {
	cells, err := cellsOf(lab, f, keys)
	if err != nil {
		return nil, err
	}
	var winners []Winner
	for _, c := range cells {
		w, ok := c.winner(f.Search.Goal)
		if !ok {
			return nil, fmt.Errorf("the search %s has no settings for %s: every trial failed; collapse study status %s says why", f.Name, strings.Join(c.settings, ", "), f.Name)
		}
		winners = append(winners, w)
	}
	return winners, nil
}

// cellsOf gathers the trials of a finished search by cell.
func cellsOf(lab *store.Reader, f *study.File, keys []string) (cells []*cell, err error) {
	var missing *store.StudyNotFoundError
	s, err := lab.Study(f.Name)
	if errors.As(err, &missing) || err == nil && s.Source != f.Source {
		return nil, &Unfinished{f.Name, "has not begun"}
	}
	if err != nil {
		return nil, err
	}
	asked, err := planOf(lab, f, nil)
	if err != nil {
		return nil, err
	}
	if !asked.last {
		return nil, &Unfinished{f.Name, "is not finished"}
	}
	found, err := Look(lab, f)
	if err != nil {
		return nil, err
	}
	for i, p := range f.Places() {
		cfg, err := p.Default()
		if err != nil {
			return nil, fmt.Errorf("study %s: %s: %w", f.Name, p.Where, err)
		}
		settings := cfg.SettingsOf(keys)
		at := slices.IndexFunc(cells, func(c *cell) bool { return slices.Equal(c.settings, settings) })
		if at < 0 {
			at, cells = len(cells), append(cells, &cell{settings: settings})
		}
		cells[at].add(cfg, found[i].Rows)
	}
	return cells, nil
}

// cell gathers the trials of places that agree in some settings.
type cell struct {
	settings []string
	tried    []tried
}

// tried is a trial in the search of one seed.
type tried struct {
	Row
	seed uint64
}

func (c *cell) add(cfg train.Config, rows []Row) {
	for _, r := range rows {
		c.tried = append(c.tried, tried{r, cfg.Run.Seed})
	}
}

// winner is the best of the settings that were tried; ok is false if none has a value.
func (c *cell) winner(goal string) (best Winner, ok bool) {
	sort.SliceStable(c.tried, func(i, j int) bool { a, b := &c.tried[i], &c.tried[j]; return cmp.Compare(a.Number, b.Number) < 0 })
	bySettings, order := map[string]*Winner{}, []string(nil)
	for _, t := range c.tried {
		if !math.IsNaN(t.Value) {
			best.Epochs = max(best.Epochs, t.Epochs)
		}
	}
	for _, t := range c.tried {
		if t.Epochs != best.Epochs && t.Status != store.Failed {
			continue
		}
		key := strings.Join(t.Settings, "\n")
		w := bySettings[key]
		if w == nil {
			w = &Winner{Cell: c.settings, Settings: t.Settings, Epochs: best.Epochs, Trial: t.Number}
			bySettings[key], order = w, append(order, key)
		}
		w.Value, w.Seeds = w.Value+t.Value, append(w.Seeds, t.seed) // a failed trial's value is NaN
	}
	for _, key := range order {
		w := bySettings[key]
		w.Value /= float64(len(w.Seeds))
		if !math.IsNaN(w.Value) && (!ok || better(w.Value, best.Value, goal)) {
			best, ok = *w, true
		}
	}
	return best, ok
}
