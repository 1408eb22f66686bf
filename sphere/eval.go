package sphere

import (
	"math"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
)

// problem has the memory of an evaluation.
type problem struct {
	Config
	units, slopes []float64 // W and H with unit rows, K×d each, one after the other; gradients by these
	logits        []float64 // K×K: of class j for feature k
	lengths       []float64
}

func newProblem(c Config) *problem {
	size := 2 * c.K * c.D
	return &problem{Config: c, units: make([]float64, size), slopes: make([]float64, size), logits: make([]float64, c.K*c.K), lengths: make([]float64, 2*c.K)}
}

// eval is τ·log f at rows of any length, which stand for their directions, and its gradient if grad is not nil. The logarithm keeps
// its accuracy where f is tiny.
func (p *problem) eval(x, grad []float64) float64 {
	p.normalise(x)
	K, d := p.K, p.D
	W, H := p.units[:K*d], p.units[K*d:]
	p.multiply(gemm.NT, K, K, d, H, W, p.logits) // row k: logits of feature k
	f := 0.0
	for k := range K {
		f += excess(p.logits[k*K:][:K], k, p.Temperature)
	}
	if grad != nil {
		for i := range p.logits { // excess leaves the derivatives by the logits, of the sum
			p.logits[i] /= f
		}
		p.multiply(gemm.TN, K, d, K, p.logits, H, p.slopes[:K*d])
		p.multiply(gemm.NN, K, d, K, p.logits, W, p.slopes[K*d:])
		p.project(grad)
	}
	return p.Temperature * math.Log(f/float64(K))
}

func (p *problem) multiply(f gemm.Form, m, n, k int, a, b, c []float64) {
	opA, opB := gemm.Operands(f, m, n, k, a, b)
	gemm.Multiply(nil, f, opA, opB, kernel.Dense(m, n, c), gemm.Epilogue[float64]{})
}

// excess is the loss of a feature of class k with cosines z; it turns these into the derivatives by them, times τ.
func excess(z []float64, k int, tau float64) float64 {
	top, own := math.Inf(-1), z[k]
	for j, v := range z {
		if j != k {
			top = max(top, v)
		}
	}
	others := 0.0
	for j, v := range z {
		if j != k {
			z[j] = math.Exp((v - top) / tau)
			others += z[j]
		}
	}
	log := (top-own)/tau + math.Log(others) // of the odds of the others against k
	share := 1 / (1 + math.Exp(-log))
	for j := range z {
		z[j] *= share / others
	}
	z[k] = -share
	if log > 30 {
		return log
	}
	return math.Log1p(math.Exp(log))
}

func (p *problem) normalise(x []float64) {
	for r := range p.lengths {
		row := x[r*p.D:][:p.D]
		sum := 0.0
		for _, v := range row {
			sum += v * v
		}
		p.lengths[r] = math.Sqrt(sum)
		for i, v := range row {
			p.units[r*p.D+i] = v / p.lengths[r]
		}
	}
}

// project turns slopes by unit vectors into slopes by vectors that stand for their directions.
func (p *problem) project(grad []float64) {
	for r := range p.lengths {
		unit, slope := p.units[r*p.D:][:p.D], p.slopes[r*p.D:][:p.D]
		along := 0.0
		for i, v := range slope {
			along += v * unit[i]
		}
		for i, v := range slope {
			grad[r*p.D+i] = (v - along*unit[i]) / p.lengths[r]
		}
	}
}
