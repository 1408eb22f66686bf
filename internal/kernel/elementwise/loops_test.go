package elementwise

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/internal/kernel/kerneltest"
)

// SIMD loops must give the bits of the generic ones. Every buffer of a case lies between NaN
// guards, and so does every row: a read outside would show in the results, a write outside in the
// comparison of whole buffers.

// loopData is the memory of one case: three matrices, five vectors, three float64 vectors.
type loopData struct {
	rows, cols, ld, offset int
	matrices               [3][]float32
	vectors                [5][]float32
	sums                   [3][]float64
}

func newLoopData(rng *rand.Rand, rows, cols, offset, gap int) *loopData {
	d := &loopData{rows: rows, cols: cols, ld: cols + gap, offset: offset}
	for m := range d.matrices {
		d.matrices[m] = kerneltest.Guarded(offset + rows*d.ld + 16)
		for i := range rows {
			kerneltest.FillSpecial(rng, d.matrices[m][offset+i*d.ld:][:cols])
		}
	}
	for v := range d.vectors {
		d.vectors[v] = kerneltest.Guarded(offset + cols + 16)
		kerneltest.FillSpecial(rng, d.vectors[v][offset:][:cols])
	}
	for s := range d.sums {
		d.sums[s] = make([]float64, offset+cols+16)
		for i := range d.sums[s] {
			d.sums[s][i] = math.NaN()
		}
		for i := range cols {
			d.sums[s][offset+i] = rng.NormFloat64()
		}
	}
	return d
}

func (d *loopData) clone() *loopData {
	c := *d
	for i, x := range d.matrices {
		c.matrices[i] = append([]float32(nil), x...)
	}
	for i, x := range d.vectors {
		c.vectors[i] = append([]float32(nil), x...)
	}
	for i, x := range d.sums {
		c.sums[i] = append([]float64(nil), x...)
	}
	return &c
}

func (d *loopData) matrix(i int) []float32 { return d.matrices[i][d.offset:] }
func (d *loopData) of(i int) kernel.Matrix[float32] {
	return kernel.Strided(d.rows, d.cols, d.ld, d.matrix(i))
}
func (d *loopData) vector(i int) []float32 { return d.vectors[i][d.offset:] }
func (d *loopData) sum(i int) []float64    { return d.sums[i][d.offset:] }

// flat returns the elements of a matrix for the point-wise loops: cols of them.
func (d *loopData) flat(i int) []float32 { return d.vectors[i][d.offset:][:d.cols] }

// difference returns where two clones differ in bits; any NaN equals any other except a guard.
func (d *loopData) difference(o *loopData) error {
	for m := range d.matrices {
		if err := kerneltest.Difference(d.matrices[m], o.matrices[m]); err != nil {
			return fmt.Errorf("matrix %d: %w", m, err)
		}
	}
	for v := range d.vectors {
		if err := kerneltest.Difference(d.vectors[v], o.vectors[v]); err != nil {
			return fmt.Errorf("vector %d: %w", v, err)
		}
	}
	for s := range d.sums {
		for i, want := range d.sums[s] {
			got := o.sums[s][i]
			if math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
				return fmt.Errorf("sums %d at %d: got %g, want %g", s, i, got, want)
			}
		}
	}
	return nil
}

// loops lists every loop that has SIMD versions, with its generic one.
var loops = []struct {
	name          string
	simd, generic func(d *loopData)
}{
	{"addRows", func(d *loopData) { AddRows(d.of(0), d.sum(0)) },
		func(d *loopData) { addRowsGeneric(d.of(0), d.sum(0)) }},
	{"addSquares", func(d *loopData) { addSquares(d.of(0), d.sum(0), d.sum(1)) },
		func(d *loopData) { addSquaresGeneric(d.of(0), d.sum(0), d.sum(1)) }},
	{"normalise", func(d *loopData) { d.normalise(normalise[float32], false) },
		func(d *loopData) { d.normalise(normaliseGeneric[float32], false) }},
	{"normalise with ReLU", func(d *loopData) { d.normalise(normalise[float32], true) },
		func(d *loopData) { d.normalise(normaliseGeneric[float32], true) }},
	{"gradientSums", func(d *loopData) { d.gradientSums(gradientSums[float32], false) },
		func(d *loopData) { d.gradientSums(gradientSumsGeneric[float32], false) }},
	{"gradientSums with ReLU", func(d *loopData) { d.gradientSums(gradientSums[float32], true) },
		func(d *loopData) { d.gradientSums(gradientSumsGeneric[float32], true) }},
	{"gradientInput", func(d *loopData) { d.gradientInput(gradientInput[float32], false) },
		func(d *loopData) { d.gradientInput(gradientInputGeneric[float32], false) }},
	{"gradientInput with ReLU", func(d *loopData) { d.gradientInput(gradientInput[float32], true) },
		func(d *loopData) { d.gradientInput(gradientInputGeneric[float32], true) }},
	{"relu", func(d *loopData) { relu(d.flat(0)) }, func(d *loopData) { reluGeneric(d.flat(0)) }},
	{"reluGradient", func(d *loopData) { reluGradient(d.flat(0), d.flat(1)) },
		func(d *loopData) { reluGradientGeneric(d.flat(0), d.flat(1)) }},
	{"sigmoid", func(d *loopData) { sigmoid(d.flat(0)) }, func(d *loopData) { sigmoidGeneric(d.flat(0)) }},
	{"sigmoidGradient", func(d *loopData) { sigmoidGradient(d.flat(0), d.flat(1)) },
		func(d *loopData) { sigmoidGradientGeneric(d.flat(0), d.flat(1)) }},
	{"sgd", func(d *loopData) { sgd(d.rule(false), d.flat(0), d.flat(1), d.flat(2)) },
		func(d *loopData) { sgdGeneric(d.rule(false), d.flat(0), d.flat(1), d.flat(2)) }},
	{"sgd with Nesterov", func(d *loopData) { sgd(d.rule(true), d.flat(0), d.flat(1), d.flat(2)) },
		func(d *loopData) { sgdGeneric(d.rule(true), d.flat(0), d.flat(1), d.flat(2)) }},
}

