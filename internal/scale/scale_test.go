package scale

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study/forecast"
	"collapse.example/collapse/internal/study/studytest"
	"collapse.example/collapse/internal/train"
)

var must = studytest.Must

// small is a recipe of four runs on 60 training and 30 test images of 28×28: two widths, two seeds.
const small = `id = "x"
title = "A title"
paper = "Someone 2022, Fig. 1"
kind = "training"
[base]
net = { kind = "mlp", depth = 1 }
data = { name = "glyphs", pipeline = "plain", classes = 3, samples_per_class = 20, test_samples_per_class = 10 }
run = { epochs = 4, batch = 20, measure_every = 2 }
[full]
seeds = 2
[full.grid]
"net.width" = [8, 16]
[quick]
seeds = 1
[[claim]]
id = "a"
says = "it falls"
source = "ours"
kind = "less"
left = 'final("train.nc1_pinv")'
right = 'start("train.nc1_pinv")'
`

func parsed(t *testing.T, text string) *recipe.Recipe {
	t.Helper()
	r, err := recipe.Parse("x.toml", []byte(text))
	must(t, err)
	return r
}

var paper = recipe.Choice{Scale: "paper"}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

// A layer of width w, one of 3 features and the classifier; 60 samples pass three times in 4 epochs, and all 90 once more after two of them.
func TestFLOPByHand(t *testing.T) {
	p := Planner{Cores: 2}
	plan, err := p.Plan(parsed(t, small), paper)
	must(t, err)
	of := func(w float64) float64 { return 2 * (784*w + 3*w + 9) * (3*4*60 + 2*90) }
	want := 2*of(8) + 2*of(16)
	if plan.Runs != 4 || plan.FLOP != want || plan.Left != want || plan.Bound || plan.Done != 0 || !plan.Trains {
		t.Errorf("%+v, by hand %v FLOP", plan, want)
	}
	// On two cores, a long and a short run on each; on 64, as long as the longest run on one.
	if second := 218e9 * 3600; !near(plan.Hours.Here, want/second) || !near(plan.Hours.On64, of(16)/(second/2)) || !near(plan.Hours.OnGPU, want/10.5e9/3600) {
		t.Errorf("%+v", plan.Hours)
	}
	if len(plan.Rates) != 1 || plan.Rates[0].GFLOPS != 218 || len(plan.Notes) != 0 {
		t.Errorf("%+v", plan)
	}
}

// The program does not know PyTorch's rate on cores: those hours are missing, but not those of its own kernels. The work is the same.
func TestAnotherEngineHasNoHoursOnCores(t *testing.T) {
	of := func(text string) Plan {
		p := Planner{Cores: 2}
		plan, err := p.Plan(parsed(t, text), paper)
		must(t, err)
		return plan
	}
	own, other := of(small), of(strings.Replace(small, "run = {", `run = { engine = "torch",`, 1))
	if other.Engine != "torch" || other.FLOP != own.FLOP || other.Hours.OnGPU != own.Hours.OnGPU || len(other.Rates) != 0 || len(other.Notes) != 1 {
		t.Errorf("%+v", other)
	}
	if cells := other.Cells(); cells[3] != "–" || cells[4] != "–" || own.Cells()[3] == "–" {
		t.Errorf("%v, %v", cells, own.Cells())
	}
	text, err := json.Marshal(other.Hours)
	must(t, err)
	if !strings.Contains(string(text), `"here":null,"cores_64":null`) || !strings.Contains(string(text), `"cores":2`) {
		t.Errorf("%s", text)
	}
}

// L-BFGS counts as many evaluations as it may take, and says so.
func TestLBFGSIsABound(t *testing.T) {
	p := Planner{Cores: 2}
	plan, err := p.Plan(parsed(t, strings.Replace(small, "\n[full]", "\noptim = { kind = \"lbfgs\", lbfgs = { max_iter = 7 } }\n[full]", 1)), paper)
	must(t, err)
	of := func(w float64) float64 { return 2 * (784*w + 3*w + 9) * (7*3*4*60 + 2*90) }
	if want := 2*of(8) + 2*of(16); plan.FLOP != want || !plan.Bound || len(plan.Notes) != 1 || !strings.HasPrefix(plan.Cells()[2], "up to ") {
		t.Errorf("%+v, by hand %v", plan, want)
	}
}

