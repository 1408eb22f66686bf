package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"collapse.example/collapse/internal/kernel/asm"
)

// images writes the loops over images of an instruction set: norm2d_loops.go and pool2d.go define them. A run is the
// contiguous values of one channel, a multiple of 16; constants of the channel are broadcast once.
type images struct{ asm.Target }

// deviation returns (v − hi) − lo.
func (t images) deviation(v Op, c map[string]reg.VecVirtual) reg.VecVirtual {
	d := t.Load(v)
	VSUBPS(c["hi"], d, d)
	VSUBPS(c["lo"], d, d)
	return d
}

// and keeps the lanes of v that are set in m, a register or memory.
func (t images) and(m Op, v reg.VecVirtual) {
	if t.Wide {
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
func (t images) runMoments() {
	asm.Begin("runMoments"+t.Suffix, "func(rows, n int, x *float32, shift float64, mask *uint64, sums *float64)", "is runMomentsGeneric.")
	p := asm.Pointers("rows", "n", "x", "mask", "sums")
	address, err := Param("shift").Resolve()
	if err != nil {
		panic(err)
	}
	shift := t.Vector()
	VBROADCASTSD(address.Addr, shift)
	parts := 64 * 2 / t.Bytes() // vectors of float64 that hold 16 lanes
	acc := make([]reg.VecVirtual, 2*parts)
	for i := range acc {
		acc[i] = t.Load(Mem{Base: p["sums"], Disp: i * t.Bytes()})
	}
	block := func(masked bool) {
		for i := range parts {
			d, square := t.Vector(), t.Vector()
			VCVTPS2PD(Mem{Base: p["x"], Disp: i * t.Bytes() / 2}, d)
			VSUBPD(shift, d, d)
			if masked {
				t.and(Mem{Base: p["mask"], Disp: i * t.Bytes()}, d)
			}
			VMULPD(d, d, square)
			VADDPD(d, acc[i], acc[i])
			VADDPD(square, acc[parts+i], acc[parts+i])
		}
		ADDQ(Imm(asm.Block), p["x"])
	}
	blocks(p["rows"], p["n"], block)
	for i := range acc {
		VMOVUPS(acc[i], Mem{Base: p["sums"], Disp: i * t.Bytes()})
	}
	asm.End()
}

// runNormalise is y = ((x − hi) − lo)·scale + shift [+ residual] [, max(·, 0)].
func (t images) runNormalise(add, relu bool) {
	name := asm.Variant(asm.Variant("runNormalise", add, "Add"), relu, "ReLU") + t.Suffix
	asm.Begin(name, "func(n int, x, residual, y *float32, hi, lo, scale, shift float32)", "is runNormaliseGeneric.")
	p := asm.Pointers("x", "residual", "y")
	c, zero := t.Broadcasts("hi", "lo", "scale", "shift"), t.Zero()
	t.Elements(func(i reg.Register) {
		v := t.deviation(asm.At(p["x"], i), c)
		VMULPS(c["scale"], v, v)
		VADDPS(c["shift"], v, v)
		if add {
			VADDPS(asm.At(p["residual"], i), v, v)
		}
		if relu {
			VMAXPS(v, zero, v) // the second source, v, if it is NaN
		}
		VMOVUPS(v, asm.At(p["y"], i))
	})
}

// gradientMasks are the ways to know where the ReLU passed: there is none; its input computed again; its output.
var gradientMasks = []string{"", "Own", "Cut"}

// gradient returns g: dy where the ReLU passed, else 0. d is the deviation of x.
func (t images) gradient(mask string, dy, y Mem, d, zero reg.VecVirtual, c map[string]reg.VecVirtual) reg.VecVirtual {
	switch mask {
	case "":
		return t.Load(dy)
	case "Cut":
		return t.Passed(dy, y, zero)
	}
	const notLessOrEqual = 0x16
	v, g := t.Vector(), t.Vector()
	VMULPS(c["scale"], d, v)
	VADDPS(c["shift"], v, v)
	if t.Wide {
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
func (t images) runGradientSums(mask string) {
	name := "runGradientSums" + mask + t.Suffix
	asm.Begin(name, "func(n int, dy, y, x *float32, hi, lo, scale, shift float32, sums *float64)", "is runGradientSumsGeneric.")
	p := asm.Pointers("n", "dy", "y", "x", "sums")
	c, zero := t.Broadcasts("hi", "lo", "scale", "shift"), t.Zero()
	var acc []reg.VecVirtual // the sums, in memory where there are only 16 registers
	for i := range 4 {
		if t.Wide {
			acc = append(acc, t.Load(Mem{Base: p["sums"], Disp: 64 * i}))
		}
	}
	SHRQ(Imm(4), p["n"])
	Label("block")
	for _, from := range t.Steps() {
		d := t.deviation(Mem{Base: p["x"], Disp: from}, c)
		dy := Mem{Base: p["dy"], Disp: from}
		g := t.gradient(mask, dy, Mem{Base: p["y"], Disp: from}, d, zero, c)
		if mask == "Cut" {
			VMOVUPS(g, dy)
		}
		gs, ds := t.Widen(g), t.Widen(d)
		for h := range gs {
			sums := Mem{Base: p["sums"], Disp: 2*from + h*t.Bytes()}
			VMULPD(gs[h], ds[h], ds[h]) // exact
			if t.Wide {
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
		ADDQ(Imm(asm.Block), p[arg])
	}
	DECQ(p["n"])
	JNZ(LabelRef("block"))
	for i, sum := range acc {
		VMOVUPS(sum, Mem{Base: p["sums"], Disp: 64 * i})
	}
	asm.End()
}

// runGradientInput is dx = ((g − k1) − d·k2)·k3; the last block of each row keeps only the lanes of mask.
func (t images) runGradientInput(mask string) {
	name := "runGradientInput" + mask + t.Suffix
	asm.Begin(name, "func(rows, n int, dy, x, dx *float32, hi, lo, scale, shift, k1, k2, k3 float32, mask *uint32)", "is runGradientInputGeneric.")
	p := asm.Pointers("rows", "n", "dy", "x", "dx", "mask")
	c, zero := t.Broadcasts("hi", "lo", "scale", "shift", "k1", "k2", "k3"), t.Zero()
	block := func(masked bool) {
		for _, from := range t.Steps() {
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
			ADDQ(Imm(asm.Block), p[arg])
		}
	}
	blocks(p["rows"], p["n"], block)
	asm.End()
}

// window walks the taps of a pooling window for the lanes at byte offset i and leaves the largest value and the number
// of the first tap that has it; a NaN is larger than all, the last one counts (as PyTorch).
func (t images) window(p map[string]reg.Register, i reg.Register) (best, index reg.VecVirtual) {
	best, index = t.Vector(), t.Zero()
	t.taps("window", p, "x", i, func(at Mem) { VMOVUPS(at, best) }, func(at Mem, tap reg.VecVirtual) {
		t.larger(t.Load(at), tap, best, index)
	})
	return best, index
}

// taps walks the taps of a window over the named array: first gets the window's first tap, each every one and its number.
func (t images) taps(name string, p map[string]reg.Register, array string, i reg.Register,
	first func(at Mem), each func(at Mem, tap reg.VecVirtual)) {
	tap, one := t.Zero(), t.Vector()
	const allOnes = 0xff
	if t.Wide {
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
func (t images) larger(v, tap, best, index reg.VecVirtual) {
	const greater, unordered = 0x1e, 0x03
	if t.Wide {
		k, nan := K(), K()
		VCMPPS(Imm(greater), best, v, k)
		VCMPPS(Imm(unordered), v, v, nan)
		KORW(k, nan, k)
		VMOVAPS(v, k, best)
		VMOVDQA32(tap, k, index)
		return
	}
	k, nan := t.Vector(), t.Vector()
	VCMPPS(Imm(greater), best, v, k)
	VCMPPS(Imm(unordered), v, v, nan)
	VORPS(k, nan, k)
	VBLENDVPS(k, v, best, best)
	VBLENDVPS(k, tap, index, index)
}

// maxWindow is the forward pass of one output pixel, all lanes.
func (t images) maxWindow() {
	name := "maxWindow" + t.Suffix
	asm.Begin(name, "func(n, h, w, across, down int, x, y *float32)", "is maxWindowGeneric.")
	p := asm.Pointers("h", "w", "across", "down", "x", "y")
	SHLQ(Imm(2), p["across"])
	SHLQ(Imm(2), p["down"])
	t.Elements(func(i reg.Register) {
		best, _ := t.window(p, i)
		VMOVUPS(best, asm.At(p["y"], i))
	})
}

// maxWindowGradient adds dy to the tap that maxWindow chose.
func (t images) maxWindowGradient() {
	name := "maxWindowGradient" + t.Suffix
	asm.Begin(name, "func(n, h, w, across, down int, x, dy, dx *float32)", "is maxWindowGradientGeneric.")
	p := asm.Pointers("h", "w", "across", "down", "x", "dy", "dx")
	SHLQ(Imm(2), p["across"])
	SHLQ(Imm(2), p["down"])
	t.Elements(func(i reg.Register) {
		_, index := t.window(p, i)
		g := t.Load(asm.At(p["dy"], i))
		t.taps("scatter", p, "dx", i, func(Mem) {}, func(at Mem, tap reg.VecVirtual) {
			sum := t.Load(at)
			if t.Wide {
				k := K()
				VPCMPEQD(tap, index, k)
				VADDPS(g, sum, k, sum)
			} else {
				k := t.Vector()
				VPCMPEQD(tap, index, k)
				VANDPS(g, k, k)
				VADDPS(k, sum, sum)
			}
			VMOVUPS(sum, at)
		})
	})
}

func (t images) write() {
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
}
