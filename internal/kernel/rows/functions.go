package rows

import (
	"math"

	"collapse.example/collapse/internal/kernel"
)

// Logs writes the natural logarithms of x ≥ 0 to dst, which may be x: to within an ulp; −Inf for 0, NaN for negative numbers. It
// panics if the lengths differ.
func Logs(dst, x []float64) {
	checkFunction(dst, x)
	table.logs(dst, x)
}

// Exps writes the exponentials of x to dst, which may be x: to within two ulp. It panics if the lengths differ.
func Exps(dst, x []float64) {
	checkFunction(dst, x)
	table.exps(dst, x)
}

// Exp returns the exponential of x: to within two ulp, with the same bits as Exps. math.Exp has other bits on processors without
// fused multiply-adds.
func Exp(x float64) float64 { return expGeneric(x) }

func checkFunction(dst, x []float64) {
	if len(dst) != len(x) {
		panic("rows: Logs and Exps need slices of one length")
	}
}

// eachGeneric applies a function to every element.
func eachGeneric(dst, x []float64, one func(float64) float64) {
	for j, v := range x {
		dst[j] = one(v)
	}
}

// logGeneric is fdlibm's algorithm (Sun Microsystems 1993) on mantissas from √½ to √2; no operation is fused.
func logGeneric(x float64) float64 {
	switch {
	case !(x >= 0):
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case math.IsInf(x, 1):
		return x
	}
	m, e := math.Frexp(x)
	if 2*m < math.Sqrt2 {
		m, e = 2*m, e-1
	}
	f, k := m-1, float64(e)
	s := f / (2 + f)
	z := s * s
	w := z * z
	r := float64(z * horner(w, 1.479819860511658591e-01, 1.818357216161805012e-01, 2.857142874366239149e-01, 6.666666666666735130e-01))
	r += float64(w * horner(w, 1.531383769920937332e-01, 2.222219843214978396e-01, 3.999999999940941908e-01))
	h := float64(.5*f) * f
	r = float64(s*(r+float64(h))) + float64(k*1.90821492927058770002e-10)
	return float64(k*6.93147180369123816490e-01) - ((float64(h) - r) - f)
}

// expGeneric is 2ⁿ times a Taylor polynomial of the remainder; no operation is fused.
func expGeneric(x float64) float64 {
	if x != x {
		return x
	}
	x = min(max(x, -1000), 1000)
	n := math.RoundToEven(x * math.Log2E)
	x -= float64(n * 6.93147180369123816490e-01)
	x -= float64(n * 1.90821492927058770002e-10)
	return math.Ldexp(horner(x, taylor[:]...), int(n))
}

// taylor holds 1/n! from n = 13 down.
var taylor = func() (c [14]float64) {
	for i := range c {
		c[i] = 1 / math.Gamma(float64(14-i))
	}
	return c
}()

// horner evaluates a polynomial whose coefficients are given from the highest power down.
func horner(x float64, coefficients ...float64) float64 {
	p := coefficients[0]
	for _, c := range coefficients[1:] {
		p = float64(p*x) + c
	}
	return p
}

// Dot returns Σ_j a[j]·b[j] in float64.
// It panics if the lengths differ.
func Dot[T kernel.Float](a []float64, b []T) float64 {
	if len(a) != len(b) {
		panic("rows: Dot needs slices of one length")
	}
	if len(a) < kernel.Parts { // not worth sixteen sums
		sum := 0.0
		for j, v := range a {
			sum += float64(v * float64(b[j]))
		}
		return sum
	}
	return loopsOf[T]().dot(a, b)
}

// SumsAbout returns Σ_j (x[j] − about) and Σ_j (x[j] − about)².
func SumsAbout(x []float64, about float64) (sum, squares float64) {
	return table.sumsAbout(x, about)
}

func dotGeneric[T kernel.Float](a []float64, b []T, sums *kernel.Sums) {
	b = b[:len(a)]
	for j, v := range a {
		sums[j%kernel.Parts] += float64(v * float64(b[j]))
	}
}

func sumsAboutGeneric(x []float64, about float64, sums, squares *kernel.Sums) {
	for j, v := range x {
		r := v - about
		sums[j%kernel.Parts] += r
		squares[j%kernel.Parts] += float64(r * r)
	}
}
