package ufm

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"collapse.example/collapse/etf"
	"collapse.example/collapse/measure"
)

// optima has every regime of every model with a closed form.
func optima() map[string]Config {
	return map[string]Config{
		"mse etf":           {Model: MSE, K: 4, N: 3, D: 6, LW: .02, LH: .01, LB: .05},
		"mse etf d=K−1":     {Model: MSE, K: 4, N: 3, D: 3, LW: .02, LH: .01, LB: .5},
		"mse full":          {Model: MSE, K: 4, N: 3, D: 6, LW: .02, LH: .01, LB: .5},
		"mse no bias":       {Model: MSE, K: 3, N: 2, D: 5, LW: .05, LH: .02, LB: NoBias},
		"mse free bias":     {Model: MSE, K: 4, N: 2, D: 5, LW: .05, LH: .02, LB: 0},
		"mse rank d":        {Model: MSE, K: 5, N: 2, D: 3, LW: .01, LH: .02, LB: .1},
		"mse rank d bare":   {Model: MSE, K: 3, N: 2, D: 2, LW: .05, LH: .02, LB: NoBias},
		"mse zero":          {Model: MSE, K: 3, N: 2, D: 4, LW: .3, LH: .3, LB: .2},
		"rescaled target":   {Model: RescaledMSE, K: 4, N: 3, D: 6, LW: .02, LH: .01, LB: .05, Alpha: 1, M: 3},
		"rescaled d<K":      {Model: RescaledMSE, K: 5, N: 3, D: 2, LW: .02, LH: .01, LB: .05, Alpha: 1, M: 3},
		"rescaled full":     {Model: RescaledMSE, K: 4, N: 3, D: 6, LW: .02, LH: .01, LB: .05, Alpha: 5, M: 2},
		"rescaled etf":      {Model: RescaledMSE, K: 3, N: 2, D: 4, LW: .05, LH: .02, LB: 0, Alpha: .3, M: 1},
		"rescaled bare":     {Model: RescaledMSE, K: 3, N: 2, D: 4, LW: .05, LH: .02, LB: NoBias, Alpha: 3, M: 1},
		"rescaled zero":     {Model: RescaledMSE, K: 3, N: 2, D: 4, LW: .9, LH: .9, LB: .1, Alpha: .3, M: 1},
		"rescaled d=K−1":    {Model: RescaledMSE, K: 5, N: 2, D: 4, LW: .01, LH: .02, LB: 5, Alpha: 3, M: 1},
		"rescaled tight":    {Model: RescaledMSE, K: 5, N: 2, D: 2, LW: .01, LH: .02, LB: .01, Alpha: 10, M: 5},
		"ce":                {Model: CE, K: 4, N: 3, D: 3, LW: .02, LH: .01, LB: .1},
		"ce zero":           {Model: CE, K: 3, N: 2, D: 2, LW: .4, LH: .4, LB: 0},
		"ls":                {Model: LS, K: 4, N: 3, D: 5, LW: .02, LH: .01, LB: NoBias, Smoothing: .1},
		"ls-nonneg":         {Model: LSNonneg, K: 4, N: 3, D: 6, LW: .01, LH: .002, LB: NoBias, Smoothing: .05},
		"ls-nonneg bias":    {Model: LSNonneg, K: 3, N: 2, D: 3, LW: .005, LH: .02, LB: .1, Smoothing: .1},
		"linear3":           {Model: Linear3, K: 4, N: 2, D: 6, L2: .02, L1: .01, LH1: .01},
		"linear3 d<K":       {Model: Linear3, K: 4, N: 2, D: 3, L2: .02, L1: .01, LH1: .01},
		"linear3 zero":      {Model: Linear3, K: 3, N: 2, D: 5, L2: .3, L1: .2, LH1: .32},
		"relu3":             {Model: ReLU3, K: 4, N: 2, D: 6, L2: .02, L1: .01, LH1: .01},
		"relu plain":        {Model: ReLUPlain, K: 4, N: 3, D: 6, LW: .02, LH: .01},
		"relu plain zero":   {Model: ReLUPlain, K: 3, N: 2, D: 2, LW: .4, LH: .4},
		"rescaled d=K−1 α1": {Model: RescaledMSE, K: 5, N: 2, D: 4, LW: .01, LH: .02, LB: 5, Alpha: 1, M: 2},
	}
}

