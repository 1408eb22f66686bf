package ufm

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"collapse.example/collapse/optim"
)

// NoisyFit is a classifier fitted to fixed noisy features.
type NoisyFit struct {
	Attenuation float64 // ⟨W, W*⟩/‖W*‖², the fitted shrinkage; its limit is Exact.Attenuation
	Residual    float64 // ‖W − limit·W*‖/‖W*‖, falls as n^{−1/2}
	Objective   float64
}

// FitNoisy draws noise of standard deviation Sigma on the optimal features of c, fits the classifier
// (with two layers, W2 and W1 jointly) and compares it with the noiseless one. Samples are drawn one by
// one: memory is O(d²), whatever n is.
func (c Config) FitNoisy(rng *rand.Rand) (NoisyFit, error) {
	if c.Model != Noisy {
		return NoisyFit{}, errors.New("ufm: FitNoisy is for noisy-features")
	}
	e, err := c.Exact()
	if err != nil {
		return NoisyFit{}, err
	}
	if !e.Available {
		return NoisyFit{}, errors.New("ufm: " + e.Reason)
	}
	clean := c
	clean.Model, clean.LB, clean.N, clean.LH, clean.LH1 = MSE, NoBias, 1, c.LH*float64(c.N), c.LH1*float64(c.N)
	if c.Layers == 2 {
		clean.Model = Linear3
	}
	inner, err := clean.Exact()
	if err != nil {
		return NoisyFit{}, err
	}
	at, err := clean.Instance(inner, rng)
	if err != nil {
		return NoisyFit{}, err
	}
	second, cross := c.noisyMoments(at.H, rng)
	if c.Layers == 2 {
		return c.fitNoisyTwo(at, second, cross, float64(e.Attenuation))
	}
	for j := range c.D {
		second.SetSym(j, j, second.At(j, j)+c.LW)
	}
	var chol mat.Cholesky
	if !chol.Factorize(second) {
		return NoisyFit{}, errors.New("ufm: the normal equations of the noisy fit are singular")
	}
	var w mat.Dense
	if err := chol.SolveTo(&w, cross.T()); err != nil {
		return NoisyFit{}, err
	}
	fit := compareFit(mat.DenseCopyOf(w.T()).RawMatrix().Data, at.W, float64(e.Attenuation))
	var fitted mat.Dense
	fitted.Mul(cross, &w)
	fit.Objective = 0.5 - mat.Trace(&fitted)/2
	return fit, nil
}

// noisyMoments returns FFᵀ/N (d×d) and YFᵀ/N (K×d) for F = H* + E, with class means h (d×K).
func (c Config) noisyMoments(h []float64, rng *rand.Rand) (*mat.SymDense, *mat.Dense) {
	second, cross := make([]float64, c.D*c.D), mat.NewDense(c.K, c.D, nil)
	f := make([]float64, c.D)
	weight := 1 / float64(c.K*c.N)
	for k := range c.K {
		row := cross.RawRowView(k)
		for range c.N {
			for j := range f {
				f[j] = h[j*c.K+k] + c.Sigma*rng.NormFloat64()
			}
			for i, v := range f {
				row[i] += weight * v
				addScaled(second[i*c.D:][:c.D], weight*v, f)
			}
		}
	}
	return mat.NewSymDense(c.D, second), cross
}

// compareFit compares w with limit·clean.
func compareFit(w, clean []float64, limit float64) NoisyFit {
	norm2 := sumSquares(clean)
	miss := append([]float64(nil), w...)
	addScaled(miss, -limit, clean)
	return NoisyFit{Attenuation: dot(w, clean) / norm2, Residual: math.Sqrt(sumSquares(miss) / norm2)}
}

// twoLayerFit is ½tr(W·A·Wᵀ) − tr(W·Bᵀ) + ½ + (λ_2/2)‖W2‖² + (λ_1/2)‖W1‖² with W = W2·W1, the
// objective of two layers on fixed features with moments A = FFᵀ/N, B = YFᵀ/N.
type twoLayerFit struct {
	c     Config
	a     *mat.SymDense
	cross *mat.Dense
}

func (f *twoLayerFit) Dim() int { return f.c.K*f.c.D + f.c.D*f.c.D }

func (f *twoLayerFit) Eval(x, grad []float64) float64 {
	K, d := f.c.K, f.c.D
	w2, w1 := mat.NewDense(K, d, x[:K*d]), mat.NewDense(d, d, x[K*d:])
	var w, wa, residual mat.Dense
	w.Mul(w2, w1)
	wa.Mul(&w, f.a)
	residual.Sub(&wa, f.cross) // derivative by W
	value := 0.5 + f.c.L2/2*sumSquares(x[:K*d]) + f.c.L1/2*sumSquares(x[K*d:])
	value += dot(wa.RawMatrix().Data, w.RawMatrix().Data)/2 - dot(w.RawMatrix().Data, f.cross.RawMatrix().Data)
	g2, g1 := mat.NewDense(K, d, grad[:K*d]), mat.NewDense(d, d, grad[K*d:])
	g2.Mul(&residual, w1.T())
	g1.Mul(w2.T(), &residual)
	addScaled(grad[:K*d], f.c.L2, x[:K*d])
	addScaled(grad[K*d:], f.c.L1, x[K*d:])
	return value
}

// fitNoisyTwo fits W2 and W1 from the noiseless optimum.
func (c Config) fitNoisyTwo(at Point, second *mat.SymDense, cross *mat.Dense, limit float64) (NoisyFit, error) {
	f := &twoLayerFit{c, second, cross}
	x := append(append([]float64(nil), at.W...), at.W1...)
	out := optim.LBFGS(context.Background(), f, x, optim.LBFGSConfig{})
	if out.Stop == optim.StopDiverged || out.Stop == optim.StopIterations {
		return NoisyFit{}, errors.New("ufm: the two-layer fit stopped: " + string(out.Stop))
	}
	product := func(w2, w1 []float64) []float64 {
		var w mat.Dense
		w.Mul(mat.NewDense(c.K, c.D, w2), mat.NewDense(c.D, c.D, w1))
		return w.RawMatrix().Data
	}
	fit := compareFit(product(x[:c.K*c.D], x[c.K*c.D:]), product(at.W, at.W1), limit)
	fit.Objective = out.Value
	return fit, nil
}
