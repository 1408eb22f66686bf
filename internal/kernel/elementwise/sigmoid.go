package elementwise

import (
	"math"

	"collapse.example/collapse/internal/kernel"
)

// The logistic function uses only e^−
// x
// , which cannot overflow: for x < 0 it is e^x/(1 + e^x).

func sigmoid[T kernel.Float](x []T) {
	if kernel.IsFloat32[T]() {
		done := vectors[T](len(x))
		if done > 0 {
			table.sigmoid(done, kernel.First32(x))
		}
		sigmoidGeneric(kernel.As[float32](x[done:]))
		return
	}
	for i, v := range x {
		e := math.Exp(-math.Abs(float64(v)))
		if v < 0 {
			x[i] = T(e / (1 + e))
		} else {
			x[i] = T(1 / (1 + e))
		}
	}
}

// Constants of the float32 exponential: e^u = e^r·2ⁿ with n = u/ln 2 rounded, and a polynomial
// for e^r on |r| ≤ ln 2/2 (Cephes expf, S. Moshier). The generator holds the same numbers.
const (
	expLowest = -104             // e^−104 is half the smallest float32
	expLog2e  = 1.44269504088896 // 1/ln 2
	expRound  = 12582912         // 1.5·2²³: adding it rounds to an integer, kept in the low bits
	expLn2Hi  = 0.693359375      // ln 2 in 9 bits, so that n·hi is exact
	expLn2Lo  = -2.12194440e-4   // the rest of ln 2
	expC2     = 5.0000001201e-1  // of r²
	expC3     = 1.6666665459e-1
	expC4     = 4.1665795894e-2
	expC5     = 8.3334519073e-3
	expC6     = 1.3981999507e-3
	expC7     = 1.9875691500e-4
)

// sigmoidGeneric rounds after every operation: the conversions prevent compilers from fusing.
func sigmoidGeneric(x []float32) {
	for i, v := range x {
		u := max(min(v, -v), expLowest) // keeps NaN
		shifted := float32(u*expLog2e) + expRound
		n := shifted - expRound
		r := u - float32(n*expLn2Hi)
		r -= float32(n * expLn2Lo)
		p := float32(float32(expC7)*r) + expC6
		p = float32(p*r) + expC5
		p = float32(p*r) + expC4
		p = float32(p*r) + expC3
		p = float32(p*r) + expC2
		p = float32(p*float32(r*r)) + r
		p++
		// 2ⁿ in two factors: the smallest powers are subnormal.
		k := int32(math.Float32bits(shifted)) - int32(math.Float32bits(expRound))
		half := k >> 1
		e := p * powerOfTwo(half) * powerOfTwo(k-half)
		numerator := float32(1)
		if v < 0 {
			numerator = e
		}
		x[i] = numerator / (1 + e)
	}
}

// powerOfTwo returns 2ⁿ for −126 ≤ n ≤ 127.
func powerOfTwo(n int32) float32 { return math.Float32frombits(uint32(n+127) << 23) }

func sigmoidGradient[T kernel.Float](y, dy []T) {
	done := vectors[T](len(dy))
	if done > 0 {
		table.sigmoidGradient(done, kernel.First32(y), kernel.First32(dy))
	}
	sigmoidGradientGeneric(y[done:], dy[done:])
}

func sigmoidGradientGeneric[T kernel.Float](y, dy []T) {
	for i, v := range y {
		dy[i] = dy[i] * v * (1 - v)
	}
}
