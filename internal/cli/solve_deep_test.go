package cli

import (
	"strings"
	"testing"
)

func TestSolveDeep(t *testing.T) {
	out, _ := called(t, exitOK, "solve", "deep", "--k", "3", "--n", "1", "--widths", "5,4", "--penalties", "0.01,0.02,0.03", "--starts", "3")
	for _, want := range []string{"2 linear layers", "(collapse; proved)", "zero is optimal from 0.39685026 on", "rank         3", "3 starts reach"} {
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
