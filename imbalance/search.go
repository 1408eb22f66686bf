package imbalance

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// maxVariables bounds a search: the numbers of W and of a mean per class.
const maxVariables = 1 << 20

// Found is the best point of a search from random starts over W and a mean for each class, without use of symmetry or convexity.
type Found struct {
	Starts  int     `json:"starts"`
	Reached int     `json:"reached"` // starts that end within 1e-6 of the optimum
	Best    float64 `json:"best"`
	Worst   float64 `json:"worst"`
}

// reachedBy is how near to the optimum a start must end to count.
const reachedBy = 1e-6

// Search descends by L-BFGS from random starts. The same seed gives the same points. It returns ctx's error if cancelled.
func (c Config) Search(ctx context.Context, optimum Optimum, starts int, seed uint64, each func(ended int, f float64)) (Found, error) {
	K := len(c.Counts)
	if float64(K)*(float64(c.D)+float64(K)) > maxVariables {
		return Found{}, fmt.Errorf("imbalance: a search of %d classes and width %d has too many numbers, wanted at most %d in means and logits", K, c.D, maxVariables)
	}
	out := Found{Starts: starts, Best: math.Inf(1), Worst: math.Inf(-1)}
	for i := range starts {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		x := make([]float64, 2*K*c.D)
		for i := range x {
			x[i] = rng.NormFloat64() / math.Sqrt(float64(c.D))
		}
		_, f, err := minimise(ctx, c.eval, c.Mu(), x, 5000)
		if err != nil {
			return out, err
		}
		if f-optimum.Objective < reachedBy {
			out.Reached++
		}
		out.Best, out.Worst = min(out.Best, f), max(out.Worst, f)
		if each != nil {
			each(i+1, f)
		}
	}
	return out, nil
}

// eval is the objective at W (K×d) and class means (d×K), one after the other, and its gradient if grad is not nil: what the package's
// comment says, term by term.
func (c Config) eval(x, grad []float64) float64 {
	K, N := len(c.Counts), c.Samples()
	W, H := mat.NewDense(K, c.D, x[:K*c.D]), mat.NewDense(c.D, K, x[K*c.D:])
	var Z mat.Dense
	Z.Mul(W, H)
	f, weight := c.LW/2*math.Pow(mat.Norm(W, 2), 2), make([]float64, K)
	for k, n := range c.Counts {
		z := mat.Col(nil, k, &Z)
		weight[k] = float64(n) / N
		value, slope := c.sample(k, z)
		f += weight[k] * value
		for i, s := range slope {
			Z.Set(i, k, weight[k]*s)
		}
		f += c.LH / 2 * float64(n) * math.Pow(mat.Norm(H.ColView(k), 2), 2)
	}
	if grad == nil {
		return f
	}
	gW, gH := mat.NewDense(K, c.D, grad[:K*c.D]), mat.NewDense(c.D, K, grad[K*c.D:])
	gW.Mul(&Z, H.T())
	gH.Mul(W.T(), &Z)
	for i, w := range x[:K*c.D] {
		grad[i] += c.LW * w
	}
	gH.Apply(func(i, k int, v float64) float64 { return v + c.LH*float64(c.Counts[k])*H.At(i, k) }, gH)
	return f
}

// sample is the loss of a sample of class k with logits z, and its derivative.
func (c Config) sample(k int, z []float64) (value float64, slope []float64) {
	slope = make([]float64, len(z))
	target := func(i int) float64 {
		t := c.Smoothing / float64(len(z))
		if i == k {
			t += 1 - c.Smoothing
		}
		return t
	}
	if c.Loss == MSE {
		for i, v := range z {
			slope[i] = v - target(i)
			value += slope[i] * slope[i] / 2
		}
		return value, slope
	}
	top, sum := math.Inf(-1), 0.0
	for _, v := range z {
		top = max(top, v)
	}
	for _, v := range z {
		sum += math.Exp(v - top)
	}
	for i, v := range z {
		slope[i] = math.Exp(v-top)/sum - target(i)
		value -= target(i) * (v - top - math.Log(sum))
	}
	return value, slope
}
