package measure

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/measure/internal/wide"
)

// Sets of a size that people have keep their measures; those that a few megabytes can claim do not.
func TestUnaskedWork(t *testing.T) {
	for _, c := range []struct {
		name       string
		n, k, d    int
		rows       int // of W
		pairs, all bool
	}{
		{"CIFAR-100", 50_000, 100, 512, 100, true, true},
		{"ImageNet-1k, validation", 50_000, 1000, 2048, 1000, true, true},
		{"ImageNet-21k, three samples a class", 65_523, 21_841, 2048, 21_841, true, true},
		{"ImageNet-21k", 14_000_000, 21_841, 2048, 21_841, true, true},
		{"a vocabulary", 1_000_000, 50_000, 4096, 50_000, true, true},
		{"a vocabulary, a sample each", 50_000, 50_000, 4096, 50_000, true, true},
		{"a sample each, square", 1580, 1580, 1580, 1580, true, true},
		{"60,000 classes of a number", 120_000, 60_000, 1, 0, false, true},
		{"200,000 classes of a number", 400_000, 200_000, 1, 0, false, false},
		{"a million classes of a number", 1_000_000, 1_000_000, 1, 1_000_000, false, false},
		{"two classes beside a million rows", 900_000, 2, 1, 1_000_000, true, false},
		{"100,000 classes of 16 numbers", 200_000, 100_000, 16, 0, false, false},
	} {
		numbers := float64(c.n) * float64(c.d)
		if does := pairsWork(c.k, c.d) <= justified(mostPairsWork, numbers); does != c.pairs {
			t.Errorf("%s: pairs %v, want %v", c.name, does, c.pairs)
		}
		if does := choiceWork(c.n, c.k+c.rows, c.d) <= justified(mostChoiceWork, numbers); does != c.all {
			t.Errorf("%s: decisions %v, want %v", c.name, does, c.all)
		}
	}
}

// NC1's operator of sets of a size that people have is made, also where class means are dependent; that of a few megabytes in thousands of
// wide classes is not, and a small file does not justify more by unpacking to much.
func TestUnaskedOperatorWork(t *testing.T) {
	for _, c := range []struct {
		name             string
		n, k, d          int
		stored           int64
		factor, singular bool
	}{
		{"CIFAR-100", 50_000, 100, 512, 0, true, true},
		{"ImageNet-1k, validation", 50_000, 1000, 2048, 0, true, true},
		{"ImageNet-1k, a sample each", 1000, 1000, 2048, 0, true, true},
		{"ImageNet-21k, three samples a class", 65_523, 21_841, 2048, 0, true, true},
		{"ImageNet-21k, three samples a class, packed", 65_523, 21_841, 2048, 20 << 20, true, true},
		{"a vocabulary, a sample each", 50_000, 50_000, 4096, 0, true, true},
		{"a sample each, square", 1580, 1580, 1580, 10 << 20, true, true},
		{"a sample each, square, of bytes", 3100, 3100, 3100, 10 << 20, false, false},
		{"wide", 2200, 2200, 4400, 10 << 20, true, false},
		{"packed", 100_000, 3000, 4000, 10 << 20, false, false},
	} {
		in := Input[float32]{}
		in.Train.Features = sized{c.n, c.d}
		e := Engine[float32]{opt: Options{Stored: c.stored}}
		e.train.k, e.train.d = c.k, c.d
		e.leaveUnasked(newBuilder(&e.want, PerSample), &in, nil)
		s := between{allowed: e.opt.allowed}
		if does := s.affords(factorWork(c.k, c.d)); does != c.factor {
			t.Errorf("%s: factored %v, want %v", c.name, does, c.factor)
		}
		if does := s.affords(singularWork(c.k, c.d)); does != c.singular {
			t.Errorf("%s: singular values %v, want %v", c.name, does, c.singular)
		}
	}
}

// sized is a source that has a size and nothing else.
type sized struct{ n, d int }

func (s sized) Size() (int, int)                            { return s.n, s.d }
func (s sized) Read([]float32, int, int) ([]float32, error) { panic("not read") }

