package data

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// writeSet writes both halves of a small set in MNIST's layout: n training and n/2 test samples,
// sample i with label i mod 10 and all pixels i.
func writeSet(t *testing.T, dir string, n int, name func(string) string, pack func([]byte) []byte) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for split, n := range []int{n, n / 2} {
		var pixels, labels []byte
		for i := range n {
			pixels = append(pixels, slices.Repeat([]byte{byte(i)}, 784)...)
			labels = append(labels, byte(i%10))
		}
		write(t, filepath.Join(dir, name(idxFiles[split][0])), pack(idxBytes(pixels, n, 28, 28)))
		write(t, filepath.Join(dir, name(idxFiles[split][1])), pack(idxBytes(labels, n)))
	}
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func same(s string) string      { return s }
func sameBytes(b []byte) []byte { return b }

func TestOpenLayouts(t *testing.T) {
	digests := map[string]bool{}
	for what, c := range map[string]struct {
		name, dir string
		file      func(string) string
		pack      func([]byte) []byte
	}{
		"plain":         {"mnist", "mnist", same, sameBytes},
		"gzip":          {"mnist", "mnist", func(s string) string { return s + ".gz" }, gzipped},
		"dot":           {"fashion-mnist", "fashion-mnist", func(s string) string { return strings.Replace(s, "-idx", ".idx", 1) }, sameBytes},
		"torchvision":   {"fashion-mnist", "FashionMNIST/raw", same, sameBytes},
		"gzip unmarked": {"mnist", "MNIST/raw", same, gzipped},
	} {
		root := t.TempDir()
		writeSet(t, filepath.Join(root, c.dir), 60, c.file, c.pack)
		train, test, err := load(Source{Name: c.name, Root: root})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if train.N() != 60 || test.N() != 30 || train.Classes != 10 || train.Split != Train || test.Split != Test ||
			train.Image(37)[100] != 37 || train.True[37] != 7 || train.Observed[37] != 7 {
			t.Errorf("%s: wrong content", what)
		}
		digests[train.Digest+test.Digest] = true
	}
	if len(digests) != 1 {
		t.Errorf("the same content has %d digests", len(digests))
	}
}

func TestOpenSubset(t *testing.T) {
	root := t.TempDir()
	writeSet(t, filepath.Join(root, "mnist"), 60, same, sameBytes)
	t.Setenv(RootVariable, root)
	train, test, err := load(Source{Name: "mnist", Classes: 3, TrainPerClass: 4, TestPerClass: 2, Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(train.Counts(), []int{4, 4, 4}) || !slices.Equal(test.Counts(), []int{2, 2, 2}) {
		t.Fatalf("counts %v and %v", train.Counts(), test.Counts())
	}
	full, err := Open(Source{Name: "mnist"}, Train)
	if err != nil {
		t.Fatal(err)
	}
	three, err := full.FirstClasses(3)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := three.PerClass(4, 9); err != nil || same.Digest != train.Digest {
		t.Fatalf("a source and the calls it stands for differ (%v)", err)
	}
}

func TestOpenErrors(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "mnist")
	image := make([]byte, 784*2)
	files := func(images, labels []byte) {
		os.MkdirAll(dir, 0o755)
		write(t, filepath.Join(dir, idxFiles[Train][0]), images)
		write(t, filepath.Join(dir, idxFiles[Train][1]), labels)
	}
	for _, c := range []struct {
		images, labels []byte
		src            Source
		want           string
	}{
		{idxBytes(image, 2, 28, 28), idxBytes([]byte{0, 1, 1}, 3), Source{}, "has 2 images"},
		{idxBytes(image, 2, 28, 28), idxBytes([]byte{0, 10}, 2), Source{}, "label 10 of sample 1 is out of range"},
		{idxBytes(image, 2, 14, 56), idxBytes([]byte{0, 1}, 2), Source{}, "images are 14×56"},
		{idxBytes(image, 2, 28, 28), idxBytes([]byte{0, 1}, 2), Source{}, "class 2 has no sample"},
		{idxBytes(image, 2, 28, 28), idxBytes([]byte{0, 1}, 2), Source{Classes: 3}, "class 2 has no sample"},
		{idxBytes(image, 2, 28, 28), idxBytes([]byte{0, 1}, 2), Source{Classes: 11}, "has 10 classes, 11 were requested"},
		{idxBytes(image, 2, 28, 28), idxBytes([]byte{0, 1}, 2), Source{Classes: -1}, "at least 2"},
		{idxBytes(image, 2, 28, 28), idxBytes([]byte{0, 1}, 2), Source{Classes: 2, TrainPerClass: 2}, "class 0 has 1 samples"},
		{idxBytes(image, 2, 28, 28), idxBytes([]byte{0, 1}, 2), Source{Size: 32}, "for glyphs only"},
		{idxBytes(image[1:], 2, 28, 28), idxBytes([]byte{0, 1}, 2), Source{}, "train-images-idx3-ubyte: it ends after 1567 of 1568"},
		{idxBytes(image, 2, 28, 28), idxBytes([]byte{0, 1}, 1), Source{}, "train-labels-idx1-ubyte: there are more bytes than"},
	} {
		files(c.images, c.labels)
		c.src.Name, c.src.Root = "mnist", root
		if s, err := Open(c.src, Train); s != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
	}
}

func TestOpenMissing(t *testing.T) {
	t.Setenv(RootVariable, "")
	root := t.TempDir()
	os.MkdirAll(filepath.Join(root, "mnist"), 0o755)
	write(t, filepath.Join(root, "mnist", idxFiles[Train][0]), nil) // labels are not there
	for _, c := range []struct {
		root string
		want []string
	}{
		{root, []string{filepath.Join(root, "mnist"), "train-labels-idx1-ubyte", "yann.lecun.com/exdb/mnist", "--data", RootVariable}},
		{"", []string{"no data directory was given", RootVariable}},
	} {
		_, err := Open(Source{Name: "mnist", Root: c.root}, Train)
		var missing *MissingError
		if !errors.As(err, &missing) {
			t.Fatalf("got %v, want a *MissingError", err)
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q does not say %q", err, want)
			}
		}
	}
	var unknown *UnknownError
	if _, err := Open(Source{Name: "mnits"}, Train); !errors.As(err, &unknown) || !strings.Contains(err.Error(), "glyphs, mnist, fashion-mnist") {
		t.Errorf("unknown name: %v", err)
	}
}

