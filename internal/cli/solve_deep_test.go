package cli

import (
	"strings"
	"testing"

	"collapse.example/collapse/internal/longtest"
)

func TestSolveDeep(t *testing.T) {
	out, _ := called(t, exitOK, "solve", "deep", "--k", "3", "--n", "1", "--widths", "5,4", "--penalties", "0.01,0.02,0.03", "--starts", "3")
	for _, want := range []string{"2 linear layers", "(collapse; proved)", "zero is optimal from 0.39685026 on", "rank         3", "3 random starts; 3 end there"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
	shallow := solveJSON(t, "linear3", "--k", "3", "--n", "1", "--d", "5", "--l2", "0.01", "--l1", "0.02", "--lh1", "0.03", "--exact-only")
	deep := solveJSON(t, "deep", "--k", "3", "--n", "1", "--widths", "5,5", "--penalties", "0.01,0.02,0.03", "--starts", "0")
	if a, b := *shallow.Exact.Objective, *deep.Exact.Objective; !(a-b < 1e-12 && b-a < 1e-12) || deep.Found != nil {
		t.Errorf("two layers: %v, as linear3 %v", b, a)
	}
	for want, args := range map[string][]string{
		"penalty 2 of 3 is 0": {"--widths", "5,4", "--penalties", "0.1,0,0.1"},
		"2 penalties for 3":   {"--penalties", "0.1,0.1"},
		"K is 1":              {"--k", "1"},
		"--starts is -1":      {"--starts=-1"},
		"narrower layers":     {"--widths", "1000000,1000000"},
	} {
		if _, errs := called(t, exitUsage, append([]string{"solve", "deep"}, args...)...); !strings.Contains(errs, want) {
			t.Errorf("%q: %s", args, errs)
		}
	}
}

// TestSolveDeepSimplices: the blocks of cross entropy are printed with what they prove, also without a search, and nothing is claimed of models in
// which they do not lie lower.
func TestSolveDeepSimplices(t *testing.T) {
	base := []string{"solve", "deep", "--loss", "ce", "--starts", "0"}
	out, _ := called(t, exitOK, append(base, "--k", "7", "--n", "1", "--widths", "8,8", "--penalties", "0.02")...)
	for _, want := range []string{"margin 4.32353", "; not optimal)", "1 of 3 classes with singular value ", " and 2 of 2 classes", "logits of rank 4", "prove it", "K = 7 and 2 layers at all penalties", "not optimal: a point"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
	out, _ = called(t, exitOK, append(base, "--k", "4", "--widths", "8,8", "--penalties", "0.0002")...)
	if !strings.Contains(out, "2 of 2 classes") || !strings.Contains(out, "nothing below neural collapse was found by simplices side by side; that is not a proof") || strings.Contains(out, "prove it") {
		t.Errorf("four classes, two layers:\n%s", out)
	}
	out, _ = called(t, exitOK, append(base, "--k", "5", "--widths", "3,3,3", "--penalties", "0.001")...)
	if !strings.Contains(out, "logits of rank 3") || strings.Contains(out, "symmetric") || strings.Contains(out, "verdict") {
		t.Errorf("narrow layers:\n%s", out)
	}
}

func TestSolveDeepWithReLU(t *testing.T) {
	longtest.Only(t)
	out, _ := called(t, exitOK, "solve", "deep", "--relu", "--k", "10", "--widths", "12,12,12,12", "--penalties", "0.01", "--n", "1", "--starts", "0")
	for _, want := range []string{"4 ReLU layers", "edges of 5 points", "neural collapse is not optimal: a point 14.6 % lower", "no random start was made", "from the listed point"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
	// Three classes: 0.352 was known by hand, below which the default search has to go, and says how.
	out, errs := called(t, exitOK, "solve", "deep", "--relu", "--k", "3", "--widths", "4,4,4,4", "--penalties", "0.05", "--n", "1")
	if !strings.Contains(errs, "searching for lower points, for 30s at most") { // how far it is comes every 2 s: see TestExploreProgress
		t.Errorf("it does not tell what it does:\n%s", errs)
	}
	for _, want := range []string{"neural collapse  f = 0.3625138253", "lowest found     f = 0.3488", "not optimal: a point 3.76 % lower", "random starts (several sizes", "[3 3 2 2 2]"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
	out, _ = called(t, exitOK, "solve", "deep", "--relu", "--k", "2", "--n", "1", "--widths", "3,3,3", "--penalties", "0.02", "--starts", "12")
	if !strings.Contains(out, "nothing below neural collapse was found by descents from the listed point, 12 random starts") {
		t.Errorf("two classes:\n%s", out)
	}
	if out, _ := called(t, exitOK, "solve", "deep", "--loss", "ce"); !strings.Contains(out, "symmetric  f = 0.19827") || !strings.Contains(out, "not optimal: a point 8.6") {
		t.Errorf("cross entropy:\n%s", out)
	}
	if out, _ := called(t, exitOK, "solve", "deep", "--loss", "ce", "--relu", "--starts", "2"); !strings.Contains(out, "in 2 random starts") || strings.Contains(out, "verdict") {
		t.Errorf("cross entropy with ReLU:\n%s", out)
	}
	if _, errs := called(t, exitUsage, "solve", "deep", "--relu", "--k", "1001", "--widths", "9,9"); !strings.Contains(errs, "at most 1000") {
		t.Error(errs)
	}
}