// Every instance has the exact value, no gradient (no KKT violation under H ≥ 0), the stated norms
// and the stated limits of the measures.
func TestInstances(t *testing.T) {
	for name, c := range optima() {
		e := exactOf(t, c)
		at, err := c.Instance(e, seeded(5))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		p := mustProblem(t, c)
		grad := make([]float64, p.Dim())
		value := p.Eval(at.X, grad)
		near(t, name+": objective", value, float64(e.Objective), 1e-12)
		if residual := p.kktResidual(at.X, grad); !(residual <= 1e-12) {
			t.Errorf("%s: residual %g", name, residual)
		}
		near(t, name+": |W|²", sumSquares(at.W), float64(e.WNorm2), 1e-10)
		near(t, name+": |H|²", sumSquares(at.H), float64(e.HNorm2), 1e-10)
		if e.Regime == "zero" {
			continue
		}
		got, err := p.Measures(at)
		if err != nil {
			t.Errorf("%s: measures: %v", name, err)
			continue
		}
		for key, want := range e.Measures.All() {
			have, ok := got.Get(key)
			if !ok {
				t.Errorf("%s: the instance has no %s", name, key)
			} else if !(math.Abs(have-want) <= 1e-7*math.Max(1, want)) {
				t.Errorf("%s: %s is %.10g, wanted %.10g", name, key, have, want)
			}
		}
	}
}

// Errata of ZH, on the instance that our formulas make stationary.
func TestPrintedZhouFormulasFail(t *testing.T) {
	c := Config{Model: MSE, K: 4, N: 3, D: 6, LW: .02, LH: .01, LB: .5}
	e := exactOf(t, c)
	at, _ := c.Instance(e, seeded(5))
	p := mustProblem(t, c)
	grad := make([]float64, p.Dim())
	// (b) Lemma B.4 scales W by √(λ_H/λ_W) where the right power is 1/4.
	wrong := c.View(append([]float64(nil), at.X...))
	power := math.Pow(c.LH/c.LW, .25)
	for i := range wrong.W {
		wrong.W[i] *= power
	}
	for i := range wrong.H {
		wrong.H[i] /= power
	}
	p.Eval(wrong.X, grad)
	if norm := maxAbs(grad); !(norm > 1e-3) {
		t.Errorf("the printed power of λ_H/λ_W is stationary too (%g)", norm)
	}
	// (f) For c ≥ 1 the printed case distinction (c/(1−c) < 0 < λ_b) gives b* = √(nλ_Wλ_H)/λ_b.
	zero := Config{Model: MSE, K: 3, N: 2, D: 4, LW: .3, LH: .3, LB: .2}
	point := zero.NewPoint()
	for k := range point.B {
		point.B[k] = math.Sqrt(2*.3*.3) / .2
	}
	if f := mustProblem(t, zero).Eval(point.X, make([]float64, zero.Variables())); !(f > float64(exactOf(t, zero).Objective)+1e-3) {
		t.Errorf("the printed bias gives %g, no worse than ours", f)
	}
	// Balance is λ_W·WᵀW = λ_H·HHᵀ; ZU (15) has ‖H‖² = (λ_H/λ_W)‖W‖².
	near(t, "|H|²", sumSquares(at.H), c.LW/c.LH*sumSquares(at.W), 1e-12)
	if math.Abs(sumSquares(at.H)-c.LH/c.LW*sumSquares(at.W)) < 1 {
		t.Error("the printed balance holds too")
	}
}

