package ufm

import (
	"fmt"
	"math"
)

// A Point holds the variables of a model. Two-factor models use W, H, B; three-factor models W2 in W,
// W1, and H1 in H. The slices are views of one vector in the order W, W1, H, B.
type Point struct {
	W  []float64 // K×d
	W1 []float64 // d×d; nil for two factors
	H  []float64 // d×N, class-major columns
	B  []float64 // K; nil without bias
	X  []float64 // all of them
}

// Variables returns the number of variables of a point of c.
func (c Config) Variables() int {
	n := c.K*c.D + c.D*c.K*c.N
	if c.ThreeFactor() {
		n += c.D * c.D
	}
	if c.HasBias() {
		n += c.K
	}
	return n
}

// NewPoint returns a point of zeros.
func (c Config) NewPoint() Point { return c.View(make([]float64, c.Variables())) }

// View splits a vector into the variables of c.
// It panics if its length is not Variables().
func (c Config) View(x []float64) Point {
	if len(x) != c.Variables() {
		panic("ufm: View of a vector of the wrong length")
	}
	p := Point{X: x}
	take := func(n int) []float64 {
		part := x[:n:n]
		x = x[n:]
		return part
	}
	p.W = take(c.K * c.D)
	if c.ThreeFactor() {
		p.W1 = take(c.D * c.D)
	}
	p.H = take(c.D * c.K * c.N)
	if c.HasBias() {
		p.B = take(c.K)
	}
	return p
}

// finite returns an error that names the first variable of p that is not finite.
func (p Point) finite() error {
	for i, v := range p.X {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("ufm: the point's variable %d is %g, wanted finite numbers", i, v)
		}
	}
	return nil
}

// Array is one of a point's variables, row-major.
type Array struct {
	Name  string
	Shape []int
	Value []float64 // shares the point's memory
}

// Arrays lists the variables of p by their names in papers and point files: W (K×d), H (d×N, class-major columns) and b (K), or W2 (K×d),
// W1 (d×d) and H1 (d×N).
func (c Config) Arrays(p Point) []Array {
	N := c.K * c.N
	if c.ThreeFactor() {
		return []Array{{"W2", []int{c.K, c.D}, p.W}, {"W1", []int{c.D, c.D}, p.W1}, {"H1", []int{c.D, N}, p.H}}
	}
	out := []Array{{"W", []int{c.K, c.D}, p.W}, {"H", []int{c.D, N}, p.H}}
	if c.HasBias() {
		out = append(out, Array{"b", []int{c.K}, p.B})
	}
	return out
}

// Named returns the variables of p by their names.
func (c Config) Named(p Point) map[string][]float64 {
	out := map[string][]float64{}
	for _, v := range c.Arrays(p) {
		out[v.Name] = v.Value
	}
	return out
}

// Norm is the Frobenius norm.
func Norm(x []float64) float64 { return math.Sqrt(sumSquares(x)) }

// Unpenalised reports whether a factor has no penalty, so that no optimum exists.
func (c Config) Unpenalised() bool {
	for _, p := range c.penalties() {
		if p.value == 0 && p.name != "lb" {
			return true
		}
	}
	return false
}
