package data

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSVHN reads what testdata/make.py wrote with scipy: pixels by formula, labels 1 … 10 of which 10 is the digit 0.
func TestSVHN(t *testing.T) {
	root := t.TempDir()
	os.Mkdir(filepath.Join(root, "svhn"), 0o755)
	for _, half := range []string{"train", "test"} {
		write(t, filepath.Join(root, "svhn", half+"_32x32.mat"), read(t, "testdata/svhn_"+half+".mat"))
	}
	train, test, err := load(Source{Name: "svhn", Root: root})
	if err != nil {
		t.Fatal(err)
	}
	if train.N() != 12 || test.N() != 11 || train.Norm != NormCIFAR {
		t.Fatalf("%d and %d samples", train.N(), test.N())
	}
	for _, s := range []*Set{train, test} {
		for n := range s.N() {
			if want := int32((n + 1) % 10); s.True[n] != want {
				t.Errorf("label %d of sample %d, want %d", s.True[n], n, want)
			}
			for c := range 3 {
				for y := range 32 {
					for x := range 32 {
						if got, want := s.Image(n)[(c*32+y)*32+x], uint8(7*n+3*y+5*x+11*c); got != want {
							t.Fatalf("sample %d channel %d (%d,%d): %d, want %d", n, c, y, x, got, want)
						}
					}
				}
			}
		}
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSVHNErrors(t *testing.T) {
	whole := read(t, "testdata/svhn_train.mat")
	for what, c := range map[string]struct {
		file []byte
		want string
	}{
		"cut":     {whole[:len(whole)-1], "cut short"},
		"hdf5":    {append([]byte("MATLAB 7.3 MAT-file"), make([]byte, 600)...), "want IM or MI"},
		"another": {read(t, "../arrayfile/testdata/mat_plain.mat"), "images X are [4 3 3 5] of U8; want [32 32 3 5] of U8"},
		"no y":    {read(t, "../arrayfile/testdata/mat_odd.mat"), `has no array "y"`},
		"text":    {[]byte("<html>not found</html>"), "which is none of"},
		"flipped": {flipped(whole), "check"},
		"a grid":  {matOf(t, []int{2, 2}, 1, 2, 3, 4), "labels y have shape [2 2]; want N×1"},
		"no rows": {matOf(t, []int{0, 1}), "labels y have shape [0 1]; want N×1"},
		"zero":    {matOf(t, []int{3, 1}, 10, 1, 0), "label 0 of sample 2 is out of range; SVHN has labels 1 to 10"},
		"eleven":  {matOf(t, []int{1, 2}, 11, 1), "label 11 of sample 0 is out of range"},
	} {
		root := t.TempDir()
		os.Mkdir(filepath.Join(root, "svhn"), 0o755)
		path := filepath.Join(root, "svhn", "train_32x32.mat")
		write(t, path, c.file)
		s, err := Open(Source{Name: "svhn", Root: root}, Train)
		if s != nil || err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want an error with %q and the path", what, err, c.want)
		}
	}
}

// matOf is a MATLAB 5 file with the labels y alone, as bytes.
func matOf(t *testing.T, shape []int, labels ...byte) []byte {
	t.Helper()
	element := func(kind uint32, data []byte) []byte {
		b := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, kind), uint32(len(data)))
		return append(append(b, data...), make([]byte, -len(data)&7)...)
	}
	var dims []byte
	for _, n := range shape {
		dims = binary.LittleEndian.AppendUint32(dims, uint32(n))
	}
	const uint8Class = 9
	array := slices.Concat(element(6, []byte{uint8Class, 0, 0, 0, 0, 0, 0, 0}), element(5, dims), element(1, []byte("y")), element(2, labels))
	header := append([]byte("MATLAB 5.0 MAT-file"), bytes.Repeat([]byte(" "), 124-19)...)
	return slices.Concat(header, []byte{0, 1, 'I', 'M'}, element(14, array))
}

// flipped has one bit of the last checksum of a stream changed.
func flipped(b []byte) []byte {
	b = bytes.Clone(b)
	b[len(b)-1] ^= 1
	return b
}
