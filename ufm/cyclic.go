package ufm

import (
	"fmt"
	"math"
	"math/cmplx"
	"strings"
	"sync"
)

// With a ReLU between two layers the orthogonal frame of TB Theorem 4.2 is not always optimal. For d ≥ K, A = relu(M) of
// the pre-activations M = W1·H̄1 (class means) and W2 the ridge fit, in units in which n = 1 and every λ is q/K,
//
//	K·f = Σ_k ½·q/(q + s_k(A)²) + q·‖M‖_*,
//
// s_k the singular values: W2 is eliminated, and W1, H1 enter only through the nuclear norm (TB Lemma C.1). A circulant M of
// few harmonics has a small ‖M‖_*, while the ReLU fills the spectrum of A. If M is block diagonal, K·f is a sum over the
// blocks, and entries of M between blocks cannot help (the subgradient of ‖M‖_* is 0 there). So the best known point
// is a choice of blocks: columns of the frame, classes left at zero, and the circulants below.

// cyclicShape is a circulant block: M_ij = p·row[(j−i) mod m], p > 0 free.
type cyclicShape struct {
	name, many string
	row        []float64
}

// nonagonal is 2cos(40°) − 1.
var nonagonal = 2*math.Cos(2*math.Pi/9) - 1

// cyclicShapes are the circulants known to beat the frame, found by descent on first rows of 3 to 31 classes. In each of them some
// zeros of M lie on the kink of the ReLU; except for the one of 13 classes, these zeros determine the row whatever q is.
var cyclicShapes = []cyclicShape{
	{"pentagon", "pentagons", []float64{1, -1 / math.Phi, 1, 0, 0}},                             // no first harmonic: rank 3
	{"hexagon", "hexagons", []float64{1, 0, -1, -1, 0, 1}},                                      // the first harmonic alone: rank 2
	{"nonagon", "nonagons", []float64{1, 1 - nonagonal, 1, 0, 0, -nonagonal, -nonagonal, 0, 0}}, // rank 5
	{"decagon", "decagons", []float64{1, -1, 0, 1 / math.Phi, 0, -1, 1, 0, -1 / math.Phi, 0}},   // rank 3
	{"cycle of 13", "cycles of 13", []float64{0, -.6106, .4688, -.5365, 1, 0, -.2132, -.4284, 0, 0, 0, .9891, -.5550}},
	{"cycle of 15", "cycles of 15", []float64{1, 0, -1 / math.Phi, 0, 0, 1 - 1/math.Phi, 1 / math.Phi, -1 / math.Phi, -1 / math.Phi, 1 / math.Phi,
		1 - 1/math.Phi, 0, 0, -1 / math.Phi, 0}}, // rank 5
	{"cycle of 20", "cycles of 20", []float64{0, 0, 0, -.2, 0, 0, 0, .8, 1, 0, 0, .8, 0, -1, 0, .8, 0, 0, 1, .8}}, // rank 7
	{"cycle of 21", "cycles of 21", cycleOf21()},
}

// cycleOf21 has its non-zero entries, with signs, on orbits of multiplication by 4 modulo 21: rank 8, γ = √(7/12).
func cycleOf21() []float64 {
	gamma := math.Sqrt(7.0 / 12)
	row := make([]float64, 21)
	row[7], row[0] = 1, -1
	for value, orbit := range map[float64][]int{gamma: {2, 8, 11}, -(gamma + .5) / 2: {9, 15, 18}, -(gamma - .5) / 2: {1, 4, 16}} {
		for _, j := range orbit {
			row[j] = value
		}
	}
	return row
}

// cyclicSpectrum is what K·f needs to know about a shape.
type cyclicSpectrum struct {
	squares []float64 // s_k² of relu(M) at p = 1
	nuclear float64   // ‖M‖_* at p = 1
}

