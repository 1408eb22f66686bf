package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"collapse.example/collapse/internal/kernel/asm"
)

// sigmoidTables writes each constant of sigmoidGeneric 16 times, a vector to load as an operand,
// and returns them by name.
func sigmoidTables() map[string]Mem {
	constants := []struct {
		name string
		bits uint32
	}{
		{"lowest", math.Float32bits(-104)},
		{"log2e", math.Float32bits(1.44269504088896)},
		{"round", math.Float32bits(12582912)}, // its bits are subtracted as integers too
		{"ln2hi", math.Float32bits(0.693359375)},
		{"ln2lo", math.Float32bits(-2.12194440e-4)},
		{"c2", math.Float32bits(5.0000001201e-1)},
		{"c3", math.Float32bits(1.6666665459e-1)},
		{"c4", math.Float32bits(4.1665795894e-2)},
		{"c5", math.Float32bits(8.3334519073e-3)},
		{"c6", math.Float32bits(1.3981999507e-3)},
		{"c7", math.Float32bits(1.9875691500e-4)},
		{"one", math.Float32bits(1)},
		{"bias", 127}, // of float32 exponents
	}
	base, at := GLOBL("sigmoidConstants", RODATA|NOPTR), map[string]Mem{}
	for i, c := range constants {
		for lane := range 16 {
			DATA(64*i+4*lane, U32(c.bits))
		}
		at[c.name] = base.Offset(64 * i)
	}
	return at
}

func (t target) sigmoid(c map[string]Mem) {
	asm.Begin("sigmoid"+t.Suffix, "func(n int, x *float32)", "is sigmoidGeneric.")
	x, zero := Load(Param("x"), GP64()), t.Zero()
	lowest, round, one := t.Load(c["lowest"]), t.Load(c["round"]), t.Load(c["one"])
	t.Elements(func(i reg.Register) {
		v, u := t.Load(asm.At(x, i)), t.Vector()
		// The second source of MINPS and MAXPS is the result when either is NaN.
		VSUBPS(v, zero, u)
		VMINPS(v, u, u)
		VMAXPS(u, lowest, u)
		shifted, n := t.Vector(), t.Vector()
		VMULPS(c["log2e"], u, shifted)
		VADDPS(round, shifted, shifted)
		VSUBPS(round, shifted, n)
		product := t.Vector()
		VMULPS(c["ln2hi"], n, product)
		VSUBPS(product, u, u)
		VMULPS(c["ln2lo"], n, product)
		VSUBPS(product, u, u) // u is r now
		p := t.Vector()
		VMULPS(c["c7"], u, p)
		for _, name := range []string{"c6", "c5", "c4", "c3"} {
			VADDPS(c[name], p, p)
			VMULPS(u, p, p)
		}
		VADDPS(c["c2"], p, p)
		VMULPS(u, u, product)
		VMULPS(product, p, p)
		VADDPS(u, p, p)
		VADDPS(one, p, p)
		half := t.Vector()
		VPSUBD(round, shifted, shifted) // the integer n
		VPSRAD(Imm(1), shifted, half)
		VPSUBD(half, shifted, shifted)
		for _, exponent := range []reg.VecVirtual{half, shifted} {
			VPADDD(c["bias"], exponent, exponent)
			VPSLLD(Imm(23), exponent, exponent)
			VMULPS(exponent, p, p)
		}
		numerator, denominator := t.where(v, zero, p, one), t.Vector()
		VADDPS(one, p, denominator)
		VDIVPS(denominator, numerator, numerator)
		VMOVUPS(numerator, asm.At(x, i))
	})
}

// where returns yes where v < zero and no elsewhere.
func (t target) where(v, zero, yes, no reg.VecVirtual) reg.VecVirtual {
	const lessThan = 0x11 // false if unordered, quiet
	out := t.Vector()
	if t.Wide {
		k := K()
		VCMPPS(Imm(lessThan), zero, v, k)
		VBLENDMPS(yes, no, k, out)
	} else {
		mask := t.Vector()
		VCMPPS(Imm(lessThan), zero, v, mask)
		VBLENDVPS(mask, yes, no, out)
	}
	return out
}

func (t target) sigmoidGradient(c map[string]Mem) {
	asm.Begin("sigmoidGradient"+t.Suffix, "func(n int, y, dy *float32)", "is sigmoidGradientGeneric.")
	y, dy := Load(Param("y"), GP64()), Load(Param("dy"), GP64())
	one := t.Load(c["one"])
	t.Elements(func(i reg.Register) {
		v, rest := t.Load(asm.At(y, i)), t.Vector()
		g := t.Vector()
		VMULPS(asm.At(dy, i), v, g)
		VSUBPS(v, one, rest)
		VMULPS(rest, g, g)
		VMOVUPS(g, asm.At(dy, i))
	})
}
