package train

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/data"
)

// subsetConfig trains on 10 of 30 images of each class, drawn by the seed.
func subsetConfig(t *testing.T, seed uint64) Config {
	t.Helper()
	root := t.TempDir()
	writeIDX(t, root, 7)
	makeDistinct(t, filepath.Join(root, "mnist", "train-images-idx3-ubyte"))
	c := tinyConfig()
	c.Data.Name, c.Data.Dir, c.Data.SamplesPerClass, c.Data.TestSamplesPerClass = "mnist", root, 10, 5
	c.Data.Subset, c.Run.Seed, c.Run.Batch = seedSubset, seed, 8
	return c
}

// makeDistinct writes the number of each image into its first pixel.
func makeDistinct(t *testing.T, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; 16+i*28*28 < len(b); i++ {
		b[16+i*28*28] = byte(i)
	}
	if err := os.WriteFile(file, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

// numbersOf are the numbers of a set's images in their file.
func numbersOf(s *data.Set) (numbers []byte) {
	for i := range s.N() {
		numbers = append(numbers, s.Image(i)[0])
	}
	return numbers
}

func mustOpen(t *testing.T, c Config) inputs {
	t.Helper()
	in, err := openInputs(mustPlan(t, c), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestEachSeedDrawsItsOwnSamples(t *testing.T) {
	c := subsetConfig(t, 1)
	seen := map[byte]bool{}
	digests := map[string]bool{}
	var testDigest string
	for seed := range uint64(6) {
		c.Run.Seed = seed + 1
		in := mustOpen(t, c)
		numbers := numbersOf(in.train)
		if len(numbers) != 20 || len(slices.Compact(slices.Sorted(slices.Values(numbers)))) != 20 {
			t.Errorf("seed %d: samples %v are not 20 different ones", c.Run.Seed, numbers)
		}
		counts := map[int32]int{}
		for i, n := range numbers {
			seen[n] = true
			counts[in.train.True[i]]++
		}
		if counts[0] != 10 || counts[1] != 10 {
			t.Errorf("seed %d: %v samples of the classes, wanted 10 of each", c.Run.Seed, counts)
		}
		digests[in.train.Digest] = true
		if testDigest == "" {
			testDigest = in.test.Digest
		}
		if in.test.Digest != testDigest {
			t.Errorf("seed %d has other test samples", c.Run.Seed)
		}
		other := c
		other.Loss.Kind, other.Data.Noise, other.Net.Width, other.Data.Seed = "mse", 0.4, 8, 99
		if again := mustOpen(t, other); again.train.Digest != in.train.Digest {
			t.Errorf("seed %d: another loss, noise, width and data.seed give other samples", c.Run.Seed)
		}
	}
	if len(digests) != 6 || len(seen) < 45 {
		t.Errorf("six seeds drew %d subsets with %d of 60 images", len(digests), len(seen))
	}
	c.Data.Subset = fixedSubset
	fixed := mustOpen(t, c).train.Digest
	if c.Run.Seed = 1; mustOpen(t, c).train.Digest != fixed {
		t.Error("fixed subsets differ between seeds")
	}
}

func TestDrawnSubsetsAreOfTheIdentity(t *testing.T) {
	c := subsetConfig(t, 3)
	_, canonical, err := Identify(c, nil)
	if err != nil || !bytes.Contains(canonical, []byte(`"subset":"seed"`)) || !bytes.Contains(canonical, []byte(`"samples_per_class":10`)) {
		t.Errorf("%s, %v", canonical, err)
	}
	if back, err := FromCanonical(canonical); err != nil || back.Data.Subset != seedSubset || back.Data.SamplesPerClass != 10 {
		t.Errorf("%+v, %v", back.Data, err)
	}
	c.Data.Subset = fixedSubset
	if _, canonical, err = Identify(c, nil); err != nil || bytes.Contains(canonical, []byte("samples_per_class")) || bytes.Contains(canonical, []byte("subset")) {
		t.Errorf("a fixed subset is named: %s, %v", canonical, err)
	}
}

func TestDrawingNoSubsetIsRefused(t *testing.T) {
	for name, change := range map[string]func(*DataConfig){
		"all samples":   func(d *DataConfig) { d.SamplesPerClass = 0 },
		"first samples": func(d *DataConfig) { d.FirstSamples = true },
		"glyphs":        func(d *DataConfig) { d.Name = glyphs },
	} {
		c := Default()
		c.Data.SamplesPerClass, c.Data.Subset = 10, seedSubset
		change(&c.Data)
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), `data.subset: is "seed", but has an effect only with data.samples_per_class or data.samples above 0`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestResumedRunsDrawTheSameSubset(t *testing.T) {
	c := subsetConfig(t, 5)
	want, err := Run(context.Background(), c, newLab(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	lab := newLab(t)
	ctx, cancel := context.WithCancel(context.Background())
	r, err := Run(ctx, c, lab, Options{Sink: &stopAfter{epochs: 2, cancel: cancel}})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	back, err := Resume(context.Background(), lab, r.Run, Options{})
	if err != nil {
		t.Fatal(err)
	}
	sameFiles(t, "resumed", endFiles(t, want), endFiles(t, back))
}
