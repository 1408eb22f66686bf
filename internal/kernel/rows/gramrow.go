package rows

import (
	"math"

	"collapse.example/collapse/internal/kernel"
)

// GramRow is the result of one walk over a row g_j = c_i·c_j of a Gram matrix, without j = i. With μ = c + h, where all share the
// vector h:
//
//   - the angles of c_i and the c_j, as sums and extremes, and the distances δ_j of their unit vectors;
//   - the largest |cosine| of μ_i and the μ_j;
//   - the squared distances of c_i and the c_j, inverted.
type GramRow struct {
	// What the walk reads, one element per j.
	Unit   []float64 // 1/‖c_j‖
	Whole  []float64 // 1/‖μ_j‖
	Shift  []float64 // c_j·h + ‖h‖²/2: μ_i·μ_j = c_i·c_j + shift_i + shift_j
	Square []float64 // ‖c_j‖²

	// What it writes.
	Distance []float64 // δ_j
	Inverse  []float64 // 1/‖c_i − c_j‖²

	Away         float64 // Σ_j |cos(c_i, c_j) + ideal|
	MostAway     float64 // the largest of these
	MostCosine   float64 // max_j |cos(μ_i, μ_j)|
	InverseSum   float64 // Σ_j of Inverse
	MostInverse  float64
	LeastSquared float64 // min_j δ_j²
}

// GramVector is what Walk needs about c_i itself: the same numbers as about every c_j.
type GramVector struct{ Unit, Whole, Shift, Square float64 }

// gramOwn is GramVector with the thresholds, as the SIMD version reads them.
type gramOwn struct{ unit, whole, shift, square, ideal, cancelled float64 }

// gramLanes are partial sums and extremes, as the SIMD version writes them.
type gramLanes struct {
	away, inverse                            kernel.Sums
	mostAway, mostCosine, mostInverse, least [kernel.Parts / 2]float64
}

// Walk fills r from g; ideal is minus the cosine that Away is measured from. It reports whether every element is accurate: false if
// some difference of squares cancels down to the fraction cancelled, or is not a number; then what was written must be computed in
// another way. It panics if a slice is shorter than g.
func (r *GramRow) Walk(g []float64, own GramVector, ideal, cancelled float64) (exact bool) {
	n := len(g)
	if min(len(r.Unit), len(r.Whole), len(r.Shift), len(r.Square), len(r.Distance), len(r.Inverse)) < n {
		panic("rows: GramRow needs slices as long as its row")
	}
	return table.gramRow(r, g, gramOwn{own.Unit, own.Whole, own.Shift, own.Square, ideal, cancelled})
}

// newGramLanes returns the sums and extremes over no elements.
func newGramLanes() (lanes gramLanes) {
	for j := range lanes.least {
		lanes.least[j] = 4 // for opposite unit vectors
	}
	return lanes
}

// finish adds up what the walk left in lanes.
func (r *GramRow) finish(lanes *gramLanes) {
	r.Away, r.InverseSum = lanes.away.Total(), lanes.inverse.Total()
	r.MostAway, r.MostCosine, r.MostInverse, r.LeastSquared = 0, 0, 0, 4
	for j := range lanes.least {
		r.MostAway = max(r.MostAway, lanes.mostAway[j])
		r.MostCosine = max(r.MostCosine, lanes.mostCosine[j])
		r.MostInverse = max(r.MostInverse, lanes.mostInverse[j])
		r.LeastSquared = min(r.LeastSquared, lanes.least[j])
	}
}

// walkGeneric is Walk from element done on, a multiple of kernel.Parts; lanes are those of the elements before it.
func (r *GramRow) walkGeneric(g []float64, done int, o *gramOwn, lanes *gramLanes) (exact bool) {
	for j := done; j < len(g); j++ {
		x, lane, half := g[j], j%kernel.Parts, j%(kernel.Parts/2)
		cosine := float64(x * float64(r.Unit[j]*o.unit))
		away := math.Abs(cosine + o.ideal)
		lanes.away[lane] += away
		lanes.mostAway[half] = max(lanes.mostAway[half], away)
		whole := float64(math.Abs(x+o.shift+r.Shift[j]) * float64(r.Whole[j]*o.whole))
		lanes.mostCosine[half] = max(lanes.mostCosine[half], whole)
		squared := 2 - float64(cosine+cosine)
		lanes.least[half] = min(lanes.least[half], squared)
		r.Distance[j] = math.Sqrt(squared)
		both := r.Square[j] + o.square
		square := both - float64(x+x)
		if !(squared > o.cancelled && square > float64(both*o.cancelled)) {
			return false
		}
		inverse := 1 / square
		lanes.inverse[lane] += inverse
		lanes.mostInverse[half] = max(lanes.mostInverse[half], inverse)
		r.Inverse[j] = inverse
	}
	r.finish(lanes)
	return true
}
