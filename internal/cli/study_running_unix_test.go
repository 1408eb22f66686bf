//go:build unix

package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
)

// TestStatusShowsValuesOfRunsUnderWay at their newest epoch.
func TestStatusShowsValuesOfRunsUnderWay(t *testing.T) {
	file, lab := scriptStudy(t, scriptGrid)
	dir := filepath.Dir(file)
	waits := strings.Replace(shellTrainer, "  sum=$((sum + e))\n", "  [ $e -lt 3 ] || until [ -e go ]; do sleep 0.05; done\n  sum=$((sum + e))\n", 1)
	if err := os.WriteFile(filepath.Join(dir, "train.sh"), []byte(waits), 0o666); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var out, errs strings.Builder
		if code := run(t.Context(), []string{"--lab", lab, "study", "run", file, "--workers", "2"}, &out, &errs); code != 0 {
			t.Error(errs.String())
		}
	}()
	line := regexp.MustCompile(`(?s)\nrunning\n.*  wd 0 +epoch 2  sum 3, test/loss 0.5\n`)
	out := ""
	for start := time.Now(); !line.MatchString(out) && time.Since(start) < 30*time.Second; time.Sleep(50 * time.Millisecond) {
		var told strings.Builder
		run(t.Context(), []string{"--lab", lab, "study", "status", "mine"}, &told, io.Discard) // there may be no study yet
		out = told.String()
	}
	if !line.MatchString(out) {
		t.Error(out)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	<-ended
}

// TestAReportOfAFile has the questions of the file as it is, and one of a name those with which the study last ran.
func TestAReportOfAFile(t *testing.T) {
	file, lab := scriptStudy(t, scriptGrid)
	called(t, 0, "--lab", lab, "study", "run", file)
	added := scriptGrid + "\n[[table]]\ntitle = \"Loss by decay\"\nrows = [\"wd\"]\nvalues = [\"test.loss\"]\n"
	if err := os.WriteFile(file, []byte(added), 0o666); err != nil {
		t.Fatal(err)
	}
	for arg, has := range map[string]bool{"mine": false, file: true} {
		out := filepath.Join(t.TempDir(), "page")
		_, errs := called(t, 0, "--lab", lab, "study", "report", arg, "--out", out)
		if strings.Contains(errs, "without claims, drawings and tables") == has || strings.Contains(errs, "the file asks for") {
			t.Error(errs)
		}
		if html, err := os.ReadFile(filepath.Join(out, "index.html")); err != nil || strings.Contains(string(html), ">Loss by decay<") != has {
			t.Errorf("%s: %v; the table wanted: %v", arg, err, has)
		}
	}
}

// TestAFileOfOtherRunsIsTold, whether it is judged or reported; what --set changed when the study ran is part of the file.
func TestAFileOfOtherRunsIsTold(t *testing.T) {
	file, lab := scriptStudy(t, scriptGrid)
	claim := "\n[[table]]\ntitle = \"Loss\"\nrows = [\"wd\"]\nvalues = [\"test.loss\"]\n"
	called(t, 0, "--lab", lab, "study", "run", file, "--set", "lr=0.2")
	for text, told := range map[string]string{
		scriptGrid: "", strings.Replace(scriptGrid, "[base]\nlr = 0.1\n[grid]\n", "[search]\ntrials = 2\nmetric = \"test/loss\"\n[search.space]\nlr = { uniform = [0.0, 1.0] }\n[grid]\n", 1): "the file does not go with what --set and --seeds said when the study last ran",
		strings.Replace(scriptGrid, "[0.0, 0.5]", "[0.5]", 1): "the file asks for 1 run, of which the study has 1; this is about the 2 runs of the study, as it last ran",
		strings.Replace(scriptGrid, "0.5]", "0.7]", 1):        "the file asks for 2 runs, of which the study has 1; this is about the 2 runs of the study, as it last ran",
	} {
		if err := os.WriteFile(file, []byte(text+claim), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"judge", file}, {"report", file, "--out", filepath.Join(t.TempDir(), "page")}} {
			if _, errs := called(t, 0, append([]string{"--lab", lab, "study"}, args...)...); !strings.Contains(errs, told) || told == "" && strings.Contains(errs, "the file asks for") {
				t.Errorf("%v: %q lacks %q", args, errs, told)
			}
		}
	}
}

// TestASettingThatIsSearchedIsNotSet: --set of it has no effect.
func TestASettingThatIsSearchedIsNotSet(t *testing.T) {
	file, lab := scriptStudy(t, fmt.Sprintf(scriptSearch, "random", "full"))
	_, errs := called(t, 2, "--lab", lab, "study", "run", file, "--set", "lr=0.2")
	if !strings.Contains(errs, "--set lr=0.2: [search.space] searches lr; take it out of there to fix it") {
		t.Error(errs)
	}
}

