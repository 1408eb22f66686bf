package pointfile

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/ufm"
)

// FuzzRead gives the reader of point files any file: what it accepts is a point of the configuration that it returns.
func FuzzRead(f *testing.F) {
	c := ufm.Config{Model: "mse", K: 2, D: 2, N: 1, LW: .1, LH: .1}
	var b bytes.Buffer
	if err := Write(&b, c, c.NewPoint()); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	path := filepath.Join(f.TempDir(), "point.npz")
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<13 {
			t.Skip("larger files say nothing new and are slow to make smaller")
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		found, p, err := Read(ufm.Config{Model: "mse", LW: .1, LH: .1}, path)
		if err == nil && len(p.X) != found.Variables() {
			t.Errorf("%d variables, want %d", len(p.X), found.Variables())
		}
	})
}

// An array without a number may claim any shape.
func TestPointFileThatClaimsMuch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "point.npz")
	var b bytes.Buffer
	arrays := []arrayfile.Array{arrayfile.Of("W", []int{2, 1}, []float64{1, 2}), arrayfile.Of("H", []int{0, 1 << 40}, []float64{})}
	if err := arrayfile.WriteNPZ(&b, arrays); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := Read(ufm.Config{Model: "mse", LW: .1, LH: .1}, path)
	if err == nil || !strings.Contains(err.Error(), "its arrays hold 2 numbers, wanted at least") {
		t.Errorf("error %v", err)
	}
}