func (d *loopData) normalise(f func(relu bool, x, y kernel.Matrix[float32], hi, lo, scale, shift []float32), relu bool) {
	f(relu, d.of(0), d.of(1), d.vector(0), d.vector(1), d.vector(2), d.vector(3))
}

func (d *loopData) gradientSums(f func(relu bool, dy, y, x kernel.Matrix[float32], hi, lo []float32, sum, dot []float64), relu bool) {
	f(relu, d.of(0), d.of(1), d.of(2), d.vector(0), d.vector(1), d.sum(0), d.sum(1))
}

func (d *loopData) gradientInput(f func(relu bool, dy, y, x kernel.Matrix[float32], hi, lo, k1, k2, k3 []float32), relu bool) {
	f(relu, d.of(0), d.of(1), d.of(2),
		d.vector(0), d.vector(1), d.vector(2), d.vector(3), d.vector(4))
}

func (d *loopData) rule(nesterov bool) sgdRule[float32] {
	return sgdRule[float32]{rate: 0.1, momentum: 0.9, decay: 1e-3, nesterov: nesterov}
}

func TestLoopsHaveTheBitsOfTheGenericOnes(t *testing.T) {
	for _, name := range isa.Available() {
		t.Run(name, func(t *testing.T) {
			kerneltest.Use(t, name)
			rng := rand.New(rand.NewPCG(1, 1))
			for cols := 1; cols <= 3*16+1; cols++ {
				for offset := range 4 {
					for rows := range 4 {
						data := newLoopData(rng, rows, cols, offset, 1+offset)
						for _, loop := range loops {
							want, got := data.clone(), data.clone()
							loop.generic(want)
							loop.simd(got)
							if err := want.difference(got); err != nil {
								t.Fatalf("%s rows=%d cols=%d offset=%d: %v", loop.name, rows, cols, offset, err)
							}
						}
					}
				}
			}
		})
	}
}

// TestLoopsStayInside runs the loops of every kernel, generic ones included, and looks at the
// guards themselves.
func TestLoopsStayInside(t *testing.T) {
	for _, name := range isa.Available() {
		kerneltest.Use(t, name)
		rng := rand.New(rand.NewPCG(1, 2))
		for _, loop := range loops {
			d := newLoopData(rng, 3, 37, 5, 3)
			loop.simd(d)
			for m, x := range d.matrices {
				for i, v := range x {
					at := i - d.offset
					inside := at >= 0 && at < d.rows*d.ld && at%d.ld < d.cols
					if !inside && math.Float32bits(v) != kerneltest.Guard {
						t.Errorf("%s %s: matrix %d written at %d, outside", name, loop.name, m, i)
					}
				}
			}
			for s, x := range d.sums {
				for i, v := range x {
					if inside := i >= d.offset && i < d.offset+d.cols; !inside && !math.IsNaN(v) {
						t.Errorf("%s %s: sums %d written at %d, outside", name, loop.name, s, i)
					}
				}
			}
		}
	}
}

// TestSigmoidFloat32 compares every version with float64 on a fine grid and on extremes.
func TestSigmoidFloat32(t *testing.T) {
	for _, name := range isa.Available() {
		kerneltest.Use(t, name)
		x := []float32{0, float32(math.Inf(1)), float32(math.Inf(-1)), 1e30, -1e30, -87.5, -103.9, -104.5, 1e-30, -1e-30}
		for v := -110.0; v <= 110; v += 1.0 / 512 {
			x = append(x, float32(v))
		}
		got := append([]float32(nil), x...)
		NewPointwise[float32]().Sigmoid(nil, got)
		for i, v := range x {
			want := 1 / (1 + math.Exp(-float64(v)))
			unit := math.Max(want*0x1p-23, math.SmallestNonzeroFloat32)
			if diff := math.Abs(float64(got[i]) - want); !(diff <= 3*unit) {
				t.Fatalf("%s: sigmoid(%g) = %g, want %g: off by %g units", name, v, got[i], want, diff/unit)
			}
		}
	}
}

func TestReLUKeepsNaN(t *testing.T) {
	nan := float32(math.NaN())
	for _, name := range isa.Available() {
		kerneltest.Use(t, name)
		x := make([]float32, 37)
		dy := make([]float32, 37)
		for i := range x {
			x[i], dy[i] = nan, 3
		}
		NewPointwise[float32]().ReLU(nil, x)
		NewPointwise[float32]().ReLUBackward(nil, x, dy)
		for i := range x {
			if x[i] == x[i] || dy[i] != 3 {
				t.Fatalf("%s: entry %d: ReLU(NaN) = %g with gradient %g, want NaN and 3", name, i, x[i], dy[i])
			}
		}
	}
}