// TestOperatorIsLeftOut: what needs NC1's operator is missing with a reason where that takes too much work, in shuffles as well, and all else
// is as it was. Asked for by name, it is made.
func TestOperatorIsLeftOut(t *testing.T) {
	const k, d, each = 12, 20, 5
	set := func(dependent bool) Input[float64] {
		random := rand.New(rand.NewPCG(1, 2))
		h, labels := make([]float64, k*each*d), make([]int32, k*each)
		for i := range labels {
			labels[i] = int32(i % k)
			for j := range d {
				h[i*d+j] = random.NormFloat64() + float64(labels[i])*float64(j%7)
				if dependent && j >= 5 {
					h[i*d+j] = h[i*d+j%5]
				}
			}
		}
		return Input[float64]{Train: Memory(h, d, labels), Test: Memory(h, d, labels)}
	}
	between := (factorWork(k, d) + singularWork(k, d)) / 2
	for _, c := range []struct {
		name      string
		dependent bool
		opt       Options
		why       string // "": made
	}{
		{"no work", false, Options{allowed: 1}, "to factor Σ_B of 12 classes of width 20 takes"},
		{"no work, but named", false, Options{Measures: []string{"default", KeyNC1Pinv, KeyDilation}}, ""},
		{"enough to factor", false, Options{allowed: between}, ""},
		{"enough to factor, with a spectrum", false, Options{allowed: between, KeepSpectrum: true}, ""},
		{"dependent", true, Options{allowed: between}, "nearly dependent, and singular values of 12 classes of width 20"},
		{"dependent, enough", true, Options{allowed: singularWork(k, d)}, ""},
	} {
		in := set(c.dependent)
		c.opt.Uncertainty, c.opt.Null = true, 3
		whole, err := Measure(in, Options{Uncertainty: true, Null: 3})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Measure(in, c.opt)
		if err != nil {
			t.Fatal(err)
		}
		for key, want := range whole.Measures.of {
			got, measured := r.Measures.of[key]
			if c.why != "" && slices.Contains(operatorKeys, key) {
				if why := r.Missing[key]; measured || !strings.Contains(why, "not requested: ") || !strings.Contains(why, c.why) || !strings.Contains(why, "--measures "+key) {
					t.Errorf("%s: %s: %v, missing because %q", c.name, key, measured, why)
				}
				continue
			}
			if got != want || r.Uncertainty[key] != whole.Uncertainty[key] || r.Null[key] != whole.Null[key] {
				t.Errorf("%s: %s = %g ± %g, null %v; want %g ± %g, null %v", c.name, key, got, r.Uncertainty[key], r.Null[key], want, whole.Uncertainty[key], whole.Null[key])
			}
		}
	}
}

// thin is two samples of each of k classes of one number.
func thin(k int) Input[float64] {
	h, labels := make([]float64, 2*k), make([]int32, 2*k)
	for i := range h {
		h[i], labels[i] = float64(i%k)+float64(i/k)/8, int32(i%k)
	}
	return Input[float64]{Train: Memory(h, 1, labels)}
}

func TestUnaskedIsMissingWithAReason(t *testing.T) {
	const k = 30_000
	e, err := NewEngine[float64](Options{Uncertainty: true, Null: 3})
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Measure(thin(k))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range pairKeys {
		if _, measured := r.Measures.of[key]; measured {
			t.Errorf("%s was measured over %d classes unasked", key, k)
		}
		if r.Missing[key] == "" {
			t.Errorf("%s is neither measured nor missing", key)
		}
	}
	if why := r.Missing[KeyCDNV]; !strings.Contains(why, "30000 classes make 4.5e+08 pairs") || !strings.Contains(why, "--measures cdnv") {
		t.Errorf("cdnv is missing because %q", why)
	}
	for _, key := range []string{KeyNC1Pinv, KeyNC1TraceRatio, KeyTraceBetween, KeyNC2MeansETF} {
		if !(r.Measures.of[key] > 0) || r.Null[key].High == 0 || !(r.Uncertainty[key] > 0) {
			t.Errorf("%s = %g ± %g, null %v", key, r.Measures.of[key], r.Uncertainty[key], r.Null[key])
		}
	}
	r, err = e.Measure(thin(50)) // the same engine, of a set whose pairs are few
	if err != nil || !(r.Measures.of[KeyCDNV] > 0) || !(r.Measures.of[KeyNCCAccuracy] > 0) {
		t.Errorf("a small set after a large one: cdnv %g: %v", r.Measures.of[KeyCDNV], err)
	}
}

