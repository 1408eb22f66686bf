package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// besideRuns are runs of four classes of 24 or fewer samples in five dimensions, and the command that solves what each of them minimises.
var besideRuns = []struct {
	sets, solve string
	scale       float64 // of the run's objective to the solver's; 0: 1
}{
	{"loss.kind=ce", "ce --lw 0.01 --lh 0.005", 0},
	{"loss.kind=ce optim.lambda_w=0.3 optim.lambda_h=0.3", "ce --lw 0.3 --lh 0.3", 0},
	{"loss.kind=ce net.bias=true optim.lambda_b=0.02", "ce --lw 0.01 --lh 0.005 --lb 0.02", 0},
	{"loss.kind=ls", "ls --lw 0.01 --lh 0.005", 0},
	{"loss.kind=ls loss.smoothing=0.3 optim.lambda_w=0.05", "ls --smoothing 0.3 --lw 0.05 --lh 0.005", 0},
	{"loss.kind=ls optim.decay=peeled-batch run.batch=48", "ls --lw 0.01 --lh 0.0025", 0},
	{"loss.kind=mse", "mse --lw 0.02 --lh 0.01", 0.5},
	{"loss.kind=mse loss.reduction=paper", "mse --lw 0.01 --lh 0.005", 0},
	{"loss.kind=mse loss.reduction=paper net.bias=true optim.lambda_b=0.5", "mse --lw 0.01 --lh 0.005 --lb 0.5", 0},
	{"loss.kind=mse optim.lambda_w=0.4 optim.lambda_h=0.4", "mse --lw 0.8 --lh 0.8", 0.5},
	{"loss.kind=rescaled_mse loss.reduction=paper loss.alpha=2 loss.m=3", "rescaled-mse --alpha 2 --m 3 --lw 0.01 --lh 0.005", 0},
	{"loss.kind=ce net.linear_features=false", "ls-nonneg --smoothing 0 --lw 0.005 --lh 0.06", 0},
	{"loss.kind=ls net.linear_features=false", "ls-nonneg --smoothing 0.1 --lw 0.005 --lh 0.06", 0},
	{"loss.kind=ce data.imbalance=step data.imbalance_ratio=3", "imbalanced --ratio 3 --lw 0.01 --lh 0.005", 0},
	{"loss.kind=ce data.imbalance=step data.imbalance_ratio=12", "imbalanced --ratio 12 --lw 0.01 --lh 0.005", 0},
	{"loss.kind=ce data.imbalance=step data.imbalance_ratio=12 optim.lambda_w=0.2", "imbalanced --ratio 12 --lw 0.2 --lh 0.005", 0},
	{"loss.kind=ls data.imbalance=step data.minority=1", "imbalanced --loss ls --minority 1 --lw 0.01 --lh 0.005", 0},
	{"loss.kind=ls data.imbalance=long-tail data.imbalance_ratio=4", "imbalanced --loss ls --profile long-tail --ratio 4 --lw 0.01 --lh 0.005", 0},
	{"loss.kind=mse data.imbalance=step data.imbalance_ratio=6 loss.reduction=paper optim.lambda_w=0.3", "imbalanced --loss mse --ratio 6 --lw 0.3 --lh 0.005", 0},
	{"loss.kind=mse data.imbalance=long-tail data.imbalance_ratio=3", "imbalanced --loss mse --profile long-tail --ratio 3 --lw 0.02 --lh 0.01", 0.5},
	{"loss.kind=ce optim.lambda_w=0.3 optim.lambda_h=0.3 data.imbalance=step data.imbalance_ratio=2", "imbalanced --ratio 2 --lw 0.3 --lh 0.3", 0},
}

// TestRunsBesideTheory: a run lies above what collapse solve finds for its objective, and what its page sets beside it are solve's numbers.
func TestRunsBesideTheory(t *testing.T) {
	lab := filepath.Join(t.TempDir(), "lab")
	usual := "data.name=glyphs data.classes=4 data.samples_per_class=24 data.test_samples_per_class=4 net.depth=1 net.width=8 net.feature_dim=5 net.linear_features=true net.bias=false " +
		"optim.decay=peeled optim.lambda_w=0.01 optim.lambda_h=0.005 run.batch=96 run.epochs=2"
	for _, c := range besideRuns {
		t.Run(c.sets, func(t *testing.T) {
			args := []string{"--lab", lab, "--json", "train"}
			for _, set := range strings.Fields(usual + " " + c.sets) {
				args = append(args, "--set", set)
			}
			out, _ := called(t, exitOK, args...)
			var run struct {
				Run, Theory string
				Values      map[string]float64
			}
			if err := json.Unmarshal([]byte(out), &run); err != nil {
				t.Fatal(err)
			}
			least, sides := solvedBeside(t, c.solve)
			if c.scale != 0 {
				least *= c.scale
			}
			if got := run.Values["theory/optimum"]; !(math.Abs(got-least) <= 1e-9*least) {
				t.Errorf("f* %.12g, solve says %.12g", got, least)
			}
			if excess := run.Values["train/excess"]; !(excess >= -1e-6) || !(math.Abs(excess-(run.Values["train/objective"]-least)) <= 1e-9) {
				t.Errorf("excess %g of the objective %g over %g", excess, run.Values["train/objective"], least)
			}
			for key, want := range sides {
				got, ok := run.Values["theory/"+key]
				if ok == math.IsNaN(want) || ok && !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
					t.Errorf("%s: %.12g (%v), solve says %.12g", key, got, ok, want)
				}
			}
			shown, _ := called(t, exitOK, "--lab", lab, "runs", "show", run.Run)
			if !strings.HasPrefix(run.Theory, "The least objective over free features is ") || !strings.Contains(shown, run.Theory) {
				t.Errorf("theory %q\n%s", run.Theory, shown)
			}
		})
	}
}

