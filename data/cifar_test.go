package data

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// record is one image of CIFAR's binary version: labels, then pixels of which byte j is seed+j.
func record(seed int, labels ...byte) []byte {
	b := slices.Clone(labels)
	for j := range cifarPixels {
		b = append(b, byte(seed+j))
	}
	return b
}

// writeCIFAR writes n records with labels 0, 1, … of a set into files.
func writeCIFAR(t *testing.T, path string, n, first, classes int, fine bool) {
	t.Helper()
	var b []byte
	for i := first; i < first+n; i++ {
		labels := []byte{byte(i % classes)}
		if fine {
			labels = []byte{byte(i % 20), byte(i % classes)}
		}
		b = append(b, record(i, labels...)...)
	}
	os.MkdirAll(filepath.Dir(path), 0o755)
	write(t, path, b)
}

func TestCIFAR(t *testing.T) {
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	writeCIFAR(t, at("cifar-10-batches-bin/data_batch_1.bin"), 13, 0, 10, false)
	writeCIFAR(t, at("cifar-10-batches-bin/data_batch_2.bin"), 7, 13, 10, false)
	writeCIFAR(t, at("cifar-10-batches-bin/test_batch.bin"), 10, 100, 10, false)
	writeCIFAR(t, at("cifar-100-binary/train.bin"), 200, 0, 100, true)
	writeCIFAR(t, at("cifar-100-binary/test.bin"), 100, 50, 100, true)
	for _, c := range []struct {
		name        string
		classes     int
		train, test int
		firstTest   int
	}{{"cifar-10", 10, 20, 10, 100}, {"cifar-100", 100, 200, 100, 50}} {
		train, test, err := load(Source{Name: c.name, Root: root})
		if err != nil {
			t.Fatal(err)
		}
		if train.N() != c.train || test.N() != c.test || train.Classes != c.classes || train.Shape != (Shape{3, 32, 32}) || train.Norm != NormCIFAR {
			t.Errorf("%s: %d and %d of %d classes", c.name, train.N(), test.N(), train.Classes)
		}
		for _, s := range []*Set{train, test} {
			for i := range s.True {
				number := i
				if s.Split == Test {
					number += c.firstTest
				}
				if s.True[i] != int32(number%c.classes) || !bytes.Equal(s.Image(i), record(number)) {
					t.Fatalf("%s %s: sample %d is not what was written", c.name, s.Split, i)
				}
			}
		}
	}
}

// TestCIFARInPickles: the folder that torchvision makes is named for what it is.
func TestCIFARInPickles(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "cifar-10-batches-py"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, _, err := load(Source{Name: "cifar-10", Root: root}); err == nil || !strings.Contains(err.Error(), "cifar-10-batches-py is the Python version") {
		t.Errorf("%v", err)
	}
	if _, _, err := load(Source{Name: "cifar-100", Root: root}); err == nil || strings.Contains(err.Error(), "Python version") {
		t.Errorf("%v", err)
	}
}

func TestCIFARErrors(t *testing.T) {
	good := slices.Concat(record(0, 3), record(1, 4))
	for what, c := range map[string]struct {
		files map[string][]byte
		want  string
	}{
		"cut":      {map[string][]byte{"data_batch_1.bin": good[:len(good)-1]}, "data_batch_1.bin: it has 6145 bytes, which is not a multiple of the record size 3073"},
		"trailing": {map[string][]byte{"data_batch_1.bin": append(bytes.Clone(good), 1)}, "it has 6147 bytes"},
		"empty":    {map[string][]byte{"data_batch_1.bin": nil}, "it has 0 bytes"},
		"label":    {map[string][]byte{"data_batch_1.bin": slices.Concat(good, record(2, 10))}, "image 2 has label 10; cifar-10 has labels 0 to 9"},
		"a gap":    {map[string][]byte{"data_batch_1.bin": good, "data_batch_3.bin": good}, "data_batch_3.bin exists but the earlier data_batch_2.bin does not"},
		"classes":  {map[string][]byte{"data_batch_1.bin": good}, "class 0 has no sample"},
	} {
		root := t.TempDir()
		dir := filepath.Join(root, "cifar-10-batches-bin")
		os.Mkdir(dir, 0o755)
		for name, b := range c.files {
			write(t, filepath.Join(dir, name), b)
		}
		if s, err := Open(Source{Name: "cifar-10", Root: root}, Train); s != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", what, err, c.want)
		}
	}
	root := t.TempDir()
	os.MkdirAll(filepath.Join(root, "cifar-100-binary", "train.bin"), 0o755)
	if _, err := Open(Source{Name: "cifar-100", Root: root}, Train); err == nil || !strings.Contains(err.Error(), "is a directory; want a regular file") {
		t.Errorf("a folder: %v", err)
	}
}

