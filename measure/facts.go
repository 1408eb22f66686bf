package measure

import (
	"math"
	"slices"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
)

// Facts is what a headline needs to know besides single measures. Every report has it, whatever measures were asked for; what its route
// could not find is unknown, never zero.
type Facts struct {
	// Rank is how many of the Possible = min(d, K−1) directions between class means were kept; 0: none, or unknown.
	Rank, Possible int
	// Spread (K) is v_k = (1/n_k) Σ ‖h − μ_k‖²; Between is tr Σ_B; Lengths (K) are ‖μ_k‖.
	Spread  Vector
	Between float64
	Lengths Vector
	// Nearest bounds the share of samples whose nearest class mean is their own class's.
	Nearest Share
	// Coinciding holds groups of classes (indices of the report's vectors) whose means are no further apart than chance takes the means of
	// samples with their spread; Apart (K) is each class's squared distance to the nearest mean outside its group. Apart nil: unknown.
	Coinciding [][]int
	Apart      Vector
	// Summed says that the report comes from means and scatters (moments): there were no samples to shuffle.
	Summed bool
	// Coordinate is the one in which class means differ most, and CoordinateShare its part of Between.
	Coordinate      int
	CoordinateShare float64
}

// Share bounds a share of samples: at least Yes have a property, and at least No have not. They add up to 1 where samples were counted.
type Share struct{ Yes, No float64 }

// Truth is the answer to a condition.
type Truth int

// The answers. Unknown is the zero value.
const (
	Unknown Truth = iota
	False
	True
)

// AtLeast answers whether the share is x or more.
func (s Share) AtLeast(x float64) Truth {
	switch {
	case s.Yes >= x:
		return True
	case 1-s.No < x:
		return False
	}
	return Unknown
}

// facts fills Report.Facts; counted says whether sample counts hold nearest class means.
func (e *Engine[T]) facts(b *builder, counted bool) {
	if e.opt.again {
		return
	}
	s := &e.train
	f := Facts{Possible: min(s.d, s.k-1), Between: dot(s.centred[:s.k*s.d], s.centred) / float64(s.k), Lengths: make(Vector, s.k)}
	for c := range f.Lengths {
		f.Lengths[c] = norm(s.mean(c))
	}
	f.Coordinate, f.CoordinateShare = largestCoordinate(s.centred, s.k, s.d)
	if s.between.reason == "" && s.between.left == "" && s.k > 1 {
		f.Rank = s.between.rank
	}
	f.Spread = s.variances()
	if e.pairs.swept && !e.pairs.sampled {
		e.apart(&f)
	}
	switch nc1, known := b.report.Value(KeyNC1Pinv); {
	case counted:
		x := e.weighted(s.sampleCounts.nearest)
		f.Nearest = Share{x, 1 - x}
	case f.Apart == nil || len(f.Coinciding) > 0:
	default:
		f.Nearest.Yes = e.nearestBySpread(&f)
		if known && f.Rank == f.Possible {
			f.Nearest.Yes = max(f.Nearest.Yes, 1-e.farBeyond(nc1))
		}
	}
	b.report.Facts = f
}

// largestCoordinate returns the coordinate of the centred means c (K×d) with the largest sum of squares, and its share of all squares.
func largestCoordinate(c []float64, k, d int) (at int, share float64) {
	squares, all := make([]float64, d), 0.0
	for i := range k {
		addSquares(squares, 1, c[i*d:][:d])
	}
	for j, x := range squares {
		all += x
		if x > squares[at] {
			at = j
		}
	}
	if all > 0 {
		share = squares[at] / all
	}
	return at, share
}

// weighted is the mean of hits over samples or, by the imbalance, over classes.
func (e *Engine[T]) weighted(hits []int) float64 {
	sum, s := 0.0, &e.train
	for c, n := range s.count {
		if n > 0 {
			sum += float64(hits[c]) / float64(n) * e.classWeight(c)
		}
	}
	return sum
}

// classWeight is a class's part of a mean over samples: n_k/N or 1/K.
func (e *Engine[T]) classWeight(c int) float64 {
	if e.opt.Imbalance == PerClass {
		return 1 / float64(e.train.k)
	}
	return float64(e.train.count[c]) / float64(e.train.n)
}

// nearestBySpread bounds from below the share of samples nearest to their own mean: one that is not lies at least half the distance to
// the nearest other mean away from its own, and at most v_k/(δ_k/2)² of a class do (Chebyshev).
func (e *Engine[T]) nearestBySpread(f *Facts) float64 {
	far := 0.0
	for c, v := range f.Spread {
		if v > 0 {
			far += e.classWeight(c) * min(1, 4*v/f.Apart[c])
		}
	}
	return max(0, 1-far)
}