// solvedBeside are f* and the geometry that collapse solve prints, by the names of a run's rows; NaN where it has none.
func solvedBeside(t *testing.T, solve string) (least float64, sides map[string]float64) {
	t.Helper()
	args := strings.Fields(solve)
	or := func(v *float64) float64 {
		if v == nil {
			return math.NaN()
		}
		return *v
	}
	sides = map[string]float64{}
	if args[0] == "imbalanced" {
		s := solveImbalanced(t, append(args[1:], "--k", "4", "--n", "24", "--d", "5")...)
		for side, j := range map[string]int{"most": 0, "fewest": len(s.Optimum.Groups) - 1} {
			g := s.Optimum.Groups[j]
			sides["w_norm_"+side], sides["mean_norm_"+side], sides["margin_"+side] = g.Classifier, g.Mean, g.Margin
			sides["w_cos_"+side], sides["mean_cos_"+side] = or(s.Optimum.CosW[j][j]), or(s.Optimum.CosMeans[j][j])
		}
		return s.Optimum.Objective, sides
	}
	out, _ := called(t, exitOK, append([]string{"--json", "solve"}, append(args, "--k", "4", "--n", "24", "--d", "5", "--exact-only")...)...)
	var s struct {
		Exact struct {
			Objective, Margin float64
			W                 float64  `json:"w_norm2"`
			H                 float64  `json:"h_norm2"`
			Diag              *float64 `json:"gram_diag"`
			Off               *float64 `json:"gram_offdiag"`
		}
	}
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatal(err, out)
	}
	for _, side := range []string{"most", "fewest"} {
		e := s.Exact
		sides["w_norm_"+side], sides["mean_norm_"+side], sides["margin_"+side] = math.Sqrt(e.W/4), math.Sqrt(e.H/96), e.Margin
		cos := or(e.Off) / or(e.Diag)
		sides["mean_cos_"+side], sides["w_cos_"+side] = cos, cos
		if args[0] == "ls-nonneg" { // classifiers are a simplex ETF
			sides["w_cos_"+side] = -1.0 / 3
		}
	}
	return s.Exact.Objective, sides
}

// TestPredictedStatesAreNamed: where theory predicts that all is zero, a run that gets there is neither unfitted nor degenerate, and claims count it.
func TestPredictedStatesAreNamed(t *testing.T) {
	lab := filepath.Join(t.TempDir(), "lab")
	train := func(sets string) (states []string, id string) {
		t.Helper()
		args := []string{"--lab", lab, "--json", "train"}
		for _, set := range strings.Fields("data.name=glyphs data.classes=3 data.samples_per_class=20 data.test_samples_per_class=4 net.depth=1 net.width=64 net.feature_dim=4 net.linear_features=true net.bias=false net.batch_norm=false optim.decay=peeled run.batch=60 " + sets) {
			args = append(args, "--set", set)
		}
		out, _ := called(t, exitOK, args...)
		var run struct {
			Run    string
			States []string
		}
		if err := json.Unmarshal([]byte(out), &run); err != nil {
			t.Fatal(err)
		}
		return run.States, run.Run
	}
	for want, sets := range map[string]string{
		"[zero solution]":     "optim.lambda_w=0.4 optim.lambda_h=0.4 run.epochs=300 optim.lr=0.01 optim.schedule.kind=constant run.measure_every=300",
		"[unfitted]":          "optim.lambda_w=0.005 optim.lambda_h=0.001 run.epochs=1 optim.lr=0.0001 run.seed=2",
		"[minority collapse]": "optim.lambda_w=0.1 optim.lambda_h=0.03 data.imbalance=step data.imbalance_ratio=20 data.minority=2 run.epochs=400 optim.lr=0.05 optim.schedule.kind=constant run.measure_every=400",
	} {
		if got, id := train(sets); fmt.Sprint(got) != want {
			t.Errorf("%s: %v, wanted %s", sets, got, want)
		} else if want == "[minority collapse]" {
			if shown, _ := called(t, exitOK, "--lab", lab, "runs", "show", id); !strings.Contains(shown, "this run reaches it, within rounding. Largest classes: ‖w‖ 1.64 (theory 1.64)") {
				t.Errorf("%s", shown[:min(len(shown), 2000)])
			}
		}
	}
}
