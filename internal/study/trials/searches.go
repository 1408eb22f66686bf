package trials

import (
	"math"
	"slices"
	"strings"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/script"
	"collapse.example/collapse/internal/search"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
)

// SearchesOf is what a study's searches have found; nothing if the study is a grid.
func SearchesOf(lab *store.Reader, name string) ([]judge.Search, error) {
	s, err := lab.Study(name)
	if err != nil {
		return nil, err
	}
	f, err := study.SearchOf(s)
	if f == nil || err != nil {
		return nil, err
	}
	return Searches(lab, f)
}

// Searches is the result of a search in every cell of its grid, once that has a trial.
func Searches(lab *store.Reader, f *study.File) (found []judge.Search, err error) {
	places, err := Look(lab, f)
	for _, p := range places {
		if len(p.Rows) > 0 {
			s := searchOf(f.Search, p)
			if p.Best >= 0 {
				s.Command = script.Command(lab.RunDir(p.Rows[p.Best].Hash))
			}
			found = append(found, s)
		}
	}
	return found, err
}

// searchOf is the result of the search in one cell.
func searchOf(d *study.Search, p Found) judge.Search {
	s := judge.Search{Group: withoutSeed(p.Where), Metric: d.Metric, Called: d.MetricName(), Lowest: d.Goal == "min", Best: p.Best, Spent: p.Spent, Whole: p.Whole, Reported: p.Reported,
		Final: [2]float64{math.NaN(), math.NaN()}}
	for _, q := range d.Space {
		has := func(r Row) bool {
			return slices.ContainsFunc(r.Settings, func(s string) bool { return strings.HasPrefix(s, q.Name+"=") })
		}
		if !slices.ContainsFunc(p.Rows, has) { // others may have it, where it depends on another setting
			continue
		}
		s.Params = append(s.Params, judge.SearchParam{Name: q.Name, Log: q.Scale == search.LogUniform, Low: q.Low, High: q.High, Choices: q.Values})
	}
	for _, r := range p.Rows {
		t := judge.SearchTrial{SearchRun: searchRun(r), Number: r.Number + 1, Earlier: r.Number >= p.Wanted, Settings: map[string]string{}}
		for _, setting := range r.Settings {
			key, value, _ := strings.Cut(setting, "=")
			t.Settings[key] = value
		}
		s.Trials = append(s.Trials, t)
	}
	if p.Default != nil {
		run := searchRun(*p.Default)
		s.Default = &run
	}
	sums, counts := [2]float64{}, [2]float64{}
	for _, r := range p.Final {
		which := 0
		if r.Role == study.RoleDefaultFinal {
			which = 1
		} else if !math.IsNaN(r.Value) {
			s.Again = append(s.Again, r.Value)
			for _, setting := range r.Trial.Final {
				if key, value, _ := strings.Cut(setting, "="); key != "run.seed" && !slices.Contains(s.With, key+" "+value) {
					s.With = append(s.With, key+" "+value)
				}
			}
		}
		sums[which], counts[which] = sums[which]+r.Test, counts[which]+1
	}
	for i := range sums {
		if counts[i] > 0 {
			s.Final[i] = sums[i] / counts[i]
		}
	}
	return s
}

func searchRun(r Row) judge.SearchRun {
	if r.Status != store.Done {
		return judge.SearchRun{Run: r.Hash, Epochs: r.Reached, Value: r.Value, Lacks: r.Lacks}
	}
	return judge.SearchRun{Run: r.Hash, Epochs: r.Epochs, Value: r.Value, Lacks: r.Lacks}
}

// withoutSeed drops the seed from the description of a combination, such as "seed 2, loss ce".
func withoutSeed(where string) string {
	words := strings.Split(where, ", ")
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return strings.HasPrefix(w, "seed ") }), ", ")
}
