package kernel

// The functions below run the SIMD version of a pass over images and report whether there is one.

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

// simd reports whether float32 passes have a SIMD version.
func simd() bool { return active == isaAVX512 || active == isaAVX2 }

func runMomentsSIMD(rows, n, real int, x []float32, shift float64, sums *runSums) bool {
	if !simd() {
		return false
	}
	run := runMomentsAVX2
	if active == isaAVX512 {
		run = runMomentsAVX512
	}
	run(rows, n, &x[0], shift, &laneMask64[LaneBlock-real], &sums[0])
	return true
}

func runNormaliseSIMD(x, residual, y []float32, c *normConstants[float32], relu bool) bool {
	if !simd() {
		return false
	}
	var add *float32
	if residual != nil {
		add = &residual[0]
	}
	run := [...]func(n int, x, residual, y *float32, hi, lo, scale, shift float32){
		runNormaliseAVX2, runNormaliseReLUAVX2, runNormaliseAddAVX2, runNormaliseAddReLUAVX2,
		runNormaliseAVX512, runNormaliseReLUAVX512, runNormaliseAddAVX512, runNormaliseAddReLUAVX512,
	}[pick(active == isaAVX512, 4)+pick(residual != nil, 2)+pick(relu, 1)]
	run(len(x), &x[0], add, &y[0], c.hi, c.lo, c.scale, c.shift)
	return true
}

// pick returns n if set, else 0.
func pick(set bool, n int) int {
	if set {
		return n
	}
	return 0
}

func runGradientSumsSIMD(mask normMask, dy, y, x []float32, c *normConstants[float32], sums *runSums) bool {
	if !simd() {
		return false
	}
	cut := &dy[0]
	if mask == maskCut {
		cut = &y[0]
	}
	run := [...]func(n int, dy, y, x *float32, hi, lo, scale, shift float32, sums *float64){
		runGradientSumsAVX2, runGradientSumsOwnAVX2, runGradientSumsCutAVX2,
		runGradientSumsAVX512, runGradientSumsOwnAVX512, runGradientSumsCutAVX512,
	}[pick(active == isaAVX512, 3)+int(mask)]
	run(len(dy), &dy[0], cut, &x[0], c.hi, c.lo, c.scale, c.shift, &sums[0])
	return true
}

func runGradientInputSIMD(mask normMask, rows, n, real int, dy, x, dx []float32, c *normConstants[float32]) bool {
	if !simd() {
		return false
	}
	run := [...]func(rows, n int, dy, x, dx *float32, hi, lo, scale, shift, k1, k2, k3 float32, mask *uint32){
		runGradientInputAVX2, runGradientInputOwnAVX2, runGradientInputAVX512, runGradientInputOwnAVX512,
	}[pick(active == isaAVX512, 2)+int(mask)]
	run(rows, n, &dy[0], &x[0], &dx[0], c.hi, c.lo, c.scale, c.shift, c.k1, c.k2, c.k3, &laneMask32[LaneBlock-real])
	return true
}

func maxWindowSIMD(w *window, x, y []float32) bool {
	if !simd() {
		return false
	}
	run := maxWindowAVX2
	if active == isaAVX512 {
		run = maxWindowAVX512
	}
	run(len(y), w.h, w.w, w.across, w.down, &x[w.first], &y[0])
	return true
}

func maxWindowGradientSIMD(w *window, x, dy, dx []float32) bool {
	if !simd() {
		return false
	}
	run := maxWindowGradientAVX2
	if active == isaAVX512 {
		run = maxWindowGradientAVX512
	}
	run(len(dy), w.h, w.w, w.across, w.down, &x[w.first], &dy[0], &dx[w.first])
	return true
}

func fingerprintSIMD(bytes []byte, sums *fingerprintSums) bool {
	if !simd() {
		return false
	}
	run := fingerprintAVX2
	if active == isaAVX512 {
		run = fingerprintAVX512
	}
	run(len(bytes)/64, &bytes[0], &fingerprintMask[0], &fingerprintStep[0], &sums[0])
	return true
}
