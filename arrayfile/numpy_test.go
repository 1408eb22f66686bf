package arrayfile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestFilesOfNumpy reads what testdata/make.py wrote with numpy: -5, -4, …, 18 as 2×3×4 in every
// type, byte order and layout, and checks that writing an array gives numpy's own bytes.
func TestFilesOfNumpy(t *testing.T) {
	paths, err := filepath.Glob("testdata/*_[cf].npy")
	if err != nil || len(paths) != 32 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	for _, path := range paths {
		name := filepath.Base(path)
		a := loadFile(t, path, "")
		if fortran := strings.HasSuffix(name, "_f.npy"); a.Fortran != fortran || a.BigEndian != strings.HasPrefix(name, "be_") || fmt.Sprint(a.Shape) != "[2 3 4]" {
			t.Errorf("%s: header %+v", name, a.Header)
		}
		got, err := a.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		whole, err := a.Int64s()
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			want := float64(i - 5)
			switch {
			case strings.Contains(name, "u"):
				want = max(want, -want)
			case a.DType == Bool:
				want = float64((i + 5) % 2)
			}
			if got[i] != want || float64(whole[i]) != want {
				t.Errorf("%s: element %d is %g, %d, want %g", name, i, got[i], whole[i], want)
			}
		}
		sameBytes(t, path, a)
	}
	for name, want := range map[string]string{"scalar.npy": "[] [2.5]", "empty.npy": "[0 7] []", "vector.npy": "[3] [0 1 2]"} {
		a := loadFile(t, filepath.Join("testdata", name), "")
		v, err := a.Float64s()
		if got := fmt.Sprint(a.Shape, v); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", name, got, err, want)
		}
		sameBytes(t, filepath.Join("testdata", name), a)
	}
}

func loadFile(t *testing.T, path, name string) Array {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	a, err := f.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func sameBytes(t *testing.T, path string, a Array) {
	t.Helper()
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := WriteNPY(&got, a); err != nil || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s: written again: %v\ngot  %q\nwant %q", path, err, got.Bytes(), want)
	}
}

func TestArchivesOfNumpy(t *testing.T) {
	for _, name := range []string{"stored.npz", "deflated.npz"} {
		path := filepath.Join("testdata", name)
		h, err := loadFile(t, path, "features").Float32s()
		if err != nil || len(h) != 24 || h[0] != -5 || h[23] != 18 {
			t.Errorf("%s: features %v, %v", name, h, err)
		}
		y, err := loadFile(t, path, "labels").Int64s()
		if err != nil || fmt.Sprint(y) != "[0 1 2]" {
			t.Errorf("%s: labels %v, %v", name, y, err)
		}
	}
}

// TestHeadersOfNumpy compares the lengths of many headers with numpy's; above are their bytes.
func TestHeadersOfNumpy(t *testing.T) {
	text, err := os.ReadFile("testdata/headers.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 300 {
		t.Fatalf("%d lines", len(lines))
	}
	for _, line := range lines {
		var fortran bool
		var sizes string
		var want int
		if _, err := fmt.Sscan(line, &fortran, &sizes, &want); err != nil {
			t.Fatal(err)
		}
		h := Header{DType: F32, Fortran: fortran}
		for size := range strings.SplitSeq(sizes, ",") {
			n, err := strconv.Atoi(size)
			if err != nil {
				t.Fatal(err)
			}
			h.Shape = append(h.Shape, n)
		}
		if got := h.npyHeader(); len(got) != want {
			t.Errorf("%+v: got %d bytes, want %d: %q", h, len(got), want, got)
		}
	}
}
