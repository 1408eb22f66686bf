package measure

import (
	"math"
	"slices"
	"strconv"
)

// Report holds every measure of one set of features. Its JSON form has the stable keys of rows_*.go.
type Report struct {
	N           int   `json:"n"` // measured samples
	D           int   `json:"d"`
	K           int   `json:"k"` // classes that are present
	ClassCounts []int `json:"class_counts"`

	// Classes is the class number of each of the K classes, ascending; nil if all classes are present: 0 … K−1. Vectors and class means
	// are in this order.
	Classes []int `json:"-"`
	// LeftOut says which classes are absent, and why.
	LeftOut []LeftOut `json:"left_out,omitempty"`

	// Measures holds the finite values; Missing the reason for every other key of the registry.
	Measures Values            `json:"measures"`
	Missing  map[string]string `json:"missing"`
	// PerClass holds vectors over classes (test_… over test classes, or, where either split lacks one, over the train classes); undefined entries are null.
	PerClass map[string]Vector `json:"per_class"`
	// Conventions says for every key of Measures how it is defined and weighted.
	Conventions map[string]Convention `json:"conventions"`

	// With Options.Uncertainty: Uncertainty bounds |value − value of the definition for the given numbers in exact arithmetic|.
	// InputRounding is how far the value moves when every given number is moved within its own precision, of SignificantBits bits
	// (24 where float32 holds them all, else 53). Reason explains values with an uncertain digit, or with directions cut.
	Uncertainty     map[string]float64 `json:"uncertainty,omitempty"`
	InputRounding   map[string]float64 `json:"input_rounding,omitempty"`
	Reason          map[string]string  `json:"reason,omitempty"`
	SignificantBits int                `json:"significant_bits,omitempty"`

	// Facts are what a headline needs besides: always there, whatever was asked for.
	Facts Facts `json:"-"`

	blurred map[string]float64 // what rounding may change besides: shares of pairs of scores that it reorders, numbers compared with

	// Null holds the values of measures of class means for shuffled labels; with Options.Null.
	Null map[string]Null `json:"null,omitempty"`
	// Directions are the eigenvalues, descending, of Σ_B^(−½) Σ_W Σ_B^(−½) on the span of the centred class means, whose mean is
	// K/rank_between·nc1_pinv: how far classes have collapsed in each direction; with Options.Null, up to 128 directions.
	Directions Vector `json:"directions,omitempty"`

	Imbalance string `json:"imbalance"` // "sample" or "class"
	Dropped   int    `json:"dropped"`   // rows with NaN or infinity left out

	// Sampled says which measures come from a sample of the pairs of classes; nil: none.
	Sampled *Sampled `json:"sampled,omitempty"`

	// Histograms shows the pairs behind cdnv, if all of them were used.
	Histograms map[string]Histogram `json:"histograms,omitempty"`

	// Eigenvalues of Σ_B, descending, before the cut-off; with Options.KeepSpectrum.
	Eigenvalues Vector `json:"eigenvalues,omitempty"`
	// Margins are the cosine margins in ascending order; with Options.KeepMargins.
	Margins Vector `json:"margins,omitempty"`

	// ClassMeans (K×d), GlobalMean (d) and TestClassMeans (test K×d), with Options.KeepMeans. A class
	// without samples has a row of NaN.
	ClassMeans     []float64 `json:"-"`
	GlobalMean     []float64 `json:"-"`
	TestClassMeans []float64 `json:"-"`
}

// Convention is the meaning of a number: the registry's line, with the weighting used.
type Convention struct {
	Name      string `json:"name"`
	Formula   string `json:"formula"`
	Weighting string `json:"weighting"`
	Source    string `json:"source"`
}

// Vector is a list of numbers whose undefined entries (NaN) are null in JSON.
type Vector []float64

// MarshalJSON writes NaN and infinities as null.
func (v Vector) MarshalJSON() ([]byte, error) {
	out := append(make([]byte, 0, 2+24*len(v)), '[')
	for i, x := range v {
		if i > 0 {
			out = append(out, ',')
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			out = append(out, "null"...)
		} else {
			out = strconv.AppendFloat(out, x, 'g', -1, 64)
		}
	}
	return append(out, ']'), nil
}

// AllMeansZero is the reason why a set whose class means all lie at the origin has no angles and no ratio of norms. It is as degenerate
// as a set can be.
const AllMeansZero = "all class means are zero"

// DegenerateRatio is the limit of the ratio of class mean norms below which a run is degenerate.
const DegenerateRatio = 0.1

// Value returns a measure; ok is false if the report does not have it, for the reason in Missing.
func (r *Report) Value(key string) (v float64, ok bool) {
	return r.Measures.Get(key)
}

// Degenerate reports the configuration of M-D Fig. 4(a), one class mean at the origin: min_k ‖μ_k‖ <
// 0.1 max_k ‖μ_k‖. The threshold is ours. Call it on a report about clean training samples; known is
// false for one class, or if all means are zero.
func (r *Report) Degenerate() (degenerate, known bool) {
	if r.K < 2 || len(r.Facts.Lengths) == 0 {
		return false, false
	}
	longest := slices.Max(r.Facts.Lengths)
	return slices.Min(r.Facts.Lengths) < DegenerateRatio*longest, longest > 0
}

// MarginQuantile returns the q-quantile of the kept margins, 0 ≤ q ≤ 1, linear between order statistics;
// ok is false without margins.
// It panics if q is outside [0,1].
func (r *Report) MarginQuantile(q float64) (value float64, ok bool) {
	if !(q >= 0 && q <= 1) {
		panic("measure: a quantile lies in [0,1]")
	}
	if len(r.Margins) == 0 {
		return 0, false
	}
	at := q * float64(len(r.Margins)-1)
	low := int(at)
	high := min(low+1, len(r.Margins)-1)
	part := at - float64(low)
	return r.Margins[low]*(1-part) + r.Margins[high]*part, true
}
