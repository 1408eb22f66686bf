package measure

import (
	"context"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/parallel"
)

// Source provides feature rows. Several goroutines read from one source at the same time.
type Source[T kernel.Float] interface {
	// Size returns the number of rows N and their width d.
	Size() (n, d int)
	// Read returns rows [from, to), row-major with no gaps: a view of memory that stays unchanged
	// until Measure returns, or buf filled. buf holds at least (to−from)·d elements.
	Read(buf []T, from, to int) ([]T, error)
}

// Rows is a Source in memory: N×d, row-major.
type Rows[T kernel.Float] struct {
	H []T
	D int
}

// Size returns N = len(H)/D and D.
func (r *Rows[T]) Size() (n, d int) {
	if r.D < 1 {
		return 0, r.D
	}
	return len(r.H) / r.D, r.D
}

// Read returns a view; buf is not touched.
func (r *Rows[T]) Read(_ []T, from, to int) ([]T, error) { return r.H[from*r.D : to*r.D], nil }

// Split is a set of samples: feature rows and one label in [0,K), or of Options.IgnoreLabels, for each.
type Split[T kernel.Float] struct {
	Features Source[T]
	Labels   []int32
}

// Memory is the split of features h (len(labels)×d, row-major) held in memory.
func Memory[T kernel.Float](h []T, d int, labels []int32) Split[T] {
	return Split[T]{Features: &Rows[T]{H: h, D: d}, Labels: labels}
}

// Input is what a report is made from. Only Train is required; measures that need absent inputs are
// listed as missing.
type Input[T kernel.Float] struct {
	// Classes is K, the number of classes of the observed labels and of the rows of W: label k belongs to row k.
	// 0: the rows of W or, without W, 1 + the largest label. Classes without samples are left out
	// (Report.LeftOut).
	Classes int
	// Train holds the measured features with their observed labels.
	Train Split[T]
	// Only selects the train samples to measure; nil: all. With Clean(observed, true) the whole report
	// is about clean samples.
	Only []bool

	// W (K×d, row-major) and B (K) are the classifier, in float64 whatever T is; nil B with W is a classifier without
	// bias. The engine reads W in place: it must not change until Measure returns.
	W, B []float64

	// Test gives dilation, test accuracy and the centres h* of memorization.
	Test Split[T]
	// TestClasses is the number of classes of the test labels and of True; 0: Classes. It is smaller
	// if training added latent classes.
	TestClasses int

	// True holds the labels of the train samples before noise, in [0,TestClasses).
	True []int32
	// Redrawn marks train samples whose label was redrawn; some keep their label by chance, so
	// labels alone do not show it.
	Redrawn []bool

	// OOD holds out-of-distribution features for NC5.
	OOD Source[T]
}

// Clean marks the samples whose observed label is their true one.
// It panics if the lengths differ.
func Clean(observed, truth []int32) []bool {
	if len(observed) != len(truth) {
		panic("measure: Clean needs as many observed as true labels")
	}
	clean := make([]bool, len(observed))
	for i, label := range observed {
		clean[i] = label == truth[i]
	}
	return clean
}

// Imbalance says what has equal weight: every sample or every class. With balanced classes both agree.
type Imbalance uint8

const (
	// PerSample: Σ_W = (1/N) Σ_i, h_G the mean of all samples, rates over samples.
	PerSample Imbalance = iota
	// PerClass: Σ_W = (1/K) Σ_k (1/n_k) Σ_i, h_G the mean of the class means, rates averaged over classes.
	PerClass
)

// String returns "sample" or "class", as in flags and reports.
func (im Imbalance) String() string {
	if im == PerClass {
		return "class"
	}
	return "sample"
}

// Options say how to measure; the zero value is the default.
type Options struct {
	// Context stops a measurement when it ends: the error is then the context's. It is checked between blocks of rows, stripes of pairs
	// of classes, moves and shuffles, and within large products; a running decomposition of a matrix of class means, of up to min(K,d)
	// rows, is finished first. nil: nothing stops it.
	Context context.Context
	// Team shares the work; nil: only the caller's goroutine. The result has the same bits for any team.
	Team *parallel.Team
	// Imbalance weights samples or classes.
	Imbalance Imbalance
	// Measures lists registry keys, or "default", or "all". nil means "default": everything whose work is
	// O(N·K·d), and more expensive measures if their estimated work stays below Budget.
	Measures []string
	// Without lists keys that "default" and "all" leave out.
	Without []string
	// Budget is the work, in floating-point operations, under which expensive measures are part of "default";
	// 0: 0.5e9.
	Budget float64
	// RankCutoff is a chosen rcond: eigenvalues of Σ_B below rcond times the largest count as zero. 0: only those that
	// rounding of the given numbers could have caused (cutoff).
	RankCutoff float64
	// Uncertainty estimates how far rounding may have moved every measure: Report.Uncertainty, InputRounding and
	// Reason.
	Uncertainty bool
	// Null is how often labels are shuffled to see what measures come to by chance: Report.Null. 0: never.
	Null int
	// KeepMeans copies class means and the global mean into the report.
	KeepMeans bool
	// KeepMargins copies the sorted cosine margins of all measured train samples into the report.
	KeepMargins bool
	// KeepSpectrum computes the eigenvalues of Σ_B for the report; O(min(K,d)³).
	KeepSpectrum bool
	// MinCount is the number of train samples that a class needs; classes with fewer are left out everywhere, including the
	// test split. 0: 1.
	MinCount int
	// IgnoreLabels are labels whose samples are left out everywhere; they need not lie in [0,K).
	IgnoreLabels []int32
	// DropNonFinite leaves out feature rows with NaN or infinity, counted in Report.Dropped, instead of
	// failing with *NonFiniteError.
	DropNonFinite bool
	// Stored is the number of bytes in which the features are stored, perhaps compressed: a small file justifies no more work than the
	// numbers it could hold (leaveUnasked). 0: unknown, and the numbers themselves count.
	Stored int64

	again       bool    // a repeated measurement, of which only the measures count
	samplePairs bool    // use a sample of the pairs of classes, as the report that is measured again did
	allowed     float64 // operations for NC1's operator in a repeated measurement; 0: what the input justifies, or any number if named
}