// TestAMisspeltFlagIsTold before anything runs, with the nearest that the code names.
func TestAMisspeltFlagIsTold(t *testing.T) {
	for text, told := range map[string]string{
		"p.add_argument('--width'); p.add_argument('--lr', default=1); p.add_argument('--no-wd')": "the code names no flag --widht, which it is given for a setting of the file; did you mean --width?",
		"p.add_argument('--widhts')": "the code names no flag --lr or --wd, which", "import click_of_another_module": "",
	} {
		file, lab := scriptStudy(t, strings.Replace(scriptGrid, "lr = 0.1", "lr = 0.1\nwidht = 3", 1))
		if err := os.WriteFile(filepath.Join(filepath.Dir(file), "train.sh"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, errs := called(t, 0, "--lab", lab, "study", "run", file, "--dry-run"); !strings.Contains(errs, told) || told == "" && strings.Contains(errs, "names no flag") {
			t.Errorf("%s: %s", text, errs)
		}
	}
	file, lab := scriptStudy(t, strings.Replace(scriptGrid, "lr = 0.1", "lr = 0.1\nno-bias = false", 1)) // a flag of that name, and not the negation of another
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "train.sh"), []byte("p.add_argument('--lr'); p.add_argument('--wd'); p.add_argument('--no-bias', action='store_true')"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, errs := called(t, 0, "--lab", lab, "study", "run", file, "--dry-run"); strings.Contains(errs, "names no flag") {
		t.Error(errs)
	}
}

// TestABestThatIsNotTrainedToTheEnd is the best so far, at its epoch.
func TestABestThatIsNotTrainedToTheEnd(t *testing.T) {
	for want, epochs := range map[string]int{"  best so far, at epoch 3 of 9: run 0123456789ab,": 3, "  best: run 0123456789ab,": 9} {
		var out strings.Builder
		a := &app{stdout: &out}
		value := 0.5
		searchRow{full: 9, Metric: "test/loss"}.printBest(a, trialRow{Role: study.RoleTrial, Status: store.Done, Run: "0123456789abcdef", Epochs: epochs, Value: &value})
		if !strings.HasPrefix(out.String(), want) {
			t.Errorf("%q lacks %q", out.String(), want)
		}
	}
}

// TestALabOfScriptsHasNoReportOfItsOwn: what draws their runs is named.
func TestALabOfScriptsHasNoReportOfItsOwn(t *testing.T) {
	file, lab := scriptStudy(t, scriptGrid)
	called(t, 0, "--lab", lab, "study", "run", file)
	if _, errs := called(t, 1, "--lab", lab, "report"); !strings.Contains(errs, "Runs of a script are drawn by: collapse study report NAME") {
		t.Error(errs)
	}
}

// TestNamesInTheListOfRuns: a search's runs by what they are in it.
func TestNamesInTheListOfRuns(t *testing.T) {
	for want, trial := range map[string]study.Trial{
		"": {}, "trial 1": {Role: study.RoleTrial}, "trial 3": {Role: study.RoleTrial, Number: 2}, "earlier trial": {Role: study.RoleTrial, Number: 3},
		"default": {Role: study.RoleDefault}, "best again": {Role: study.RoleBest}, "default again": {Role: study.RoleDefaultFinal},
	} {
		if got := nameOfTrial(trial, 3); got != want {
			t.Errorf("%+v: %q, wanted %q", trial, got, want)
		}
	}
}

// TestATrialThatMayGoOn is paused until the search is over; one that went all the way, or is not among the trials, is done.
func TestATrialThatMayGoOn(t *testing.T) {
	value := 0.5
	for want, c := range map[string]struct {
		over bool
		t    trialRow
	}{
		"paused":         {false, trialRow{Role: study.RoleTrial, Status: store.Done, Epochs: 3, Value: &value}},
		"stopped early":  {true, trialRow{Role: study.RoleTrial, Status: store.Done, Epochs: 3, Value: &value}},
		"done":           {false, trialRow{Role: study.RoleTrial, Status: store.Done, Epochs: 9, Value: &value}},
		"done, no value": {false, trialRow{Role: study.RoleTrial, Status: store.Done, Epochs: 3}},
		"running":        {false, trialRow{Role: study.RoleTrial, Status: store.Running, Epochs: 3}},
	} {
		if got := (searchRow{full: 9, over: c.over}).state(c.t); got != want {
			t.Errorf("%q, wanted %q", got, want)
		}
	}
}

// TestACodeChangeIsToldOnce, in the process that computes, and the run is computed with the code as it was.
func TestACodeChangeIsToldOnce(t *testing.T) {
	file, lab := scriptStudy(t, strings.Replace(scriptGrid, "wd = [0.0, 0.5]", "wd = [0.5]", 1))
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "train.sh"), []byte("echo '# edited' >> train.sh\n"+shellTrainer), 0o666); err != nil {
		t.Fatal(err)
	}
	_, errs := called(t, 0, "--lab", lab, "study", "run", file)
	if strings.Count(errs, "train.sh has changed after the script had started") != 1 || strings.Count(errs, "train.sh has changed since the study began") != 1 {
		t.Error(errs)
	}
}
