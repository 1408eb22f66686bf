package measuretest

import (
	"math"

	"collapse.example/collapse/measure/internal/dd"
)

// cloud is Σ_T = Σ_W + Σ_B and Σ_W of the training samples, from triangular factors of weighted residuals and centred means.
type cloud struct {
	values     []dd.DD   // eigenvalues of Σ_T, descending
	directions [][]dd.DD // and its eigenvectors
	within     [][]dd.DD // R, RᵀR = Σ_W
	condition  float64   // of Σ_W, with its coordinates scaled to equal deviation
}

// expensiveCloud is the number of operations beyond which a cloud is not evaluated.
const expensiveCloud = 4e7

// ofCloud is a definition from the cloud, left out if that is too expensive.
func ofCloud(f func(*Evaluation, *cloud) Value) func(*Evaluation) Value {
	return func(e *Evaluation) Value {
		n, d := float64(len(e.train.rows)), float64(e.d)
		if 4*n*d*d+40*d*d*d > expensiveCloud {
			return Value{TooExpensive: true}
		}
		if e.cloud == nil {
			e.cloud = e.newCloud()
		}
		return f(e, e.cloud)
	}
}

func (e *Evaluation) newCloud() *cloud {
	s, c := e.train, &cloud{}
	var rows [][]dd.DD
	scaled := func(x []dd.DD, f dd.DD) []dd.DD {
		out := make([]dd.DD, len(x))
		for j, v := range x {
			out[j] = v.Mul(f)
		}
		return out
	}
	weight := s.weights(e.set.PerClass)
	for i, class := range s.labels {
		rows = append(rows, scaled(dd.Difference(s.rows[i], s.means[class]), weight[class].Sqrt()))
	}
	c.within = dd.Triangle(rows)
	for _, mean := range s.centred {
		rows = append(rows, scaled(mean, dd.Of(1).Over(float64(e.k)).Sqrt()))
	}
	values, directions := dd.Singular(dd.Triangle(rows), dd.Of(s.zero()))
	for _, v := range values {
		c.values = append(c.values, v.Square())
	}
	c.directions = directions
	c.condition = scaledCondition(c.within)
	return c
}

// scaledCondition returns the condition number of RᵀR with columns of R scaled to equal length; infinite if R is singular.
func scaledCondition(r [][]dd.DD) float64 {
	columns := dd.Transpose(r)
	scaled, ok := units(columns, 0)
	if !ok {
		return math.Inf(1)
	}
	s := dd.SingularValues(scaled, dd.Of(tiny))
	ratio := s[0].Hi / s[len(s)-1].Hi
	return ratio * ratio
}

// vci is 1 − tr(Σ_T⁺ Σ_B)/rank Σ_B, Σ_B in the directions that the rank keeps: Σ_j s_j²/K · u_jᵀ Σ_T⁺ u_j.
func (e *Evaluation) vci(c *cloud) Value {
	s := e.train
	if len(s.rows) < e.d+e.k {
		return undefined("0 for almost any features")
	}
	rank := e.ranks.Train
	if rank == 0 {
		rank = s.rank(e.set.PerClass)
	}
	if !s.spreads() || rank == 0 || rank > s.rank(e.set.PerClass) {
		return undefined("no spread, or no rank of Σ_B")
	}
	_, u := dd.Singular(s.centred, dd.Of(s.zero()))
	var trace dd.DD
	for _, j := range s.kept(rank) {
		square := s.singular[j].Square().Over(float64(e.k))
		for i, v := range c.directions {
			if c.values[i].Hi > 0 {
				trace = trace.Add(square.Mul(dd.Dot(u[j], v).Square()).Div(c.values[i]))
			}
		}
	}
	return value(dd.Of(1).Sub(trace.Over(float64(rank))))
}

// featureRank counts eigenvalues of Σ_T above a thousandth of the largest.
func (e *Evaluation) featureRank(c *cloud) Value {
	if !(c.values[0].Hi > 0) {
		return undefined("all features are the same")
	}
	rank := 0
	for _, v := range c.values {
		if c.values[0].Over(1000).Less(v) {
			rank++
		}
	}
	return value(dd.Of(float64(rank)))
}

// stableRank is tr Σ_T / λ_max.
func (e *Evaluation) stableRank(c *cloud) Value {
	if !(c.values[0].Hi > 0) {
		return undefined("all features are the same")
	}
	var sum dd.DD
	for _, v := range c.values {
		sum = sum.Add(v)
	}
	return value(sum.Div(c.values[0]))
}

