package wide

import (
	"math"
	"slices"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/measure/internal/vec"
	"collapse.example/collapse/parallel"
)

// Set is a split of samples with the results of the first pass.
type Set[T kernel.Float] struct {
	Source Source[T]
	Views  bool    // Read returns views, and needs no buffer
	Class  []int32 // (Rows) class of each row, −1: not measured
	Rows   int     // of Source
	N      int     // measured rows; those of all shards if Source is one of several
	K, D   int

	Means   []float64 // (K×D) μ_k; zero rows for classes without samples
	Centre  []float64 // (D) h_G
	Centred []float64 // (K×D) μ_k − h_G
}

// Source returns feature rows [from, to), row-major, as a view or in buf, to several goroutines at a time.
type Source[T kernel.Float] interface {
	Read(buf []T, from, to int) ([]T, error)
}

// mean returns μ_k.
func (s *Set[T]) mean(k int) []float64 { return s.Means[k*s.D:][:s.D] }

// Classifier is a classifier of K classes and width D.
type Classifier struct {
	W, B        []float64 // (K×D), (K)
	K, D        int
	Centred     []float64 // (K×D) w_k − w_G
	Norms       []float64 // (K) ‖w_k‖
	CentredNorm []float64 // (K) ‖w_k − w_G‖
}

// logit returns w_j·x + b_j.
func (h *Classifier) logit(j int, x []float64) float64 { return vec.Dot(h.W[j*h.D:][:h.D], x) + h.B[j] }

// offsets returns (w_j − w_G)·x + b_j, the logits at x minus a term that all share.
func (h *Classifier) offsets(x []float64) []float64 {
	out := make([]float64, h.K)
	for j := range out {
		out[j] = vec.Dot(h.Centred[j*h.D:][:h.D], x) + h.B[j]
	}
	return out
}

// FitsFloat32 reports whether float32 products with the centred rows neither overflow nor vanish, except as far as the bound on
// their rounding allows.
func (h *Classifier) FitsFloat32() bool {
	reach := slices.Max(h.CentredNorm)
	return reach < farMagnitude && (reach > 1/farMagnitude || reach == 0)
}

// Ask says what the pass has to find. Margins requires Logits.
type Ask struct{ White, Nearest, Logits, Margins bool }

// Input is the input of the pass.
type Input[T kernel.Float] struct {
	Team       *parallel.Team
	Set        *Set[T]
	Classifier *Classifier // with Logits and Margins
	Ask        Ask

	Weight  []float64 // (K) ω of a sample of each class in NC1's sum
	Op      []float64 // (Rank×D) NC1's operator A, with White
	Rank    int
	Nearest []float64 // (K) min_{j≠k} ‖μ_k − μ_j‖², with Nearest
	Lengths []float64 // (K) ‖μ_k‖, with Nearest
	Margins []float64 // memory for Result.Margins

	// EachRow, if not nil, is called once for each measured row; the rows of one strip of Strip rows are passed in order by one
	// goroutine, those of other strips at the same time.
	EachRow  func(row int, h []T)
	Enter    func(phase string)                     // called when a stage begins
	MoveTime func(from, to string, seconds float64) // attributes seconds of one stage to another
}

// Result is what the pass has found.
type Result struct {
	Scatter []float64 // (K) Σ ‖r‖² of each class
	White   float64   // Σ ω ‖A r‖²
	// Certified means that White is accurate enough. Bound bounds the relative error that float32 products added.
	Certified bool
	Bound     float64

	Near    []int32   // (rows) nearest class mean of measured rows; nil if not requested
	Best    []int32   // (rows) class of their largest logit; nil if not requested
	Margins []float64 // (rows) their cosine margins, NaN if undefined; nil if not requested
}

// Stages of the pass.
const (
	PhaseRadii     = "radii"
	PhaseResiduals = "residuals"
	PhaseProducts  = "nc1 products"
	PhaseSums      = "nc1 sums"
	PhaseUndecided = "undecided"
	PhaseMargins   = "margins"
	PhaseRows      = "rows by class" // read again, for margins
)

// FitsFloat32 reports whether the scale of the centred means (K×d) suits float32 products.
func FitsFloat32(centred []float64, k int) bool {
	size := math.Sqrt(vec.Dot(centred, centred) / float64(k))
	return size < mostMagnitude && size > 1/mostMagnitude
}
