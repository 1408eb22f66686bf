package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The passes of image networks: norm2d_loops.go and pool2d_loops.go of package kernel define them. A run is the
// contiguous values of one channel, a multiple of 16; constants of the channel are broadcast once.

// laneBlock is 16 float32, one ZMM or two YMM registers.
const laneBlock = 64

// steps returns the byte offsets of the vectors of a block of 16 lanes.
func (t target) steps() []int {
	if t.wide {
		return []int{0}
	}
	return []int{0, 32}
}

// broadcasts fills a vector with each of the named arguments.
func (t target) broadcasts(names ...string) map[string]reg.VecVirtual {
	all := map[string]reg.VecVirtual{}
	for _, name := range names {
		all[name] = t.broadcast(name)
	}
	return all
}

// pointers loads the named arguments into general registers.
func pointers(names ...string) map[string]reg.Register {
	all := map[string]reg.Register{}
	for _, name := range names {
		all[name] = Load(Param(name), GP64())
	}
	return all
}

// deviation returns (v − hi) − lo.
func (t target) deviation(v Op, c map[string]reg.VecVirtual) reg.VecVirtual {
	d := t.load(v)
	VSUBPS(c["hi"], d, d)
	VSUBPS(c["lo"], d, d)
	return d
}

// and keeps the lanes of v that are set in m, a register or memory.
func (t target) and(m Op, v reg.VecVirtual) {
	if t.wide {
		VPANDD(m, v, v)
	} else {
		VANDPS(m, v, v)
	}
}

// blocks walks rows of n elements, 16 at a time; the last block of each row is masked.
func blocks(rows, n reg.Register, block func(masked bool)) {
	left := GP64()
	SHRQ(Imm(4), n)
	DECQ(n)
	Label("row")
	MOVQ(n, left)
	TESTQ(left, left)
	JZ(LabelRef("last"))
	Label("block")
	block(false)
	DECQ(left)
	JNZ(LabelRef("block"))
	Label("last")
	block(true)
	DECQ(rows)
	JNZ(LabelRef("row"))
}

// runMoments adds d = x − shift and d² to 32 sums in float64, lane j of 16 to sums j and 16 + j. The last block of
// each row counts only the lanes of mask.
func (t target) runMoments() {
	begin("runMoments"+t.suffix, "func(rows, n int, x *float32, shift float64, mask *uint64, sums *float64)", "is runMomentsGeneric.")
	p := pointers("rows", "n", "x", "mask", "sums")
	address, err := Param("shift").Resolve()
	if err != nil {
		panic(err)
	}
	shift := t.vector()
	VBROADCASTSD(address.Addr, shift)
	parts := 64 * 2 / t.bytes() // vectors of float64 that hold 16 lanes
	acc := make([]reg.VecVirtual, 2*parts)
	for i := range acc {
		acc[i] = t.load(Mem{Base: p["sums"], Disp: i * t.bytes()})
	}
	block := func(masked bool) {
		for i := range parts {
			d, square := t.vector(), t.vector()
			VCVTPS2PD(Mem{Base: p["x"], Disp: i * t.bytes() / 2}, d)
			VSUBPD(shift, d, d)
			if masked {
				t.and(Mem{Base: p["mask"], Disp: i * t.bytes()}, d)
			}
			VMULPD(d, d, square)
			VADDPD(d, acc[i], acc[i])
			VADDPD(square, acc[parts+i], acc[parts+i])
		}
		ADDQ(Imm(laneBlock), p["x"])
	}
	blocks(p["rows"], p["n"], block)
	for i := range acc {
		VMOVUPS(acc[i], Mem{Base: p["sums"], Disp: i * t.bytes()})
	}
	end()
}

// runNormalise is y = ((x − hi) − lo)·scale + shift [+ residual] [, max(·, 0)].
func (t target) runNormalise(add, relu bool) {
	name := variant(variant("runNormalise", add, "Add"), relu, "ReLU") + t.suffix
	begin(name, "func(n int, x, residual, y *float32, hi, lo, scale, shift float32)", "is runNormaliseGeneric.")
	p := pointers("x", "residual", "y")
	c, zero := t.broadcasts("hi", "lo", "scale", "shift"), t.zero()
	t.elements(func(i reg.Register) {
		v := t.deviation(at(p["x"], i), c)
		VMULPS(c["scale"], v, v)
		VADDPS(c["shift"], v, v)
		if add {
			VADDPS(at(p["residual"], i), v, v)
		}
		if relu {
			VMAXPS(v, zero, v) // the second source, v, if it is NaN
		}
		VMOVUPS(v, at(p["y"], i))
	})
}