func TestCheck(t *testing.T) {
	root := t.TempDir()
	writeSet(t, filepath.Join(root, "mnist"), 60, same, sameBytes)
	write(t, filepath.Join(root, "mnist", idxFiles[Test][1]), []byte("no labels"))
	states := map[string]State{}
	for _, f := range Check(root) {
		states[f.Name+" "+f.Split] = f.State
		if (f.State == Present) != (f.Problem == "") || (f.State == Present) != (len(f.Digest) == 64) {
			t.Errorf("%+v", f)
		}
		if f.Name == "mnist" && f.Split == "train" && (f.Samples != 60 || !slices.Equal(f.Histogram, slices.Repeat([]int{6}, 10)) || !slices.Equal(f.Shape, []int{1, 28, 28})) {
			t.Errorf("%+v", f)
		}
	}
	for name, want := range map[string]State{"glyphs train": Present, "glyphs test": Present, "mnist train": Present, "mnist test": Broken,
		"fashion-mnist train": Missing, "fashion-mnist test": Missing} {
		if states[name] != want {
			t.Errorf("%s is %q, want %q", name, states[name], want)
		}
	}
	if len(states) != 2*len(List())-2 { // no folder of images
		t.Errorf("%d halves of %d sets", len(states), len(List()))
	}
}

// realImages loads a set from COLLAPSE_DATA, or skips the test.
func realImages(t *testing.T, name, folder string) (train, test *Set) {
	t.Helper()
	if os.Getenv(RootVariable) == "" {
		t.Skipf("COLLAPSE_DATA is not set: it names a directory with %s in it", folder)
	}
	train, test, err := load(Source{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return train, test
}

// TestMNIST looks at real images: MNIST's mean and deviation are the published 0.1307 and 0.3081 (any
// few thousand of its images come within 0.005), which the md pipeline turns into about 0 and 1.
func TestMNIST(t *testing.T) {
	train, test := realImages(t, "mnist", "mnist/ (yann.lecun.com/exdb/mnist)")
	for _, s := range []*Set{train, test} {
		sum, sum2, n := 0.0, 0.0, float64(len(s.Pixels))
		for _, v := range s.Pixels {
			x := float64(v) / 255
			sum, sum2 = sum+x, sum2+x*x
		}
		mean := sum / n
		std := math.Sqrt(sum2/n - mean*mean)
		if !(math.Abs(mean-0.1307) <= 0.005 && math.Abs(std-0.3081) <= 0.005) {
			t.Errorf("%s: mean %g, deviation %g of %d images", s.Split, mean, std, s.N())
		}
		two, err := s.FirstClasses(2)
		if err != nil || two.N() != s.Counts()[0]+s.Counts()[1] {
			t.Errorf("%s: two classes: %v", s.Split, err)
		}
	}
	if train.Digest == test.Digest || train.N() <= test.N() {
		t.Error("training and test images are the same or in the wrong order")
	}
}

// People name the folder of one set as readily as the folder of all sets.
func TestRootMayBeTheSetsOwnFolder(t *testing.T) {
	root := t.TempDir()
	writeSet(t, filepath.Join(root, "mnist"), 20, same, sameBytes)
	for _, dir := range []string{root, filepath.Join(root, "mnist"), filepath.Join(root, "mnist") + "/"} {
		if _, err := Open(Source{Name: "mnist", Root: dir}, Train); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if _, err := Open(Source{Name: "fashion-mnist", Root: filepath.Join(root, "mnist")}, Train); err == nil {
		t.Error("MNIST's folder was taken for Fashion-MNIST, whose files have the same names")
	}
}

// load opens both halves of a source.
func load(src Source) (train, test *Set, err error) {
	if train, err = Open(src, Train); err != nil {
		return nil, nil, err
	}
	test, err = Open(src, Test)
	return train, test, err
}