// spectra are the spectra of cyclicShapes: a circulant's singular values are the moduli of its row's Fourier transform.
var spectra = sync.OnceValue(func() []cyclicSpectrum {
	out := make([]cyclicSpectrum, len(cyclicShapes))
	for i, shape := range cyclicShapes {
		m := len(shape.row)
		for k := range m {
			var plain, active complex128
			for j, v := range shape.row {
				w := cmplx.Rect(1, -2*math.Pi*float64(j*k%m)/float64(m))
				plain += complex(v, 0) * w
				active += complex(math.Max(v, 0), 0) * w
			}
			out[i].nuclear += cmplx.Abs(plain)
			out[i].squares = append(out[i].squares, real(active)*real(active)+imag(active)*imag(active))
		}
	}
	return out
})

// cost is the shape's contribution to K·f at scale p.
func (s cyclicSpectrum) cost(q, p float64) float64 {
	sum := q * p * s.nuclear
	for _, v := range s.squares {
		sum += .5 * q / (q + p*p*v)
	}
	return sum
}

// best returns the scale p of least cost and that cost; p = 0 if zero is better than any other.
func (s cyclicSpectrum) best(q float64) (p, cost float64) {
	cost = float64(len(s.squares)) / 2
	const step = 1.0 / 64
	at := 0.0
	for x := step; x <= 4; x += step {
		if v := s.cost(q, x); v < cost {
			at, cost = x, v
		}
	}
	if at == 0 {
		return 0, cost
	}
	p = golden(func(x float64) float64 { return s.cost(q, x) }, at-step, at+step)
	return p, s.cost(q, p)
}

// block is one block of the pre-activations: a shape (index into cyclicShapes), or a column of the frame.
type block struct {
	shape int // −1: a column of the frame, or a class at zero if p is 0
	size  int
	p     float64 // M = p·circulant, in units in which n = 1 and λ = q/K; p = s(A) of a column
}

// bestBlocks chooses the blocks of K classes with the least total cost (K·f), by dynamic programming over the number of classes.
// Ties go to columns, then to the shape listed first.
func bestBlocks(K int, q float64) ([]block, float64) {
	column := block{shape: -1, size: 1}
	columnCost := .5
	if q <= qZero {
		tau := largerRoot(q)
		columnCost, column.p = directionCost(q, tau), math.Sqrt(q*tau*tau*tau/(1-tau*tau*tau)) // σ = s²/(s²+q)
	}
	kinds, costs := []block{column}, []float64{columnCost}
	for i, s := range spectra() {
		if p, cost := s.best(q); p > 0 && len(s.squares) <= K && cost < columnCost*float64(len(s.squares)) {
			kinds, costs = append(kinds, block{i, len(s.squares), p}), append(costs, cost)
		}
	}
	total, last := make([]float64, K+1), make([]int, K+1)
	for k := 1; k <= K; k++ {
		total[k] = math.Inf(1)
		for i, b := range kinds {
			if b.size <= k && total[k-b.size]+costs[i] < total[k]*(1-1e-14) {
				total[k], last[k] = total[k-b.size]+costs[i], i
			}
		}
	}
	var out []block
	for k := K; k > 0; k -= out[len(out)-1].size {
		out = append(out, kinds[last[k]])
	}
	return out, total[K]
}

// blockWords describes the blocks, as in "2 hexagons + 1 orthogonal column".
func blockWords(blocks []block) string {
	count := make([]int, len(cyclicShapes)+1)
	for _, b := range blocks {
		count[b.shape+1]++
	}
	var words []string
	for i, shape := range cyclicShapes {
		switch n := count[i+1]; {
		case n == 1:
			words = append(words, shape.name)
		case n > 1:
			words = append(words, fmt.Sprintf("%d %s", n, shape.many))
		}
	}
	if n := count[0]; n > 0 {
		rest := "orthogonal column"
		for _, b := range blocks {
			if b.shape < 0 && b.p == 0 {
				rest = "class at zero"
			}
		}
		words = append(words, plural(n, rest))
	}
	return strings.Join(words, " + ")
}

// plural returns "1 orthogonal column", "2 orthogonal columns", "2 classes at zero".
func plural(n int, what string) string {
	switch {
	case n == 1:
	case what == "class at zero":
		what = "classes at zero"
	default:
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// isCyclic reports whether any block is a circulant.
func isCyclic(blocks []block) bool {
	for _, b := range blocks {
		if b.shape >= 0 {
			return true
		}
	}
	return false
}
