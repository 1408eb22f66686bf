// Package elementwise holds the passes over rows and parameters: batch norm (batchnorm.go; its loops in batchnorm_loops.go), sums of
// columns (columns.go), activations (pointwise.go, sigmoid.go) and the steps of optimisers (sgd.go, adam.go).
//
// Every loop has a generic version, which defines its bits; they are the same with every instruction set. table.go lists the loops
// that exist in SIMD; elementwise_amd64.go says which are used when.
package elementwise

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/parallel"
)

// pointBlock is the elements of one part of a point-wise pass: 64 KiB of float32.
const pointBlock = 16 << 10

// pointRange returns the elements of a part.
func pointRange(part, n int) (from, to int) {
	return part * pointBlock, min((part+1)*pointBlock, n)
}

func pointBlocks(n int) int { return (n + pointBlock - 1) / pointBlock }

// Pointwise runs activation functions in place. It allocates nothing; one goroutine uses it at a
// time.
type Pointwise[T kernel.Float] struct {
	pass pointPass
	x    []T
	dx   []T // nil in forward passes
}

type pointPass uint8

const (
	reluForward pointPass = iota
	reluBackward
	sigmoidForward
	sigmoidBackward
)

// NewPointwise returns a Pointwise for any length.
func NewPointwise[T kernel.Float]() *Pointwise[T] { return &Pointwise[T]{} }

// ReLU sets x = max(x, 0); NaN stays NaN.
func (p *Pointwise[T]) ReLU(tm *parallel.Team, x []T) { p.do(tm, reluForward, x, nil) }

// ReLUBackward sets dy = 0 where the output y = max(x, 0) is not above 0. Where y is NaN, dy passes.
func (p *Pointwise[T]) ReLUBackward(tm *parallel.Team, y, dy []T) {
	p.do(tm, reluBackward, y, sameLength(y, dy))
}

// Sigmoid sets x = 1/(1 + e^−x) to within 3 units in the last place.
func (p *Pointwise[T]) Sigmoid(tm *parallel.Team, x []T) { p.do(tm, sigmoidForward, x, nil) }

// SigmoidBackward sets dy = dy·y·(1 − y) from the output y.
func (p *Pointwise[T]) SigmoidBackward(tm *parallel.Team, y, dy []T) {
	p.do(tm, sigmoidBackward, y, sameLength(y, dy))
}

func sameLength[T kernel.Float](y, dy []T) []T {
	if len(y) != len(dy) {
		panic("elementwise: Pointwise: y and dy differ in length")
	}
	return dy
}

func (p *Pointwise[T]) do(tm *parallel.Team, pass pointPass, x, dx []T) {
	p.pass, p.x, p.dx = pass, x, dx
	tm.Do(pointBlocks(len(x)), p)
	p.x, p.dx = nil, nil
}

// Run works on one block of elements; the passes call it through the team.
func (p *Pointwise[T]) Run(part int) {
	from, to := pointRange(part, len(p.x))
	x := p.x[from:to]
	switch p.pass {
	case reluForward:
		relu(x)
	case reluBackward:
		reluGradient(x, p.dx[from:to])
	case sigmoidForward:
		sigmoid(x)
	case sigmoidBackward:
		sigmoidGradient(x, p.dx[from:to])
	}
}

func relu[T kernel.Float](x []T) {
	done := vectors[T](len(x))
	if done > 0 {
		table.relu(done, kernel.First32(x))
	}
	reluGeneric(x[done:])
}

func reluGeneric[T kernel.Float](x []T) {
	for i, v := range x {
		if v < 0 {
			x[i] = 0
		}
	}
}

func reluGradient[T kernel.Float](y, dy []T) {
	done := vectors[T](len(dy))
	if done > 0 {
		table.reluGradient(done, kernel.First32(y), kernel.First32(dy))
	}
	reluGradientGeneric(y[done:], dy[done:])
}

func reluGradientGeneric[T kernel.Float](y, dy []T) {
	for i, v := range y {
		if v <= 0 {
			dy[i] = 0
		}
	}
}