// TestRealCIFAR10 looks at real images: their channels' means are the published .4914, .4822, .4465, to which a few thousand images
// come within .02.
func TestRealCIFAR10(t *testing.T) {
	train, test := realImages(t, "cifar-10", "cifar-10-batches-bin/ (www.cs.toronto.edu/~kriz/cifar.html)")
	for _, s := range []*Set{train, test} {
		sum, sum2 := [3]float64{}, [3]float64{}
		for i, v := range s.Pixels {
			x := float64(v) / 255
			sum[i/1024%3] += x
			sum2[i/1024%3] += x * x
		}
		n := float64(s.N()) * 1024
		for c, want := range norms[NormCIFAR].Mean {
			mean := sum[c] / n
			if !(math.Abs(mean-float64(want)) <= .02) || !(math.Abs(math.Sqrt(sum2[c]/n-mean*mean)-.247) <= .03) {
				t.Errorf("%s: channel %d has mean %g, want %g", s.Split, c, mean, want)
			}
		}
		if counts := s.Counts(); slices.Min(counts) != slices.Max(counts) {
			t.Errorf("%s: classes of %v", s.Split, counts)
		}
	}
}

// FuzzCIFAR: no file panics, and what is read is what the bytes say.
func FuzzCIFAR(f *testing.F) {
	f.Add(record(0, 3), 1)
	f.Add(record(0, 3, 99), 2)
	f.Add(record(0, 3)[:100], 1)
	f.Fuzz(func(t *testing.T, b []byte, labels int) {
		if labels != 1 && labels != 2 {
			return
		}
		path := filepath.Join(t.TempDir(), "x.bin")
		write(t, path, b)
		info := registry[slices.IndexFunc(registry, func(i *Info) bool { return i.Name == "cifar-100" })]
		s, err := readCIFAR(info, Train, labels, path)
		if err != nil {
			return
		}
		var again []byte
		for i, l := range s.True {
			again = append(again, b[i*(labels+cifarPixels):][:labels-1]...)
			again = append(append(again, byte(l)), s.Image(i)...)
		}
		if !bytes.Equal(again, b) {
			t.Fatal("content does not come back")
		}
	})
}

// Subsets in all and of first samples, by definition.
func TestSubsetsInAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSet(t)
		least := slices.Min(s.Counts())
		total := rapid.IntRange(s.Classes, s.Classes*least).Draw(t, "total")
		seed := rapid.Uint64().Draw(t, "seed")
		a, err := s.Samples(total, seed)
		if err != nil {
			t.Fatal(err)
		}
		counts := a.Counts()
		if a.N() != total || slices.Max(counts)-slices.Min(counts) > 1 || !slices.IsSortedFunc(counts, func(x, y int) int { return y - x }) {
			t.Fatalf("%d samples, %v", a.N(), counts)
		}
		if b, err := s.PerClass(least, seed); err != nil {
			t.Fatal(err)
		} else if have := numbers(t, s, b); !subset(numbers(t, s, a), have) {
			t.Fatal("samples in all are not among those of the larger subset per class")
		}
		n := rapid.IntRange(1, least).Draw(t, "n")
		first, err := s.FirstPerClass(n)
		if err != nil {
			t.Fatal(err)
		}
		kept := numbers(t, s, first)
		taken := make([]int, s.Classes)
		for i, l := range s.True {
			want := taken[l] < n
			taken[l]++
			if slices.Contains(kept, i) != want {
				t.Fatalf("sample %d, number %d of its class: kept %v", i, taken[l], !want)
			}
		}
	})
}

func subset(a, b []int) bool {
	return !slices.ContainsFunc(a, func(x int) bool { return !slices.Contains(b, x) })
}

func TestSubsetOfSource(t *testing.T) {
	root := t.TempDir()
	writeSet(t, filepath.Join(root, "mnist"), 60, same, sameBytes)
	train, test, err := load(Source{Name: "mnist", Root: root, TrainSamples: 23, TestPerClass: 2})
	if err != nil || train.N() != 23 || test.N() != 20 {
		t.Fatal(err)
	}
	first, err := Open(Source{Name: "mnist", Root: root, TrainPerClass: 2, First: true}, Train)
	if err != nil || first.Image(19)[0] != 19 {
		t.Fatalf("the first two of each class are not the first twenty (%v)", err)
	}
	for want, src := range map[string]Source{
		"give only one":                            {Name: "mnist", TrainSamples: 20, TrainPerClass: 2},
		"and 0 per class":                          {Name: "mnist", TrainSamples: 20, First: true},
		"9 samples asked in all; at least":         {Name: "mnist", TrainSamples: 9},
		"7 per class were requested":               {Name: "mnist", TrainSamples: 61},
		"6 samples, 7 per class":                   {Name: "mnist", TrainPerClass: 7, First: true},
		"-1 samples per class":                     {Name: "mnist", TrainPerClass: -1, First: true},
		"drawn per class; total and first samples": {Name: "glyphs", TrainSamples: 20},
		"a size for glyphs and folder":             {Name: "mnist", Size: 32},
		"a colour can be chosen for glyphs on":     {Name: "mnist", Color: true},
	} {
		src.Root = root
		if _, err := Open(src, Train); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

// TestMoreImagesThanAreRead: a file of a gigabyte is refused by its size, before anything is read of it.
func TestMoreImagesThanAreRead(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "cifar-10-batches-bin", "data_batch_1.bin")
	writeCIFAR(t, path, 10, 0, 10, false)
	if err := os.Truncate(path, (maxPixels/cifarPixels+1)*(1+cifarPixels)); err != nil { // a hole
		t.Fatal(err)
	}
	if s, err := Open(Source{Name: "cifar-10", Root: root}, Train); s != nil || err == nil || !strings.Contains(err.Error(), "it has 349526 images; at most 1073741824 bytes of pixels are read") {
		t.Errorf("%v", err)
	}
}
