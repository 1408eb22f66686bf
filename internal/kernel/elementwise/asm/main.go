// Command asm generates the SIMD loops of batch norm, activations, SGD and Adam for amd64; see
// the go:generate line in elementwise_amd64.go. columns.go, batchnorm_loops.go, pointwise.go,
// sgd.go and adam.go hold the generic versions that define them.
//
// Every function wants a whole number of vectors (columns or elements) and at least one. It
// rounds after every operation exactly as the generic version does; the only fused multiply-add
// adds a product that is exact in float64.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"collapse.example/collapse/internal/kernel/asm"
)

// target is an instruction set: 16 float32 lanes in ZMM registers or 8 in YMM.
type target struct{ asm.Target }

func main() {
	tables := sigmoidTables()
	for _, set := range asm.Targets {
		t := target{set}
		t.addRows()
		t.addSquares()
		for _, relu := range []bool{false, true} {
			t.normalise(relu)
			t.gradientSums(relu)
			t.gradientInput(relu)
		}
		t.relu()
		t.reluGradient()
		t.sigmoid(tables)
		t.sigmoidGradient(tables)
		for _, nesterov := range []bool{false, true} {
			t.sgd(nesterov)
		}
		t.adam()
	}
	Generate()
}

// at64 is a half (0 or 1) of the float64 that belong to the float32 at byte offset i.
func (t target) at64(p, i reg.Register, half int) Mem {
	return Mem{Base: p, Index: i, Scale: 2, Disp: half * t.Bytes()}
}

// widenMem returns the vector of float32 at m as two vectors of float64.
func (t target) widenMem(m Mem) [2]reg.VecVirtual {
	w := [2]reg.VecVirtual{t.Vector(), t.Vector()}
	VCVTPS2PD(m, w[0])
	VCVTPS2PD(m.Offset(t.Bytes()/2), w[1])
	return w
}

// accumulate adds w to the float64 at p.
func (t target) accumulate(w [2]reg.VecVirtual, p, i reg.Register) {
	for h := range w {
		VADDPD(t.at64(p, i, h), w[h], w[h])
		VMOVUPD(w[h], t.at64(p, i, h))
	}
}

// columns begins the function name(rows, cols, ld int, matrices, vectors *float32, sums
// *float64), whose body handles one vector of columns of one row at byte offset i, walks all
// rows, and ends it. The arguments' names are given; p maps them to pointers, those of matrices
// at the current row.
func (t target) columns(name, doc string, matrices, vectors, sums []string, body func(p map[string]reg.Register, i reg.Register)) {
	signature := "func(rows, cols, ld int"
	for _, arg := range append(append([]string{}, matrices...), vectors...) {
		signature += ", " + arg + " *float32"
	}
	for _, arg := range sums {
		signature += ", " + arg + " *float64"
	}
	asm.Begin(name+t.Suffix, signature+")", "is "+doc+".")
	rows, cols, ld := Load(Param("rows"), GP64()), Load(Param("cols"), GP64()), Load(Param("ld"), GP64())
	SHLQ(Imm(2), cols)
	SHLQ(Imm(2), ld)
	p := map[string]reg.Register{}
	for _, args := range [][]string{matrices, vectors, sums} {
		for _, arg := range args {
			p[arg] = Load(Param(arg), GP64())
		}
	}
	i := GP64()
	Label("row")
	XORQ(i, i)
	Label("column")
	body(p, i)
	ADDQ(Imm(uint64(t.Bytes())), i)
	CMPQ(i, cols)
	JLT(LabelRef("column"))
	for _, arg := range matrices {
		ADDQ(ld, p[arg])
	}
	DECQ(rows)
	JNZ(LabelRef("row"))
	asm.End()
}

func (t target) addRows() {
	t.columns("addRows", "addRowsGeneric", []string{"x"}, nil, []string{"acc"},
		func(p map[string]reg.Register, i reg.Register) {
			t.accumulate(t.widenMem(asm.At(p["x"], i)), p["acc"], i)
		})
}

func (t target) addSquares() {
	t.columns("addSquares", "addSquaresGeneric", []string{"x"}, nil, []string{"mean", "acc"},
		func(p map[string]reg.Register, i reg.Register) {
			d := t.widenMem(asm.At(p["x"], i))
			for h := range d {
				VSUBPD(t.at64(p["mean"], i, h), d[h], d[h])
				VMULPD(d[h], d[h], d[h])
			}
			t.accumulate(d, p["acc"], i)
		})
}

