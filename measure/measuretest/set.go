// Package measuretest is the oracle of package measure: it evaluates every measure from its definition, in double-double arithmetic,
// and generates random sets to compare on. Only test files import it, and it imports nothing from package measure, so that the two
// share no mistake.
//
// definitions.go has the table of keys, to which new ones are added; set.go says what is measured, evaluation.go evaluates it;
// generate.go draws sets.
package measuretest

import (
	"cmp"
	"math"
	"slices"

	"collapse.example/collapse/measure/internal/dd"
)

// Split is a set of labelled samples: H (N×D, row-major) holds their numbers exactly, whatever type they are measured in.
type Split struct {
	H      []float64
	Labels []int32
	K      int // classes, each with at least one sample
}

// Set is what is measured. W, B, Test, True, Redrawn and OOD may be nil.
type Set struct {
	D        int
	Train    Split
	PerClass bool      // weight classes equally, rather than samples
	W, B     []float64 // (K×D), (K)
	Test     *Split
	True     []int32 // of train samples, classes of Test
	Redrawn  []bool
	OOD      []float64

	Float32 bool // every number of H, Test and OOD is a float32
	Traits  Traits
}

// Traits say how a random set was made.
type Traits struct {
	Heavy      float64 // factor of the heaviest coordinate
	Offset     float64 // distance of the features from the origin, relative to distances of class means
	Spread     float64 // of a class, in the same units
	Dependence float64 // size of the part of class means outside a subspace; 1: no such subspace
	Scale      float64
	Kind       string // of class means
	Rotated    bool
}

// Value is the result of a definition: V, or why there is none.
type Value struct {
	V            dd.DD
	Undefined    string
	Blurred      bool // there is a value, but in float64 rounding may decide whether there is
	TooExpensive bool // the evaluation was skipped
}

func value(x dd.DD) Value { return Value{V: x} }

func undefined(reason string) Value { return Value{Undefined: reason} }

// split is a Split with quantities derived from it.
type split struct {
	rows   [][]dd.DD
	labels []int32
	k, d   int
	count  []float64

	means, centred [][]dd.DD
	centre         []dd.DD
	variance       []dd.DD // (K) (1/n_k) Σ ‖h − μ_k‖²
	largest        float64 // max ‖h‖

	singular, along []dd.DD   // of the centred means, and the variance of residuals along each direction
	blurred         []float64 // Σ_i u_i² Σ_k (μ_ki² + v_i) of each direction u, v_i the variance of coordinate i within classes
}

// Rounding of the evaluation itself, relative to the largest features: shorter lengths count as zero.
const tiny = 1e-27

// newSplit computes means. jitter, if not nil, moves every class and every sample by about one rounding.
func newSplit(s Split, d int, perClass bool, jitter *jitter) *split {
	out := &split{labels: s.Labels, k: s.K, d: d, count: make([]float64, s.K)}
	shift := make([]float64, s.K*d)
	if jitter != nil {
		for i := range shift {
			shift[i] = jitter.sign()
		}
	}
	for i, c := range s.Labels {
		row := dd.Vector(s.H[i*d:][:d])
		if jitter != nil {
			for j, x := range row {
				row[j] = x.Add(dd.Of(x.Hi * (shift[int(c)*d+j] + jitter.sign()) * jitter.u))
			}
		}
		out.count[c]++
		out.rows = append(out.rows, row)
		out.largest = math.Max(out.largest, dd.Norm(row).Hi)
	}
	out.fillMeans(perClass)
	return out
}

// fillMeans computes what follows from the rows.
func (s *split) fillMeans(perClass bool) {
	zeros := func() [][]dd.DD {
		x := make([][]dd.DD, s.k)
		for c := range x {
			x[c] = make([]dd.DD, s.d)
		}
		return x
	}
	s.means, s.centre, s.variance = zeros(), make([]dd.DD, s.d), make([]dd.DD, s.k)
	for i, c := range s.labels {
		for j, x := range s.rows[i] {
			s.means[c][j] = s.means[c][j].Add(x)
		}
	}
	for c, mean := range s.means {
		for j, sum := range mean {
			mean[j] = sum.Over(s.count[c])
			if perClass {
				s.centre[j] = s.centre[j].Add(mean[j].Over(float64(s.k)))
			} else {
				s.centre[j] = s.centre[j].Add(sum.Over(float64(len(s.rows))))
			}
		}
	}
	for _, mean := range s.means {
		s.centred = append(s.centred, dd.Difference(mean, s.centre))
	}
	for i, c := range s.labels {
		s.variance[c] = s.variance[c].Add(dd.Distance2(s.rows[i], s.means[c]))
	}
	for c, x := range s.variance {
		s.variance[c] = x.Over(s.count[c])
	}
}

