package cli

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"collapse.example/collapse/internal/chart"
)

func solveImbalanced(t *testing.T, args ...string) solvedImbalanced {
	t.Helper()
	out, _ := called(t, exitOK, append([]string{"solve", "imbalanced", "--json"}, args...)...)
	var s solvedImbalanced
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return s
}

func TestSolveImbalanced(t *testing.T) {
	out, _ := called(t, exitOK, "solve", "imbalanced", "--k", "6", "--n", "100", "--minority", "2", "--starts", "2")
	for _, want := range []string{"K = 6, N = 420 samples", "duality gap", "ONE FROM μ", "\nMARGIN      ", "μ = √(λ_W·λ_H) = ", "2 of 2 starts reach", "SELI"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
	for line := range strings.Lines(out) {
		if wide := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); wide > 80 && strings.Contains(line, "  ") && !strings.Contains(line, "(") { // a table cannot continue below
			t.Errorf("%d characters: %s", wide, line)
		}
	}
	balanced := solveImbalanced(t, "--k", "5", "--n", "50", "--ratio", "1", "--lw", "0.002", "--lh", "0.001", "--d", "7")
	shallow := solveJSON(t, "ce", "--k", "5", "--n", "50", "--d", "7", "--lw", "0.002", "--lh", "0.001", "--exact-only")
	if got, want := balanced.Optimum.Objective, *shallow.Exact.Objective; !(math.Abs(got-want) < 1e-9) {
		t.Errorf("equal counts: %.12g, as ce %.12g", got, want)
	}
	apart := solveImbalanced(t, "--counts", "100,100,4,4", "--loss", "ls", "--smoothing", "0.2")
	price := apart.Apart[1]
	if want := 0.8 * 2 / 208; !(math.Abs(price-want) < 1e-12) || apart.Optimum.Groups[1].Same || apart.Optimum.Groups[1].Count != 4 {
		t.Errorf("threshold %g, wanted %g: %+v", price, want, apart.Optimum.Groups)
	}
	for want, args := range map[string][]string{
		"class 2 has 0":         {"--counts", "5,5,0"},
		"--k has no effect":     {"--counts", "5,5", "--k", "2"},
		"--minority has no":     {"--profile", "long-tail", "--minority", "2"},
		"--smoothing has no":    {"--smoothing", "0.1"},
		"smoothing is 1":        {"--loss", "ls", "--smoothing", "1"},
		"d is 0":                {"--d", "0"},
		"K is 1":                {"--k", "1"},
		"ratio is 0.5":          {"--ratio", "0.5"},
		"only an infimum":       {"--lw", "0"},
		"--starts is -1":        {"--starts=-1"},
		"11 of 10 classes in t": {"--minority", "11"},
	} {
		if _, errs := called(t, exitUsage, append([]string{"solve", "imbalanced"}, args...)...); !strings.Contains(errs, want) {
			t.Errorf("%q: %s", args, errs)
		}
	}
}

// TestImbalancedPicture: the curves start at the simplex ETF, and the marked ratio is the one asked for.
func TestImbalancedPicture(t *testing.T) {
	dir := t.TempDir()
	called(t, exitOK, "solve", "imbalanced", "--k", "5", "--n", "64", "--ratio", "8", "--minority", "2", "--out", dir)
	f := figureIn(t, dir, "imbalance")
	angles := f.Panels[0].Series
	for i := range 6 {
		if y := angles[i].Y[0]; !(math.Abs(y+0.25) < 1e-4) {
			t.Errorf("%s starts at %g, wanted -1/(K-1)", angles[i].Label, y)
		}
	}
	if here := angles[6]; here.X[0] != 8 {
		t.Errorf("marked is %v", here.X)
	}
	if margin := f.Panels[2].Series[0].Y; !(margin[len(margin)-1] < margin[0]) {
		t.Errorf("margins %v do not fall", margin)
	}
}

// figureIn reads a figure that a page was written with.
func figureIn(t *testing.T, dir, id string) (f chart.Figure) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "figures", id+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestSolveImbalancedAtZero: what a descent leaves of vectors that vanish, some 1e-162, is printed as 0 and has no angle.
func TestSolveImbalancedAtZero(t *testing.T) {
	args := []string{"--profile", "long-tail", "--lw", "0.1", "--lh", "0.1"}
	out, _ := called(t, exitOK, append([]string{"solve", "imbalanced"}, args...)...)
	_, table, _ := strings.Cut(out, "CLASSES")
	if !strings.Contains(out, "rank 0") || table == "" || strings.Contains(table, "e-") || !strings.Contains(table, "At zero: the classes of size 500, 387,") {
		t.Errorf("at zero:\n%s", out)
	}
}
