package search

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"collapse.example/collapse/internal/longtest"
)

// branin has three minima of 0.397887 (Dixon and Szegő 1978).
func branin(p Point) float64 {
	x, y := p[0], p[1]
	a := y - 5.1/(4*math.Pi*math.Pi)*x*x + 5/math.Pi*x - 6
	return a*a + 10*(1-1/(8*math.Pi))*math.Cos(x) + 10
}

// hartmann3 has its minimum −3.86278 at (0.114614, 0.555649, 0.852547).
func hartmann3(p Point) float64 {
	alpha := [4]float64{1, 1.2, 3, 3.2}
	a := [4][3]float64{{3, 10, 30}, {0.1, 10, 35}, {3, 10, 30}, {0.1, 10, 35}}
	q := [4][3]float64{{0.3689, 0.1170, 0.2673}, {0.4699, 0.4387, 0.7470}, {0.1091, 0.8732, 0.5547}, {0.0381, 0.5743, 0.8828}}
	sum := 0.0
	for i := range alpha {
		e := 0.0
		for j := range p {
			e += a[i][j] * (p[j] - q[i][j]) * (p[j] - q[i][j])
		}
		sum -= alpha[i] * math.Exp(-e)
	}
	return sum
}

func TestTestFunctions(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"branin", branin(Point{math.Pi, 2.275}), 0.397887}, {"branin", branin(Point{-math.Pi, 12.275}), 0.397887},
		{"hartmann3", hartmann3(Point{0.114614, 0.555649, 0.852547}), -3.86278},
	} {
		if !(math.Abs(c.got-c.want) < 1e-5) {
			t.Errorf("%s: %g, wanted %g", c.name, c.got, c.want)
		}
	}
}

