package ufm

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"collapse.example/collapse/etf"
)

// denseNegatives counts negative eigenvalues of the whole Hessian: the oracle of the Schur count.
func denseNegatives(p *Problem) (count int, smallest float64) {
	values, _ := denseEigen(p.Dim(), p.HessVec)
	for _, v := range values {
		if v < -1e-9 {
			count++
		}
	}
	return count, values[0]
}

// checkSaddle compares every way to determine a critical point's curvature with the table.
func checkSaddle(t *testing.T, name string, p *Problem, x []float64, minEig float64, negatives int) {
	t.Helper()
	grad := make([]float64, len(x))
	p.Eval(x, grad)
	if !(maxAbs(grad) <= 1e-9) {
		t.Errorf("%s: gradient %g: not a critical point", name, maxAbs(grad))
	}
	p.Linearize(x)
	count, smallest := denseNegatives(p)
	near(t, name+": smallest eigenvalue, dense", smallest, minEig, 1e-9)
	got, err := p.NegativeEigenvalues()
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if got != negatives || count != negatives {
		t.Errorf("%s: %d negative eigenvalues by Schur, %d dense, wanted %d", name, got, count, negatives)
	}
	start := randomPoint(p.Config, 1, 8)
	value, _, ok := lanczos(start, p.HessVec, min(len(start), 120))
	near(t, name+": smallest eigenvalue, Lanczos", value, minEig, 1e-8)
	if !ok {
		t.Errorf("%s: Lanczos did not converge", name)
	}
}

// The zero point of every model (numbers from dense Hessians, computed independently of this code).
func TestZeroPointSaddles(t *testing.T) {
	for _, r := range []struct {
		k, n, d    int
		lw, lh, lb float64
		min        float64
		negatives  [3]int // MSE without bias, MSE with bias, CE
	}{
		{3, 2, 4, .02, .01, .1, -0.2207552874, [3]int{12, 12, 8}},
		{4, 3, 5, .01, .03, .05, -0.1246835628, [3]int{20, 15, 15}},
	} {
		base := Config{K: r.k, N: r.n, D: r.d, LW: r.lw, LH: r.lh}
		for i, c := range []Config{base, base, base} {
			c.Model, c.LB = MSE, NoBias
			if i > 0 {
				c.LB = r.lb
			}
			if i == 2 {
				c.Model = CE
			}
			at := c.NewPoint()
			if i == 1 {
				for k := range at.B {
					at.B[k] = 1 / (float64(r.k) * (1 + r.lb))
				}
			}
			p := mustProblem(t, c)
			checkSaddle(t, string(c.Model), p, at.X, r.min, r.negatives[i])
			// s = 1/(K√n) in all three.
			p.Linearize(at.X)
			s, _, _ := p.dualNorm(seeded(1))
			near(t, "dual norm", s, 1/(float64(r.k)*math.Sqrt(float64(r.n))), 1e-12)
			checkNullDirection(t, p, at.X, r.min)
		}
	}
}

// checkNullDirection: the explicit direction has the stated form and curvature.
func checkNullDirection(t *testing.T, p *Problem, x []float64, minEig float64) {
	t.Helper()
	p.Linearize(x)
	dir, form, curvature, ok := p.NullDirection(x, seeded(1))
	if !ok {
		t.Error("no null direction found")
		return
	}
	out := make([]float64, len(dir))
	p.HessVec(dir, out)
	near(t, "D²f along the explicit direction", dot(dir, out), form, 1e-9)
	near(t, "curvature of the best combination", curvature, minEig, 1e-9)
}

func TestRankSubsetSaddles(t *testing.T) {
	c := Config{Model: MSE, K: 4, N: 3, D: 5, LW: .01, LH: .03, LB: NoBias}
	p := mustProblem(t, c)
	cc := c.c()
	for r, negatives := range map[int]int{1: 12, 2: 6, 3: 2} {
		at, err := c.SubsetPoint(r)
		if err != nil {
			t.Fatal(err)
		}
		checkSaddle(t, "subset", p, at.X, -0.1246835628, negatives)
		g := cc - cc*cc/2
		near(t, "value", p.Eval(at.X, make([]float64, p.Dim())), (float64(r)*g+float64(4-r)/2)/4, 1e-14)
		checkNullDirection(t, p, at.X, -0.1246835628)
	}
}

