package cli

import (
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
