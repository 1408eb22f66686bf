package study_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/search"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/studytest"
)

// The text that the lab keeps is the same search.
func TestSearchIsReadBack(t *testing.T) {
	f, err := study.ParseFile("tiny.toml", []byte(studytest.SearchFile), []string{"run.epochs=27", "loss.kind=[\"ls\"]"}, 2)
	if err != nil {
		t.Fatal(err)
	}
	back, err := study.SearchOf(store.Study{Name: "tiny", Source: f.Source})
	if err != nil || back == nil {
		t.Fatalf("%v\n%s", err, f.Source)
	}
	if back.Source != f.Source || back.Search.Epochs != 27 || len(back.Places()) != 1 || back.Places()[0].Where != "loss ls" || len(back.Places()[0].Finals()) != 2*2 {
		t.Errorf("read back:\n%s\nfrom:\n%s", back.Source, f.Source)
	}
	if !reflect.DeepEqual(back.Search, f.Search) {
		t.Errorf("%+v\n%+v", back.Search, f.Search)
	}
	if other, err := study.SearchOf(store.Study{Name: "grid", Source: "[base]\n"}); other != nil || err != nil {
		t.Errorf("a grid is read as a search: %v, %v", other, err)
	}
}

// conditional is a search of a script's settings, of every kind.
const conditional = `[study]
name = "a"
[trainer]
command = ["sh", "t.sh"]
epochs = 2
[grid]
data = ["x", "y"]
[search]
trials = 20
schedule = "full"
sampler = "%s"
metric = "error"
goal = "min"
[search.space]
opt = { choice = ["sgd", "adam", "none"] }
layers = { integer = [1, 9] }
lr = { log_uniform = [1e-4, 1.0], when = { opt = ["sgd", "adam"] } }
kind = { choice = ["plain", "nesterov"], when = { opt = ["sgd"] } }
momentum = { uniform = [0.5, 0.99], when = { kind = ["nesterov"], data = ["x"] } }
`

func parseScript(t *testing.T, text string) (*study.File, error) {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "t.sh"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return study.ParseFile(filepath.Join(folder, "s.toml"), []byte(text), nil, 0)
}

// TestSettingsThatDependOnSearchedOnes are given to the trials in which they have an effect, whether the search is begun by its file or read back
// from the lab; whole numbers stay whole.
func TestSettingsThatDependOnSearchedOnes(t *testing.T) {
	for _, sampler := range []string{"random", "bayes"} {
		f, err := parseScript(t, fmt.Sprintf(conditional, sampler))
		if err != nil {
			t.Fatal(err)
		}
		back, err := study.SearchOf(store.Study{Name: "a", Source: f.Source})
		if err != nil || !reflect.DeepEqual(back.Search, f.Search) {
			t.Fatalf("%v\n%+v\n%+v\n%s", err, back.Search, f.Search, f.Source)
		}
		for number, c := range f.Places() {
			counts, told := map[string]int{}, map[string]string{}
			for _, side := range []*study.Place{c, back.Places()[number]} {
				s, err := side.Search()
				if err != nil {
					t.Fatal(err)
				}
				s.Replay(func(j search.Job) (float64, bool) {
					is := map[string]string{}
					for _, setting := range side.Settings(j.Point) {
						key, value, _ := strings.Cut(setting, "=")
						is[key] = value
						counts[key]++
					}
					has := func(key string) bool { _, ok := is[key]; return ok }
					if has("lr") != (is["opt"] != `"none"`) || has("kind") != (is["opt"] == `"sgd"`) || has("momentum") != (number == 0 && is["kind"] == `"nesterov"`) || strings.Contains(is["layers"], ".") {
						t.Errorf("%s, place %d: %v", sampler, number, is)
					}
					text := fmt.Sprint(is)
					if before, again := told[fmt.Sprint(j.Trial)]; again && before != text {
						t.Errorf("%s, place %d: trial %d is %s, and read back %s", sampler, number, j.Trial, before, text)
					}
					told[fmt.Sprint(j.Trial)] = text
					return float64(len(text)), true
				})
			}
			if counts["layers"] != 40 || counts["lr"] == 0 || counts["kind"] == 0 || (counts["momentum"] == 0) != (number == 1) {
				t.Errorf("%s, place %d: %v", sampler, number, counts)
			}
		}
	}
	for old, c := range map[string][2]string{
		`opt = ["sgd", "adam"]`:     {`algo = ["sgd"]`, "lr: when names algo, which neither [base], [grid] nor [search.space] sets"},
		`opt = ["sgd"]`:             {`ops = ["sgd"]`, "kind: when names ops, which neither [base], [grid] nor [search.space] sets; did you mean opt?"},
		`kind = ["nesterov"]`:       {`kind = ["nestorov"]`, `momentum: when has kind = "nestorov", which is none of its choices "plain", "nesterov"`},
		`data = ["x"] `:             {`data = ["z"] `, `momentum: when wants data = "z", and it is "x", "y": it would never be searched`},
		`data = ["x"]`:              {`layers = [3]`, "momentum: when names layers, which is no choice"},
		`["sgd", "adam", "none"] }`: {`["sgd", "adam", "none"], when = { kind = ["plain"] } }`, "opt depends on itself"},
	} {
		text := strings.Replace(fmt.Sprintf(conditional, "bayes"), old, c[0], 1)
		if _, err := parseScript(t, text); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v, want an error with %q", c[0], err, c[1])
		}
	}
}