// gradientMasks are the ways to know where the ReLU passed: there is none; its input computed again; its output.
var gradientMasks = []string{"", "Own", "Cut"}

// gradient returns g: dy where the ReLU passed, else 0. d is the deviation of x.
func (t target) gradient(mask string, dy, y Mem, d, zero reg.VecVirtual, c map[string]reg.VecVirtual) reg.VecVirtual {
	switch mask {
	case "":
		return t.load(dy)
	case "Cut":
		return t.passed(true, dy, y, zero)
	}
	const notLessOrEqual = 0x16
	v, g := t.vector(), t.vector()
	VMULPS(c["scale"], d, v)
	VADDPS(c["shift"], v, v)
	if t.wide {
		k := K()
		VCMPPS(Imm(notLessOrEqual), zero, v, k)
		VMOVUPS_Z(dy, k, g)
	} else {
		VCMPPS(Imm(notLessOrEqual), zero, v, v)
		VANDPS(dy, v, g)
	}
	return g
}

// runGradientSums adds g and g·d to 32 sums as runMoments does; the variant Cut also writes g to dy.
func (t target) runGradientSums(mask string) {
	name := "runGradientSums" + mask + t.suffix
	begin(name, "func(n int, dy, y, x *float32, hi, lo, scale, shift float32, sums *float64)", "is runGradientSumsGeneric.")
	p := pointers("n", "dy", "y", "x", "sums")
	c, zero := t.broadcasts("hi", "lo", "scale", "shift"), t.zero()
	var acc []reg.VecVirtual // the sums, in memory where there are only 16 registers
	for i := range 4 {
		if t.wide {
			acc = append(acc, t.load(Mem{Base: p["sums"], Disp: 64 * i}))
		}
	}
	SHRQ(Imm(4), p["n"])
	Label("block")
	for _, from := range t.steps() {
		d := t.deviation(Mem{Base: p["x"], Disp: from}, c)
		dy := Mem{Base: p["dy"], Disp: from}
		g := t.gradient(mask, dy, Mem{Base: p["y"], Disp: from}, d, zero, c)
		if mask == "Cut" {
			VMOVUPS(g, dy)
		}
		gs, ds := t.widen(g), t.widen(d)
		for h := range gs {
			sums := Mem{Base: p["sums"], Disp: 2*from + h*t.bytes()}
			VMULPD(gs[h], ds[h], ds[h]) // exact
			if t.wide {
				VADDPD(gs[h], acc[h], acc[h])
				VADDPD(ds[h], acc[2+h], acc[2+h])
				continue
			}
			VADDPD(sums, gs[h], gs[h])
			VMOVUPD(gs[h], sums)
			VADDPD(sums.Offset(128), ds[h], ds[h])
			VMOVUPD(ds[h], sums.Offset(128))
		}
	}
	for _, arg := range []string{"dy", "y", "x"} {
		ADDQ(Imm(laneBlock), p[arg])
	}
	DECQ(p["n"])
	JNZ(LabelRef("block"))
	for i, sum := range acc {
		VMOVUPS(sum, Mem{Base: p["sums"], Disp: 64 * i})
	}
	end()
}

// runGradientInput is dx = ((g − k1) − d·k2)·k3; the last block of each row keeps only the lanes of mask.
func (t target) runGradientInput(mask string) {
	name := "runGradientInput" + mask + t.suffix
	begin(name, "func(rows, n int, dy, x, dx *float32, hi, lo, scale, shift, k1, k2, k3 float32, mask *uint32)", "is runGradientInputGeneric.")
	p := pointers("rows", "n", "dy", "x", "dx", "mask")
	c, zero := t.broadcasts("hi", "lo", "scale", "shift", "k1", "k2", "k3"), t.zero()
	block := func(masked bool) {
		for _, from := range t.steps() {
			d := t.deviation(Mem{Base: p["x"], Disp: from}, c)
			g := t.gradient(mask, Mem{Base: p["dy"], Disp: from}, Mem{}, d, zero, c)
			VMULPS(c["k2"], d, d)
			VSUBPS(c["k1"], g, g)
			VSUBPS(d, g, g)
			VMULPS(c["k3"], g, g)
			if masked {
				t.and(Mem{Base: p["mask"], Disp: from}, g)
			}
			VMOVUPS(g, Mem{Base: p["dx"], Disp: from})
		}
		for _, arg := range []string{"dy", "x", "dx"} {
			ADDQ(Imm(laneBlock), p[arg])
		}
	}
	blocks(p["rows"], p["n"], block)
	end()
}

