// Command elementwise generates the SIMD loops of batch norm, activations, SGD and Adam for amd64; see
// the go:generate line in passes_amd64.go. columns.go, batchnorm_loops.go, pointwise.go,
// sgd.go and adam.go of package kernel hold the generic versions that define them.
//
// Every function wants a whole number of vectors (columns or elements) and at least one. It
// rounds after every operation exactly as the generic version does; the only fused multiply-add
// adds a product that is exact in float64.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// target is an instruction set: 16 float32 lanes in ZMM registers or 8 in YMM.
type target struct {
	suffix string
	wide   bool
}

func main() {
	tables := sigmoidTables()
	for _, t := range []target{{"AVX512", true}, {"AVX2", false}} {
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
		t.images()
		for _, nesterov := range []bool{false, true} {
			t.sgd(nesterov)
		}
		t.adam()
	}
	Generate()
}

// begin starts a function; doc goes on from its name.
func begin(name, signature, doc string) {
	TEXT(name, NOSPLIT, signature)
	Doc(name + " " + doc)
}

// end returns.
func end() {
	VZEROUPPER()
	RET()
}

// bytes is the size of a vector, and of half as many float64.
func (t target) bytes() int {
	if t.wide {
		return 64
	}
	return 32
}

func (t target) vector() reg.VecVirtual {
	if t.wide {
		return ZMM()
	}
	return YMM()
}

// half names the register of half the size that holds the low half of v.
func (t target) half(v reg.VecVirtual) reg.Register {
	if t.wide {
		return v.AsY()
	}
	return v.AsX()
}

// zero returns a vector of zeros.
func (t target) zero() reg.VecVirtual {
	z := t.vector()
	if t.wide {
		VPXORD(z, z, z)
	} else {
		VXORPS(z, z, z)
	}
	return z
}

// load returns the vector at m.
func (t target) load(m Op) reg.VecVirtual {
	v := t.vector()
	VMOVUPS(m, v)
	return v
}

// variant names a variant of a function.
func variant(name string, flag bool, with string) string {
	if flag {
		return name + with
	}
	return name
}

// at is the vector of float32 whose byte offset from p is i.
func at(p, i reg.Register) Mem { return Mem{Base: p, Index: i, Scale: 1} }

// at64 is a half (0 or 1) of the float64 that belong to the float32 at byte offset i.
func (t target) at64(p, i reg.Register, half int) Mem {
	return Mem{Base: p, Index: i, Scale: 2, Disp: half * t.bytes()}
}

// widenMem returns the vector of float32 at m as two vectors of float64.
func (t target) widenMem(m Mem) [2]reg.VecVirtual {
	w := [2]reg.VecVirtual{t.vector(), t.vector()}
	VCVTPS2PD(m, w[0])
	VCVTPS2PD(m.Offset(t.bytes()/2), w[1])
	return w
}

// widen returns v as two vectors of float64.
func (t target) widen(v reg.VecVirtual) [2]reg.VecVirtual {
	w, high := [2]reg.VecVirtual{t.vector(), t.vector()}, t.vector()
	VCVTPS2PD(t.half(v), w[0])
	if t.wide {
		VEXTRACTF64X4(Imm(1), v, t.half(high))
	} else {
		VEXTRACTF128(Imm(1), v, t.half(high))
	}
	VCVTPS2PD(t.half(high), w[1])
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
	begin(name+t.suffix, signature+")", "is "+doc+".")
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
	ADDQ(Imm(uint64(t.bytes())), i)
	CMPQ(i, cols)
	JLT(LabelRef("column"))
	for _, arg := range matrices {
		ADDQ(ld, p[arg])
	}
	DECQ(rows)
	JNZ(LabelRef("row"))
	end()
}

func (t target) addRows() {
	t.columns("addRows", "addRowsGeneric", []string{"x"}, nil, []string{"acc"},
		func(p map[string]reg.Register, i reg.Register) {
			t.accumulate(t.widenMem(at(p["x"], i)), p["acc"], i)
		})
}

func (t target) addSquares() {
	t.columns("addSquares", "addSquaresGeneric", []string{"x"}, nil, []string{"mean", "acc"},
		func(p map[string]reg.Register, i reg.Register) {
			d := t.widenMem(at(p["x"], i))
			for h := range d {
				VSUBPD(t.at64(p["mean"], i, h), d[h], d[h])
				VMULPD(d[h], d[h], d[h])
			}
			t.accumulate(d, p["acc"], i)
		})
}

// centred returns (x − hi) − lo.
func (t target) centred(p map[string]reg.Register, i reg.Register) reg.VecVirtual {
	c := t.load(at(p["x"], i))
	VSUBPS(at(p["hi"], i), c, c)
	VSUBPS(at(p["lo"], i), c, c)
	return c
}