// centred returns (x − hi) − lo.
func (t target) centred(p map[string]reg.Register, i reg.Register) reg.VecVirtual {
	c := t.Load(asm.At(p["x"], i))
	VSUBPS(asm.At(p["hi"], i), c, c)
	VSUBPS(asm.At(p["lo"], i), c, c)
	return c
}

func (t target) normalise(relu bool) {
	t.columns(asm.Variant("normalise", relu, "ReLU"), "normaliseGeneric", []string{"x", "y"}, []string{"hi", "lo", "scale", "shift"}, nil,
		func(p map[string]reg.Register, i reg.Register) {
			v := t.centred(p, i)
			VMULPS(asm.At(p["scale"], i), v, v)
			VADDPS(asm.At(p["shift"], i), v, v)
			if relu {
				// The second source of MAXPS is the result when either is NaN or both are 0.
				VMAXPS(v, t.Zero(), v)
			}
			VMOVUPS(v, asm.At(p["y"], i))
		})
}

func (t target) gradientSums(relu bool) {
	matrices := []string{"dy", "y", "x"}
	t.columns(asm.Variant("gradientSums", relu, "ReLU"), "gradientSumsGeneric", matrices, []string{"hi", "lo"}, []string{"sum", "dot"},
		func(p map[string]reg.Register, i reg.Register) {
			c := t.Widen(t.centred(p, i))
			g := t.Widen(t.passed(relu, asm.At(p["dy"], i), asm.At(p["y"], i), t.Zero()))
			for h := range c {
				// Exact: both factors have 24 bits.
				VMULPD(g[h], c[h], c[h])
			}
			t.accumulate(c, p["dot"], i)
			t.accumulate(g, p["sum"], i)
		})
}

func (t target) gradientInput(relu bool) {
	matrices, vectors := []string{"dy", "y", "x"}, []string{"hi", "lo", "k1", "k2", "k3"}
	t.columns(asm.Variant("gradientInput", relu, "ReLU"), "gradientInputGeneric", matrices, vectors, nil,
		func(p map[string]reg.Register, i reg.Register) {
			c := t.centred(p, i)
			VMULPS(asm.At(p["k2"], i), c, c)
			g := t.passed(relu, asm.At(p["dy"], i), asm.At(p["y"], i), t.Zero())
			VSUBPS(asm.At(p["k1"], i), g, g)
			VSUBPS(c, g, g)
			VMULPS(asm.At(p["k3"], i), g, g)
			VMOVUPS(g, asm.At(p["dy"], i))
		})
}

func (t target) relu() {
	asm.Begin("relu"+t.Suffix, "func(n int, x *float32)", "is reluGeneric.")
	x, zero := Load(Param("x"), GP64()), t.Zero()
	t.Elements(func(i reg.Register) {
		v := t.Load(asm.At(x, i))
		VMAXPS(v, zero, v)
		VMOVUPS(v, asm.At(x, i))
	})
}

func (t target) reluGradient() {
	asm.Begin("reluGradient"+t.Suffix, "func(n int, y, dy *float32)", "is reluGradientGeneric.")
	y, dy, zero := Load(Param("y"), GP64()), Load(Param("dy"), GP64()), t.Zero()
	t.Elements(func(i reg.Register) {
		VMOVUPS(t.passed(true, asm.At(dy, i), asm.At(y, i), zero), asm.At(dy, i))
	})
}

func (t target) sgd(nesterov bool) {
	name := asm.Variant("sgd", nesterov, "Nesterov") + t.Suffix
	asm.Begin(name, "func(n int, p, grad, v *float32, rate, momentum, decay float32)", "is sgdGeneric.")
	p, g, v := Load(Param("p"), GP64()), Load(Param("grad"), GP64()), Load(Param("v"), GP64())
	rate, momentum, decay := t.Broadcast("rate"), t.Broadcast("momentum"), t.Broadcast("decay")
	t.Elements(func(i reg.Register) {
		value, d, m := t.Load(asm.At(p, i)), t.Vector(), t.Vector()
		VMULPS(decay, value, d)
		VADDPS(asm.At(g, i), d, d)
		VMULPS(asm.At(v, i), momentum, m)
		VADDPS(d, m, m)
		VMOVUPS(m, asm.At(v, i))
		if nesterov {
			VMULPS(momentum, m, m)
			VADDPS(d, m, m)
		}
		VMULPS(rate, m, m)
		VSUBPS(m, value, value)
		VMOVUPS(value, asm.At(p, i))
	})
}

// passed returns dy, with 0 where relu is set and y ≤ 0. A NaN in y lets dy pass.
func (t target) passed(relu bool, dy, y Mem, zero reg.VecVirtual) reg.VecVirtual {
	if !relu {
		return t.Load(dy)
	}
	return t.Passed(dy, y, zero)
}
