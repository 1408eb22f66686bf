package page

import (
	"os"
	"strings"
	"testing"

	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/judge/judgetest"
	"collapse.example/collapse/internal/outfile"
)

func TestPageOfASearch(t *testing.T) {
	WithoutPictures(t)
	all := judgetest.SomeSearches([]float64{0.9}, []float64{0.8})
	dir := t.TempDir()
	script := judgetest.SomeSearches([]float64{0.9}, []float64{0.8})
	script[0].Metric = "test.loss"
	res, err := JudgeAndWrite(outfile.At(dir, Kind), findings.Recipe{ID: "mine", Title: "A script's", Study: true, Searches: script, Runs: judgetest.Common().Runs(t)[:4]})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(res.Index); err != nil || strings.Contains(string(b), ` hold">`) {
		t.Errorf("a page without claims counts them (%v)", err)
	}
	for _, study := range []bool{true, false} {
		res, err := JudgeAndWrite(outfile.At(dir, Kind), findings.Recipe{ID: "find", Title: "What find found", Study: study, Searches: all, Runs: judgetest.Common().Runs(t)[:4]})
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(res.Index)
		if err != nil {
			t.Fatal(err)
		}
		html := string(b)
		for text, want := range map[string]bool{`data-study="find"`: study, `data-recipe="find"`: !study, "The figure": !study, "can be asked of any search": study, "study report": study,
			"What was found": true, "optim.lr 0.1, optim.schedule.gamma 0.1": true, `data-figure="find-best"`: true, `data-figure="find-trials"`: true, `data-claim="no-worse-on-test"`: true} {
			if strings.Contains(html, text) != want {
				t.Errorf("study %v: %q is there: %v", study, text, !want)
			}
		}
	}
}
