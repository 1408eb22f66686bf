// Package asm holds what the generators of assembly for amd64 share: instruction sets, vectors of 16 float32 or
// twice as many float64, and loops over them. Each package of kernels has its generator in its own folder asm;
// go generate runs them, and running them again changes nothing.
package asm

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Target is an instruction set: ZMM registers or YMM.
type Target struct {
	Suffix string // of the names of functions
	Wide   bool   // ZMM
}

// Targets are the instruction sets of amd64.
var Targets = []Target{{"AVX512", true}, {"AVX2", false}}

// Begin starts a function; doc goes on from its name. Pointers that it gets do not escape, so that its caller may keep sums on the stack.
func Begin(name, signature, doc string) {
	TEXT(name, attr.NOSPLIT, signature)
	Pragma("noescape")
	Doc(name + " " + doc)
}

// End returns.
func End() {
	VZEROUPPER()
	RET()
}

// Variant names a variant of a function.
func Variant(name string, flag bool, with string) string {
	if flag {
		return name + with
	}
	return name
}

// Bytes is the size of a vector, and of half as many float64.
func (t Target) Bytes() int {
	if t.Wide {
		return 64
	}
	return 32
}

// Vector returns a new register.
func (t Target) Vector() reg.VecVirtual {
	if t.Wide {
		return ZMM()
	}
	return YMM()
}

// Half names the register of half the size that holds the low half of v.
func (t Target) Half(v reg.VecVirtual) reg.Register {
	if t.Wide {
		return v.AsY()
	}
	return v.AsX()
}

// Zero returns a vector of zeros.
func (t Target) Zero() reg.VecVirtual {
	z := t.Vector()
	if t.Wide {
		VPXORD(z, z, z)
	} else {
		VXORPS(z, z, z)
	}
	return z
}

// Load returns the vector at m.
func (t Target) Load(m Op) reg.VecVirtual {
	v := t.Vector()
	VMOVUPS(m, v)
	return v
}

// Block is the bytes of 16 float32, one ZMM or two YMM registers.
const Block = 64

// Steps returns the byte offsets of the vectors of a block.
func (t Target) Steps() []int {
	if t.Wide {
		return []int{0}
	}
	return []int{0, 32}
}

// At is the vector of float32 whose byte offset from p is i.
func At(p, i reg.Register) Mem { return Mem{Base: p, Index: i, Scale: 1} }

// Pointers loads the named arguments into general registers.
func Pointers(names ...string) map[string]reg.Register {
	all := map[string]reg.Register{}
	for _, name := range names {
		all[name] = Load(Param(name), GP64())
	}
	return all
}

// Elements walks the n elements of a function's argument n; body handles one vector of float32 at byte offset i. It ends the function.
func (t Target) Elements(body func(i reg.Register)) {
	n := Load(Param("n"), GP64())
	SHLQ(Imm(2), n)
	i := GP64()
	XORQ(i, i)
	Label("element")
	body(i)
	ADDQ(Imm(uint64(t.Bytes())), i)
	CMPQ(i, n)
	JLT(LabelRef("element"))
	End()
}

// Broadcast fills a vector with a float32 argument.
func (t Target) Broadcast(arg string) reg.VecVirtual {
	address, err := Param(arg).Resolve()
	if err != nil {
		panic(err)
	}
	v := t.Vector()
	VBROADCASTSS(address.Addr, v)
	return v
}

// Broadcasts fills a vector with each of the named arguments.
func (t Target) Broadcasts(names ...string) map[string]reg.VecVirtual {
	all := map[string]reg.VecVirtual{}
	for _, name := range names {
		all[name] = t.Broadcast(name)
	}
	return all
}

// Widen returns v as two vectors of float64.
func (t Target) Widen(v reg.VecVirtual) [2]reg.VecVirtual {
	w, high := [2]reg.VecVirtual{t.Vector(), t.Vector()}, t.Vector()
	VCVTPS2PD(t.Half(v), w[0])
	if t.Wide {
		VEXTRACTF64X4(Imm(1), v, t.Half(high))
	} else {
		VEXTRACTF128(Imm(1), v, t.Half(high))
	}
	VCVTPS2PD(t.Half(high), w[1])
	return w
}

// Passed returns dy where y is above zero or NaN, and 0 elsewhere: the gradient behind a ReLU whose output is y.
func (t Target) Passed(dy, y Mem, zero reg.VecVirtual) reg.VecVirtual {
	const notLessOrEqual = 0x16 // true if unordered, quiet
	g, out := t.Vector(), t.Load(y)
	if t.Wide {
		k := K()
		VCMPPS(Imm(notLessOrEqual), zero, out, k)
		VMOVUPS_Z(dy, k, g)
	} else {
		VCMPPS(Imm(notLessOrEqual), zero, out, out)
		VANDPS(dy, out, g)
	}
	return g
}