// spreads reports whether some class has two samples.
func (s *split) spreads() bool { return len(s.rows) > s.k }

// weights returns the weight of a sample of each class; the weights of all samples sum to 1.
func (s *split) weights(perClass bool) []dd.DD {
	w := make([]dd.DD, s.k)
	for c, n := range s.count {
		w[c] = dd.Of(1).Over(float64(len(s.rows)))
		if perClass {
			w[c] = dd.Of(1).Over(float64(s.k)).Over(n)
		}
	}
	return w
}

// traceWithin is tr Σ_W.
func (s *split) traceWithin(perClass bool) dd.DD {
	var sum dd.DD
	for c, w := range s.weights(perClass) {
		sum = sum.Add(w.Times(s.count[c]).Mul(s.variance[c]))
	}
	return sum
}

// traceBetween is tr Σ_B = (1/K) Σ ‖μ_k − h_G‖².
func (s *split) traceBetween() dd.DD {
	var sum dd.DD
	for _, c := range s.centred {
		sum = sum.Add(dd.Dot(c, c).Over(float64(s.k)))
	}
	return sum
}

// spectrum computes the singular values s_j of the centred means and u_jᵀ Σ_W u_j for their directions u_j.
func (s *split) spectrum(perClass bool) {
	if s.singular != nil {
		return
	}
	floor := dd.Of(s.zero())
	values, directions := dd.Singular(s.centred, floor)
	full := min(s.d, s.k-1)
	s.singular, s.along = values[:full], make([]dd.DD, full)
	weight := s.weights(perClass)
	for i, c := range s.labels {
		r := dd.Difference(s.rows[i], s.means[c])
		for j, u := range directions[:full] {
			s.along[j] = s.along[j].Add(weight[c].Mul(dd.Dot(u, r).Square()))
		}
	}
	s.blur(directions[:full])
}

// blur fills blurred.
func (s *split) blur(directions [][]dd.DD) {
	size := make([]float64, s.d) // Σ_k (μ_ki² + v_i)
	for i := range size {
		for _, mean := range s.means {
			size[i] += mean[i].Hi * mean[i].Hi
		}
		for row, c := range s.labels {
			r := s.rows[row][i].Sub(s.means[c][i]).Hi
			size[i] += r * r * float64(s.k) / float64(len(s.rows))
		}
	}
	s.blurred = make([]float64, len(directions))
	for j, u := range directions {
		for i, x := range u {
			s.blurred[j] += x.Hi * x.Hi * size[i]
		}
	}
}

// kept returns the directions of a rank, in order of size: those that the rounding of their coordinates blurs least relative to their size.
func (s *split) kept(rank int) []int {
	all := make([]int, len(s.singular))
	for j := range all {
		all[j] = j
	}
	clear := func(j int) float64 { return s.singular[j].Hi * s.singular[j].Hi / s.blurred[j] }
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(clear(b), clear(a)) })
	out := all[:rank]
	slices.Sort(out)
	return out
}

// rank counts the non-zero singular values of the centred means.
func (s *split) rank(perClass bool) int {
	s.spectrum(perClass)
	n := 0
	for _, x := range s.singular {
		if x.Hi > 0 {
			n++
		}
	}
	return n
}

// nc1 is (1/K) tr(Σ_W Σ_B⁺) over the directions of a rank: Σ_j u_jᵀ Σ_W u_j / s_j².
func (s *split) nc1(rank int, perClass bool) Value {
	s.spectrum(perClass)
	if rank < 1 || rank > s.rank(perClass) {
		return undefined("no direction of the class means to compare with")
	}
	var sum dd.DD
	for _, j := range s.kept(rank) {
		sum = sum.Add(s.along[j].Div(s.singular[j].Square()))
	}
	return value(sum)
}

// zero is the length up to which a difference of features counts as zero.
func (s *split) zero() float64 { return tiny * s.largest }