// CE with classes merged in pairs: K4 n2 d5 λ_W=.02 λ_H=.01 λ_b=.1, rank 1, half-gap t.
func TestPairedClassesSaddle(t *testing.T) {
	c := Config{Model: CE, K: 4, N: 2, D: 5, LW: .02, LH: .01, LB: .1}
	at, err := c.PairedPoint()
	if err != nil {
		t.Fatal(err)
	}
	// Z̄ has half-gap 1.5890269152.
	near(t, "half gap", at.W[0]*at.H[0], 1.5890269152, 5e-11)
	p := mustProblem(t, c)
	near(t, "f", p.Eval(at.X, make([]float64, p.Dim())), 0.8610913283, 1e-9)
	near(t, "f*", float64(exactOf(t, c).Objective), 0.2928842598, 1e-9)
	p.Linearize(at.X)
	s, _, _ := p.dualNorm(seeded(1))
	near(t, "dual norm", s, 0.1767766953, 1e-9)
	_, form, _, _ := p.NullDirection(at.X, seeded(1))
	near(t, "form", form, -0.3252691193, 1e-9)
	checkSaddle(t, "pairs", p, at.X, -0.1618473918, 10)
}

// Three factors: zero is a strict local minimum, and so is every rank-k point up to its orbit.
func TestThreeFactorLocalMinima(t *testing.T) {
	c := Config{Model: Linear3, K: 3, N: 2, D: 4, L2: .02, L1: .01, LH1: .03}
	p := mustProblem(t, c)
	p.Linearize(make([]float64, p.Dim()))
	if count, smallest := denseNegatives(p); count != 0 || !(math.Abs(smallest-.01) <= 1e-12) {
		t.Errorf("zero point: %d negative eigenvalues, smallest %g, wanted 0 and 0.01", count, smallest)
	}
	e := exactOf(t, c)
	for rank := 1; rank <= 3; rank++ {
		at, err := c.Instance(e, seeded(4))
		if err != nil {
			t.Fatal(err)
		}
		keepRank(c, at, rank)
		value := p.Eval(at.X, make([]float64, p.Dim()))
		want := float64(e.Objective)
		if rank < 3 {
			want = e.LocalObjectives[2-rank]
		}
		near(t, "value", value, want, 1e-12)
		p.Linearize(at.X)
		values, _ := denseEigen(p.Dim(), p.HessVec)
		zeros := 0
		for _, v := range values {
			if v < -1e-9 {
				t.Errorf("rank %d: eigenvalue %g", rank, v)
			}
			if math.Abs(v) < 1e-9 {
				zeros++
			}
		}
		if want := map[int]int{1: 8, 2: 12, 3: 12}[rank]; zeros != want {
			t.Errorf("rank %d: %d zero eigenvalues, wanted %d", rank, zeros, want)
		}
	}
}

// keepRank projects the outputs of a three-factor optimum onto the first r classes, which leaves a
// critical point: its directions are independent.
func keepRank(c Config, at Point, r int) {
	for k := r; k < c.K; k++ {
		for j := range c.D {
			at.W[k*c.D+j] = 0
			c.setMean(at, j, k, 0)
		}
	}
	// W1 = s1·B·Rᵀ keeps the directions of the kept rows of W2 only.
	keep := mat.NewDense(c.D, c.D, nil)
	for k := range r {
		row := mat.NewVecDense(c.D, at.W[k*c.D:][:c.D])
		keep.RankOne(keep, 1/mat.Dot(row, row), row, row)
	}
	var w1 mat.Dense
	w1.Mul(keep, mat.NewDense(c.D, c.D, at.W1))
	copy(at.W1, w1.RawMatrix().Data)
}

