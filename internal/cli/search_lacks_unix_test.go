//go:build unix

package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	stdhtml "html"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// lackingSearch has a trial for each way: only the first of these has values.
const lackingSearch = `
[study]
name = "lacking"
[trainer]
command = ["sh", "train.sh"]
epochs = 2
args = "flags"
[search]
sampler = "random"
schedule = "full"
trials = 12
metric = "test/loss"
goal = "min"
[search.space]
wd = { choice = [0.25, 0.5, 1.0] }
`

// lackingTrainer fails at one weight decay and diverges at another.
var lackingTrainer = "case $* in *'--wd 0.5'*) echo 'ValueError: too much' >&2; exit 3;; esac\n" +
	strings.Replace(shellTrainer, "  echo \"{", "  case $wd in 1|1.0) loss=NaN;; esac\n  echo \"{", 1)

// What a trial has instead of a value is said wherever its value would stand: failed, NaN, or that the metric is never reported.
func TestTrialsWithoutAValueSayWhatTheyHave(t *testing.T) {
	file, lab := scriptStudy(t, lackingSearch)
	folder := filepath.Dir(file)
	if err := os.WriteFile(filepath.Join(folder, "train.sh"), []byte(lackingTrainer), 0o666); err != nil {
		t.Fatal(err)
	}
	called(t, 0, "--lab", lab, "study", "run", file)
	out, _ := called(t, 0, "--lab", lab, "--json", "study", "status", "lacking")
	var status struct{ Searches []searchRow }
	if err := json.Unmarshal([]byte(out), &status); err != nil || len(status.Searches) != 1 {
		t.Fatal(out, err)
	}
	lacks := map[string]int{}
	for _, trial := range status.Searches[0].Trials {
		want := map[string]string{"wd=0.5": "failed", "wd=1.0": "NaN", "wd=1": "NaN"}[trial.Settings[0]]
		if trial.Lacks != want || (trial.Value == nil) != (want != "") {
			t.Errorf("%+v lacks %q, wanted %q", trial.Settings, trial.Lacks, want)
		}
		lacks[trial.Lacks]++
	}
	if len(lacks) != 3 {
		t.Fatalf("%v; wanted trials of three kinds", lacks)
	}
	if text, _ := called(t, 0, "--lab", lab, "study", "status", "lacking"); !strings.HasPrefix(text, "lacking: ended; ") || !strings.Contains(text, "  done, NaN  ") || !strings.Contains(text, "  failed  ") {
		t.Error(text)
	}
	html := reportOf(t, lab, "lacking")
	for _, part := range []string{" failed", " NaN", " trials (", "<td>failed</td>", "<td>NaN</td>", "<h1>A search of settings</h1>", "are chosen at random, none is stopped early, and test/loss is to be low."} {
		if !strings.Contains(html, part) {
			t.Errorf("the report lacks %q", part)
		}
	}
	if strings.Contains(html, "0 seeds") || strings.Contains(html, ">search</th>") {
		t.Error("the report counts seeds that there are not, or names the only search")
	}
}

// halving is a search whose trials are trained further, or not.
var halving = fmt.Sprintf(scriptSearch, "random", "hyperband")

// reportOf is the page that study report makes of a study.
func reportOf(t *testing.T, lab, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "page")
	called(t, 0, "--lab", lab, "study", "report", name, "--out", dir)
	html, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	return stdhtml.UnescapeString(string(html))
}

