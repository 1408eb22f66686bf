package study_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/studytest"
)

var must = studytest.Must

func TestAFileBecomesItsGrid(t *testing.T) {
	f, err := study.ParseFile("x.toml", []byte(studytest.GridFile), nil, 0)
	must(t, err)
	configs, notes, err := f.Configs()
	must(t, err)
	if f.Name != "noise" || f.Title != "Noise" || len(configs) != 12 {
		t.Fatalf("%s, %s, %d runs", f.Name, f.Title, len(configs))
	}
	seen := map[string]bool{}
	for i, c := range configs {
		seen[fmt.Sprint(c.Loss.Kind, c.Data.Noise, c.Run.Seed)] = true
		if want := fmt.Sprintf("loss %s, noise %g, seed %d", c.Loss.Kind, c.Data.Noise, c.Run.Seed); notes[i] != want {
			t.Errorf("run %d is called %q, want %q", i, notes[i], want)
		}
		if c.Net.Width != 8 || c.Run.Epochs != 2 || c.Data.Name != "glyphs" || (c.Run.Seed == 1) != (i < 6) {
			t.Errorf("run %d: %+v", i, c)
		}
	}
	if len(seen) != 12 {
		t.Errorf("%d different runs", len(seen))
	}
	items, err := f.Items(nil)
	if err != nil || len(items) != 12 || items[3].Note != notes[3] || len(items[3].Hash) != 64 {
		t.Errorf("%d items, %v", len(items), err)
	}
}

func TestOverridesChangeBaseOrGrid(t *testing.T) {
	_, err := study.ParseFile("x.toml", []byte(studytest.GridFile), []string{"run.epochs=7", "data.noise=0.3", "optim.lr=[0.1, .2]", "loss.kind=mse"}, 1)
	if err == nil {
		t.Fatal(".2 in a list is not TOML")
	}
	f, err := study.ParseFile("x.toml", []byte(studytest.GridFile), []string{"run.epochs=7", "data.noise=0.3", "optim.lr=[0.1, 0.2]", "loss.kind=mse"}, 1)
	must(t, err)
	configs, _, err := f.Configs()
	must(t, err)
	if len(configs) != 2 || configs[0].Run.Epochs != 7 || configs[1].Data.Noise != 0.3 || configs[1].Optim.LR != 0.2 || configs[0].Loss.Kind != "mse" {
		t.Errorf("%+v", configs)
	}
	if !strings.Contains(f.Source, "# --set optim.lr=[0.1, 0.2]") || !strings.Contains(f.Source, "# --seeds 1") {
		t.Error("the source does not say what was changed")
	}
}

// For a key that takes a list, one list is one value; the grid is a list of lists or of texts.
func TestOverridesOfListsAreValues(t *testing.T) {
	base := []byte("[base]\noptim.schedule.kind = 'multistep'\noptim.schedule.milestones = [5, 6]\n")
	for override, want := range map[string][]string{
		"run.epochs=9":                                   {"5,6"},
		"optim.schedule.milestones=[60, 120]":            {"60,120"},
		"optim.schedule.milestones=[[60, 120], [80]]":    {"60,120", "80"},
		"optim.schedule.milestones=['60,120', '80, 90']": {"60,120", "80, 90"},
	} {
		f, err := study.ParseFile("x.toml", base, []string{override}, 1)
		must(t, err)
		configs, _, err := f.Configs()
		must(t, err)
		var got []string
		for _, c := range configs {
			got = append(got, c.Optim.Schedule.Milestones)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: milestones %q, wanted %q", override, got, want)
		}
	}
}

func TestEveryProblemOfAFileIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"keys":     {"[base]\nrun.epoch = 3\n[grid]\nlos.kind = ['ce']\n", []string{"[base] run.epoch: unknown key; did you mean run.epochs?", "[grid] los.kind: unknown key; did you mean loss.kind?"}},
		"words":    {"[base]\noptim.learning_rate = 3\n", []string{"optim.learning_rate: unknown key; did you mean optim.lr?"}},
		"both":     {"[study]\nsedes = 5\n[base]\nrun.epoch = 3\n", []string{"line 2: unknown key study.sedes; did you mean seeds?", "[base] run.epoch: unknown key; did you mean run.epochs?"}},
		"far":      {"[study]\nzebra = 5\n", []string{"line 2: unknown key study.zebra; [study] has name, title, "}},
		"farther":  {"zebra = 5\n", []string{"line 1: unknown key zebra; a study has [study] name, title, seeds"}},
		"search":   {"[search]\ntrails = 5\n[search.space]\n", []string{"line 2: unknown key search.trails; did you mean trials?"}},
		"values":   {"[grid]\ndata.noise = [0, 1.5]\nrun.seed = []\n", []string{"data.noise: is 1.5; wanted between 0 and 1", "run.seed has no values"}},
		"sections": {"[stuff]\na = 1\n", []string{"line 1: unknown key stuff"}},
		"syntax":   {"[study\n", []string{"line 1"}},
		"scalar":   {"[grid]\ndata.noise = 0.5\n", []string{"wanted a list of values"}},
		"seeds":    {"[study]\nseeds = 'many'\n", []string{"a number of seeds"}},
		"none":     {"[study]\nseeds = 0\n", []string{"at least 1"}},
		"twice":    {"[study]\nseeds = 2\n[grid]\nrun.seed = [1]\n", []string{"both list seeds"}},
		"name":     {"[study]\nname = 'a/b'\n", []string{"wanted Latin letters"}},
	} {
		_, err := study.ParseFile("x.toml", []byte(c.text), nil, 0)
		var bad *study.FileError
		if !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q lacks %q", name, err, w)
			}
		}
		if !strings.HasPrefix(err.Error(), "x.toml: ") {
			t.Errorf("%s: %q does not name the file", name, err)
		}
	}
	if _, err := study.ParseFile("x.toml", []byte(studytest.GridFile), []string{"nonsense"}, 0); err == nil || !strings.Contains(err.Error(), "wanted section.key=value") {
		t.Errorf("%v", err)
	}
	// An impossible combination of possible values.
	f, err := study.ParseFile("x.toml", []byte("[base]\nnet.batch_norm = true\n[grid]\nrun.batch = [1, 2]\noptim.momentum = [0.5]\n"), nil, 0)
	if err == nil {
		_, _, err = f.Configs()
	}
	if err == nil || !strings.Contains(err.Error(), "batch norm") {
		t.Errorf("a batch of one under batch norm: %v", err)
	}
}

func FuzzParseFile(f *testing.F) {
	f.Add(studytest.GridFile)
	f.Add("[grid]\nrun.seed = [1, 2]\n")
	f.Add("[study]\nseeds = [3, 4]\n[base]\nloss = {kind = 'ls'}\n")
	f.Add("[base]\nrun.epochs = 4\n[search]\nsampler = 'random'\ntrials = 4\neta = 2\ncompare = true\n[search.space]\n'optim.lr' = { log_uniform = [1e-3, 0.5] }\n" +
		"'loss.kind' = { choice = ['ce', 'ls'] }\n'loss.smoothing' = { uniform = [0.01, 0.25], when = { 'loss.kind' = ['ls'] } }\n")
	f.Add("[trainer]\ncommand = ['sh', 'train.sh']\ncode = ['file_test.go']\nepochs = 9\nargs = 'flags'\n[base]\nwd = 0\n[search]\nsampler = 'bayes'\nschedule = 'asha'\ntrials = 9\nbatch = 3\n" +
		"metric = 'test/loss'\ngoal = 'min'\n[search.space]\nlr = { uniform = [0.0, 1.0] }\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := study.ParseFile("x.toml", []byte(text), nil, 0)
		if (file == nil) == (err == nil) {
			t.Fatal("neither a file nor an error, or both")
		}
	})
}

// TestWhatTheGridGivesTheBaseMayLack: a schedule whose milestones are varied.
func TestWhatTheGridGivesTheBaseMayLack(t *testing.T) {
	const base = "[base]\noptim.schedule.kind = 'multistep'\nrun.epochs = 4\n"
	f, err := study.ParseFile("x.toml", []byte(base+"[grid]\noptim.schedule.milestones = [[1, 2], [3]]\n"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if configs, _, err := f.Configs(); err != nil || len(configs) != 2 || configs[1].Optim.Schedule.Milestones != "3" {
		t.Errorf("%+v, %v", configs, err)
	}
	if _, err := study.ParseFile("x.toml", []byte(base), nil, 0); err == nil || !strings.Contains(err.Error(), "[base] optim.schedule.milestones") {
		t.Error(err)
	}
}