// until counts the trials of a search until f is within gap of its minimum; all and one if it never is.
func until(t *testing.T, sampler string, space Space, f func(Point, *rand.Rand) float64, truth func(Point) float64, goal float64, trials int, seed uint64) int {
	t.Helper()
	s, err := New(Config{Space: space, Sampler: sampler, Schedule: Full, Trials: trials, Budget: 1, Batch: 1, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	noise := rand.New(rand.NewPCG(seed, 77))
	n := 0
	for jobs := s.Ask(); len(jobs) > 0; jobs = s.Ask() {
		for _, j := range jobs {
			n++
			if truth(j.Point) <= goal {
				return n
			}
			s.Tell(j.Trial, 1, -f(j.Point, noise))
		}
	}
	return trials + 1
}

// On functions with known optima the Gaussian process needs fewer trials than chance, on average over seeds.
func TestBayesBeatsRandom(t *testing.T) {
	longtest.Only(t)
	unit := Space{{Name: "a", High: 1}, {Name: "b", High: 1}, {Name: "c", High: 1}}
	plain := func(f func(Point) float64) func(Point, *rand.Rand) float64 {
		return func(p Point, _ *rand.Rand) float64 { return f(p) }
	}
	// log10(x) = −2 is best, and choice 1; the noise is a tenth of what a decade costs.
	mixed := func(p Point) float64 {
		d := math.Log10(p[0]) + 2
		return d*d + math.Abs(p[1]-1)
	}
	for _, c := range []struct {
		name   string
		space  Space
		f      func(Point) float64
		noise  float64
		goal   float64
		trials int
		ratio  float64 // of the mean trials, at most
	}{
		{"branin", Space{{Name: "x", Low: -5, High: 10}, {Name: "y", Low: 0, High: 15}}, branin, 0, 0.397887 + 0.2, 60, 0.6},
		{"hartmann3", unit, hartmann3, 0, -3.86278 + 0.1, 60, 0.5},
		{"noisy quadratic", Space{{Name: "lr", Scale: LogUniform, Low: 1e-5, High: 0.5}, {Name: "gamma", Scale: Choice, Choices: 3}}, mixed, 0.1, 0.01, 60, 0.7},
	} {
		f := plain(c.f)
		if c.noise > 0 {
			f = func(p Point, r *rand.Rand) float64 { return c.f(p) + c.noise*r.NormFloat64() }
		}
		seeds := longtest.Of(6, 12)
		random, bayes := 0.0, 0.0
		for seed := range uint64(seeds) {
			random += float64(until(t, Random, c.space, f, c.f, c.goal, c.trials, seed)) / float64(seeds)
			bayes += float64(until(t, Bayes, c.space, f, c.f, c.goal, c.trials, seed)) / float64(seeds)
		}
		t.Logf("%s: %.1f trials by bayes, %.1f at random", c.name, bayes, random)
		if !(bayes <= c.ratio*random) {
			t.Errorf("%s: %.1f trials by bayes, %.1f at random; wanted at most %.2f of them", c.name, bayes, random, c.ratio)
		}
	}
}

// Arms whose values rise towards a limit of their own, with noise that falls with the budget: early stopping
// finds one of the best few with a fraction of the whole budget.
func TestEarlyStoppingFindsTheBestArm(t *testing.T) {
	for _, schedule := range []string{ASHA, Hyperband} {
		rank, spent := 0.0, 0.0
		const seeds, trials, budget = 20, 81, 81
		for seed := range uint64(seeds) {
			limits := make([]float64, trials)
			for i := range limits {
				limits[i] = float64(i) / trials
			}
			r := rand.New(rand.NewPCG(seed, 3))
			r.Shuffle(trials, func(i, j int) { limits[i], limits[j] = limits[j], limits[i] })
			c := Config{Space: Space{{Name: "arm", High: 1}}, Sampler: Random, Schedule: schedule, Trials: trials, Budget: budget, MinBudget: 1, Eta: 3, Batch: 4, Seed: seed}
			s, _ := finish(t, c, func(j Job) float64 {
				return limits[j.Trial] * (1 - 0.5/math.Sqrt(float64(j.Budget))) * (1 + 0.02*r.NormFloat64())
			}, nil)
			best, _, ok := s.Best()
			if !ok {
				t.Fatal("nothing found")
			}
			rank += (1 - limits[best.Trial]) * trials / seeds // 1: the best arm
			spent += float64(s.Spent()) / (trials * budget) / seeds
		}
		t.Logf("%s: mean rank %.2f with %.0f %% of the budget", schedule, rank, 100*spent)
		if !(rank < 3) || !(spent < 0.2) || !(spent > 0.01) {
			t.Errorf("%s: mean rank %.2f with %.0f %% of the budget; wanted below 3 with less than 20 %%", schedule, rank, 100*spent)
		}
	}
}

// The process agrees with the textbook formulas computed by another route, with its derivative of no
// surprise: at points it was given without noise it is sure of the values.
func TestProcessAgainstTheFormulas(t *testing.T) {
	space := Space{{Name: "x", High: 1}, {Name: "y", Scale: LogUniform, Low: 0.1, High: 10}}
	r := rand.New(rand.NewPCG(5, 5))
	var x []Point
	var y []float64
	for range 12 {
		p := space.draw(r)
		x, y = append(x, p), append(y, math.Sin(3*p[0])+math.Log(p[1]))
	}
	m := newProcess(space, x, y)
	m.lengths, m.noise = []float64{0.4, 0.7}, 1e-3
	if !m.factorise() {
		t.Fatal("not positive definite")
	}
	n := len(x)
	k := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			dx := (x[i][0] - x[j][0]) / 0.4
			dy := (math.Log(x[i][1]) - math.Log(x[j][1])) / math.Log(100) / 0.7
			s := math.Sqrt(5 * (dx*dx + dy*dy))
			k.Set(i, j, (1+s+s*s/3)*math.Exp(-s))
		}
		k.Set(i, i, k.At(i, i)+1e-3)
	}
	var inverse mat.Dense
	if err := inverse.Inverse(k); err != nil {
		t.Fatal(err)
	}
	var w mat.VecDense
	w.MulVec(&inverse, mat.NewVecDense(n, m.y))
	signal := (mat.Dot(mat.NewVecDense(n, m.y), &w) + 1) / float64(n+1)
	logDet, _ := mat.LogDet(k)
	if want := -0.5*float64(n)*math.Log(signal) - 0.5*logDet; !(math.Abs(m.logLikelihood()-want) < 1e-8) {
		t.Errorf("log likelihood %g, wanted %g", m.logLikelihood(), want)
	}
	at := Point{0.3, 2}
	c := mat.NewVecDense(n, nil)
	for i := range n {
		c.SetVec(i, m.kernel(space.places(x[i]), space.places(at)))
	}
	var ic mat.VecDense
	ic.MulVec(&inverse, c)
	mean, sd := m.at(at)
	if want := m.shift + m.unit*mat.Dot(c, &w); !(math.Abs(mean-want) < 1e-8) {
		t.Errorf("mean %g, wanted %g", mean, want)
	}
	if want := m.unit * math.Sqrt(signal*(1-mat.Dot(c, &ic))); !(math.Abs(sd-want) < 1e-8) {
		t.Errorf("deviation %g, wanted %g", sd, want)
	}
	fitted := fitProcess(space, x, y)
	for i, p := range x {
		mean, sd := fitted.at(p)
		if !(math.Abs(mean-y[i]) < 0.05) || !(sd < 0.1) {
			t.Errorf("at a point it was given: %g ± %g, wanted %g", mean, sd, y[i])
		}
	}
}