// A metric that no trial reports is named, with what they report, by status and report too: another search may have computed the runs.
func TestAMetricThatIsNeverReportedIsNamed(t *testing.T) {
	file, lab := scriptStudy(t, halving)
	called(t, 0, "--lab", lab, "study", "run", file)
	misspelt := filepath.Join(filepath.Dir(file), "misspelt.toml")
	text := strings.NewReplacer(`name = "found"`, `name = "misspelt"`, `"test/loss"`, `"test/los"`).Replace(halving)
	if err := os.WriteFile(misspelt, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	called(t, 1, "--lab", lab, "study", "run", misspelt)
	out, _ := called(t, 0, "--lab", lab, "study", "status", "misspelt")
	if !strings.Contains(out, "no best: no trial reports test/los, the metric of the search; they report sum and test/loss. Name one of these in the file, and start it again: what is computed stays; did you mean test/loss?\n") {
		t.Error(out)
	}
	if html := reportOf(t, lab, "misspelt"); !strings.Contains(html, "and no best: none reports test/los, the metric of the search; they report sum and test/loss; did you mean test/loss?") || strings.Contains(html, "Best so far") {
		t.Error(html)
	}
}

// The export names the trial of each run, and the run that goes on from it: without those, each epoch of a trial is there once.
func TestAnExportTellsTrialsApart(t *testing.T) {
	file, lab := scriptStudy(t, halving)
	called(t, 0, "--lab", lab, "study", "run", file)
	out, _ := called(t, 0, "--lab", lab, "study", "export", "found")
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	seen, repeated := map[string]int{}, map[string]int{}
	for _, row := range rows[1:] {
		trial := row[column["search.trial"]]
		if row[column["measure"]] != "sum" || trial == "" {
			continue
		}
		key := trial + " " + row[column["step"]]
		if repeated[key]++; row[column["search.continued_in"]] == "" {
			seen[key]++
		}
	}
	most := 0
	for key, n := range repeated {
		most = max(most, n)
		if seen[key] != 1 {
			t.Errorf("epoch %s: %d rows of runs that are not continued", key, seen[key])
		}
	}
	if most < 2 {
		t.Error("no trial was trained further: nothing was tested")
	}
	if out, _ := called(t, 0, "--lab", lab, "--json", "runs", "list"); !strings.Contains(out, `"test/loss": 0.`) || !strings.Contains(out, `"sum": 45`) {
		t.Error(out)
	}
	removesTheBest(t, file, lab)
}

// removesTheBest removes the best trial, which is said, and asks how to go on.
func removesTheBest(t *testing.T, file, lab string) {
	t.Helper()
	out, _ := called(t, 0, "--lab", lab, "--json", "study", "status", "found")
	var status struct{ Searches []searchRow }
	if err := json.Unmarshal([]byte(out), &status); err != nil {
		t.Fatal(err)
	}
	best, ok := status.Searches[0].best()
	if !ok {
		t.Fatal(out)
	}
	if lr, ok := best.Config["lr"].(float64); !ok || best.Settings[0] != fmt.Sprintf("lr=%v", lr) || best.Checkpoint != filepath.Join(best.Dir, "ckpt", "9") {
		t.Errorf("%+v", best)
	}
	for _, trial := range status.Searches[0].Trials {
		length := fmt.Sprintf("\nlength   %d epochs, with schedules for 9\n", trial.Epochs)
		if text, _ := called(t, 0, "--lab", lab, "runs", "show", trial.Run); strings.Contains(text, length) != (trial.Epochs < 9) {
			t.Errorf("%d epochs: %s", trial.Epochs, text)
		}
	}
	if text, _ := called(t, 0, "--lab", lab, "study", "status", "found"); !strings.Contains(text, "\n  its checkpoint: "+best.Checkpoint+"\n") {
		t.Error(text)
	}
	if out, _ := called(t, 0, "--lab", lab, "runs", "rm", best.Run); !strings.Contains(out, "removed 1 run\nfound now lacks 1 run, with trial ") || !strings.Contains(out, ", which was its best: to run it again computes what it lacks\n") {
		t.Error(out)
	}
	t.Chdir(filepath.Dir(file))
	if out, _ := called(t, 0, "--lab", lab, "study", "status", "found"); !strings.Contains(out, "study run study.toml\n") {
		t.Error(out)
	}
}

// A space with fewer settings than trials has as many trials as settings: each is tried once, and the search ends.
func TestASpaceWithFewSettings(t *testing.T) {
	file, lab := scriptStudy(t, strings.Replace(halving, "lr = { uniform = [0.0, 1.0] }", "lr = { choice = [0.1, 0.3, 0.5] }", 1))
	_, errs := called(t, 0, "--lab", lab, "study", "run", file)
	if !strings.Contains(errs, "3 trials, not 9: [search.space] has no more different settings\n") {
		t.Error(errs)
	}
	out, _ := called(t, 0, "--lab", lab, "study", "status", "found")
	if !strings.HasPrefix(out, "found: done; ") || !strings.Contains(out, "search: 3 of 3 trials begun") || strings.Contains(out, "paused") {
		t.Error(out)
	}
	asha := strings.Replace(strings.Replace(halving, "lr = { uniform = [0.0, 1.0] }", "lr = { choice = [0.1, 0.3] }", 1), "hyperband", "asha", 1)
	if err := os.WriteFile(file, []byte(asha), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, errs := called(t, 2, "--lab", lab, "study", "run", file); !strings.Contains(errs, "[search] asha never fills its rungs with the 2 different settings of [search.space]; wanted schedule = \"full\"") {
		t.Error(errs)
	}
}

// A search that is given more trials begins some of them at other rungs: what a longer run of a trial has is not computed again.
func TestMoreTrialsComputeNoEpochAgain(t *testing.T) {
	file, lab := scriptStudy(t, halving)
	called(t, 0, "--lab", lab, "study", "run", file, "--set", "search.trials=10") // the tenth, alone in its bracket, goes to the end at once
	runs := func() map[string][]int {                                             // epochs of the runs of each trial
		out, _ := called(t, 0, "--lab", lab, "study", "export", "found")
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		column, found := map[string]int{}, map[string][]int{}
		for i, name := range rows[0] {
			column[name] = i
		}
		for _, row := range rows[1:] {
			n, err := strconv.Atoi(row[column["run.epochs"]])
			if err != nil {
				t.Fatal(err)
			}
			if lr := row[column["lr"]]; !slices.Contains(found[lr], n) {
				found[lr] = append(found[lr], n)
			}
		}
		return found
	}
	before := runs()
	called(t, 0, "--lab", lab, "study", "run", file, "--set", "search.trials=24")
	again, more := 0, false
	for lr, epochs := range runs() {
		had, known := before[lr]
		if more = more || !known; !known {
			continue
		}
		for _, n := range epochs {
			if !slices.Contains(had, n) && n < slices.Max(had) {
				t.Errorf("the trial of lr %s had runs of %v epochs, and was trained for %d once more", lr, had, n)
			}
		}
		again++
	}
	if again < 9 || !more {
		t.Errorf("%d of the first trials are there", again)
	}
}
