package conv

import (
	"collapse.example/collapse/internal/kernel"
)

// The loops of batch norm over images. A run is the values of one channel, rows×n with n = Lanes(batch) or, if no lane is padding,
// 1×(pixels·n): each row ends with a block in which only the first real lanes count. Generic versions are the definition; SIMD
// versions give the same bits.

// runSums holds 16 partial sums of two quantities: element j of a run belongs to sums j mod 16.
type runSums [2 * LaneBlock]float64

// total adds the partial sums in pairs.
func (s *runSums) total() (first, second float64) {
	return (*kernel.Sums)(s[:LaneBlock]).Total(), (*kernel.Sums)(s[LaneBlock:]).Total()
}

// normConstants are the factors of one channel: y = ((x − hi) − lo)·scale + shift, dx = ((g − k1) − d·k2)·k3.
type normConstants[T kernel.Float] struct {
	hi, lo, scale, shift T
	k1, k2, k3           T
}

// runMoments adds d = x − shift and d² to sums.
func runMoments[T kernel.Float](rows, n, real int, x []T, shift float64, sums *runSums) {
	simd := imagesOf[T]()
	if simd == nil {
		runMomentsGeneric(rows, n, real, x, shift, sums)
		return
	}
	simd.moments(rows, n, kernel.First32(x), shift, &laneMask64[LaneBlock-real], &sums[0])
}

func runMomentsGeneric[T kernel.Float](rows, n, real int, x []T, shift float64, sums *runSums) {
	for ; rows > 0; rows-- {
		for i, v := range x[:n-LaneBlock+real] {
			d := float64(v) - shift
			sums[i%LaneBlock] += d
			sums[LaneBlock+i%LaneBlock] += float64(d * d)
		}
		x = x[n:]
	}
}

// runNormalise sets y = ((x − hi) − lo)·scale + shift, adds residual unless it is nil, and cuts y < 0 off with relu: NaN
// stays NaN.
func runNormalise[T kernel.Float](x, residual, y []T, c *normConstants[T], relu bool) {
	simd := imagesOf[T]()
	if simd == nil {
		runNormaliseGeneric(x, residual, y, c, relu)
		return
	}
	var add *float32
	if residual != nil {
		add = kernel.First32(residual)
	}
	run := simd.normalise[2*boolWord(residual != nil)+boolWord(relu)]
	run(len(x), kernel.First32(x), add, kernel.First32(y), float32(c.hi), float32(c.lo), float32(c.scale), float32(c.shift))
}

func runNormaliseGeneric[T kernel.Float](x, residual, y []T, c *normConstants[T], relu bool) {
	y = y[:len(x)]
	for i, v := range x {
		v = T((v-c.hi-c.lo)*c.scale) + c.shift
		if residual != nil {
			v += residual[i]
		}
		if relu && v < 0 {
			v = 0
		}
		y[i] = v
	}
}

// normMask says how a backward pass knows where the ReLU passed its input.
type normMask uint8

const (
	maskNone normMask = iota // there was no ReLU
	maskOwn                  // its input follows from x: y = max(((x − hi) − lo)·scale + shift, 0)
	maskCut                  // from y; runGradientSums writes the cut gradient over dy
)

// runGradientSums adds g and g·d to sums, with d = (x − hi) − lo and g = dy, or 0 where the ReLU cut. For float32 the
// product is exact in float64.
func runGradientSums[T kernel.Float](mask normMask, dy, y, x []T, c *normConstants[T], sums *runSums) {
	simd := imagesOf[T]()
	if simd == nil {
		runGradientSumsGeneric(mask, dy, y, x, c, sums)
		return
	}
	cut := dy
	if mask == maskCut {
		cut = y
	}
	run := simd.gradientSums[mask]
	run(len(dy), kernel.First32(dy), kernel.First32(cut), kernel.First32(x), float32(c.hi), float32(c.lo), float32(c.scale), float32(c.shift), &sums[0])
}

func runGradientSumsGeneric[T kernel.Float](mask normMask, dy, y, x []T, c *normConstants[T], sums *runSums) {
	x = x[:len(dy)]
	for i, g := range dy {
		d := x[i] - c.hi - c.lo
		switch mask {
		case maskOwn:
			if T(d*c.scale)+c.shift <= 0 {
				g = 0
			}
		case maskCut:
			if y[i] <= 0 {
				g = 0
			}
			dy[i] = g
		}
		sums[i%LaneBlock] += float64(g)
		sums[LaneBlock+i%LaneBlock] += float64(float64(g) * float64(d))
	}
}

// runGradientInput sets dx = ((g − k1) − d·k2)·k3 with g and d as in runGradientSums, and 0 in lanes that are padding.
// dx may be dy. mask is not maskCut.
func runGradientInput[T kernel.Float](mask normMask, rows, n, real int, dy, x, dx []T, c *normConstants[T]) {
	simd := imagesOf[T]()
	if simd == nil {
		runGradientInputGeneric(mask, rows, n, real, dy, x, dx, c)
		return
	}
	simd.gradientInput[mask](rows, n, kernel.First32(dy), kernel.First32(x), kernel.First32(dx), float32(c.hi), float32(c.lo), float32(c.scale), float32(c.shift),
		float32(c.k1), float32(c.k2), float32(c.k3), &laneMask32[LaneBlock-real])
}

func runGradientInputGeneric[T kernel.Float](mask normMask, rows, n, real int, dy, x, dx []T, c *normConstants[T]) {
	count := n - LaneBlock + real
	for at := 0; at < rows*n; at += n {
		for i := at; i < at+count; i++ {
			g, d := dy[i], x[i]-c.hi-c.lo
			if mask == maskOwn && T(d*c.scale)+c.shift <= 0 {
				g = 0
			}
			dx[i] = (g - c.k1 - T(d*c.k2)) * c.k3
		}
		clear(dx[at+count : at+n])
	}
}

// laneMask32 and laneMask64 keep the first real of 16 lanes: a block at 16 − real.
var (
	laneMask32 [2 * LaneBlock]uint32
	laneMask64 [2 * LaneBlock]uint64
)

func init() {
	for i := range LaneBlock {
		laneMask32[i], laneMask64[i] = ^uint32(0), ^uint64(0)
	}
}
