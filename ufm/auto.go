package ufm

import (
	"context"
	"math"

	"collapse.example/collapse/optim"
)

// Limits of the search for a global optimum.
const (
	escapes       = 30    // saddles escaped along negative curvature, per start
	restarts      = 60    // starts, if an exact value shows that a better point exists
	blindStarts   = 10    // starts if no exact value is known
	searchLimit   = 3000  // L-BFGS iterations per descent
	searchGrad    = 1e-14 // in practice: until floating point allows no further decrease
	escapeEnough  = 1e-9  // curvature below which a saddle is escaped, relative to the penalties
	relativeMatch = 1e-12
)

// search is the state of the automatic method.
type search struct {
	p     *Problem // reduced: one column per class
	exact Exact
	found Found
	seed  uint64
}

// scaled is the reduced objective in variables in which all penalties are equal, so that λ's of different size do not make it
// ill-conditioned.
type scaled struct {
	p    *Problem
	unit []float64
	x    []float64
}

func newScaled(p *Problem) *scaled {
	s := &scaled{p: p, unit: make([]float64, p.Dim()), x: make([]float64, p.Dim())}
	lambdas := []float64{p.pW, p.pH}
	if p.ThreeFactor() {
		lambdas = append(lambdas, p.pW1)
	}
	level := 1.0
	for _, l := range lambdas {
		level *= math.Pow(l, 1/float64(len(lambdas)))
	}
	u := p.View(s.unit)
	for _, block := range []struct {
		v      []float64
		lambda float64
	}{{u.W, p.pW}, {u.W1, p.pW1}, {u.H, p.pH}} {
		for i := range block.v {
			block.v[i] = math.Sqrt(level / block.lambda)
		}
	}
	for i := range u.B { // the curvature in b is 1 + λ_b, that in W about 1/K
		u.B[i] = 1 / math.Sqrt(1+p.pB)
	}
	return s
}

func (s *scaled) Dim() int { return s.p.Dim() }

func (s *scaled) Eval(y, grad []float64) float64 {
	for i, v := range y {
		s.x[i] = v * s.unit[i]
	}
	value := s.p.Eval(s.x, grad)
	for i, u := range s.unit {
		grad[i] *= u
	}
	return value
}

// auto finds the global optimum from x, which it changes in place: the collapse step (see reduce.go), L-BFGS in balanced variables,
// negative curvature when that ends in a saddle, and new starts when it ends in one of the known traps, which the result names.
func (p *Problem) auto(ctx context.Context, x []float64, e Exact, seed uint64) Found {
	small, err := NewProblem(p.reduced(), nil)
	if err != nil {
		panic("ufm: the reduced problem of a valid one is not valid: " + err.Error())
	}
	s := &search{p: small, exact: e, seed: seed}
	start := p.collapseStep(x).X
	best, bestValue := start, math.Inf(1)
	starts := restarts
	if !e.Available {
		starts = blindStarts
	}
	for try := range starts {
		if at, ok := small.knownPoint(seed); ok && try == 1 {
			start = at.X
		} else if try > 0 {
			at := small.Start(small.balanced(), seed+uint64(try)<<32)
			if !e.Available && p.ThreeFactor() { // local minima of every rank: try each rank
				small.limitRank(at, 1+try%min(p.K, p.D))
			}
			start = at.X
		}
		value := s.descend(ctx, start)
		if value < bestValue {
			best, bestValue = start, value
		}
		if s.reached(bestValue) || ctx.Err() != nil {
			break
		}
		if try == 0 {
			s.found.Trap = small.Trap(start, value, e)
		}
	}
	if s.found.Trap != "" && bestValue < math.Inf(1) && s.reached(bestValue) {
		s.found.Trap = "left " + s.found.Trap
	}
	p.expand(small.View(best), x)
	return s.found
}

// knownPoint returns the best known point if it has circulant blocks (see cyclic.go). Random starts reach it too rarely, because it
// lies on kinks of the ReLU.
func (p *Problem) knownPoint(seed uint64) (Point, bool) {
	if p.Model != ReLU3 || p.CrossEntropy() || p.D < p.K {
		return Point{}, false
	}
	e, err := p.Exact()
	if err != nil || e.shape.kind != threeCyclic {
		return Point{}, false
	}
	at, err := p.Instance(e, seeded64(seed))
	return at, err == nil
}

// reached reports whether value is the exact optimum up to rounding.
func (s *search) reached(value float64) bool {
	best := float64(s.exact.Objective)
	return s.exact.Available && value <= best+math.Min(relativeMatch*math.Max(1, best), matchGap*best)
}

// descend runs L-BFGS from x (in place) and escapes saddles until it finds none.
func (s *search) descend(ctx context.Context, x []float64) float64 {
	value := math.Inf(1)
	for range escapes {
		value = s.minimise(ctx, x)
		if s.reached(value) || ctx.Err() != nil || s.p.Model == LSNonneg || !s.escape(x, value) {
			break
		}
		s.found.Saddles++
	}
	return value
}

// minimise runs the quasi-Newton method from x, in place.
func (s *search) minimise(ctx context.Context, x []float64) float64 {
	f := newScaled(s.p)
	y := make([]float64, len(x))
	for i, u := range f.unit {
		y[i] = x[i] / u
	}
	cfg := optim.LBFGSConfig{Memory: 20, Iterations: searchLimit, Gradient: searchGrad}
	var out optim.Outcome
	if s.p.Model == LSNonneg {
		out = optim.ProjectedLBFGS(ctx, f, y, s.p.nonneg, cfg)
	} else {
		out = optim.LBFGS(ctx, f, y, cfg)
	}
	for i, u := range f.unit {
		x[i] = y[i] * u
	}
	s.found.Iterations += out.Iterations
	s.found.Evaluations += out.Evaluations
	s.found.Stopped = string(out.Stop)
	return out.Value
}

// escape moves x downhill along the most negative curvature and reports whether there was any.
func (s *search) escape(x []float64, value float64) bool {
	if s.p.Dim() > hessianVariables {
		return false
	}
	s.p.Linearize(x)
	curvature, direction, _ := smallestEigen(s.p.Dim(), s.p.HessVec, seeded64(s.seed))
	if !(curvature < -escapeEnough*math.Min(1, s.p.naturalLambda())) {
		return false
	}
	best, bestValue := append([]float64(nil), x...), value
	trial, grad := make([]float64, len(x)), make([]float64, len(x))
	for t := 1.0; t > 1e-6; t /= 4 {
		for _, sign := range []float64{1, -1} {
			copy(trial, x)
			addScaled(trial, sign*t, direction)
			s.found.Evaluations++
			if got := s.p.Eval(trial, grad); got < bestValue {
				bestValue = got
				copy(best, trial)
			}
		}
	}
	copy(x, best)
	return bestValue < value
}