// window walks the taps of a pooling window for the lanes at byte offset i and leaves the largest value and the number
// of the first tap that has it; a NaN is larger than all, the last one counts (as PyTorch).
func (t target) window(p map[string]reg.Register, i reg.Register) (best, index reg.VecVirtual) {
	best, index = t.vector(), t.zero()
	t.taps("window", p, "x", i, func(at Mem) { VMOVUPS(at, best) }, func(at Mem, tap reg.VecVirtual) {
		t.larger(t.load(at), tap, best, index)
	})
	return best, index
}

// taps walks the taps of a window over the named array: first gets the window's first tap, each every one and its number.
func (t target) taps(name string, p map[string]reg.Register, array string, i reg.Register,
	first func(at Mem), each func(at Mem, tap reg.VecVirtual)) {
	tap, one := t.zero(), t.vector()
	const allOnes = 0xff
	if t.wide {
		VPTERNLOGD(Imm(allOnes), one, one, one)
	} else {
		VPCMPEQD(one, one, one)
	}
	row, q, h, w := GP64(), GP64(), GP64(), GP64()
	MOVQ(p[array], row)
	ADDQ(i, row)
	first(Mem{Base: row})
	MOVQ(p["h"], h)
	Label(name + "row")
	MOVQ(row, q)
	MOVQ(p["w"], w)
	Label(name + "tap")
	each(Mem{Base: q}, tap)
	VPSUBD(one, tap, tap) // −(−1)
	ADDQ(p["across"], q)
	DECQ(w)
	JNZ(LabelRef(name + "tap"))
	ADDQ(p["down"], row)
	DECQ(h)
	JNZ(LabelRef(name + "row"))
}

// larger replaces best and index by v and tap where v > best or v is NaN.
func (t target) larger(v, tap, best, index reg.VecVirtual) {
	const greater, unordered = 0x1e, 0x03
	if t.wide {
		k, nan := K(), K()
		VCMPPS(Imm(greater), best, v, k)
		VCMPPS(Imm(unordered), v, v, nan)
		KORW(k, nan, k)
		VMOVAPS(v, k, best)
		VMOVDQA32(tap, k, index)
		return
	}
	k, nan := t.vector(), t.vector()
	VCMPPS(Imm(greater), best, v, k)
	VCMPPS(Imm(unordered), v, v, nan)
	VORPS(k, nan, k)
	VBLENDVPS(k, v, best, best)
	VBLENDVPS(k, tap, index, index)
}

// maxWindow is the forward pass of one output pixel, all lanes.
func (t target) maxWindow() {
	name := "maxWindow" + t.suffix
	begin(name, "func(n, h, w, across, down int, x, y *float32)", "is maxWindowGeneric.")
	p := pointers("h", "w", "across", "down", "x", "y")
	SHLQ(Imm(2), p["across"])
	SHLQ(Imm(2), p["down"])
	t.elements(func(i reg.Register) {
		best, _ := t.window(p, i)
		VMOVUPS(best, at(p["y"], i))
	})
}

// maxWindowGradient adds dy to the tap that maxWindow chose.
func (t target) maxWindowGradient() {
	name := "maxWindowGradient" + t.suffix
	begin(name, "func(n, h, w, across, down int, x, dy, dx *float32)", "is maxWindowGradientGeneric.")
	p := pointers("h", "w", "across", "down", "x", "dy", "dx")
	SHLQ(Imm(2), p["across"])
	SHLQ(Imm(2), p["down"])
	t.elements(func(i reg.Register) {
		_, index := t.window(p, i)
		g := t.load(at(p["dy"], i))
		t.taps("scatter", p, "dx", i, func(Mem) {}, func(at Mem, tap reg.VecVirtual) {
			sum := t.load(at)
			if t.wide {
				k := K()
				VPCMPEQD(tap, index, k)
				VADDPS(g, sum, k, sum)
			} else {
				k := t.vector()
				VPCMPEQD(tap, index, k)
				VANDPS(g, k, k)
				VADDPS(k, sum, sum)
			}
			VMOVUPS(sum, at)
		})
	})
}

func (t target) images() {
	t.runMoments()
	for _, add := range []bool{false, true} {
		for _, relu := range []bool{false, true} {
			t.runNormalise(add, relu)
		}
	}
	for _, mask := range gradientMasks {
		t.runGradientSums(mask)
	}
	for _, mask := range gradientMasks[:2] {
		t.runGradientInput(mask)
	}
	t.maxWindow()
	t.maxWindowGradient()
	t.fingerprint()
}
