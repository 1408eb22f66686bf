package study_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

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
	if key := (store.Key{Series: "epoch", Measure: "error"}); f.Search.Key() != key || f.Search.Goal != study.GoalMin {
		t.Errorf("%v, %s", f.Search.Key(), f.Search.Goal)
	}
	if _, err := study.ParseFile("s.toml", fmt.Appendf(nil, file, "", "\"optim.lr\""), nil, 0); err == nil || !strings.Contains(err.Error(), `metric is "error"; wanted split.measure`) {
		t.Errorf("of training: %v", err)
	}
}
