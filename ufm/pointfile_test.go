package ufm

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPointFileRoundTrip(t *testing.T) {
	for name, c := range everyModel() {
		p := c.Start(InitScale{1, 2, 3}, 4)
		path := filepath.Join(t.TempDir(), "point.npz")
		writeFile(t, path, c, p)
		for _, asked := range []Config{c, unsized(c)} {
			gotC, got, err := asked.ReadPoint(path)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if gotC != c || !slices.Equal(got.X, p.X) {
				t.Errorf("%s: read back %+v", name, gotC)
			}
		}
	}
}

func unsized(c Config) Config {
	c.K, c.D, c.N = 0, 0, 0
	return c
}

func writeFile(t *testing.T, path string, c Config, p Point) {
	t.Helper()
	var file bytes.Buffer
	if err := c.WritePoint(&file, p); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, file.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestPointFileRefuses(t *testing.T) {
	c := Config{Model: MSE, K: 3, N: 2, D: 4, LW: .1, LH: .1, LB: .1}
	path := filepath.Join(t.TempDir(), "point.npz")
	p := c.Start(InitScale{1, 1, 1}, 1)
	writeFile(t, path, c, p)
	other, bare, three := c, c, Config{Model: Linear3, K: 3, N: 2, D: 4, L2: 1, L1: 1, LH1: 1}
	other.D, bare.LB = 5, NoBias
	for want, ask := range map[string]Config{"W has shape [3 4], wanted [3 5]": other, "[b] do not belong": bare, "array W2 is missing": three} {
		if _, _, err := ask.ReadPoint(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, wanted %q", err, want)
		}
	}
	p.H[3] = math.NaN()
	writeFile(t, path, c, p)
	if _, _, err := c.ReadPoint(path); err == nil || !strings.Contains(err.Error(), "H[0,3] is NaN") {
		t.Errorf("a NaN passed: %v", err)
	}
	if _, _, err := unsized(three).ReadPoint(path); err == nil || !strings.Contains(err.Error(), "wanted W2 (k×d) and H1 (d×kn)") {
		t.Errorf("a file without sizes: %v", err)
	}
}

// Points where the objective overflows, and penalties near the smallest numbers, get an answer, not a panic.
func TestExtremesAreLabelled(t *testing.T) {
	c := Config{Model: MSE, K: 3, N: 2, D: 4, LW: .1, LH: .1, LB: NoBias}
	problem, err := NewProblem(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	exact, err := c.Exact()
	if err != nil {
		t.Fatal(err)
	}
	huge := c.Start(InitScale{1e200, 1e200, 0}, 1)
	if cert := problem.Certify(huge.X, exact); !strings.HasPrefix(cert.Verdict, "not finite") {
		t.Errorf("verdict of an overflow: %q", cert.Verdict)
	}
	tiny := Config{Model: CE, K: 4, N: 2, D: 5, LW: 1e-300, LH: 1e-300, LB: NoBias}
	if exact, err = tiny.Exact(); err != nil {
		t.Fatal(err)
	}
	if problem, err = NewProblem(tiny, nil); err != nil {
		t.Fatal(err)
	}
	at, err := problem.Instance(exact, seeded64(1))
	if err != nil {
		t.Fatal(err)
	}
	if cert := problem.Certify(at.X, exact); !strings.HasPrefix(cert.Verdict, "global") {
		t.Errorf("verdict at penalties of 1e-300: %q, exact %+v", cert.Verdict, exact.Objective)
	}
}
