package measuretest

import (
	"math"
	"slices"

	"collapse.example/collapse/measure/internal/dd"
)

// nc1 is split.nc1, over all non-zero directions if rank is 0.
func (e *Evaluation) nc1(s *split, rank int) Value {
	if !s.spreads() {
		return undefined(allSingle)
	}
	if rank == 0 {
		rank = s.rank(e.set.PerClass)
	}
	return s.nc1(rank, e.set.PerClass)
}

// rankBetween is the requested rank if it leaves out only what rounding could have produced; otherwise it is the number of non-zero
// directions.
func (e *Evaluation) rankBetween() int {
	if asked := e.ranks.Train; e.admits(e.train, asked) {
		return asked
	}
	return e.train.rank(e.set.PerClass)
}

// admits reports whether a rank leaves out only what rounding of the given numbers could have produced: singular values up to
// √K·u·max ‖h‖, u the roundoff of their type.
func (e *Evaluation) admits(s *split, rank int) bool {
	full := s.rank(e.set.PerClass)
	if rank < 1 || rank >= full {
		return rank > 0 && rank == full
	}
	left := 0.0
	kept := s.kept(rank)
	for j, x := range s.singular {
		if !slices.Contains(kept, j) {
			left = max(left, x.Hi)
		}
	}
	return left <= math.Sqrt(float64(s.k))*e.roundoff()*s.largest
}

// roundoff is the unit roundoff of the features' type.
func (e *Evaluation) roundoff() float64 {
	if e.set.Float32 {
		return 0x1p-24
	}
	return 0x1p-53
}

// AdmitsTest reports whether a rank of the test split leaves out only what rounding could have produced.
func (e *Evaluation) AdmitsTest(rank int) bool { return e.test != nil && e.admits(e.test, rank) }

// traceRatio is tr Σ_W / tr Σ_B.
func (e *Evaluation) traceRatio(s *split) Value {
	between := s.traceBetween()
	if !s.spreads() {
		return undefined(allSingle)
	}
	if !(between.Sqrt().Hi > s.zero()) {
		return undefined("the class means coincide")
	}
	return value(s.traceWithin(e.set.PerClass).Div(between))
}

// ofSpreads is a definition from (v_i + v_j) / (2 ‖μ_i − μ_j‖²) over i<j.
func ofSpreads(f func([]dd.DD) dd.DD) func(*Evaluation) Value {
	return func(e *Evaluation) Value {
		s := e.train
		if !s.spreads() {
			return undefined(allSingle)
		}
		var all []dd.DD
		blurred := false
		for i, a := range s.means {
			for j, b := range s.means[:i] {
				distance := dd.Distance2(a, b)
				if !(distance.Sqrt().Hi > s.zero()) {
					return undefined("two class means coincide")
				}
				blurred = blurred || distance.Sqrt().Hi < blur*e.roundoff()*s.largest
				all = append(all, s.variance[i].Add(s.variance[j]).Div(distance.Times(2)))
			}
		}
		return Value{V: f(all), Blurred: blurred}
	}
}

// variation is the standard deviation over the mean of the lengths of rows.
func variation(rows [][]dd.DD) Value {
	var norms []dd.DD
	for _, row := range rows {
		norms = append(norms, dd.Norm(row))
	}
	mean, variance := moments(norms)
	if !(mean.Hi > 0) {
		return undefined("a matrix of zeros has no direction")
	}
	return value(variance.Sqrt().Div(mean))
}

// apart is ‖U(W) − U(x)‖ for rows x.
func (e *Evaluation) apart(rows [][]dd.DD) Value {
	w, h := frobenius(e.w), frobenius(rows)
	if !(w.Hi > 0 && h.Hi > 0) {
		return undefined("a matrix of zeros has no direction")
	}
	var sum dd.DD
	for k, row := range e.w {
		for j, x := range row {
			sum = sum.Add(x.Div(w).Sub(rows[k][j].Div(h)).Square())
		}
	}
	return value(sum.Sqrt())
}

// dual returns the unit vectors of w_k and of μ_k − h_G.
func (e *Evaluation) dual() (w, c [][]dd.DD, ok bool) {
	w, first := units(e.w, 0)
	c, second := units(e.train.centred, e.train.zero())
	return w, c, first && second
}