// ZH Lemma B.2 works on ½‖WH − Ỹ‖² + (λ/2)…, which is N times our objective with λ/N, and b = .2 held
// fixed. Rank-2 directions of Ỹ in R²: keep σ_1 and σ_3, lift along σ_3's direction towards the one
// left out (case II); or keep σ_1 alone (case I, a null vector). The printed results carry a spurious
// factor 2.
func TestZhouLemmaB2(t *testing.T) {
	const b, lw, lh, N = .2, .3, .2, 6
	mu, sd := math.Sqrt(lw*lh), math.Sqrt(lw/lh)
	u := etf.Helmert(3) // rows: two directions with σ = √2; the ones vector has σ_3
	ones := []float64{1 / math.Sqrt(3), 1 / math.Sqrt(3), 1 / math.Sqrt(3)}
	sigma3 := math.Sqrt2 * (1 - 3*b)
	near(t, "sigma_3", sigma3, 0.56568542, 5e-9)
	for _, r := range []struct {
		d            int
		kept         map[int]float64 // coordinate of R^d → singular value
		lift         int             // coordinate of a
		form, minEig float64
	}{
		{4, map[int]float64{0: math.Sqrt2}, 3, -2.3385291762, 0},
		{2, map[int]float64{0: math.Sqrt2, 1: sigma3}, 1, -1.6970562748, -0.8415695085},
	} {
		c := Config{Model: MSE, K: 3, N: 2, D: r.d, LW: lw / N, LH: lh / N, LB: 0}
		at, dir := c.NewPoint(), c.NewPoint()
		left := [][]float64{u.RawRowView(0), ones}
		for j, sigma := range r.kept {
			for k := range 3 { // v_j = u_j ⊗ 1/√2
				at.W[k*c.D+j] = math.Sqrt((sigma-mu)/sd) * left[j][k]
				c.setMean(at, j, k, math.Sqrt((sigma-mu)*sd)*left[j][k]/math.Sqrt2)
			}
		}
		for k := range 3 {
			at.B[k] = b
			dir.W[k*c.D+r.lift] = math.Sqrt(1/sd) * u.At(1, k)
			c.setMean(dir, r.lift, k, math.Sqrt(sd)*u.At(1, k)/math.Sqrt2)
		}
		p := mustProblem(t, c)
		grad := make([]float64, p.Dim())
		p.Eval(at.X, grad)
		if g := c.View(grad); !(maxAbs(g.W) <= 1e-14 && maxAbs(g.H) <= 1e-14) {
			t.Errorf("d=%d: not critical in W, H", r.d)
		}
		out := make([]float64, p.Dim())
		p.Linearize(at.X)
		p.HessVec(dir.X, out)
		near(t, "form", N*dot(dir.X, out), r.form, 1e-9)
		if r.minEig == 0 {
			continue
		}
		fixed := func(v, out []float64) { // b held fixed
			w := append([]float64(nil), v...)
			clear(c.View(w).B)
			p.HessVec(w, out)
			clear(c.View(out).B)
		}
		values, _ := denseEigen(p.Dim(), fixed)
		near(t, "smallest eigenvalue", N*values[0], r.minEig, 1e-9)
	}
}

// With bias the kept directions are orthogonal to the ones vector; every proper subset is a strict
// saddle for d > K, seen here for d = K−1 and K too.
func TestSubsetSaddlesWithBias(t *testing.T) {
	for _, d := range []int{3, 4, 5} {
		c := Config{Model: MSE, K: 4, N: 3, D: d, LW: .01, LH: .03, LB: .05}
		p := mustProblem(t, c)
		for r := range 3 {
			at, err := c.SubsetPoint(r)
			if err != nil {
				t.Fatal(err)
			}
			grad := make([]float64, p.Dim())
			p.Eval(at.X, grad)
			p.Linearize(at.X)
			if _, smallest := denseNegatives(p); !(maxAbs(grad) <= 1e-14 && smallest < -.1) {
				t.Errorf("d=%d r=%d: gradient %g, smallest eigenvalue %g", d, r, maxAbs(grad), smallest)
			}
		}
		if _, err := c.SubsetPoint(4); err == nil {
			t.Error("a subset of more directions than there are passed")
		}
	}
}
