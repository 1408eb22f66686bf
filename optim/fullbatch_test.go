package optim

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/optimize"
)

// rosenbrock is Σ 100(x_{i+1} − x_i²)² + (1 − x_i)², minimum 0 at ones.
type rosenbrock struct{ n int }

func (r rosenbrock) Dim() int { return r.n }

func (r rosenbrock) Eval(x, grad []float64) float64 {
	clear(grad)
	sum := 0.0
	for i := range r.n - 1 {
		a, b := x[i+1]-x[i]*x[i], 1-x[i]
		sum += 100*a*a + b*b
		grad[i] += -400*a*x[i] - 2*b
		grad[i+1] += 200 * a
	}
	return sum
}

// bowl is ½ Σ w_i (x_i − c_i)² with weights over a wide range.
type bowl struct{ w, c []float64 }

func newBowl(n int, spread float64) bowl {
	rng := rand.New(rand.NewPCG(3, 4))
	b := bowl{make([]float64, n), make([]float64, n)}
	for i := range n {
		b.w[i] = math.Pow(spread, float64(i)/float64(n-1))
		b.c[i] = rng.NormFloat64()
	}
	return b
}

func (b bowl) Dim() int { return len(b.w) }

func (b bowl) Eval(x, grad []float64) float64 {
	sum := 0.0
	for i, w := range b.w {
		d := x[i] - b.c[i]
		grad[i] = w * d
		sum += w * d * d / 2
	}
	return sum
}

func TestLBFGS(t *testing.T) {
	for name, f := range map[string]Function{"rosenbrock": rosenbrock{20}, "bowl": newBowl(50, 1e4)} {
		x := make([]float64, f.Dim())
		for i := range x {
			x[i] = -1.2 + 0.1*float64(i%3)
		}
		start := append([]float64(nil), x...)
		out := LBFGS(context.Background(), f, x, LBFGSConfig{})
		if !(out.Value <= 1e-18) || out.Stop != StopGradient {
			t.Errorf("%s: value %g after %d evaluations, stopped: %s", name, out.Value, out.Evaluations, out.Stop)
		}
		// A second implementation needs at least half as many evaluations.
		problem := optimize.Problem{
			Func: func(x []float64) float64 { return f.Eval(x, make([]float64, len(x))) },
			Grad: func(grad, x []float64) { f.Eval(x, grad) },
		}
		res, err := optimize.Minimize(problem, start, &optimize.Settings{GradientThreshold: 1e-10},
			&optimize.LBFGS{Store: 10, Linesearcher: &optimize.MoreThuente{}})
		if err != nil {
			t.Logf("%s: the oracle says %v", name, err)
		}
		if out.Evaluations > 2*res.Stats.GradEvaluations+20 {
			t.Errorf("%s: %d evaluations, the oracle needs %d", name, out.Evaluations, res.Stats.GradEvaluations)
		}
	}
}

func TestLBFGSStops(t *testing.T) {
	f := newBowl(10, 10)
	x := make([]float64, 10)
	if out := LBFGS(context.Background(), f, x, LBFGSConfig{Iterations: 2}); out.Stop != StopIterations || out.Iterations != 2 {
		t.Errorf("limit of 2: %d iterations, %s", out.Iterations, out.Stop)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if out := LBFGS(ctx, f, make([]float64, 10), LBFGSConfig{}); out.Stop != StopCancelled {
		t.Errorf("cancelled: %s", out.Stop)
	}
	x[3] = math.NaN()
	if out := LBFGS(context.Background(), f, x, LBFGSConfig{}); out.Stop != StopDiverged {
		t.Errorf("NaN: %s", out.Stop)
	}
}

// The minimum of a bowl over the non-negative orthant is max(c, 0).
func TestProjectedLBFGS(t *testing.T) {
	f := newBowl(60, 1e3)
	x := make([]float64, 60)
	for i := range x {
		x[i] = float64(i%2) - 0.5
	}
	out := ProjectedLBFGS(context.Background(), f, x, func(i int) bool { return i%3 > 0 }, LBFGSConfig{})
	for i, v := range x {
		want := f.c[i]
		if i%3 > 0 {
			want = math.Max(0, want)
		}
		if !(math.Abs(v-want) <= 1e-9) {
			t.Fatalf("x[%d] = %g, wanted %g (stopped: %s)", i, v, want, out.Stop)
		}
	}
	if out.Stop != StopGradient {
		t.Errorf("stopped: %s", out.Stop)
	}
}

func TestDescend(t *testing.T) {
	f := newBowl(5, 2)
	for _, momentum := range []float64{0, 0.5} {
		x, want := make([]float64, 5), make([]float64, 5)
		var seen []int
		out := Descend(context.Background(), f, x, DescentConfig{Step: 0.1, Momentum: momentum, Iterations: 7,
			ObserveAt: func(i int) bool { return i == 0 || i == 5 },
			Observe:   func(i int, _ []float64, _ float64) { seen = append(seen, i) }})
		for i := range want {
			v := 0.0
			for range 7 {
				v = momentum*v + f.w[i]*(want[i]-f.c[i])
				want[i] -= 0.1 * v
			}
			if !(math.Abs(x[i]-want[i]) <= 1e-15) {
				t.Errorf("momentum %g: x[%d] = %g, wanted %g", momentum, i, x[i], want[i])
			}
		}
		if len(seen) != 2 || seen[1] != 5 || out.Iterations != 7 {
			t.Errorf("observed at %v in %d iterations", seen, out.Iterations)
		}
	}
	x := []float64{1, 1, 1, 1, 1}
	if out := Descend(context.Background(), newBowl(5, 1), x, DescentConfig{Step: 10, Iterations: 5000}); out.Stop != StopDiverged {
		t.Errorf("a step far too long: %s", out.Stop)
	}
}
