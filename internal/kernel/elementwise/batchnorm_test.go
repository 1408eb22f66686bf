package elementwise

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/internal/kernel/kerneltest"
	"collapse.example/collapse/parallel"
)

func run32(c kerneltest.NormCase, tm *parallel.Team, relu bool) (y, dx, dGamma, dBeta []float32) {
	return runNorm[float32](c, tm, relu)
}

func runNorm[T kernel.Float](c kerneltest.NormCase, tm *parallel.Team, relu bool) (y, dx, dGamma, dBeta []T) {
	norm := NewBatchNorm[T](c.Cols, 1e-5, relu)
	y, dx = make([]T, len(c.X)), kerneltest.To[T](c.DY)
	dGamma, dBeta = make([]T, c.Cols), make([]T, c.Cols)
	x, gamma := kerneltest.To[T](c.X), kerneltest.To[T](c.Gamma)
	norm.Forward(tm, c.Rows, x, y, gamma, kerneltest.To[T](c.Beta))
	norm.Backward(tm, c.Rows, dx, y, x, gamma, dGamma, dBeta)
	return y, dx, dGamma, dBeta
}

// worst returns the largest |got − want|, or NaN if any is.
func worst[T kernel.Float](got []T, want []float64) float64 {
	w := 0.0
	for i := range want {
		w = max(w, math.Abs(float64(got[i])-want[i]))
	}
	return w
}

func TestBatchNormAgainstItsDefinition(t *testing.T) {
	for _, name := range isa.Available() {
		kerneltest.Use(t, name)
		rng := rand.New(rand.NewPCG(3, 4))
		for _, shape := range [][2]int{{2, 1}, {3, 16}, {17, 133}, {64, 300}} {
			c := kerneltest.NewNormCase(rng, shape[0], shape[1], 2)
			y, dx, dGamma, dBeta := c.Textbook(1e-5)
			y64, dx64, dGamma64, dBeta64 := runNorm[float64](c, nil, false)
			y32, dx32, dGamma32, dBeta32 := run32(c, nil, false)
			// Two rows can lie close together, and then s reaches 1/√eps ≈ 316: rounding errors
			// of dx grow with it, and the bounds are relative to the largest entry.
			for _, r := range []struct {
				what            string
				err, scale, tol float64
			}{
				{"y", worst(y64, y), worst(y, make([]float64, len(y))), 1e-12},
				{"dx", worst(dx64, dx), worst(dx, make([]float64, len(y))), 1e-11},
				{"dγ", worst(dGamma64, dGamma), worst(dGamma, make([]float64, c.Cols)), 1e-12},
				{"dβ", worst(dBeta64, dBeta), worst(dBeta, make([]float64, c.Cols)), 1e-12},
				{"y float32", worst(y32, y), worst(y, make([]float64, len(y))), 1e-6},
				{"dx float32", worst(dx32, dx), worst(dx, make([]float64, len(y))), 1e-5},
				{"dγ float32", worst(dGamma32, dGamma), worst(dGamma, make([]float64, c.Cols)), 1e-6},
				{"dβ float32", worst(dBeta32, dBeta), worst(dBeta, make([]float64, c.Cols)), 1e-6},
			} {
				if !(r.err <= r.tol*max(1, r.scale)) {
					t.Errorf("%s %v: %s is off by %g, scale %g", name, shape, r.what, r.err, r.scale)
				}
			}
		}
	}
}

// TestBatchNormKeepsSmallVariance is collapse itself: a large mean and a small deviation.
func TestBatchNormKeepsSmallVariance(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	c := kerneltest.NewNormCase(rng, 512, 20, 3000)
	for j := range c.Gamma {
		c.Gamma[j], c.Beta[j] = 1, 0.5
	}
	want, _, _, _ := c.Textbook(1e-5)
	got, _, _, _ := run32(c, nil, false)
	if err := worst(got, want); !(err <= 2e-6) {
		t.Errorf("y is off by %g", err)
	}
	// Negative control: x·scale + shift in float32, the formula most libraries use.
	naive := make([]float32, len(c.X))
	for j := range c.Cols {
		var column []float64
		for i := range c.Rows {
			column = append(column, c.X[i*c.Cols+j])
		}
		mean, variance := 0.0, 0.0
		for _, v := range column {
			mean += v / float64(c.Rows)
		}
		for _, v := range column {
			variance += (v - mean) * (v - mean) / float64(c.Rows)
		}
		scale := float32(1 / math.Sqrt(variance+1e-5))
		shift := 0.5 - float32(mean)*scale
		for i := range c.Rows {
			naive[i*c.Cols+j] = float32(float32(column[i])*scale) + shift
		}
	}
	if err := worst(naive, want); !(err > 5e-5) {
		t.Errorf("the naive formula is off by only %g: this case shows nothing", err)
	}
}

