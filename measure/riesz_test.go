package measure

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// exactly returns x to 300 binary digits.
func exactly(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }

// relativeError returns |(high + low)/want − 1|.
func relativeError(high, low float64, want *big.Float) float64 {
	got := exactly(high)
	got.Add(got, exactly(low))
	got.Quo(got, want)
	x, _ := got.Sub(got, exactly(1)).Float64()
	return math.Abs(x)
}

// Powers carry their rounding along: float64 would be off by n/2 roundings, these are by less than a millionth of one.
func TestTwofoldPower(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	compared := 0
	for _, n := range []int{1, 2, 3, 4, 7, 35, 62, 198, 511, 2046} {
		for range 20 {
			y := 1 + random.Float64()
			x := y * (1 - math.Exp(-8*random.Float64())) // any share of y
			want := new(big.Float).SetPrec(300).Quo(exactly(x), exactly(y))
			want.Sqrt(want)
			power := exactly(1)
			for range n {
				power.Mul(power, want)
			}
			size, _ := power.Float64()
			got := over(x, y).power(n)
			if size < nothing {
				if got != (twofold{}) {
					t.Errorf("(%g/%g)^(%d/2) = %g is not counted as nothing: %v", x, y, n, size, got)
				}
				continue
			}
			compared++
			if e := relativeError(got.high, got.low, power); !(e <= 1e-22*float64(n)) {
				t.Errorf("(%g/%g)^(%d/2) is off by %.2g", x, y, n, e)
			}
		}
	}
	if compared < 100 {
		t.Errorf("only %d powers compared", compared)
	}
}

// The error of the factor that makes a vector a unit vector is known to a millionth of a rounding.
func TestLengthError(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		square := math.Exp(40 * random.NormFloat64())
		factor := 1 / math.Sqrt(square)
		want := exactly(factor)
		want.Mul(want, want).Mul(want, exactly(square)).Sub(want, exactly(1))
		if w, _ := want.Float64(); !(math.Abs(lengthError(square, factor)-w) <= 1e-28) {
			t.Errorf("‖x‖² = %g: %g, want %g", square, lengthError(square, factor), w)
		}
	}
}

// One kernel that outweighs all others leaves n − 1 to a few roundings, wherever it stands; kernels that are nearly alike leave the
// variance of their differences, of those below a rounding too.
func TestRelativeVariance(t *testing.T) {
	const n = 1225
	for _, place := range []int{0, 1, 700, n - 1} {
		x := make([]twofold, n)
		for i := range x {
			x[i].high = 1e-30
		}
		x[place].high = 1
		if got := relativeVariance(x); !(math.Abs(got-(n-1)) <= 8*roundoff64*n) {
			t.Errorf("place %d: %.17g, want %d", place, got, n-1)
		}
	}
	few := []twofold{{1, 3e-17}, {1, -3e-17}, {1, 0}, {1, 0}}
	if got, want := relativeVariance(few), 4.5e-34; !(math.Abs(got-want) <= 1e-12*want) {
		t.Errorf("variance %g, want %g", got, want)
	}
}

// So it does in the kernels of a row, by logarithms: if the closest pair comes first, too.
func TestRieszSpread(t *testing.T) {
	const n = 700
	for _, place := range []int{0, n - 1} {
		logs := make([]float64, n)
		logs[place] = -1
		s := rieszSpread(logs, 102)
		if got := s.m2 / s.n / (s.mean * s.mean); !(math.Abs(got-(n-1)) <= 64*roundoff64*n) {
			t.Errorf("place %d: %.17g, want %d", place, got, n-1)
		}
	}
}
