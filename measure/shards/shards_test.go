package shards

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
)

func writeNPY(t *testing.T, dir, name string, a arrayfile.Array) string {
	t.Helper()
	path := filepath.Join(dir, name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(arrayfile.WriteNPY(f, a), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// Mapped files of several layouts and types, as one source.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	half := arrayfile.Array{Header: arrayfile.Header{DType: arrayfile.F16, Shape: []int{2, 3}}, Data: []byte{0, 0x3c, 0, 0x40, 0, 0xc0, 0, 0x38, 0, 0, 0, 0x44}} // 1 2 −2 ½ 0 4
	fortran := arrayfile.Of("", []int{2, 3}, []float64{7, 10, 8, 11, 9, 12})
	fortran.Fortran = true
	paths := []string{
		writeNPY(t, dir, "a.npy", arrayfile.Of("", []int{1, 3}, []float32{-1, -2, -3})),
		writeNPY(t, dir, "b.npy", half),
		writeNPY(t, dir, "c.npy", fortran),
	}
	s, err := Open[float32](paths...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Read(make([]float32, 15), 0, 5)
	want := []float32{-1, -2, -3, 1, 2, -2, .5, 0, 4, 7, 8, 9, 10, 11, 12}
	for i := range want {
		if err != nil || got[i] != want[i] {
			t.Fatalf("rows %v: %v, want %v", got, err, want)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	narrow := writeNPY(t, dir, "narrow.npy", arrayfile.Of("", []int{1, 2}, []float32{1, 2}))
	flat := writeNPY(t, dir, "flat.npy", arrayfile.Of("", []int{3}, []float32{1, 2, 3}))
	for name, c := range map[string]struct {
		paths []string
		want  string
	}{
		"another width": {[]string{paths[0], narrow}, "width of feature shard 1: found 2, want 3"},
		"one axis":      {[]string{flat}, "flat.npy"},
		"no file":       {[]string{filepath.Join(dir, "gone.npy")}, "gone.npy"},
		"no shard":      {nil, "found 0, want 1"},
	} {
		if _, err := Open[float32](c.paths...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.want)
		}
	}
}
