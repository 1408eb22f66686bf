//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// rewritten changes words of a study's file.
func rewritten(t *testing.T, file string, words ...string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.NewReplacer(words...).Replace(string(text))), 0o666); err != nil {
		t.Fatal(err)
	}
}

// table is what a lab has of a study by run, epoch and name, as text.
func table(t *testing.T, lab, study string) map[string]string {
	t.Helper()
	out, _ := called(t, 0, "--lab", lab, "--json", "export", study)
	var rows []map[string]any
	if err := json.Unmarshal([]byte(out), &rows); err != nil || len(rows) == 0 {
		t.Fatalf("%.200s: %v", out, err)
	}
	found := map[string]string{}
	for _, r := range rows {
		found[fmt.Sprint(r["run"], r["series"], r["step"], r["split"], r["layer"], r["measure"])] = fmt.Sprint(r["value"], r["missing"])
	}
	return found
}

// same compares two labs, without what a computer needed for it.
func same(t *testing.T, got, want map[string]string) {
	t.Helper()
	timed := func(key string) bool {
		return strings.Contains(key, "images_per_s") || strings.Contains(key, "seconds")
	}
	for key, value := range want {
		if g, ok := got[key]; !ok || g != value && !timed(key) {
			t.Errorf("%s is %s, %v; computed anew it is %s", key, g, ok, value)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d rows; computed anew there are %d", len(got), len(want))
	}
}

// TestALongerStudyOfAScriptGoesOn from its finished runs once the file says for which length schedules are made, and says so before that.
func TestALongerStudyOfAScriptGoesOn(t *testing.T) {
	file, lab := scriptStudy(t, scriptGrid)
	log := filepath.Join(filepath.Dir(file), "log")
	started := func(want string) {
		t.Helper()
		if text, err := os.ReadFile(log); err != nil || string(text) != want {
			t.Errorf("started %q, %v; wanted %q", text, err, want)
		}
		os.Remove(log)
	}
	if _, errs := called(t, 0, "--lab", lab, "study", "run", file); strings.Contains(errs, "length") || strings.Contains(errs, "horizon") {
		t.Errorf("the first time: %s", errs)
	}
	started("0 4\n0 4\n")
	rewritten(t, file, "epochs = 4", "epochs = 6")
	_, errs := called(t, 0, "--lab", lab, "study", "run", file)
	if !strings.Contains(errs, "2 runs start at the beginning, though the lab has finished ones of 4 epochs") || !strings.Contains(errs, "horizon = 4 under [trainer]") {
		t.Errorf("longer: %s", errs)
	}
	started("0 6\n0 6\n")
	rewritten(t, file, "epochs = 6", "epochs = 6\nhorizon = 4")
	_, errs = called(t, 0, "--lab", lab, "study", "run", file, "--workers", "1")
	if !strings.Contains(errs, "2 runs go on after epoch 4: the lab has finished runs that differ in nothing but their length") {
		t.Errorf("longer with the same schedule: %s", errs)
	}
	started("4 6\n4 6\n")
	other := filepath.Join(t.TempDir(), "lab")
	called(t, 0, "--lab", other, "study", "run", file, "--workers", "1")
	same(t, table(t, lab, "mine"), table(t, other, "mine"))
	started("0 6\n0 6\n")
	if _, errs := called(t, 0, "--lab", lab, "study", "run", file); strings.Contains(errs, "go on") {
		t.Errorf("nothing to compute: %s", errs)
	}
	for text, says := range map[string]string{"horizon = -1": "[trainer] horizon is -1; wanted 1 to", "horizon = 1000001": "wanted 1 to 1000000"} {
		rewritten(t, file, "horizon = 4", text)
		if _, errs := called(t, 2, "--lab", lab, "study", "run", file); !strings.Contains(errs, says) {
			t.Errorf("%s: %s", text, errs)
		}
		rewritten(t, file, text, "horizon = 4")
	}
	search, _ := scriptStudy(t, strings.Replace(fmt.Sprintf(scriptSearch, "random", "none"), "epochs = 9", "epochs = 9\nhorizon = 9", 1))
	if _, errs := called(t, 2, "--lab", lab, "study", "run", search); !strings.Contains(errs, "horizon goes with no [search]") {
		t.Errorf("a search: %s", errs)
	}
}

// TestALongerStudyGoesOn where the program trains: to the numbers of one that was computed anew, unless its schedule follows its length.
func TestALongerStudyGoesOn(t *testing.T) {
	file, lab := filepath.Join(t.TempDir(), "s.toml"), filepath.Join(t.TempDir(), "lab")
	text := `[base]
data = { name = "glyphs", classes = 2, samples_per_class = 20, test_samples_per_class = 10, pipeline = "plain" }
net = { depth = 2, width = 8 }
optim = { schedule = { kind = "constant" } }
run = { epochs = 3, batch = 20 }
[grid]
run.seed = [1, 2]
`
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	called(t, 0, "--lab", lab, "study", "run", file)
	rewritten(t, file, "epochs = 3", "epochs = 5")
	if _, errs := called(t, 0, "--lab", lab, "study", "run", file); !strings.Contains(errs, "2 runs go on after epoch 3") {
		t.Errorf("longer: %s", errs)
	}
	other := filepath.Join(t.TempDir(), "lab")
	called(t, 0, "--lab", other, "study", "run", file)
	longer, anew := table(t, lab, "s"), table(t, other, "s")
	for key := range anew { // a run has the cost of what it computed
		if epoch := strings.Index(key, "spent"); epoch >= 0 && key[epoch+len("spent")] <= '3' {
			if _, ok := longer[key]; ok {
				t.Errorf("computed again: %s", key)
			}
			delete(anew, key)
		}
	}
	same(t, longer, anew)
	rewritten(t, file, "constant", "cosine", "epochs = 5", "epochs = 3")
	called(t, 0, "--lab", lab, "study", "run", file)
	rewritten(t, file, "epochs = 3", "epochs = 5")
	if _, errs := called(t, 0, "--lab", lab, "study", "run", file); strings.Contains(errs, "go on") {
		t.Errorf("another schedule: %s", errs)
	}
}

// TestALongerStudyBeginsAnewInACopyOfNumbers, and says why, also before it begins.
func TestALongerStudyBeginsAnewInACopyOfNumbers(t *testing.T) {
	file, lab := scriptStudy(t, strings.Replace(scriptGrid, "epochs = 4", "epochs = 4\nhorizon = 8", 1))
	called(t, 0, "--lab", lab, "study", "run", file)
	numbers := filepath.Join(t.TempDir(), "numbers")
	called(t, 0, "--lab", lab, "lab", "copy", numbers, "--numbers")
	called(t, 0, "--lab", numbers, "runs", "check")
	rewritten(t, file, "epochs = 4", "epochs = 6")
	const said = "2 runs start at the beginning: of the finished ones that are shorter the lab has the numbers alone"
	for _, more := range [][]string{{"--dry-run"}, nil} {
		if _, errs := called(t, 0, append([]string{"--lab", numbers, "study", "run", file}, more...)...); !strings.Contains(errs, said) || strings.Contains(errs, "left no checkpoint") {
			t.Errorf("%q: %s", more, errs)
		}
	}
	called(t, 0, "--lab", lab, "study", "run", file)
	same(t, table(t, numbers, "mine"), table(t, lab, "mine"))
}