// alignment is the mean cosine of the K−1 principal angles between span{w_k − w_G} and span{μ_k − h_G}.
func (e *Evaluation) alignment() Value {
	r := e.k - 1
	if e.d <= r {
		return undefined("both span all directions")
	}
	w, size := e.centredWeights()
	first, a := dd.Singular(w, dd.Of(tiny*size))
	second, b := dd.Singular(e.train.centred, dd.Of(e.train.zero()))
	if first[r-1].Hi == 0 || second[r-1].Hi == 0 {
		return undefined("less than K−1 directions")
	}
	var sum dd.DD
	for _, s := range dd.SingularValues(products(a[:r], b[:r]), dd.DD{}) {
		sum = sum.Add(s.Over(float64(r)))
	}
	v := value(sum)
	v.Blurred = first[r-1].Hi < 1e-12*first[0].Hi || second[r-1].Hi < 1e-12*second[0].Hi || second[r-1].Hi < 8*math.Sqrt(float64(e.k))*e.roundoff()*e.train.largest
	return v
}

// neco is the AUROC of ‖P(h − h_G)‖/‖h − h_G‖, P on the K−1 leading eigenvectors of Σ_T; 0 at the centre.
func (e *Evaluation) neco(c *cloud) Value {
	r := e.k - 1
	if r >= e.d {
		return undefined("all directions are principal")
	}
	v := e.auroc(func(h []dd.DD) dd.DD {
		u, ok := unit(dd.Difference(h, e.train.centre), e.train.zero())
		if !ok {
			return dd.DD{}
		}
		var sum dd.DD
		for _, direction := range c.directions[:r] {
			sum = sum.Add(dd.Dot(u, direction).Square())
		}
		return sum.Sqrt()
	})
	v.Blurred = c.values[r-1].Sub(c.values[r]).Hi < 1e-10*c.values[0].Hi
	return v
}

// mahalanobis is the AUROC of −min_k (h − μ_k)ᵀ Σ_W⁻¹ (h − μ_k).
func (e *Evaluation) mahalanobis(c *cloud) Value {
	if len(e.train.rows)-e.k < e.d || math.IsInf(c.condition, 1) {
		return undefined("Σ_W cannot be inverted")
	}
	v := e.auroc(func(h []dd.DD) dd.DD {
		var least dd.DD
		for k, mean := range e.train.means {
			y := dd.SolveTransposed(c.within, dd.Difference(h, mean))
			if square := dd.Dot(y, y); k == 0 || square.Less(least) {
				least = square
			}
		}
		return least.Neg()
	})
	v.Blurred = c.condition > 1e8
	return v
}

// auroc returns the fraction of pairs of a known sample (test, or training without test samples) and an out-of-distribution one in
// which the known one scores higher; ties count one half.
func (e *Evaluation) auroc(score func(h []dd.DD) dd.DD) Value {
	known := e.train
	if e.test != nil {
		known = e.test
	}
	if e.ood == nil {
		return undefined("no out-of-distribution features")
	}
	scores := func(rows [][]dd.DD) []dd.DD {
		var out []dd.DD
		for _, h := range rows {
			out = append(out, score(h))
		}
		return out
	}
	out, twice := scores(e.ood.rows), 0
	for _, a := range scores(known.rows) {
		for _, b := range out {
			switch diff := a.Sub(b); {
			case diff.Abs().Hi <= 1e-25*math.Max(a.Abs().Hi, b.Abs().Hi):
				twice++
			case diff.Hi > 0:
				twice += 2
			}
		}
	}
	return value(dd.Of(float64(twice)).Over(2 * float64(len(out))).Over(float64(len(known.rows))))
}

// ofLogits is a definition from the AUROC of a score of logits, in descending order; left out if that is too expensive.
func ofLogits(score func(z []dd.DD) dd.DD) func(*Evaluation) Value {
	return ofClassifier(func(e *Evaluation) Value {
		if float64(len(e.train.rows)*e.k) > expensiveLogits {
			return Value{TooExpensive: true}
		}
		return e.auroc(func(h []dd.DD) dd.DD {
			z := make([]dd.DD, e.k)
			for k, w := range e.w {
				z[k] = dd.Dot(w, h).Add(e.b[k])
			}
			return score(z)
		})
	})
}

// expensiveLogits is the number of logits beyond which computing their exponentials takes too long.
const expensiveLogits = 6e4

// softmaxScore orders like log max softmax = −log(1 + Σ_{j≠best} e^(z_j − z_best)): it is minus the logarithm of that sum, which
// still distinguishes values for which 1 plus the sum is equal.
func softmaxScore(z []dd.DD) dd.DD {
	best := argmax(z, 0)
	others := append(append([]dd.DD(nil), z[:best]...), z[best+1:]...)
	return z[best].Sub(energy(others))
}

// energy is log Σ_k e^z_k.
func energy(z []dd.DD) dd.DD {
	most := largest(z)
	var sum dd.DD
	for _, x := range z {
		sum = sum.Add(x.Sub(most).Exp())
	}
	return most.Add(sum.Log())
}