// The plan of a grid has the runs of Expand, at every scale of every recipe; that of a search has more.
func TestRunsAreThoseOfExpand(t *testing.T) {
	longtest.Only(t)
	for _, h := range recipe.List() {
		if !h.Trains() {
			continue
		}
		r, p := foreseen(t, h.ID), Planner{Cores: 2}
		choice := recipe.Choice{Scale: "paper", Seeds: 1}
		runs, err := r.Foresee(choice)
		must(t, err)
		plan, err := p.Plan(r, choice)
		must(t, err)
		want := len(runs)
		if r.Search != nil { // of Hyperband 40 runs, the default with and without held-out samples, the best settings
			want = 43 * len(runs)
		}
		if plan.Runs != want || !(plan.FLOP > 0) || plan.Memory <= 0 || plan.Hours.On64 > plan.Hours.Here || plan.Hours.On64 <= 0 {
			t.Errorf("%s: %+v; wanted %d runs", h.ID, plan, want)
		}
	}
}

// finished computes a run in a lab.
func finished(t *testing.T, lab *store.Lab, c train.Config) (hash string) {
	t.Helper()
	result, err := train.Run(t.Context(), c, lab, train.Options{})
	must(t, err)
	return result.Run
}

// What runs report when they have ended is what was planned, and what the lab has does not count as left to compute.
func TestPlanIsWhatRunsReport(t *testing.T) {
	lab, r := studytest.Lab(t), parsed(t, small)
	runs, err := r.Foresee(paper)
	must(t, err)
	plan := func() Plan {
		p := Planner{Lab: lab.Reader, Cores: 2}
		plan, err := p.Plan(r, paper)
		must(t, err)
		return plan
	}
	var hashes []string
	for i, run := range runs {
		hashes = append(hashes, finished(t, lab, run.Config))
		if got := plan(); got.Done != i+1 || (got.Left == 0) != (i == 3) || (got.Hours.Here == 0) != (i == 3) {
			t.Errorf("after %d runs: %+v", i+1, got)
		}
	}
	loaded, err := judge.Load(lab, hashes...)
	must(t, err)
	if took, want := findings.Count(loaded, false, forecast.Runs(lab, "")), plan(); took.FLOP != want.FLOP || took.Runs != want.Runs || took.Unknown != 0 {
		t.Errorf("runs took %+v, planned %+v", took, want)
	}
}

func TestFailedRunsAreNotLeft(t *testing.T) {
	lab, r := studytest.Lab(t), parsed(t, small)
	runs, err := r.Foresee(paper)
	must(t, err)
	items := studytest.Items(t, []train.Config{runs[0].Config})
	lease, _, err := lab.Lease(items[0].Spec)
	must(t, err)
	must(t, lease.Fail(errors.New("it broke")))
	p := Planner{Lab: lab.Reader, Cores: 2}
	plan, err := p.Plan(r, paper)
	must(t, err)
	if plan.Failed != 1 || plan.Done != 0 || !(plan.Left < plan.FLOP) || !strings.Contains(plan.Lines()[0][1], "1 failed before") {
		t.Errorf("%+v", plan)
	}
}

// Runs that recipes share count once in the sum.
func TestTotalCountsSharedRunsOnce(t *testing.T) {
	p := Planner{Cores: 2}
	whole, err := p.Plan(parsed(t, small), paper)
	must(t, err)
	part, err := p.Plan(parsed(t, strings.Replace(strings.Replace(small, "[8, 16]", "[16, 32]", 1), `run = { epochs`, `run = { checkpoint_every = 2, epochs`, 1)), paper)
	must(t, err)
	theory, err := recipe.Load("tb-fig1")
	must(t, err)
	_, err = p.Plan(theory, paper)
	must(t, err)
	total := p.Total()
	if part.Runs != 4 || total.Runs != 6 || !(total.FLOP < whole.FLOP+part.FLOP && total.FLOP > part.FLOP) || len(total.Notes) != 2 {
		t.Errorf("%+v and %+v: %+v", whole, part, total)
	}
}

// If a data set is not available, only what the lab has of its runs stays open.
func TestPlanWithoutData(t *testing.T) {
	lab := studytest.Lab(t)
	text := strings.Replace(small, `name = "glyphs"`, `name = "svhn"`, 1)
	p := Planner{Lab: lab.Reader, Cores: 2}
	plan, err := p.Plan(parsed(t, text), recipe.Choice{Scale: "paper", Dir: t.TempDir()})
	must(t, err)
	if plan.Runs != 4 || !(plan.FLOP > 0) || len(plan.Notes) != 1 || !strings.Contains(plan.Notes[0], "Not at hand: svhn") {
		t.Errorf("%+v", plan)
	}
}

func TestAChoiceThatIsNone(t *testing.T) {
	var bad *ChoiceError
	p := Planner{Cores: 2}
	if _, err := p.Plan(parsed(t, small), recipe.Choice{Scale: "paper", Preset: "nosuch"}); !errors.As(err, &bad) {
		t.Error(err)
	}
}