func TestBatchNormRunningAndEval(t *testing.T) {
	norm := NewBatchNorm[float64](2, 1e-5, false)
	x := []float64{1, 10, 2, 10, 6, 16} // means 3, 12; variances 14/3, 8; unbiased 7, 12
	y, one, zero := make([]float64, 6), []float64{1, 1}, []float64{0, 0}
	norm.Forward(nil, 3, x, y, one, zero)
	mean, variance := []float64{0, 0}, []float64{1, 1}
	norm.UpdateRunning(3, 0.1, mean, variance)
	if !(worst(mean, []float64{0.3, 1.2}) <= 1e-15) || !(worst(variance, []float64{0.9 + 0.7, 0.9 + 1.2}) <= 1e-15) {
		t.Errorf("running mean %v, variance %v; want [0.3 1.2] and [1.6 2.1]", mean, variance)
	}
	norm.Eval(nil, 3, x, y, []float64{2, 3}, []float64{-1, 1}, mean, variance)
	for i, v := range x {
		j := i % 2
		want := (v-mean[j])/math.Sqrt(variance[j]+1e-5)*[]float64{2, 3}[j] + []float64{-1, 1}[j]
		if !(math.Abs(y[i]-want) <= 1e-13) {
			t.Errorf("Eval: y[%d] = %g, want %g", i, y[i], want)
		}
	}
}

func TestPassesDoNotDependOnTheTeam(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	c := kerneltest.NewNormCase(rng, 33, 5*columnBlock+3, 1)
	wantY, wantDx, wantGamma, wantBeta := run32(c, nil, true)
	for threads := 1; threads <= 3; threads++ {
		tm := parallel.NewTeam(threads)
		y, dx, dGamma, dBeta := run32(c, tm, true)
		if !slices.Equal(y, wantY) || !slices.Equal(dx, wantDx) || !slices.Equal(dGamma, wantGamma) || !slices.Equal(dBeta, wantBeta) {
			t.Errorf("%d threads: batch norm differs from one goroutine's", threads)
		}
		tm.Close()
	}
}

func TestPassesAllocateNothing(t *testing.T) {
	tm := parallel.NewTeam(2)
	defer tm.Close()
	const rows, cols = 8, 300
	x, y, dy := make([]float32, rows*cols), make([]float32, rows*cols), make([]float32, rows*cols)
	g, b, r, v := make([]float32, cols), make([]float32, cols), make([]float32, cols), make([]float32, cols)
	norm, sums := NewBatchNorm[float32](cols, 1e-5, true), NewColSums[float32](cols)
	point, sgd := NewPointwise[float32](), NewSGD[float32]()
	if n := testing.AllocsPerRun(50, func() {
		norm.Forward(tm, rows, x, y, g, b)
		norm.UpdateRunning(rows, 0.1, r, v)
		norm.Backward(tm, rows, dy, y, x, g, r, v)
		norm.Eval(tm, rows, x, y, g, b, r, v)
		sums.Sum(tm, rows, x, g)
		point.ReLU(tm, x)
		point.ReLUBackward(tm, x, dy)
		point.Sigmoid(tm, x)
		point.SigmoidBackward(tm, x, dy)
		sgd.Update(tm, SGDRule{Rate: 0.1, Momentum: 0.9}, x, dy, y)
	}); n != 0 {
		t.Errorf("%g allocations in a round of passes, want 0", n)
	}
}

func TestColSums(t *testing.T) {
	// 1 + 2⁻³⁰ would be lost in float32 sums, not in float64 ones.
	x := []float32{1 << 24, 1, -1 << 24, 2, 1, 3}
	out := make([]float32, 2)
	NewColSums[float32](2).Sum(nil, 3, x, out)
	if out[0] != 1 || out[1] != 6 {
		t.Errorf("column sums %v, want [1 6]", out)
	}
	small := []float32{1 << 24, 1, 1, 1, -1 << 24}
	one := make([]float32, 1)
	NewColSums[float32](1).Sum(nil, 5, small, one)
	if one[0] != 3 {
		t.Errorf("2²⁴+1+1+1−2²⁴ summed to %g, want 3 (float32 sums give 0)", one[0])
	}
}

func TestSigmoid(t *testing.T) {
	x := []float64{0, 1, -1, 745, -700, // e^-745 is subnormal, which math.Exp flushes on arm64
		1e300, -1e300, math.Inf(1), math.Inf(-1)}
	want := []float64{0.5, 0.7310585786300049, 0.2689414213699951, 1, 9.85967654375977e-305, 1, 0, 1, 0}
	NewPointwise[float64]().Sigmoid(nil, x)
	for i := range x {
		if !(math.Abs(x[i]-want[i]) <= 3e-16*want[i]) {
			t.Errorf("entry %d: got %g, want %g", i, x[i], want[i])
		}
	}
	nan := []float64{math.NaN()}
	NewPointwise[float64]().Sigmoid(nil, nan)
	if !math.IsNaN(nan[0]) {
		t.Errorf("sigmoid(NaN) = %g, want NaN", nan[0])
	}
}