// Expected improvement against the integral it stands for.
func TestExpectedImprovement(t *testing.T) {
	for _, c := range [][3]float64{{0, 1, 0}, {1, 2, 0.5}, {-1, 0.5, 1}, {0, 1, 5}} {
		mean, sd, goal := c[0], c[1], c[2]
		sum := 0.0
		const h = 1e-4
		for z := -10.0; z < 10; z += h {
			sum += h * math.Max(mean+sd*z-goal, 0) * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
		}
		if got := math.Exp(logExpectedImprovement(mean, sd, goal)); !(math.Abs(got-sum) < 1e-3*sum) {
			t.Errorf("%v: %g, wanted %g", c, got, sum)
		}
	}
	near, far := logExpectedImprovement(0, 1, 5.99), logExpectedImprovement(0, 1, 6.01)
	if !(near > far && near-far < 0.2) || !(logExpectedImprovement(0, 1, 60) > logExpectedImprovement(0, 1, 61)) {
		t.Errorf("the far branch does not join: %g, %g", near, far)
	}
}

// TestValuesAreStandardised: two values are one unit below and above the middle, equal ones are all zero, and the prior has its top at the
// documented lengths and noise and falls as a normal distribution does.
func TestValuesAreStandardised(t *testing.T) {
	var m process
	m.standardise([]float64{1, 5})
	if m.shift != 3 || m.unit != 2 || !slices.Equal(m.y, []float64{-1, 1}) {
		t.Errorf("%g, %g, %v", m.shift, m.unit, m.y)
	}
	m.standardise([]float64{7, 7, 7})
	if m.unit != 1 || !slices.Equal(m.y, []float64{0, 0, 0}) {
		t.Errorf("equal values: %g, %v", m.unit, m.y)
	}
	top := []float64{math.Log(.5), math.Log(.5), math.Log(1e-3)}
	for i, of := range []float64{1, 1, 3} { // a deviation
		h := slices.Clone(top)
		h[i] += 2 * of
		if got := logPrior(h) - logPrior(top); !(math.Abs(got+2) < 1e-12) {
			t.Errorf("two deviations in %d lower the log of the prior by %g, want 2", i, -got)
		}
	}
}

// TestLongTailsAreWarped: the slope of the warp is that of its formula, its order that of the values; values that differ by orders of magnitude
// are fitted on it, others are not.
func TestLongTailsAreWarped(t *testing.T) {
	y := []float64{-3, -1, -50, -1e6}
	z, stretch := warp(y, 2)
	sum := 0.0
	for i, v := range y {
		up, _ := warp([]float64{-1, v + 1e-6*(1-v)}, 2) // the largest value stays
		down, _ := warp([]float64{-1, v - 1e-6*(1-v)}, 2)
		if v == -1 {
			sum += math.Log(0.5) // at the largest value itself the slope is that below it
		} else {
			sum += math.Log((up[1] - down[1]) / (2e-6 * (1 - v)))
		}
		if want := -math.Log((2 - 1 - v) / 2); !(math.Abs(z[i]-want) < 1e-12) {
			t.Errorf("%g is warped to %g, want %g", v, z[i], want)
		}
	}
	if !(math.Abs(stretch-sum) < 1e-6) {
		t.Errorf("the slopes' logarithms add up to %g, want %g", stretch, sum)
	}
	space, r := Space{{Name: "x", High: 1}, {Name: "y", High: 1}}, rand.New(rand.NewPCG(9, 9))
	var x []Point
	var plain, steep []float64
	for range 25 {
		p := space.draw(r)
		v := (p[0]-0.3)*(p[0]-0.3) + (p[1]-0.6)*(p[1]-0.6)
		x, plain, steep = append(x, p), append(plain, -v), append(steep, -math.Exp(25*v))
	}
	if m := fitProcess(space, x, plain); !(math.Abs(m.shift-mean(plain)) < 1e-12) {
		t.Errorf("plain values are warped: %g", m.shift)
	}
	m := fitProcess(space, x, steep)
	if math.Abs(m.shift-mean(steep)) < 1e-6*math.Abs(m.shift) {
		t.Error("steep values are not warped")
	}
	if _, at := m.incumbent(); !slices.Equal(at, x[slices.Index(steep, slices.Max(steep))]) {
		t.Errorf("the best point is %v", at)
	}
}

func mean(list []float64) (sum float64) {
	for _, v := range list {
		sum += v / float64(len(list))
	}
	return sum
}
