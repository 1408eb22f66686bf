package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study/trials"
)

const tinySearch = `
[base]
data = { name = "glyphs", samples_per_class = 20, test_samples_per_class = 10, pipeline = "plain", validation = 0.25 }
net = { depth = 1, width = 8 }
run = { batch = 15, epochs = 4 }
[search]
sampler = "random"
trials = 4
eta = 2
compare = true
[search.space]
"optim.lr" = { log_uniform = [1e-3, 0.5] }
`

func TestASearchFromFileToStatus(t *testing.T) {
	dir := t.TempDir()
	file, lab := filepath.Join(dir, "find.toml"), filepath.Join(dir, "lab")
	if err := os.WriteFile(file, []byte(tinySearch), 0o666); err != nil {
		t.Fatal(err)
	}
	out, _ := called(t, 0, "--lab", lab, "study", "run", file, "--dry-run")
	if !strings.Contains(out, "4 trials of at most 4 epochs") {
		t.Error(out)
	}
	out, _ = called(t, 0, "--lab", lab, "study", "run", file, "--workers", "1", "--set", "search.trials=3", "--set", "data.seed=2")
	if !strings.Contains(out, " best ") || !strings.Contains(out, "best, all data") || !strings.Contains(out, "3 of 3 trials") {
		t.Error(out)
	}
	out, _ = called(t, 0, "--lab", lab, "--json", "study", "status", "find")
	var status struct {
		Searches []searchRow `json:"searches"`
	}
	if err := json.Unmarshal([]byte(out), &status); err != nil {
		t.Fatal(err)
	}
	if len(status.Searches) != 1 {
		t.Fatalf("%d searches in %s", len(status.Searches), out)
	}
	s := status.Searches[0]
	if len(s.Trials) != 3 || s.Best < 1 || s.Default == nil || len(s.Final) != 2 || !(s.Spent > 4 && s.Spent < s.Whole) || s.Whole != 12 {
		t.Fatalf("%+v", s)
	}
	best := s.Trials[s.Best-1]
	if best.Epochs != 4 || best.Value == nil || s.Final[0].Role != "best" || s.Final[0].Settings[0] != best.Settings[0] || s.Final[0].Value != nil || s.Final[0].Test == nil {
		t.Errorf("best %+v, final %+v", best, s.Final)
	}
	reader, err := store.Open(lab, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	drawn, err := trials.SearchesOf(reader.Reader, "find") // what the live page draws
	if err != nil || len(drawn) != 1 || drawn[0].Best != s.Best-1 || drawn[0].Trials[drawn[0].Best].Run != best.Run || drawn[0].Default == nil || drawn[0].Spent != s.Spent {
		t.Errorf("%+v, %v", drawn, err)
	}
	// It is done: nothing is computed again, by its name or by its file.
	out, _ = called(t, 0, "--lab", lab, "study", "resume", "find")
	if !strings.Contains(out, "3 of 3 trials") {
		t.Error(out)
	}
	page := filepath.Join(dir, "page")
	out, _ = called(t, 0, "--lab", lab, "study", "report", "find", "--out", page)
	html, err := os.ReadFile(filepath.Join(page, "index.html"))
	if err != nil || !strings.Contains(out, "at most one point less accurate than the default on test data") || !strings.Contains(out, "Best of 3 trials") || !strings.Contains(out, best.Run[:12]) || !strings.Contains(out, "  Ours (") {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{`data-study="find"`, "What was found", "Best so far", best.Run[:12], "3 trials of at most 4 epochs", "less than the whole budget"} {
		if !strings.Contains(string(html), want) {
			t.Errorf("the page of the search lacks %q", want)
		}
	}
	_, errs := called(t, 2, "--lab", lab, "study", "run", file, "--set", "search.trails=3")
	if !strings.Contains(errs, "search.trails") || !strings.Contains(errs, "did you mean trials?") {
		t.Error(errs)
	}
}