// uniformDuality is the variance over classes of cos(w_k, μ_k − h_G).
func (e *Evaluation) uniformDuality() Value {
	w, c, ok := e.dual()
	if !ok {
		return undefined("w or a centred mean is zero")
	}
	var cosines []dd.DD
	for k := range w {
		cosines = append(cosines, dd.Dot(w[k], c[k]))
	}
	_, variance := moments(cosines)
	return value(variance)
}

// weightAngle is the largest angle between w_k and μ_k − h_G: 2 atan(‖ŵ − ĉ‖/‖ŵ + ĉ‖).
func (e *Evaluation) weightAngle() Value {
	w, c, ok := e.dual()
	if !ok {
		return undefined("w or a centred mean is zero")
	}
	var most dd.DD
	for k := range w {
		opposite := make([]dd.DD, e.d)
		for j, x := range c[k] {
			opposite[j] = x.Neg()
		}
		half := dd.Atan2(dd.Distance2(w[k], c[k]).Sqrt(), dd.Distance2(w[k], opposite).Sqrt())
		most = dd.Max(most, half.Times(2))
	}
	return value(most)
}

// bias is ‖b + W h_G‖.
func (e *Evaluation) bias() Value {
	var sum dd.DD
	for k, w := range e.w {
		sum = sum.Add(dd.Dot(w, e.train.centre).Add(e.b[k]).Square())
	}
	return value(sum.Sqrt())
}

// orthogonality is the mean over k of |cos(μ_k, μ_OOD)|.
func (e *Evaluation) orthogonality() Value {
	if e.ood == nil {
		return undefined("no out-of-distribution features")
	}
	mean, first := unit(e.ood.means[0], e.ood.zero())
	means, second := units(e.train.means, e.train.zero())
	if !first || !second {
		return undefined("a mean is zero")
	}
	var sum dd.DD
	for _, u := range means {
		sum = sum.Add(dd.Dot(u, mean).Abs().Over(float64(e.k)))
	}
	return value(sum)
}

// numericalRank is the mean over k of (‖H_k‖_* / ‖H_k‖)².
func (e *Evaluation) numericalRank() Value {
	classes := make([][][]dd.DD, e.k)
	for i, c := range e.train.labels {
		classes[c] = append(classes[c], e.train.rows[i])
	}
	var sum dd.DD
	for _, rows := range classes {
		length := frobenius(rows)
		if !(length.Hi > 0) {
			return undefined("all features of a class are zero")
		}
		var nuclear dd.DD
		for _, s := range dd.SingularValues(rows, length.Times(1e-29)) {
			nuclear = nuclear.Add(s)
		}
		sum = sum.Add(nuclear.Div(length).Square().Over(float64(e.k)))
	}
	return value(sum)
}

// normRatio is min ‖μ_k‖ / max ‖μ_k‖.
func (e *Evaluation) normRatio() Value {
	least, most := dd.Norm(e.train.means[0]), dd.DD{}
	for _, m := range e.train.means {
		least, most = dd.Min(least, dd.Norm(m)), dd.Max(most, dd.Norm(m))
	}
	if !(most.Hi > 0) {
		return undefined("all class means are zero")
	}
	return value(least.Div(most))
}

// smallestEntry is min over k, c of μ_kc.
func (e *Evaluation) smallestEntry() Value {
	least := e.train.means[0][0]
	for _, m := range e.train.means {
		for _, x := range m {
			least = dd.Min(least, x)
		}
	}
	return value(least)
}

// maxCos is max over i<j of |cos(μ_i, μ_j)|.
func (e *Evaluation) maxCos() Value {
	u, ok := units(e.train.means, e.train.zero())
	if !ok {
		return undefined("a class mean is zero")
	}
	var most dd.DD
	for i, a := range u {
		for _, b := range u[:i] {
			most = dd.Max(most, dd.Dot(a, b).Abs())
		}
	}
	return value(most)
}

// overlap is max over i<j of Σ_c min(|μ_ic|, |μ_jc|) / min(‖μ_i‖₁, ‖μ_j‖₁).
func (e *Evaluation) overlap() Value {
	var most dd.DD
	for i, a := range e.train.means {
		for _, b := range e.train.means[:i] {
			var shared, first, second dd.DD
			for c, x := range a {
				first, second = first.Add(x.Abs()), second.Add(b[c].Abs())
				shared = shared.Add(dd.Min(x.Abs(), b[c].Abs()))
			}
			least := dd.Min(first, second)
			if !(least.Hi > 0) {
				return undefined("a class mean is zero")
			}
			most = dd.Max(most, shared.Div(least))
		}
	}
	return value(most)
}
