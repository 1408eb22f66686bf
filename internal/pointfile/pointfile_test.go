package pointfile

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/ufm"
)

func TestPointFileRoundTrip(t *testing.T) {
	for _, c := range []ufm.Config{
		{Model: ufm.MSE, K: 4, N: 3, D: 2, LW: .02, LH: .03, LB: .1}, {Model: ufm.MSE, K: 2, N: 3, D: 4, LW: .02, LH: .03, LB: ufm.NoBias},
		{Model: ufm.LSNonneg, K: 3, N: 4, D: 5, LW: .02, LH: .01, LB: .1, Smoothing: .2}, {Model: ufm.Linear3, K: 3, N: 2, D: 4, L2: .02, L1: .01, LH1: .03},
		{Model: ufm.ReLU3, K: 3, N: 4, D: 5, L2: .02, L1: .01, LH1: .03, Loss: "ce"}, {Model: ufm.ReLUPlain, K: 3, N: 2, D: 4, LW: .02, LH: .01},
	} {
		p := c.Start(ufm.InitScale{W: 1, W1: 2, H: 3}, 4)
		path := filepath.Join(t.TempDir(), "point.npz")
		writeFile(t, path, c, p)
		for _, asked := range []ufm.Config{c, unsized(c)} {
			gotC, got, err := Read(asked, path)
			if err != nil {
				t.Errorf("%s: %v", c.Model, err)
			} else if gotC != c || !slices.Equal(got.X, p.X) {
				t.Errorf("%s: read back %+v", c.Model, gotC)
			}
		}
	}
}

func unsized(c ufm.Config) ufm.Config {
	c.K, c.D, c.N = 0, 0, 0
	return c
}

func writeFile(t *testing.T, path string, c ufm.Config, p ufm.Point) {
	t.Helper()
	var file bytes.Buffer
	if err := Write(&file, c, p); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, file.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestPointFileRefuses(t *testing.T) {
	c := ufm.Config{Model: ufm.MSE, K: 3, N: 2, D: 4, LW: .1, LH: .1, LB: .1}
	path := filepath.Join(t.TempDir(), "point.npz")
	p := c.Start(ufm.InitScale{W: 1, W1: 1, H: 1}, 1)
	writeFile(t, path, c, p)
	other, bare, three := c, c, ufm.Config{Model: ufm.Linear3, K: 3, N: 2, D: 4, L2: 1, L1: 1, LH1: 1}
	other.D, bare.LB = 5, ufm.NoBias
	for want, ask := range map[string]ufm.Config{"W has shape [3 4], wanted [3 5]": other, "[b] do not belong": bare, "array W2 is missing": three} {
		if _, _, err := Read(ask, path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, wanted %q", err, want)
		}
	}
	p.H[3] = math.NaN()
	writeFile(t, path, c, p)
	if _, _, err := Read(c, path); err == nil || !strings.Contains(err.Error(), "H[0,3] is NaN") {
		t.Errorf("a NaN passed: %v", err)
	}
	if _, _, err := Read(unsized(three), path); err == nil || !strings.Contains(err.Error(), "wanted W2 (k×d) and H1 (d×kn)") {
		t.Errorf("a file without sizes: %v", err)
	}
}
