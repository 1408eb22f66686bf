package scale

import (
	"strings"
	"testing"

	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study/coordinator"
	"collapse.example/collapse/internal/study/forecast"
	"collapse.example/collapse/internal/study/studytest"
	"collapse.example/collapse/internal/study/trials"
)

const searching = `
[search]
trials = 4
min_epochs = 2
eta = 2
compare = true
[search.space]
"optim.lr" = { log_uniform = [1e-3, 0.1] }
[search.final]
"run.epochs" = 5
`

// What a search has computed in the end is what was planned, with trials that continued shorter ones counted once.
func TestPlanIsWhatASearchComputes(t *testing.T) {
	text := strings.NewReplacer("\n[full]", searching+"[full]", "seeds = 2", "seeds = 1", "classes = 3,", "classes = 3, validation = 0.2,",
		"measure_every = 2", "measure_every = 1").Replace(small)
	lab, r := studytest.Lab(t), parsed(t, text)
	f, err := SearchFile(r, paper)
	must(t, err)
	_, err = trials.Run(t.Context(), lab, f, coordinator.Options{Slots: 2, Threads: 2, Queue: studytest.QuickQueue(), Logf: t.Logf})
	must(t, err)
	runs, err := lab.StudyRuns(f.Name, store.Done)
	must(t, err)
	var hashes []string
	for _, run := range runs {
		hashes = append(hashes, run.Hash)
	}
	loaded, err := judge.Load(lab, hashes...)
	must(t, err)
	took := findings.Count(loaded, true, forecast.Runs(lab, ""))
	p := Planner{Lab: lab.Reader, Cores: 2}
	plan, err := p.Plan(r, paper)
	must(t, err)
	if took.Continued == 0 || plan.Runs != took.Runs || plan.FLOP != took.FLOP {
		t.Errorf("computed %+v, planned %+v", took, plan)
	}
	if len(plan.Notes) != 2 || !strings.Contains(plan.Notes[1], "The lab has ") {
		t.Errorf("%q", plan.Notes)
	}
}
