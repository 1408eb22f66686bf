package data

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// where lists the samples that a mask marks.
func where(mask []bool) (at []int) {
	for i, m := range mask {
		if m {
			at = append(at, i)
		}
	}
	return at
}

// TestNoiseKindsGolden: an independent port of the streams, and PyTorch 1.13's torch.where(torch.rand(N) < rates[labels],
// torch.randint(0, K, (N,)), labels) for rates of classes with the released code's truncation.
func TestNoiseKindsGolden(t *testing.T) {
	if s := noisy(t, labelled(12, 3), Noise{Kind: NoiseRandomLabels, Seed: 5}); !slices.Equal(s.Observed, []int32{2, 1, 1, 2, 2, 0, 2, 0, 0, 1, 0, 1}) {
		t.Errorf("random labels %v", s.Observed)
	}
	if s := noisy(t, labelled(20, 2), Noise{Kind: NoiseLatent, Rate: .3, Seed: 5}); !slices.Equal(where(s.Redrawn), []int{0, 4, 7, 13, 15, 18}) {
		t.Errorf("latent %v", where(s.Redrawn))
	}
	if s := noisy(t, labelled(20, 2), Noise{Kind: NoiseLatentBernoulli, Rate: .3, Seed: 5}); !slices.Equal(where(s.Redrawn), []int{1, 3, 7, 10, 11, 13, 14, 16, 18}) {
		t.Errorf("latent Bernoulli %v", where(s.Redrawn))
	}
	byClass := Noise{Kind: NoisePerClass, Rates: []float64{.1, .5, 0, .9}, Generator: GeneratorTorch, Seed: 6}
	want := []int32{0, 1, 2, 0, 0, 3, 2, 3, 0, 1, 2, 0, 0, 1, 2, 2, 0, 1, 2, 0, 0, 2, 2, 2, 0, 2, 2, 1, 0, 1, 2, 3, 0, 1, 2, 1, 0, 0, 2, 3}
	if s := noisy(t, labelled(40, 4), byClass); !slices.Equal(s.Observed, want) {
		t.Errorf("per class\n%v, want\n%v", s.Observed, want)
	}
	byClass.Truncate = true
	s := noisy(t, labelled(40, 4), byClass)
	kept := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 17, 31, 39}
	for i, n := range kept {
		if s.N() != len(kept) || s.Pixels[i] != uint8(n) || s.True[i] != int32(n%4) || s.Observed[i] != want[n] {
			t.Fatalf("truncated: sample %d is %d with label %d, want %d with %d", i, s.Pixels[i], s.Observed[i], n, want[n])
		}
	}
}

// TestPerClassTorchRounding: rates of classes are float64 in the released code, so the first draw of seed 6, 0.57219756, is below a
// rate that exceeds it by less than half a float32 step (see TestNoiseTorchRounding for a single rate).
func TestPerClassTorchRounding(t *testing.T) {
	const first = float64(float32(0.5721975564956665))
	for rate, want := range map[float64]bool{first + 1e-12: true, first: false} {
		if s := noisy(t, labelled(2, 2), Noise{Kind: NoisePerClass, Rates: []float64{rate, 0}, Generator: GeneratorTorch, Seed: 6}); s.Redrawn[0] != want {
			t.Errorf("rate %v: redrawn %v", rate, !want)
		}
	}
}

func TestLatentNoise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSet(t)
		seed := rapid.Uint64().Draw(t, "seed")
		low := rapid.Float64Range(0, 1).Draw(t, "low")
		high := rapid.Float64Range(low, 1).Draw(t, "high")
		kind := rapid.SampledFrom([]string{NoiseLatent, NoiseLatentBernoulli}).Draw(t, "kind")
		a, err1 := s.WithNoise(Noise{Kind: kind, Rate: low, Seed: seed})
		b, err2 := s.WithNoise(Noise{Kind: kind, Rate: high, Seed: seed})
		for _, err := range []error{err1, err2} {
			if err != nil && !strings.Contains(err.Error(), "leaves no sample in class") {
				t.Fatal(err)
			}
		}
		if err1 != nil || err2 != nil {
			return
		}
		k := s.Classes
		if a.Classes != 2*k || !a.Latent || a.TrueClasses() != k || a.Digest != s.Digest || s.Latent || s.Classes != k || !slices.Equal(a.Counts(), s.Counts()) {
			t.Fatalf("%d classes made of %d", a.Classes, k)
		}
		counts := a.ObservedCounts()
		for c, n := range s.Counts() {
			if moved := counts[c+k]; counts[c]+moved != n || kind == NoiseLatent && moved != int(math.Round(low*float64(n))) {
				t.Fatalf("class %d of %d: %d moved at %v", c, n, moved, low)
			}
		}
		for i := range a.True {
			if a.Fold(a.Observed[i]) != s.True[i] || a.True[i] != s.True[i] || a.Redrawn[i] != (a.Observed[i] >= int32(k)) {
				t.Fatalf("sample %d of class %d is observed as %d", i, s.True[i], a.Observed[i])
			}
			if a.Redrawn[i] && !b.Redrawn[i] {
				t.Fatalf("sample %d moved at %v and not at %v", i, low, high)
			}
		}
	})
}

