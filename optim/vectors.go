package optim

import (
	"math"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/parallel"
)

// vectors does arithmetic on long vectors, cut into blocks of vectorBlock elements that the team
// shares. Sums are formed in float64 per block and added in order, so no bit depends on the team.
type vectors[T kernel.Float] struct {
	team    *parallel.Team // nil: the caller's goroutine
	op      vectorOp
	y, x, z []T
	f       T
	partial []float64 // per block
}

// vectorBlock is the elements of one part.
const vectorBlock = 16 << 10

type vectorOp uint8

const (
	opInner  vectorOp = iota // Σ x·z
	opSumAbs                 // Σ |x|
	opMaxAbs                 // max |x|
	opAxpy                   // y += f·x
	opScale                  // y *= f
	opMove                   // y = z + f·x
	opSub                    // y = x − z
)

func newVectors[T kernel.Float](team *parallel.Team, n int) *vectors[T] {
	return &vectors[T]{team: team, partial: make([]float64, (n+vectorBlock-1)/vectorBlock)}
}

func (v *vectors[T]) inner(x, z []T) float64 { return v.sum(opInner, x, z) }
func (v *vectors[T]) sumAbs(x []T) float64   { return v.sum(opSumAbs, x, x) }

// maxAbs returns the largest |x_i|; NaN if any entry is NaN.
func (v *vectors[T]) maxAbs(x []T) float64 {
	return maxAbs(v.partial[:v.do(opMaxAbs, len(x), nil, x, x, 0)])
}

func (v *vectors[T]) axpy(y []T, f float64, x []T)    { v.do(opAxpy, len(y), y, x, x, f) }
func (v *vectors[T]) scale(y []T, f float64)          { v.do(opScale, len(y), y, y, y, f) }
func (v *vectors[T]) move(y, z []T, f float64, x []T) { v.do(opMove, len(y), y, x, z, f) }
func (v *vectors[T]) sub(y, x, z []T)                 { v.do(opSub, len(y), y, x, z, 0) }

func (v *vectors[T]) sum(op vectorOp, x, z []T) float64 {
	total := 0.0
	for _, s := range v.partial[:v.do(op, len(x), nil, x, z, 0)] {
		total += s
	}
	return total
}

func (v *vectors[T]) do(op vectorOp, n int, y, x, z []T, f float64) (blocks int) {
	v.op, v.y, v.x, v.z, v.f = op, y, x, z, T(f)
	blocks = (n + vectorBlock - 1) / vectorBlock
	v.team.Do(blocks, v)
	v.y, v.x, v.z = nil, nil, nil
	return blocks
}

// Run works on one block.
func (v *vectors[T]) Run(part int) {
	from, to := part*vectorBlock, min((part+1)*vectorBlock, len(v.x))
	x, z := v.x[from:to], v.z[from:to]
	switch v.op {
	case opInner:
		v.partial[part] = inner(x, z)
	case opSumAbs:
		v.partial[part] = sumAbs(x)
	case opMaxAbs:
		v.partial[part] = maxAbs(x)
	case opAxpy:
		axpy(v.y[from:to], v.f, x)
	case opScale:
		for i, y := 0, v.y[from:to]; i < len(y); i++ {
			y[i] *= v.f
		}
	case opMove:
		y := v.y[from:to]
		for i, d := range x {
			y[i] = z[i] + T(v.f*d)
		}
	case opSub:
		y := v.y[from:to]
		for i, a := range x {
			y[i] = a - z[i]
		}
	}
}

// maxAbs returns the largest |x_i|; NaN if any entry is NaN.
func maxAbs[T kernel.Float](x []T) float64 {
	worst := 0.0
	for _, v := range x {
		if a := math.Abs(float64(v)); !(a <= worst) {
			worst = a
		}
	}
	return worst
}

func sumAbs[T kernel.Float](x []T) float64 {
	sum := 0.0
	for _, v := range x {
		sum += math.Abs(float64(v))
	}
	return sum
}

// inner is the scalar product, summed in four strands of float64.
func inner[T kernel.Float](a, b []T) float64 {
	var s0, s1, s2, s3 float64
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += float64(a[i]) * float64(b[i])
		s1 += float64(a[i+1]) * float64(b[i+1])
		s2 += float64(a[i+2]) * float64(b[i+2])
		s3 += float64(a[i+3]) * float64(b[i+3])
	}
	for ; i < len(a); i++ {
		s0 += float64(a[i]) * float64(b[i])
	}
	return (s0 + s1) + (s2 + s3)
}

// axpy adds f·x to y.
func axpy[T kernel.Float](y []T, f T, x []T) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += f * v
	}
}