// farBeyond bounds the share of samples that are nearer to another mean by NC1, which counts only the spread that class means share
// directions with. With D = μ_j − μ_k, a residual r of such a sample has r·D ≥ ‖D‖²/2, hence rᵀΣ_B⁺r ≥ ‖D‖⁴/(4 DᵀΣ_B D), while rᵀΣ_B⁺r is
// K·NC1 on average.
func (e *Engine[T]) farBeyond(nc1 float64) float64 {
	s := &e.train
	if float64(s.k)*float64(s.k)*float64(s.k) > mostGramWork {
		return 1
	}
	k := s.k
	gram, square := make([]float64, k*k), make([]float64, k*k)
	gemm.Multiply(e.opt.Team, gemm.NT, kernel.Dense(k, s.d, s.centred[:k*s.d]), kernel.Dense(k, s.d, s.centred[:k*s.d]), kernel.Dense(k, k, gram), gemm.Epilogue[float64]{})
	gemm.Multiply(e.opt.Team, gemm.NN, kernel.Dense(k, k, gram), kernel.Dense(k, k, gram), kernel.Dense(k, k, square), gemm.Epilogue[float64]{})
	least := math.Inf(1) // of ‖D‖⁴/(4 DᵀΣ_B D)
	for i := range k {
		for j := range i {
			apart := gram[i*k+i] + gram[j*k+j] - 2*gram[i*k+j]
			along := (square[i*k+i] + square[j*k+j] - 2*square[i*k+j]) / float64(k)
			if !(apart > cancelled*(gram[i*k+i]+gram[j*k+j])) || !(along > cancelled*cancelled*(square[i*k+i]+square[j*k+j])/float64(k)) {
				return 1 // the differences cancel
			}
			least = min(least, apart*apart/(4*along))
		}
	}
	return min(1, float64(k)*nc1/least)
}

const mostGramWork = 1e9 // products of three matrices of classes

// apart fills Coinciding and Apart from the pairs.
//
// The means of n_i and n_j samples of one distribution are v_i/n_i + v_j/n_j apart on average (squared), and the relative standard
// deviation of that is √(2/q), q the number of equal directions that the spread fills. We take five of them.
func (e *Engine[T]) apart(f *Facts) {
	s := &e.train
	rounded := s.rounding()
	noise := make([]float64, s.k)
	factor := 1 + 5*math.Sqrt(2/equalDirections(s.variance))
	most := 0.0
	for c, v := range f.Spread {
		noise[c] = factor*v/float64(max(1, s.count[c])) + 2*rounded.mean[c]*rounded.mean[c]
		most = max(most, noise[c])
	}
	f.Apart = Vector(slices.Clone(e.pairs.nearest[:s.k]))
	near := []int{} // classes that may coincide with another
	for c, x := range f.Apart {
		if x <= noise[c]+most {
			near = append(near, c)
		}
	}
	if float64(len(near))*float64(s.k)*float64(s.d) > mostGramWork {
		f.Apart = nil
		return
	}
	e.group(f, near, noise)
}

// group joins classes whose means are within the noise of both, directly or through others, and measures distances beyond.
func (e *Engine[T]) group(f *Facts, near []int, noise []float64) {
	s := &e.train
	of := make([]int, s.k) // number of the group, 0: none
	var join func(c int, members *[]int)
	join = func(c int, members *[]int) {
		of[c] = len(f.Coinciding) + 1
		*members = append(*members, c)
		for _, j := range near {
			if of[j] == 0 && distance2(s.mean(c), s.mean(j)) <= noise[c]+noise[j] {
				join(j, members)
			}
		}
	}
	for _, c := range near {
		if of[c] != 0 {
			continue
		}
		var members []int
		if join(c, &members); len(members) == 1 {
			of[c] = 0
			continue
		}
		slices.Sort(members)
		f.Coinciding = append(f.Coinciding, members)
	}
	for _, members := range f.Coinciding {
		for _, c := range members {
			f.Apart[c] = math.Inf(1)
			for j := range s.k {
				if of[j] != of[c] {
					f.Apart[c] = min(f.Apart[c], distance2(s.mean(c), s.mean(j)))
				}
			}
		}
	}
}

// equalDirections is the participation ratio (Σ x)²/Σ x² of variances.
func equalDirections(variance []float64) float64 {
	sum, squares, most := 0.0, 0.0, 0.0
	for _, x := range variance {
		most = max(most, x)
	}
	if !(most > 0) {
		return 1
	}
	for _, x := range variance {
		u := x / most
		sum += u
		squares += u * u
	}
	return sum * sum / squares
}