// TestLatentBernoulliRate: the number moved is Binomial(N, η).
func TestLatentBernoulliRate(t *testing.T) {
	const n = 20000
	for _, eta := range []float64{.025, .2, .5} {
		s := noisy(t, labelled(n, 2), Noise{Kind: NoiseLatentBernoulli, Rate: eta, Seed: 3})
		if d := math.Abs(float64(len(where(s.Redrawn))) - n*eta); !(d <= 6*math.Sqrt(n*eta*(1-eta))) {
			t.Errorf("rate %v moved %d of %d", eta, len(where(s.Redrawn)), n)
		}
	}
}

func TestRandomLabels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSet(t)
		n := Noise{Kind: NoiseRandomLabels, Seed: rapid.Uint64().Draw(t, "seed")}
		a := noisy(t, s, n)
		counts := a.ObservedCounts()
		if slices.Max(counts)-slices.Min(counts) > 1 || slices.Contains(a.Redrawn, false) || !slices.Equal(a.True, s.True) || a.Digest != s.Digest {
			t.Fatalf("%v of %d", counts, a.N())
		}
	})
	base := labelled(3000, 10)
	train := noisy(t, base, Noise{Kind: NoiseRandomLabels, Seed: 1})
	base.Split = Test
	agree := func(a, b []int32) (n int) {
		for i := range a {
			if a[i] == b[i] {
				n++
			}
		}
		return n
	}
	for what, other := range map[string][]int32{"true labels": base.True, "test labels": noisy(t, base, Noise{Kind: NoiseRandomLabels, Seed: 1}).Observed,
		"another seed": noisy(t, labelled(3000, 10), Noise{Kind: NoiseRandomLabels, Seed: 2}).Observed} {
		if n := agree(train.Observed, other); !(math.Abs(float64(n)-300) <= 6*math.Sqrt(270)) {
			t.Errorf("%d of 3000 random labels agree with %s, expected 300", n, what)
		}
	}
}

// TestPerClassNoise: a class with rate 0 keeps its labels; equal rates are uniform noise; rates are met by true class.
func TestPerClassNoise(t *testing.T) {
	const n = 30000
	base := labelled(n, 3)
	for _, g := range []string{GeneratorCollapse, GeneratorTorch} {
		rates := []float64{0, .2, .7}
		s := noisy(t, base, Noise{Kind: NoisePerClass, Rates: rates, Generator: g, Seed: 8})
		redrawn := make([]int, 3)
		for _, i := range where(s.Redrawn) {
			redrawn[s.True[i]]++
		}
		for k, eta := range rates {
			if d := math.Abs(float64(redrawn[k]) - n/3*eta); !(d <= 6*math.Sqrt(n/3*eta*(1-eta))) {
				t.Errorf("%s: class %d: %d redrawn at rate %v", g, k, redrawn[k], eta)
			}
		}
		half := noisy(t, base, Noise{Kind: NoisePerClass, Rates: []float64{.5, .5, .5}, Generator: g, Seed: 8})
		if want := noisy(t, base, Noise{Rate: .5, Generator: g, Seed: 8}); !slices.Equal(half.Observed, want.Observed) {
			t.Errorf("%s: equal rates are not uniform noise", g)
		}
		cut := noisy(t, base, Noise{Kind: NoisePerClass, Rates: rates, Generator: g, Seed: 8, Truncate: true})
		counts, least := cut.ObservedCounts(), slices.Min(s.ObservedCounts())
		if !slices.Equal(counts, []int{least, least, least}) || cut.N() != 3*least || len(cut.Pixels) != 3*least || len(cut.Redrawn) != 3*least || cut.Digest != base.Digest {
			t.Errorf("%s: truncated to %v, want %d each", g, counts, least)
		}
	}
}

func TestNoiseKindErrors(t *testing.T) {
	for want, n := range map[string]Noise{
		`"flips" is unknown`:                    {Kind: "flips"},
		"per_class has no rates":                {Kind: NoisePerClass},
		"has 2 rates, labelled has 3":           {Kind: NoisePerClass, Rates: []float64{.1, .2}},
		"rate is 1.1":                           {Kind: NoisePerClass, Rates: []float64{.1, 1.1, 0}},
		"rate is NaN":                           {Kind: NoisePerClass, Rates: []float64{.1, math.NaN(), 0}},
		"takes no single rate, and 0.1":         {Kind: NoisePerClass, Rates: []float64{.1, 0, 0}, Rate: .1},
		"random_labels takes no single":         {Kind: NoiseRandomLabels, Rate: .1},
		"uniform takes one rate, and 3":         {Rates: []float64{.1, 0, 0}},
		"latent is drawn by generator":          {Kind: NoiseLatent, Generator: GeneratorTorch},
		"random_labels is drawn by":             {Kind: NoiseRandomLabels, Generator: GeneratorTorch},
		"rate 0.01 leaves no sample in class 3": {Kind: NoiseLatent, Rate: .01},
		"rate 1 leaves no sample in class 0":    {Kind: NoiseLatent, Rate: 1},
		"no sample in class 0, so nothing":      {Kind: NoisePerClass, Rates: []float64{1, 0, 0}, Truncate: true, Seed: seedWithoutClass0},
	} {
		if s, err := labelled(9, 3).WithNoise(n); s != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want an error with %q", n, err, want)
		}
	}
	defer func() {
		if v, _ := recover().(string); !strings.Contains(v, "already has latent") {
			t.Errorf("panic %q", v)
		}
	}()
	noisy(t, labelled(9, 3), Noise{Kind: NoiseLatent, Rate: .3}).WithNoise(Noise{Rate: .1})
}

// seedWithoutClass0 redraws the three samples of class 0 and none of them to 0.
const seedWithoutClass0 = 8
