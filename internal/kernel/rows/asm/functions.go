package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// constants writes float64 numbers, each to be broadcast to a vector.
type constants struct {
	base Mem
	size int
}

func newConstants(name string) *constants { return &constants{base: GLOBL(name, RODATA|NOPTR)} }

func (c *constants) of(x float64) reg.VecVirtual {
	v := ZMM()
	DATA(c.size, U64(math.Float64bits(x)))
	VBROADCASTSD(c.base.Offset(c.size), v)
	c.size += 8
	return v
}

// function begins a loop over vectors of float64 from x to dst.
func (t target) function(body func(x reg.VecVirtual) reg.VecVirtual) {
	dst, x, n := Load(Param("dst"), GP64()), Load(Param("x"), GP64()), Load(Param("n"), GP64())
	i := GP64()
	XORQ(i, i)
	Label("loop")
	v := ZMM()
	VMOVUPD(t.at64(x, i, 0), v)
	VMOVUPD(body(v), t.at64(dst, i, 0))
	ADDQ(Imm(uint64(t.lanes)), i)
	CMPQ(i, n)
	JLT(LabelRef("loop"))
	end()
}

// horner evaluates a polynomial whose coefficients are given from the highest power down.
func horner(x reg.VecVirtual, coefficients ...reg.VecVirtual) reg.VecVirtual {
	p := ZMM()
	VMOVAPD(coefficients[0], p)
	for _, c := range coefficients[1:] {
		VMULPD(x, p, p)
		VADDPD(c, p, p)
	}
	return p
}

func (t target) logs() {
	begin("logs"+t.suffix, "func(n int, dst, x *float64)", "is logGeneric of n elements, a positive multiple of 8.")
	c := newConstants("logConstants")
	one, two, half, root, high, low := c.of(1), c.of(2), c.of(.5), c.of(math.Sqrt2), c.of(6.93147180369123816490e-01), c.of(1.90821492927058770002e-10)
	odd := []reg.VecVirtual{c.of(1.479819860511658591e-01), c.of(1.818357216161805012e-01), c.of(2.857142874366239149e-01), c.of(6.666666666666735130e-01)}
	even := []reg.VecVirtual{c.of(1.531383769920937332e-01), c.of(2.222219843214978396e-01), c.of(3.999999999940941908e-01)}
	t.function(func(x reg.VecVirtual) reg.VecVirtual {
		m, e, above := ZMM(), ZMM(), K()
		const fromOne, refuseNegative, notLess = 0, 2 << 2, 5
		VGETMANTPD(Imm(fromOne|refuseNegative), x, m)
		VGETEXPPD(x, e)
		VCMPPD(Imm(notLess), root, m, above)
		VMULPD(half, m, above, m)
		VADDPD(one, e, above, e)
		f, s := ZMM(), ZMM()
		VSUBPD(one, m, f)
		VADDPD(two, f, s)
		VDIVPD(s, f, s)
		z, w := ZMM(), ZMM()
		VMULPD(s, s, z)
		VMULPD(z, z, w)
		r, h, rest := horner(w, odd...), ZMM(), horner(w, even...)
		VMULPD(z, r, r)
		VMULPD(w, rest, rest)
		VADDPD(rest, r, r)
		VMULPD(half, f, h)
		VMULPD(f, h, h)
		VADDPD(h, r, r)
		VMULPD(s, r, r)
		VMULPD(low, e, rest)
		VADDPD(rest, r, r)
		VSUBPD(r, h, h)
		VSUBPD(f, h, h)
		VMULPD(high, e, e)
		VSUBPD(h, e, e)
		return e
	})
}

func (t target) exps() {
	begin("exps"+t.suffix, "func(n int, dst, x *float64)", "is expGeneric of n elements, a positive multiple of 8.")
	c := newConstants("expConstants")
	least, most, perLn2 := c.of(-1000), c.of(1000), c.of(math.Log2E)
	high, low := c.of(6.93147180369123816490e-01), c.of(1.90821492927058770002e-10)
	var taylor []reg.VecVirtual
	for n := 13; n >= 0; n-- {
		taylor = append(taylor, c.of(1/math.Gamma(float64(n+1))))
	}
	t.function(func(x reg.VecVirtual) reg.VecVirtual {
		// The second source of VMINPD and VMAXPD is the result when either is NaN.
		VMAXPD(x, least, x)
		VMINPD(x, most, x)
		n, product := ZMM(), ZMM()
		VMULPD(perLn2, x, n)
		VRNDSCALEPD(Imm(8), n, n) // to the nearest whole number
		VMULPD(high, n, product)
		VSUBPD(product, x, x)
		VMULPD(low, n, product)
		VSUBPD(product, x, x)
		p := horner(x, taylor...)
		VSCALEFPD(n, p, p)
		return p
	})
}

// dot multiplies float64 by float64 or float32.
func (t target) dot(wide bool) {
	suffix, of := element(wide)
	begin("dot"+suffix+t.suffix, "func(n int, a *float64, b *"+of+", sums *float64)", "is dotGeneric, and leaves its partial sums in sums.")
	a, b := Load(Param("a"), GP64()), Load(Param("b"), GP64())
	sums := t.zeros()
	t.elements(func(i reg.Register) {
		for v := range t.vectors() {
			x := t.widened(wide, b, i, v)
			VMULPD(t.at64(a, i, v), x, x)
			VADDPD(x, sums[v], sums[v])
		}
	})
	t.store(sums, Load(Param("sums"), GP64()))
	end()
}

// sumsAbout adds x − about and its square.
func (t target) sumsAbout() {
	begin("sumsAbout"+t.suffix, "func(n int, x *float64, about *float64, sums, squares *float64)",
		"is sumsAboutGeneric, and leaves its partial sums in sums and squares.")
	x, about := Load(Param("x"), GP64()), t.vector()
	VBROADCASTSD(Mem{Base: Load(Param("about"), GP64())}, about)
	sums, squares := t.zeros(), t.zeros()
	t.elements(func(i reg.Register) {
		for v := range t.vectors() {
			r := t.vector()
			VMOVUPD(t.at64(x, i, v), r)
			VSUBPD(about, r, r)
			VADDPD(r, sums[v], sums[v])
			VMULPD(r, r, r)
			VADDPD(r, squares[v], squares[v])
		}
	})
	t.store(sums, Load(Param("sums"), GP64()))
	t.store(squares, Load(Param("squares"), GP64()))
	end()
}
