// Command asm writes the assembly of the convolutions for amd64: tiles of products, copies and
// transpositions that arrange operands, the transforms of Winograd's algorithm, and loops over images. The go:generate
// line in conv_amd64.go runs it; generic.go, winograd_generic.go, norm2d_loops.go and pool2d.go hold the
// generic versions that define every function.
package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"collapse.example/collapse/internal/kernel/asm"
)

// target is an instruction set and an element type.
type target struct {
	set    string
	double bool
	width  int // bytes of a vector
	rows   int // of the largest tile; it has two vectors of columns
}

// AVX-512 has 32 registers: 24 sums, 2 vectors of columns, factors of rows broadcast by the instruction
// itself. AVX2 has 16: 12 sums, 2 vectors of columns, one broadcast factor.
var targets = []target{
	{"AVX512", false, 64, 12}, {"AVX512", true, 64, 12},
	{"AVX2", false, 32, 6}, {"AVX2", true, 32, 6},
}

func main() {
	Package("collapse.example/collapse/internal/kernel/conv")
	for _, t := range targets {
		for rows := 1; rows <= t.rows; rows++ {
			for vectors := 1; vectors <= 2; vectors++ {
				t.tile(rows, vectors)
			}
		}
		for vectors := 1; vectors <= 2; vectors++ {
			t.copyVectors(vectors)
		}
		if !t.double {
			t.transpose()
		}
		t.transforms()
	}
	for _, set := range asm.Targets {
		images{set}.write()
	}
	TEXT("convFence", NOSPLIT, "func()")
	Doc("convFence waits until what went past the caches is there for other threads.")
	SFENCE()
	RET()
	Generate()
}

// name appends the target to a function's name.
func (t target) name(base string) string {
	if t.double {
		return base + t.set + "F64"
	}
	return base + t.set + "F32"
}

// size is the bytes of an element.
func (t target) size() int {
	if t.double {
		return 8
	}
	return 4
}

func (t target) vector() reg.VecVirtual {
	if t.width == 64 {
		return ZMM()
	}
	return YMM()
}

// op writes an instruction for the element type.
func (t target) op(single, double func(...Op), operands ...Op) {
	if t.double {
		double(operands...)
	} else {
		single(operands...)
	}
}

func (t target) zero(v Op) { VXORPS(v, v, v) }

func (t target) move(from, to Op) { t.op(VMOVUPS, VMOVUPD, from, to) }

// stream stores a line past the caches.
func (t target) stream(from, to Op) {
	if t.double {
		VMOVNTPD(from, to)
	} else {
		VMOVNTPS(from, to)
	}
}

func (t target) broadcast(from, to Op) { t.op(VBROADCASTSS, VBROADCASTSD, from, to) }

// add sets to = y + x.
func (t target) add(x, y, to Op) { t.op(VADDPS, VADDPD, x, y, to) }

// sub sets to = y − x.
func (t target) sub(x, y, to Op) { t.op(VSUBPS, VSUBPD, x, y, to) }

func (t target) mul(x, y, to Op) { t.op(VMULPS, VMULPD, x, y, to) }

// relu sets v = max(v, 0) and keeps NaN: of two operands of which one is NaN, the instruction takes
// the one named first here.
func (t target) relu(v, zero Op) { t.op(VMAXPS, VMAXPD, v, zero, v) }

// fma sets sum += x·y.
func (t target) fma(x, y, sum Op) { t.op(VFMADD231PS, VFMADD231PD, x, y, sum) }

// fmaBroadcast sets sum += x·y with x one element in memory.
func (t target) fmaBroadcast(x Mem, y, sum Op) { t.op(VFMADD231PS_BCST, VFMADD231PD_BCST, x, y, sum) }

// function starts a function of one argument, a pointer to a struct, and returns the pointer.
func (t target) function(name, goType, doc string) reg.Register {
	TEXT(name, NOSPLIT, "func(a *"+goType+")")
	Pragma("noescape")
	Doc(name + " " + doc)
	return Load(Param("a"), GP64())
}

// field loads field i of the struct at args: every field is 8 bytes.
func field(args reg.Register, i int) reg.Register {
	r := GP64()
	MOVQ(Mem{Base: args, Disp: 8 * i}, r)
	return r
}

// fmaConstant sets sum += x·y with x in read-only memory.
func (t target) fmaConstant(x float64, y, sum Op) {
	if t.width == 64 {
		t.fmaBroadcast(t.constant(x), y, sum)
		return
	}
	v := t.vector()
	t.broadcast(t.constant(x), v)
	t.fma(v, y, sum)
}

// mulConstant sets to = x·y with x in read-only memory.
func (t target) mulConstant(x float64, y, to Op) {
	v := t.vector()
	t.broadcast(t.constant(x), v)
	t.mul(v, y, to)
}

var constants = map[string]Mem{}

// constant returns the place of x in read-only memory.
func (t target) constant(x float64) Mem {
	key := fmt.Sprintf("conv%d_%x", 8*t.size(), math.Float64bits(x))
	if m, ok := constants[key]; ok {
		return m
	}
	m := GLOBL(key, RODATA|NOPTR)
	if t.double {
		DATA(0, F64(x))
	} else {
		DATA(0, F32(float32(x)))
	}
	constants[key] = m
	return m
}
