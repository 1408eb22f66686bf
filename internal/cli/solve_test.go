package cli

import (
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// solvedNumbers is what the tests read of the JSON of collapse solve.
type solvedNumbers struct {
	Objective string
	K, D, N   int
	Exact     struct {
		Available bool
		Reason    string
		Objective *float64
		Regime    string
	}
	Found *struct {
		Objective, Gap float64
		Iterations     int
		Trace          []struct {
			Iteration int
			Objective float64
			Measures  map[string]float64
		}
	}
	Fit *struct{ Attenuation float64 }
	At  *struct {
		Objective float64
		Gradients map[string]float64 `json:"gradient_norms"`
	}
	Certificate *struct {
		Verdict string
		Bound   *float64 `json:"gap_bound"`
	}
}

func solveJSON(t *testing.T, args ...string) (out solvedNumbers) {
	t.Helper()
	code, stdout, stderr := call(t, append([]string{"--json", "solve"}, args...)...)
	if code != exitOK {
		t.Fatalf("%v: exit code %d: %s", args, code, stderr)
	}
	decodeOnly(t, stdout, &out)
	return out
}

func TestSolveExactFoundAndAt(t *testing.T) {
	size := []string{"mse", "--k", "4", "--d", "6", "--n", "3", "--lw", ".02", "--lh", ".01", "--lb", ".05"}
	exact := solveJSON(t, size...)
	if got := *exact.Exact.Objective; math.Abs(got-0.0758370732) > 1e-10 || exact.Certificate.Verdict != "global (proved)" {
		t.Errorf("f* = %g, verdict %q", got, exact.Certificate.Verdict)
	}
	file := filepath.Join(t.TempDir(), "point.npz")
	found := solveJSON(t, append(size, "--optimizer", "auto", "--save", file)...)
	if !(math.Abs(found.Found.Gap) <= 1e-12) || found.Certificate.Verdict != "global (proved)" {
		t.Errorf("gap %g, verdict %q", found.Found.Gap, found.Certificate.Verdict)
	}
	at := solveJSON(t, "mse", "--lw", ".02", "--lh", ".01", "--lb", ".05", "--at", file)
	if at.K != 4 || at.D != 6 || at.N != 3 || math.Abs(at.At.Objective-found.Found.Objective) > 1e-15 || !(at.At.Gradients["w"] < 1e-7) {
		t.Errorf("at: %+v", at.At)
	}
	traced := solveJSON(t, append(size, "--optimizer", "gd", "--init", file, "--iters", "20", "--trace-at", "0,20")...)
	if len(traced.Found.Trace) != 2 || traced.Found.Trace[1].Iteration != 20 || len(traced.Found.Trace[1].Measures) < 10 {
		t.Errorf("trace: %+v", traced.Found.Trace)
	}
	noisy := solveJSON(t, "noisy-features", "--k", "3", "--d", "5", "--n", "10000", "--lw", ".02", "--lh", "3e-6", "--sigma", ".5")
	if math.Abs(noisy.Fit.Attenuation-0.5212) > .02 {
		t.Errorf("fitted attenuation %g", noisy.Fit.Attenuation)
	}
}

func TestSolveWithoutClosedFormSaysSoAndSearches(t *testing.T) {
	// K=4, n=3, d=2: a square; value by brute force.
	out := solveJSON(t, "ce", "--k", "4", "--d", "2", "--n", "3", "--lw", ".02", "--lh", ".01", "--lb", ".1")
	if out.Exact.Available || !strings.Contains(out.Exact.Reason, "no closed form") || math.Abs(out.Found.Objective-0.3910598889) > 1e-9 {
		t.Errorf("exact %+v, found %+v", out.Exact, out.Found)
	}
	out = solveJSON(t, "mse", "--lw", "0")
	if out.Exact.Available || !strings.Contains(out.Exact.Reason, "not attained") || !strings.Contains(out.Exact.Reason, "--optimizer lbfgs") || out.Found != nil {
		t.Errorf("λ_W = 0: %+v", out.Exact)
	}
}

func TestSolveWrongCalls(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"mse", "--lw=-1"}, "lw is -1"},
		{[]string{"mse", "--d", "0"}, "d is 0"},
		{[]string{"mse", "--k", "1"}, "k is 1"},
		{[]string{"ls", "--smoothing", "1"}, "smoothing is 1"},
		{[]string{"ls-nonneg", "--k", "4", "--d", "3"}, "d ≥ k"},
		{[]string{"mse", "--lb", "some"}, "--lb"},
		{[]string{"ce", "--loss", "ce"}, "--loss has no effect here"},
		{[]string{"mse", "--init-scale", "1,2,3", "--optimizer", "gd"}, "--init-scale has 3"},
		{[]string{"mse", "--lw", "0", "--optimizer", "auto"}, "lw = 0"},
	} {
		code, stdout, stderr := call(t, append([]string{"solve"}, c.args...)...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit code %d, standard error %q; wanted code 2 and %q", c.args, code, stderr, c.want)
		}
	}
}
