package measure

import (
	"slices"
	"strings"
	"testing"

	"collapse/measure/internal/wide"
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
		if _, measured := r.Measures[key]; measured {
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
		if !(r.Measures[key] > 0) || r.Null[key].High == 0 || !(r.Uncertainty[key] > 0) {
			t.Errorf("%s = %g ± %g, null %v", key, r.Measures[key], r.Uncertainty[key], r.Null[key])
		}
	}
	r, err = e.Measure(thin(50)) // the same engine, of a set whose pairs are few
	if err != nil || !(r.Measures[KeyCDNV] > 0) || !(r.Measures[KeyNCCAccuracy] > 0) {
		t.Errorf("a small set after a large one: cdnv %g: %v", r.Measures[KeyCDNV], err)
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
	if why := r.Missing[KeyAccuracy]; !strings.Contains(why, "120000 samples beside 600002 classes make 7.2e+10 comparisons") || !strings.Contains(why, "--measures accuracy") {
		t.Errorf("accuracy is missing because %q", why)
	}
	if !(r.Measures[KeyCDNV] > 0) {
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
