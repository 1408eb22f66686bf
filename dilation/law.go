package dilation

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// Law is the distribution of dilated features around their class mean, at dilation r: E v = 0,
// E‖v‖² = r². The model sees v_1, the component along w2 − w1, and the largest ‖v‖.
type Law struct {
	Name string
	// Nodes and Weights represent v_1/r: E f(v_1) = Σ Weights·f(r·Nodes).
	Nodes, Weights []float64
	// A bounds the support: ‖v‖ ≤ A·r (MD Assumption 4.2(2)). At least 1.
	A float64
}

// Second returns ν = E v_1²/r².
func (l Law) Second() float64 {
	sum := 0.0
	for i, v := range l.Nodes {
		sum += l.Weights[i] * v * v
	}
	return sum
}

// LawNames lists the laws that NamedLaw knows.
func LawNames() []string { return []string{"two-point", "circle", "sphere", "ball", "gaussian"} }

// NamedLaw returns one of:
//
//	two-point  v = ±r·e, e along w2 − w1; A = 1
//	circle     uniform on the circle of radius r, 2 dimensions; A = 1
//	sphere     uniform on the sphere of radius r, 3 dimensions: v_1 uniform on [−r, r]; A = 1
//	ball       uniform on the disc of radius √2·r, 2 dimensions; A = √2
//	gaussian   isotropic Gaussian in 2 dimensions cut at 3 standard deviations, rescaled to E‖v‖² = r²
func NamedLaw(name string) (Law, error) {
	switch name {
	case "two-point":
		return Law{Name: name, Nodes: []float64{-1, 1}, Weights: []float64{.5, .5}, A: 1}, nil
	case "circle":
		return circleLaw(256), nil
	case "sphere":
		nodes, weights := legendre(48, -1, 1)
		for i := range weights {
			weights[i] /= 2
		}
		return Law{Name: name, Nodes: nodes, Weights: weights, A: 1}, nil
	case "ball":
		return radialLaw(name, func(float64) float64 { return 1 }, 1), nil
	case "gaussian":
		return radialLaw(name, func(s float64) float64 { return math.Exp(-s * s / 2) }, 3), nil
	}
	return Law{}, fmt.Errorf("dilation: law is %q, wanted two-point, circle, sphere, ball, gaussian or samples", name)
}

// circleLaw averages over the angles (i+½)π/n, i < n.
func circleLaw(n int) Law {
	l := Law{Name: "circle", A: 1, Nodes: make([]float64, n), Weights: make([]float64, n)}
	for i := range n {
		l.Nodes[i] = math.Cos((float64(i) + .5) * math.Pi / float64(n))
		l.Weights[i] = 1 / float64(n)
	}
	return l
}

// radialLaw is an isotropic law in 2 dimensions with the given density at distance s < limit, rescaled to E‖v‖² = 1: Gauss–Legendre
// in s, equally spaced angles.
func radialLaw(name string, density func(s float64) float64, limit float64) Law {
	const radii, angles = 32, 32
	s, w := legendre(radii, 0, limit)
	mass, second := 0.0, 0.0
	for i := range s {
		w[i] *= s[i] * density(s[i])
		mass += w[i]
		second += w[i] * s[i] * s[i]
	}
	unit := math.Sqrt(second / mass)
	l := Law{Name: name, A: limit / unit}
	for i := range s {
		for j := range angles {
			l.Nodes = append(l.Nodes, s[i]/unit*math.Cos((float64(j)+.5)*math.Pi/angles))
			l.Weights = append(l.Weights, w[i]/mass/angles)
		}
	}
	return l
}

// legendre returns Gauss–Legendre nodes and weights on [a,b].
func legendre(n int, a, b float64) (nodes, weights []float64) {
	nodes, weights = make([]float64, n), make([]float64, n)
	quad.Legendre{}.FixedLocations(nodes, weights, a, b)
	return nodes, weights
}

// SampleLaw returns the law of equally likely samples (rows of dimension dim, row-major), rescaled to
// E‖v‖² = 1; the first column is the component along w2 − w1.
//
// It returns an error if the mean is not 0 (Assumption 4.2(2)): the mean of a column may be at most 1e-6 of the root mean square.
func SampleLaw(samples []float64, dim int) (Law, error) {
	if dim < 1 || len(samples) == 0 || len(samples)%dim != 0 {
		return Law{}, fmt.Errorf("dilation: %d numbers do not make samples of dimension %d", len(samples), dim)
	}
	n := len(samples) / dim
	mean, second, largest := make([]float64, dim), 0.0, 0.0
	for i := range n {
		norm := 0.0
		for j, v := range samples[i*dim:][:dim] {
			mean[j] += v / float64(n)
			norm += v * v
		}
		second += norm / float64(n)
		largest = math.Max(largest, norm)
	}
	if !(second > 0) || math.IsInf(second, 0) {
		return Law{}, errors.New("dilation: the samples of the law are all zero or not finite")
	}
	unit := math.Sqrt(second)
	for j, m := range mean {
		if !(math.Abs(m) <= 1e-6*unit) {
			return Law{}, fmt.Errorf("dilation: column %d of the law's samples has mean %g, wanted 0 (Assumption 4.2(2)); subtract the mean", j+1, m)
		}
	}
	l := Law{Name: "samples", A: math.Sqrt(largest) / unit, Nodes: make([]float64, n), Weights: make([]float64, n)}
	for i := range n {
		l.Nodes[i], l.Weights[i] = samples[i*dim]/unit, 1/float64(n)
	}
	return l, nil
}
