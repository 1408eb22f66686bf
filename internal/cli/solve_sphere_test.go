package cli

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func TestSolveSphere(t *testing.T) {
	out, _ := called(t, exitOK, "solve", "sphere", "--k", "6", "--d", "3", "--starts", "3")
	for _, want := range []string{"not proved optimal: the lowest end of 4 starts, at which 4 of them end; however many do, another may end lower", "cross-polytope", "one-vs-rest margin"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
	if out, _ := called(t, exitOK, "solve", "sphere", "--k", "4", "--d", "3"); !strings.Contains(out, ": proved optimal") {
		t.Errorf("a simplex is not proved:\n%s", out)
	}
	out, _ = called(t, exitOK, "solve", "sphere", "--json", "--k", "5", "--d", "2", "--starts", "2")
	var s solvedSphere
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatal(err)
	}
	if want := 1 - math.Cos(2*math.Pi/5); !(math.Abs(s.Found.Shape.Margin-want) < 1e-8) || len(s.W) != 5 || len(s.H[4]) != 2 {
		t.Errorf("pentagon: %+v", s)
	}
	for want, args := range map[string][]string{
		"wanted d ≤ K":     {"--k", "4", "--d", "5"},
		"K is 1":           {"--k", "1", "--d", "2"},
		"temperature is 0": {"--temperature", "0"},
		"--starts is 0":    {"--k", "8", "--d", "3", "--starts", "0"},
		"--starts is -1":   {"--starts=-1"},
	} {
		if _, errs := called(t, exitUsage, append([]string{"solve", "sphere"}, args...)...); !strings.Contains(errs, want) {
			t.Errorf("%q: %s", args, errs)
		}
	}
}

// TestSpherePicture: margins grow with the width up to the simplex's, where the objective meets its bound.
func TestSpherePicture(t *testing.T) {
	dir := t.TempDir()
	called(t, exitOK, "solve", "sphere", "--k", "6", "--d", "4", "--starts", "4", "--out", dir)
	f := figureIn(t, dir, "widths")
	margin, objective, bound := f.Panels[0].Series[0], f.Panels[1].Series[0], f.Panels[1].Series[1]
	n := len(margin.X)
	if n != 5 || margin.X[0] != 2 || margin.X[n-1] != 6 || !(math.Abs(margin.Y[n-1]-1.2) < 1e-8) || !(margin.Y[0] < margin.Y[1]) {
		t.Errorf("margins %v at %v", margin.Y, margin.X)
	}
	if gap := objective.Y[n-2] - bound.Y[n-2]; !(math.Abs(gap) < 1e-8) || !(objective.Y[0] > bound.Y[0]+0.1) {
		t.Errorf("objective %v, bound %v", objective.Y, bound.Y)
	}
}