// passed returns dy, with 0 where relu is set and y ≤ 0. A NaN in y lets dy pass.
func (t target) passed(relu bool, dy, y Mem, zero reg.VecVirtual) reg.VecVirtual {
	if !relu {
		return t.load(dy)
	}
	const notLessOrEqual = 0x16 // true if unordered, quiet
	g, out := t.vector(), t.load(y)
	if t.wide {
		k := K()
		VCMPPS(Imm(notLessOrEqual), zero, out, k)
		VMOVUPS_Z(dy, k, g)
	} else {
		VCMPPS(Imm(notLessOrEqual), zero, out, out)
		VANDPS(dy, out, g)
	}
	return g
}

func (t target) normalise(relu bool) {
	t.columns(variant("normalise", relu, "ReLU"), "normaliseGeneric", []string{"x", "y"}, []string{"hi", "lo", "scale", "shift"}, nil,
		func(p map[string]reg.Register, i reg.Register) {
			v := t.centred(p, i)
			VMULPS(at(p["scale"], i), v, v)
			VADDPS(at(p["shift"], i), v, v)
			if relu {
				// The second source of MAXPS is the result when either is NaN or both are 0.
				VMAXPS(v, t.zero(), v)
			}
			VMOVUPS(v, at(p["y"], i))
		})
}

func (t target) gradientSums(relu bool) {
	matrices := []string{"dy", "y", "x"}
	t.columns(variant("gradientSums", relu, "ReLU"), "gradientSumsGeneric", matrices, []string{"hi", "lo"}, []string{"sum", "dot"},
		func(p map[string]reg.Register, i reg.Register) {
			c := t.widen(t.centred(p, i))
			g := t.widen(t.passed(relu, at(p["dy"], i), at(p["y"], i), t.zero()))
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
	t.columns(variant("gradientInput", relu, "ReLU"), "gradientInputGeneric", matrices, vectors, nil,
		func(p map[string]reg.Register, i reg.Register) {
			c := t.centred(p, i)
			VMULPS(at(p["k2"], i), c, c)
			g := t.passed(relu, at(p["dy"], i), at(p["y"], i), t.zero())
			VSUBPS(at(p["k1"], i), g, g)
			VSUBPS(c, g, g)
			VMULPS(at(p["k3"], i), g, g)
			VMOVUPS(g, at(p["dy"], i))
		})
}

// elements walks n elements; body handles one vector at byte offset i.
func (t target) elements(body func(i reg.Register)) {
	n := Load(Param("n"), GP64())
	SHLQ(Imm(2), n)
	i := GP64()
	XORQ(i, i)
	Label("element")
	body(i)
	ADDQ(Imm(uint64(t.bytes())), i)
	CMPQ(i, n)
	JLT(LabelRef("element"))
	end()
}

func (t target) relu() {
	begin("relu"+t.suffix, "func(n int, x *float32)", "is reluGeneric.")
	x, zero := Load(Param("x"), GP64()), t.zero()
	t.elements(func(i reg.Register) {
		v := t.load(at(x, i))
		VMAXPS(v, zero, v)
		VMOVUPS(v, at(x, i))
	})
}

func (t target) reluGradient() {
	begin("reluGradient"+t.suffix, "func(n int, y, dy *float32)", "is reluGradientGeneric.")
	y, dy, zero := Load(Param("y"), GP64()), Load(Param("dy"), GP64()), t.zero()
	t.elements(func(i reg.Register) {
		VMOVUPS(t.passed(true, at(dy, i), at(y, i), zero), at(dy, i))
	})
}

func (t target) sgd(nesterov bool) {
	name := variant("sgd", nesterov, "Nesterov") + t.suffix
	begin(name, "func(n int, p, grad, v *float32, rate, momentum, decay float32)", "is sgdGeneric.")
	p, g, v := Load(Param("p"), GP64()), Load(Param("grad"), GP64()), Load(Param("v"), GP64())
	rate, momentum, decay := t.broadcast("rate"), t.broadcast("momentum"), t.broadcast("decay")
	t.elements(func(i reg.Register) {
		value, d, m := t.load(at(p, i)), t.vector(), t.vector()
		VMULPS(decay, value, d)
		VADDPS(at(g, i), d, d)
		VMULPS(at(v, i), momentum, m)
		VADDPS(d, m, m)
		VMOVUPS(m, at(v, i))
		if nesterov {
			VMULPS(momentum, m, m)
			VADDPS(d, m, m)
		}
		VMULPS(rate, m, m)
		VSUBPS(m, value, value)
		VMOVUPS(value, at(p, i))
	})
}

// broadcast fills a vector with a float32 argument.
func (t target) broadcast(arg string) reg.VecVirtual {
	address, err := Param(arg).Resolve()
	if err != nil {
		panic(err)
	}
	v := t.vector()
	VBROADCASTSS(address.Addr, v)
	return v
}
