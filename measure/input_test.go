package measure

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestNonFinite(t *testing.T) {
	in := gaussian[float32](3000, 40, 3, .1, 1)
	rows := in.Train.Features.(*Rows[float32])
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	rows.H[1234*40+7], rows.H[1234*40+9], rows.H[2500*40] = nan, inf, -inf
	var bad *NonFiniteError
	if _, err := Measure(in, Options{}); !errors.As(err, &bad) || *bad != (NonFiniteError{Where: "train", Row: 1234, Col: 7, Count: 3, Rows: 2}) {
		t.Fatalf("got %v", err)
	}
	for _, part := range []string{"train", "row 1234", "column 7", "3 values", "2 rows"} {
		if !strings.Contains(bad.Error(), part) {
			t.Errorf("%q lacks %q", bad, part)
		}
	}
	r := mustMeasure(t, in, Options{DropNonFinite: true})
	if r.Dropped != 2 || r.N != 2998 {
		t.Errorf("dropped %d of 3000, measured %d", r.Dropped, r.N)
	}
	only := in
	only.Only = make([]bool, 3000)
	for i := range only.Only {
		only.Only[i] = i != 1234 && i != 2500
	}
	want := mustMeasure(t, only, Options{})
	for key, v := range want.Measures.of {
		if r.Measures.of[key] != v {
			t.Errorf("%s: %g when dropped, %g when left out by the mask", key, r.Measures.of[key], v)
		}
	}
	if len(want.Measures.of) < 25 {
		t.Errorf("only %d measures", len(want.Measures.of))
	}
	in.Train, in.Test = gaussian[float32](300, 40, 3, .1, 2).Train, in.Train
	if _, err := Measure(in, Options{}); !errors.As(err, &bad) || bad.Where != "test" {
		t.Errorf("test features: %v", err)
	}
	in.W[41] = math.NaN()
	if _, err := Measure(in, Options{}); !errors.As(err, &bad) || *bad != (NonFiniteError{Where: "weight", Row: 1, Col: 1, Count: 1, Rows: 1}) {
		t.Errorf("weight: %v", err)
	}
}

func TestOverflow(t *testing.T) {
	in := tiny()
	first := make([]float64, 2*scaleRows) // rows that do not tell the size of the others
	labels := make([]int32, scaleRows)
	labels[0], first[0] = 1, 1
	of := func(h ...float64) Split[float64] {
		return Memory(append(slices.Clone(first), h...), 2, append(slices.Clone(labels), 0, 0, 1, 1))
	}
	in.True, in.Redrawn, in.Only = nil, nil, nil
	in.Train = of(1.7e308, 0, 1.7e308, 0, 0, 2, 0, 6)
	var big *RangeError
	if _, err := Measure(in, Options{}); !errors.As(err, &big) || big.Class != 0 || big.Where != "train" {
		t.Errorf("sums overflow: %v", err)
	}
	in.Train = of(1e200, 0, -1e200, 0, 0, 2, 0, 6)
	if _, err := Measure(in, Options{}); !errors.As(err, &big) {
		t.Errorf("squares overflow: %v", err)
	}
}