func TestSearchesThatCannotBe(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`sampler = "bayes"`, `sampler = "grid"`, "sampler"},
		{`trials = 7`, `trials = -1`, "trials"},
		{`trials = 7`, `trails = 7`, "trails"},
		{`log_uniform = [1e-4, 0.5]`, `log_uniform = [0.5, 1e-4]`, "optim.lr"},
		{`log_uniform = [1e-4, 0.5]`, `log_uniform = [0, 0.5]`, "optim.lr"},
		{`log_uniform = [1e-4, 0.5]`, `log_unifrom = [1e-4, 0.5]`, "optim.lr"},
		{`"optim.lr" = {`, `"optim.rate" = {`, "optim.rate"},
		{`uniform = [0.01, 0.25]`, `uniform = [0.01, 1.25]`, "loss.smoothing"},
		{`choice = [0.1, 0.5]`, `choice = []`, "optim.schedule.gamma"},
		{`"run.epochs" = [2, 3]`, `"run.epoch" = [2, 3]`, "run.epoch"},
		{`goal = "min"`, `goal = "lowest"`, "goal"},
		{`metric = "validation.loss"`, `metric = "loss"`, "metric"},
		{`epochs = 9`, `epochs = 9, measure_every = 3`, "measure_every"},
	} {
		text := strings.Replace(studytest.SearchFile, c.old, c.new, 1)
		if text == studytest.SearchFile {
			t.Fatalf("%q is not in the file", c.old)
		}
		if _, err := study.ParseFile("tiny.toml", []byte(text), nil, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, wanted one that names %q", c.new, err, c.want)
		}
	}
}

// TestAMetricWithoutASplit: a script reports values by a plain name as well, which a search may use; a training run has none.
func TestAMetricWithoutASplit(t *testing.T) {
	const file = "[study]\nname = \"a\"\n%s[search]\ntrials = 4\nschedule = \"full\"\nmetric = \"error\"\ngoal = \"min\"\n[search.space]\n%s = { uniform = [0.1, 1.0] }\n"
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "t.sh"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := study.ParseFile(filepath.Join(folder, "s.toml"), fmt.Appendf(nil, file, "[trainer]\ncommand = [\"sh\", \"t.sh\"]\nepochs = 2\n", "lr"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if key := (store.Key{Series: "epoch", Measure: "error"}); !slices.Equal(f.Search.Keys(), []store.Key{key}) || f.Search.Goal != study.GoalMin {
		t.Errorf("%v, %s", f.Search.Keys(), f.Search.Goal)
	}
	if _, err := study.ParseFile("s.toml", fmt.Appendf(nil, file, "", "\"optim.lr\""), nil, 0); err == nil || !strings.Contains(err.Error(), `metric is "error"; wanted split.measure`) {
		t.Errorf("of training: %v", err)
	}
}
