package data

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// labelled is a set of n samples of 1×1 pixel with labels 0, 1, …, K−1, 0, …
func labelled(n, classes int) *Set {
	s := &Set{Name: "labelled", Classes: classes, Shape: Shape{1, 1, 1}, Pixels: make([]uint8, n), True: make([]int32, n)}
	for i := range s.True {
		s.True[i] = int32(i % classes)
		s.Pixels[i] = uint8(i)
	}
	return s.seal()
}

func noisy(t interface {
	Helper()
	Fatal(...any)
}, s *Set, n Noise) *Set {
	t.Helper()
	out, err := s.WithNoise(n)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestNoiseTorchGolden holds what PyTorch 1.13.0 (Debian 12) gives for torch.manual_seed(seed);
// m = torch.rand(N) < rate; torch.where(m, torch.randint(0, K, (N,)), torch.arange(N) % K).
func TestNoiseTorchGolden(t *testing.T) {
	short := noisy(t, labelled(40, 10), Noise{Rate: 0.3, Generator: GeneratorTorch, Seed: 6})
	if want := []int32{0, 1, 2, 3, 2, 5, 6, 7, 8, 9, 0, 1, 2, 3, 3, 5, 6, 7, 8, 0, 3, 4, 2, 3, 4, 5, 5, 7, 5, 9, 0, 1, 2, 7, 4, 5, 6, 4, 8, 9}; !slices.Equal(short.Observed, want) {
		t.Errorf("labels\n%v, want\n%v", short.Observed, want)
	}
	for _, c := range []struct {
		n    Noise
		size int
		k    int
		want string // SHA-256 of the labels as little-endian int32, then the mask as bytes
	}{
		{Noise{Rate: 0.3, Seed: 6}, 40, 10, "b7f86cea99f6c4c3ac6f83e0098d87d1d072bbe6553aefbbeb5f7fb252a64828"},
		{Noise{Rate: 0.1, Seed: 6}, 2000, 2, "7534f6aa77f3c1148068dd9f0e66922ba63cadf161c99b2197a7c9b4dffdf278"},
		{Noise{Rate: 0.4, Seed: 1<<32 + 7}, 2000, 10, "a59e77b4f349bf60f04d82b8ad848eb384dd2ecfdbd3af7d1a577d4454cf8f7e"},
		{Noise{Rate: 1, Seed: 0}, 2000, 3, "9e8d0706f972b3eb05aa854418a119f8e110948f283d6df57dad74db137db4c5"},
	} {
		c.n.Generator = GeneratorTorch
		s := noisy(t, labelled(c.size, c.k), c.n)
		h := sha256.New()
		for _, l := range s.Observed {
			h.Write(binary.LittleEndian.AppendUint32(nil, uint32(l)))
		}
		for _, m := range s.Redrawn {
			h.Write([]byte{map[bool]byte{true: 1}[m]})
		}
		if got := hex.EncodeToString(h.Sum(nil)); got != c.want {
			t.Errorf("%+v, N=%d, K=%d: got %s, want %s", c.n, c.size, c.k, got, c.want)
		}
	}
}

// TestNoiseTorchRounding: torch compares in float32. Of seed 6 the first draw is 0.57219756; a rate
// above it by less than half a float32 step redraws nothing, as torch.rand(1) < rate is False there.
func TestNoiseTorchRounding(t *testing.T) {
	const first = float32(0.5721975564956665)
	for rate, want := range map[float64]bool{float64(first) + 1e-12: false, float64(math.Nextafter32(first, 1)): true} {
		if s := noisy(t, labelled(2, 2), Noise{Rate: rate, Generator: GeneratorTorch, Seed: 6}); s.Redrawn[0] != want {
			t.Errorf("rate %v: redrawn %v", rate, !want)
		}
	}
}

func TestNoiseGolden(t *testing.T) {
	s := noisy(t, labelled(24, 10), Noise{Rate: 0.4, Seed: 5})
	want := []int32{-1, 1, -1, 2, -1, -1, -1, 0, -1, -1, 0, 3, -1, 8, 0, -1, 5, 3, 9, 7, -1, -1, 2, -1} // port; −1: not redrawn
	for i, w := range want {
		if s.Redrawn[i] != (w >= 0) || w >= 0 && s.Observed[i] != w {
			t.Fatalf("sample %d: redrawn %v to %d, want %d", i, s.Redrawn[i], s.Observed[i], w)
		}
	}
}

// TestNoiseRates: the number redrawn is Binomial(N, η), the number changed Binomial(N, η(K−1)/K).
// Six deviations plus one are a chance below 1e-8 of failing by luck, and seeds are fixed.
func TestNoiseRates(t *testing.T) {
	const n = 20000
	within := func(what string, got int, p float64) {
		t.Helper()
		if d := math.Abs(float64(got) - n*p); !(d <= 6*math.Sqrt(n*p*(1-p))+1) {
			t.Errorf("%s: %d of %d, expected %g", what, got, n, n*p)
		}
	}
	for _, g := range []string{GeneratorCollapse, GeneratorTorch} {
		for _, k := range []int{2, 10} {
			base := labelled(n, k)
			for _, eta := range []float64{0.025, 0.1, 0.4, 0.9} {
				s := noisy(t, base, Noise{Rate: eta, Generator: g, Seed: 11})
				redrawn, changed := 0, 0
				drawn := make([]int, k)
				for i := range s.True {
					if s.Redrawn[i] {
						redrawn++
						drawn[s.Observed[i]]++
					}
					if s.True[i] != s.Observed[i] {
						changed++
					}
				}
				within("redrawn by "+g, redrawn, eta)
				within("changed by "+g, changed, eta*float64(k-1)/float64(k))
				for _, c := range drawn {
					within("drawn as one class by "+g, c, eta/float64(k))
				}
			}
		}
	}
}

func TestNoiseProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(2, 12).Draw(t, "K")
		s := labelled(rapid.IntRange(k, 300).Draw(t, "N"), k)
		generator := rapid.SampledFrom([]string{"", GeneratorCollapse, GeneratorTorch}).Draw(t, "generator")
		seed := rapid.Uint64().Draw(t, "seed")
		low := rapid.Float64Range(0, 1).Draw(t, "low")
		high := rapid.Float64Range(low, 1).Draw(t, "high")
		a, b := noisy(t, s, Noise{Rate: low, Generator: generator, Seed: seed}), noisy(t, s, Noise{Rate: high, Generator: generator, Seed: seed})
		if !slices.Equal(s.True, s.Observed) || slices.Contains(s.Redrawn, true) {
			t.Fatal("noise changed the set it was made from")
		}
		for i := range s.True {
			switch {
			case a.True[i] != s.True[i]:
				t.Fatalf("sample %d: true label changed", i)
			case a.Observed[i] < 0 || int(a.Observed[i]) >= k:
				t.Fatalf("sample %d: label %d of %d classes", i, a.Observed[i], k)
			case !a.Redrawn[i] && a.Observed[i] != a.True[i]:
				t.Fatalf("sample %d changed without being redrawn", i)
			case a.Redrawn[i] && (!b.Redrawn[i] || a.Observed[i] != b.Observed[i]):
				t.Fatalf("sample %d is redrawn at %v and otherwise at %v", i, low, high)
			}
		}
	})
}

func TestNoiseEnds(t *testing.T) {
	for _, g := range []string{GeneratorCollapse, GeneratorTorch} {
		s := labelled(100, 4)
		if none := noisy(t, s, Noise{Rate: 0, Generator: g, Seed: 1}); slices.Contains(none.Redrawn, true) || !slices.Equal(none.Observed, s.True) {
			t.Errorf("%s: rate 0 redrew a label", g)
		}
		if all := noisy(t, s, Noise{Rate: 1, Generator: g, Seed: 1}); slices.Contains(all.Redrawn, false) {
			t.Errorf("%s: rate 1 left a label", g)
		}
	}
}

func TestNoiseErrors(t *testing.T) {
	for want, n := range map[string]Noise{
		"rate is -0.1":   {Rate: -0.1},
		"rate is 1.5":    {Rate: 1.5},
		"rate is NaN":    {Rate: math.NaN()},
		`"numpy" is unk`: {Rate: 0.1, Generator: "numpy"},
	} {
		if s, err := labelled(10, 2).WithNoise(n); s != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want an error with %q", n, err, want)
		}
	}
}