func TestUnaskedBesideRowsOfW(t *testing.T) {
	const rows = 600_000
	in := thin(2)
	h, labels := make([]float64, 120_000), make([]int32, 120_000)
	for i := range h {
		h[i], labels[i] = float64(i%7), int32(i%2)
	}
	in.Train = Memory(h, 1, labels)
	in.W = make([]float64, rows)
	for i := range in.W {
		in.W[i] = float64(i)
	}
	r, err := Measure(in, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if why := r.Missing[KeyAccuracy]; !strings.Contains(why, "120000 samples and 600002 classes make 7.2e+10 comparisons") || !strings.Contains(why, "--measures accuracy") {
		t.Errorf("accuracy is missing because %q", why)
	}
	if !(r.Measures.of[KeyCDNV] > 0) {
		t.Errorf("cdnv of two classes is missing: %s", r.Missing[KeyCDNV])
	}
}

// What is named, also beside "default", and what "all" holds is measured whatever it costs.
func TestAskedIsMeasured(t *testing.T) {
	for _, c := range []struct {
		ask  []string
		left bool
	}{{nil, true}, {[]string{"default"}, true}, {[]string{"default", KeyCDNV}, false}, {[]string{KeyCDNV}, false}, {[]string{"all"}, false}} {
		want, err := newWanted(Options{Measures: c.ask})
		if err != nil {
			t.Fatal(err)
		}
		b := newBuilder(&want, PerSample)
		b.leaveUnasked(4e5, 0, 200_000, 1, 4e5)
		if left := !b.any(KeyCDNV); left != c.left || left != (b.report.Missing[KeyCDNV] != "") {
			t.Errorf("--measures %v: cdnv left out %v (%q), want %v", c.ask, left, b.report.Missing[KeyCDNV], c.left)
		}
		if !b.any(KeyNC1Pinv) && !slices.Equal(c.ask, []string{KeyCDNV}) {
			t.Errorf("--measures %v: nc1_pinv left out", c.ask)
		}
	}
}

// What needs NC1's operator has it made, whatever that costs, where it is named or all is asked for.
func TestAskedOperatorIsMade(t *testing.T) {
	for _, c := range []struct {
		ask     []string
		bounded bool
	}{{nil, true}, {[]string{"default"}, true}, {[]string{"default", KeyCDNV}, true}, {[]string{"default", KeyDilation}, false}, {[]string{KeyNC1Pinv}, false}, {[]string{"all"}, false}} {
		want, err := newWanted(Options{Measures: c.ask})
		if err != nil {
			t.Fatal(err)
		}
		e := Engine[float64]{want: want}
		e.train.k, e.train.d = 1, 1
		e.leaveUnasked(newBuilder(&e.want, PerSample), &Input[float64]{}, nil)
		s := between{allowed: e.opt.allowed}
		if made := s.affords(1e18); made == c.bounded {
			t.Errorf("--measures %v: an operator of 1e18 operations is made: %v", c.ask, made)
		}
	}
}

// The dense pass's tables of all pairs and its products of a block of rows stay small, however narrow the features are.
func TestManyNarrowClassesTakeTheWidePass(t *testing.T) {
	for _, c := range []struct {
		k, d int
		wide bool
	}{{1000, 2, false}, {10, 512, false}, {20_000, 1, true}, {2000, 2, true}, {1000, 512, true}} {
		if due := wide.Due(c.k, c.d); due != c.wide {
			t.Errorf("%d classes of width %d: wide %v", c.k, c.d, due)
		}
	}
}
