package trials

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/coordinator"
	"collapse.example/collapse/internal/study/studytest"
	"collapse.example/collapse/internal/train"
)

// seedTrial is a trial of optim.lr in the search of a seed.
type seedTrial struct {
	seed   uint64
	number int
	lr     string
	epochs int
	value  float64 // NaN: failed
}

func cellOf(trials []seedTrial) *cell {
	c := &cell{settings: []string{`loss.kind="ce"`}}
	for _, x := range trials {
		cfg := train.Default()
		cfg.Run.Seed = x.seed
		status := store.Done
		if math.IsNaN(x.value) {
			status = store.Failed
		}
		c.add(cfg, []Row{{Trial: study.Trial{Number: x.number, Epochs: x.epochs, Settings: []string{"optim.lr=" + x.lr}}, Status: status, Value: x.value}})
	}
	return c
}

// The best settings are those of the best mean over the seeds that tried them to the end.
func TestTheWinnerIsTheBestMeanOverSeeds(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		trials []seedTrial
		goal   string
		lr     string
		value  float64
		seeds  []uint64
		trial  int
	}{
		"mean, not the best run": {[]seedTrial{{1, 0, "0.1", 9, 0.9}, {1, 1, "0.2", 9, 0.8}, {2, 2, "0.1", 9, 0.5}, {2, 3, "0.2", 9, 0.75}}, study.GoalMax, "0.2", 0.775, []uint64{1, 2}, 1},
		"the least":              {[]seedTrial{{1, 0, "0.1", 9, 0.9}, {2, 0, "0.2", 9, 0.8}}, study.GoalMin, "0.2", 0.8, []uint64{2}, 0},
		"ties: earlier trial":    {[]seedTrial{{1, 5, "0.1", 9, 0.5}, {2, 3, "0.2", 9, 0.5}}, study.GoalMax, "0.2", 0.5, []uint64{2}, 3},
		"ties: earlier seed":     {[]seedTrial{{1, 3, "0.1", 9, 0.5}, {2, 3, "0.2", 9, 0.5}}, study.GoalMax, "0.1", 0.5, []uint64{1}, 3},
		"only to the end":        {[]seedTrial{{1, 0, "0.1", 3, 0.9}, {2, 0, "0.2", 9, 0.5}}, study.GoalMax, "0.2", 0.5, []uint64{2}, 0},
		"failed for a seed":      {[]seedTrial{{1, 0, "0.1", 9, 0.9}, {2, 0, "0.1", 3, nan}, {2, 1, "0.2", 9, 0.5}}, study.GoalMax, "0.2", 0.5, []uint64{2}, 1},
	} {
		w, ok := cellOf(c.trials).winner(c.goal)
		if !ok || !slices.Equal(w.Settings, []string{"optim.lr=" + c.lr}) || math.Abs(w.Value-c.value) > 1e-12 || w.Epochs != 9 || !slices.Equal(w.Seeds, c.seeds) || w.Trial != c.trial {
			t.Errorf("%s: %+v, %v", name, w, ok)
		}
	}
	if w, ok := cellOf([]seedTrial{{1, 0, "0.1", 9, nan}}).winner(study.GoalMax); ok {
		t.Errorf("every trial failed, and the winner is %+v", w)
	}
}

// seededSearch is a search of three rates for two losses and two seeds.
func seededSearch(t *testing.T, source string) *study.File {
	t.Helper()
	text := studytest.SearchFile[:strings.Index(studytest.SearchFile, "[grid]")] + `[grid]
"loss.kind" = ["ls", "ce"]
"run.seed" = [1, 2]
[search]
sampler = "random"
schedule = "full"
trials = 4
batch = 4
epochs = 1
[search.space]
"optim.lr" = { choice = [0.001, 0.1, 0.2] }
"loss.smoothing" = { choice = [0.2], when = { "loss.kind" = ["ls"] } }
` + source
	f, err := study.ParseFile("seeded.toml", []byte(text), nil, 0)
	must(t, err)
	return f
}

func TestWinnersOfAStudy(t *testing.T) {
	t.Parallel()
	lab, f := searchLab(t), seededSearch(t, "")
	keys := []string{"data.name", "loss.kind"}
	refused := func(f *study.File, want string) {
		t.Helper()
		var unfinished *Unfinished
		if w, err := Winners(lab.Reader, f, keys); !errors.As(err, &unfinished) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v, %v; wanted %q", w, err, want)
		}
	}
	refused(f, "the search seeded has not begun")
	plan, err := planOf(lab.Reader, f, nil)
	must(t, err)
	_, err = study.Save(lab, f.Name, f.Title, f.Source, plan.items)
	must(t, err)
	refused(f, "the search seeded is not finished")
	_, err = Run(t.Context(), lab, f, coordinator.Options{Slots: 2, Threads: 2})
	must(t, err)
	refused(seededSearch(t, "[search.final]\n\"run.epochs\" = 2\n"), "has not begun") // the lab holds another search of this name

	winners, err := Winners(lab.Reader, f, keys)
	must(t, err)
	if len(winners) != 2 || !slices.Equal(winners[0].Cell, []string{`data.name="glyphs"`, `loss.kind="ls"`}) || !slices.Equal(winners[1].Cell, []string{`data.name="glyphs"`, `loss.kind="ce"`}) {
		t.Fatalf("%+v", winners)
	}
	found, err := Look(lab.Reader, f)
	must(t, err)
	for i, w := range winners {
		if smoothed := len(w.Settings) == 2 && slices.Contains(w.Settings, "loss.smoothing=0.2"); smoothed != (i == 0) {
			t.Errorf("%s: settings %q", w.Cell, w.Settings)
		}
		mean, best := map[string][]float64{}, math.Inf(-1)
		for _, p := range found {
			for _, r := range p.Rows {
				if strings.Contains(p.Where, w.loss()) {
					key := strings.Join(r.Settings, " ")
					mean[key] = append(mean[key], r.Value)
				}
			}
		}
		for _, values := range mean {
			sum := 0.0
			for _, v := range values {
				sum += v
			}
			best = max(best, sum/float64(len(values)))
		}
		if len(mean) < 2 || math.Abs(w.Value-best) > 1e-12 || len(mean[strings.Join(w.Settings, " ")]) != len(w.Seeds) {
			t.Errorf("%s: %+v, the best mean is %g of %v", w.Cell, w, best, mean)
		}
	}
}

// loss is the loss of the winner's cell, in the form that a place gives it.
func (w Winner) loss() string {
	return "loss " + strings.Trim(strings.TrimPrefix(w.Cell[1], "loss.kind="), `"`)
}