// NC4 does not vanish at MSE optima: 1/(√K(1+λ_b)) or (1−c)/√K.
func TestBiasResidualLimit(t *testing.T) {
	c := Config{Model: MSE, K: 4, N: 3, D: 6, LW: .02, LH: .01, LB: .05}
	near(t, "etf", valueOf(t, exactOf(t, c).Measures, measure.KeyNC4Bias), 1/(2*1.05), 1e-12)
	c.LB = .5
	near(t, "full", valueOf(t, exactOf(t, c).Measures, measure.KeyNC4Bias), (1-c.c())/2, 1e-12)
	// An ETF is 0.517638 from an orthogonal frame at K = 4.
	c.LB = NoBias
	near(t, "orthogonal frame", valueOf(t, exactOf(t, c).Measures, measure.KeyNC2MeansETF), 0.517638, 5e-7)
}

// With a ReLU the optimum does not fix H1: W1·H̄1 ∝ B·S, H̄1ᵀH̄1 ∝ S for any S ⪰ 0 with unit diagonal and
// entries ≤ 0 elsewhere. NC2 of H1 to an orthogonal frame is 0 for S = I, √(2−2√((K−1)/K)) for a simplex
// ETF, and more for paired classes.
func TestReLUOptimaOfManyShapes(t *testing.T) {
	c := Config{Model: ReLU3, K: 4, N: 3, D: 6, L2: .02, L1: .01, LH1: .01}
	e := exactOf(t, c)
	third := -1.0 / 3
	for name, s := range map[string]struct {
		gram []float64
		nc2  float64
	}{
		"orthogonal": {[]float64{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, 0},
		"simplex":    {[]float64{1, third, third, third, third, 1, third, third, third, third, 1, third, third, third, third, 1}, 0.5176380902},
		"pairs":      {[]float64{1, -1, 0, 0, -1, 1, 0, 0, 0, 0, 1, -1, 0, 0, -1, 1}, 0.7653668647},
	} {
		at := reluShape(c, e, s.gram)
		p := mustProblem(t, c)
		near(t, name+": objective", p.Eval(at.X, make([]float64, p.Dim())), float64(e.Objective), 1e-12)
		got, err := p.Measures(at)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name+": NC2 of the features", valueOf(t, got, measure.KeyNC2MeansOF), 0, 1e-9)
		near(t, name+": NC2 of H1", valueOf(t, got, "h1_"+measure.KeyNC2MeansOF), s.nc2, 1e-8)
	}
}

// reluShape is W2 = s2·Bᵀ, W1 = s1·B·√S·Rᵀ, H̄1 = sH·R·√S with B the first K unit vectors.
func reluShape(c Config, e Exact, gram []float64) Point {
	values, vectors := symEigen(mat.NewSymDense(c.K, gram))
	var root, half mat.Dense
	diagonal := mat.NewDiagDense(c.K, nil)
	for i, v := range values {
		diagonal.SetDiag(i, math.Sqrt(math.Max(0, v)))
	}
	half.Mul(vectors, diagonal)
	root.Mul(&half, vectors.T())
	r := etf.RandomOrthonormal(c.D, c.K, seeded(3))
	var w1, h mat.Dense
	w1.Mul(&root, r.T())
	h.Mul(r, &root)
	at := c.NewPoint()
	for k := range c.K {
		at.W[k*c.D+k] = float64(e.Singular.W2)
		for j := range c.D {
			at.W1[k*c.D+j] = float64(e.Singular.W1) * w1.At(k, j)
			c.setMean(at, j, k, float64(e.Singular.H1)*h.At(j, k))
		}
	}
	return at
}

// valueOf is the value of a measure that must be there.
func valueOf(t *testing.T, of measure.Values, key string) float64 {
	t.Helper()
	v, ok := of.Get(key)
	if !ok {
		t.Fatalf("there is no %s", key)
	}
	return v
}