func TestBadShapes(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Input[float64])
		want   string
	}{
		{"label too large", func(in *Input[float64]) { in.Train.Labels = []int32{0, 0, 1, 2} }, "train: sample 3 has label 2, want 0 to 1"},
		{"negative label", func(in *Input[float64]) { in.Train.Labels = []int32{0, -1, 1, 1} }, "train: sample 1 has label -1"},
		{"true label", func(in *Input[float64]) { in.True = []int32{0, 1, 5, 1} }, "true: sample 2 has label 5"},
		{"labels", func(in *Input[float64]) { in.Train.Labels = []int32{0, 1, 1} }, "train labels: found 3, want 4"},
		{"test labels", func(in *Input[float64]) { in.Test.Labels = nil }, "test labels: found 0, want 4"},
		{"mask", func(in *Input[float64]) { in.Redrawn = make([]bool, 3) }, "mask of redrawn samples: found 3, want 4"},
		{"true labels", func(in *Input[float64]) { in.True = make([]int32, 5) }, "true labels: found 5, want 4"},
		{"selection", func(in *Input[float64]) { in.Only = make([]bool, 5) }, "train selection mask: found 5, want 4"},
		{"nothing selected", func(in *Input[float64]) { in.Only = make([]bool, 4) }, "measured train samples: found 0"},
		{"weight", func(in *Input[float64]) { in.W = make([]float64, 6) }, "weight elements: found 6, want 4; W is classes × width"},
		{"bias", func(in *Input[float64]) { in.B = make([]float64, 3) }, "bias elements: found 3, want 2"},
		{"test width", func(in *Input[float64]) { in.Test = Memory([]float64{1, 2, 3}, 1, []int32{0, 0, 1}) }, "test feature width: found 1, want 2"},
		{"ood width", func(in *Input[float64]) { in.OOD = &Rows[float64]{H: make([]float64, 3), D: 3} }, "ood feature width: found 3, want 2"},
		{"no ood rows", func(in *Input[float64]) { in.OOD = &Rows[float64]{D: 2} }, "ood samples: found 0"},
		{"no features", func(in *Input[float64]) { in.Train.Features = nil }, "train features or labels"},
		{"width zero", func(in *Input[float64]) { in.Train.Features = &Rows[float64]{} }, "train feature width: found 0"},
	} {
		in := tiny()
		c.change(&in)
		r, err := Measure(in, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || r != nil {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

// failing is a source that breaks after some rows.
type failing struct {
	chunked[float64]
	after int
	reads int
}

var errBroken = errors.New("broken disk")

func (f *failing) Read(buf []float64, from, to int) ([]float64, error) {
	if f.reads++; f.reads > f.after {
		return nil, errBroken
	}
	return f.chunked.Read(buf, from, to)
}

// Every read that fails ends in its error, whichever pass it is in.
func TestSourceErrors(t *testing.T) {
	const most = 100
	for after := range most { // by the passes, a probe for the size of the numbers, and rows for the ranks
		in := tiny()
		in.Train.Features = &failing{chunked: chunked[float64]{*in.Train.Features.(*Rows[float64])}, after: after}
		_, err := Measure(in, Options{})
		if err == nil && after > 6 {
			return
		}
		if !errors.Is(err, errBroken) {
			t.Errorf("broken after %d reads: %v", after, err)
		}
	}
	t.Errorf("more than %d reads", most)
}

// The mask measures a part; Clean makes it from labels.
func TestOnly(t *testing.T) {
	in := gaussian[float64](900, 6, 3, .3, 4)
	truth := append([]int32(nil), in.Train.Labels...)
	rows := in.Train.Features.(*Rows[float64])
	var part Input[float64]
	part.W, part.B = in.W, in.B
	var h []float64
	var labels []int32
	for i, c := range in.Train.Labels {
		if i%4 == 1 {
			truth[i] = (c + 1) % 3
			continue
		}
		h, labels = append(h, rows.H[i*6:][:6]...), append(labels, c)
	}
	part.Train = Memory(h, 6, labels)
	in.Only = Clean(in.Train.Labels, truth)
	got, want := mustMeasure(t, in, Options{}), mustMeasure(t, part, Options{})
	if got.N != 675 {
		t.Fatalf("%d samples, want 675", got.N)
	}
	for key, v := range want.Measures.of {
		if g, ok := got.Measures.of[key]; !ok || !(math.Abs(g-v) <= 1e-10*(1+math.Abs(v))) {
			t.Errorf("%s: %g with the mask, %g of the part", key, g, v)
		}
	}
}

func TestJSONKeys(t *testing.T) {
	in := tiny()
	in.Classes, in.W, in.B = 3, []float64{1, 0, 0, 1, 1, 1}, nil // class 2 is empty
	text, err := json.Marshal(mustMeasure(t, in, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"n", "d", "k", "class_counts", "measures", "missing", "per_class", "conventions"} {
		if len(got[key]) == 0 {
			t.Errorf("no key %q in %s", key, text)
		}
	}
	var perClass map[string][]*float64
	if err := json.Unmarshal(got["per_class"], &perClass); err != nil {
		t.Fatal(err)
	}
	if w := perClass["within_trace"]; len(w) != 2 || w[0] == nil || w[1] == nil {
		t.Errorf("within_trace of two classes beside an empty one: %s", got["per_class"])
	}
	var left []map[string]any
	if err := json.Unmarshal(got["left_out"], &left); err != nil {
		t.Fatal(err)
	}
	if want := `[map[classes:[2] count:1 reason:no sample samples:0 split:train] map[classes:[2] count:1 reason:no sample samples:0 split:test]]`; fmt.Sprint(left) != want {
		t.Errorf("left out: %v, want %s", left, want)
	}
}

// docs/measures.md shows the registry; a key, name, formula, weighting, source or pitfall that changes must
// change there.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/measures.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := markdown(); !strings.Contains(string(page), want) {
		t.Errorf("docs/measures.md does not hold the table of the registry; it should read\n%s", want)
	}
	seen := map[string]bool{}
	for _, d := range Definitions() {
		if seen[d.Key] || d.Name == "" || d.Formula == "" || d.Sample == "" || d.Class == "" || d.Source == "" || d.Pitfall == "" || d.Group == "" {
			t.Errorf("definition %+v is doubled or incomplete", d)
		}
		seen[d.Key] = true
	}
	// The keys that the program promises.
	for _, key := range strings.Fields(`nc1_pinv nc1_trace_ratio cdnv nc2_w nc2_means_etf nc2_means_etf_centred nc2_means_of nc2_norm_cv nc2_cos_deviation
		nc3_gram nc3_direct nc4_bias nc4_ncc_mismatch numerical_rank cosine_margin_mean cosine_margin_min cosine_margin_max nc2_rank_d nc3_rank_d accuracy
		memorization_redrawn memorization_flipped memorization_mean memorization_normalised dilation rank_between trace_within trace_between nc5_ood`) {
		if !seen[key] {
			t.Errorf("no definition of %s", key)
		}
	}
}

// markdown returns the registry as two tables, which docs/measures.md holds word for word: every way to weigh once, under a letter, and
// the measures, which name the letter, or two where a way is made of two.
func markdown() string {
	var ways, measures strings.Builder
	ways.WriteString("| weighting | `--imbalance sample` | `--imbalance class` |\n|---|---|---|\n")
	measures.WriteString("| key | measure | definition | weighting | source | beware |\n|---|---|---|---|---|---|\n")
	letters := map[[2]string]string{}
	for i := range definitions {
		d := &definitions[i]
		way := [2]string{d.Sample, d.Class}
		if letters[way] == "" {
			letters[way] = pairOf(letters, way)
		}
		if letters[way] == "" {
			letters[way] = string(rune('a' + strings.Count(ways.String(), "\n") - 2))
			class := d.Class
			if class == d.Sample {
				class = "the same"
			}
			fmt.Fprintf(&ways, "| %s | %s | %s |\n", letters[way], d.Sample, class)
		}
		cells := []string{"`" + d.Key + "`", d.Name, d.Formula, letters[way], d.Source, d.Pitfall}
		for j := range cells {
			cells[j] = strings.ReplaceAll(cells[j], "|", "\\|")
		}
		fmt.Fprintf(&measures, "| %s |\n", strings.Join(cells, " | "))
	}
	return ways.String() + "\n" + measures.String()
}

// pairOf names the two ways that this one says one after the other, or nothing.
func pairOf(letters map[[2]string]string, way [2]string) string {
	for first, a := range letters {
		for second, b := range letters {
			if way == [2]string{first[0] + "; " + second[0], first[1] + "; " + second[1]} {
				return a + ", " + b
			}
		}
	}
	return ""
}
