package dd

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

const bits = 300

func exact(x DD) *big.Float {
	hi, lo := new(big.Float).SetPrec(bits).SetFloat64(x.Hi), new(big.Float).SetPrec(bits).SetFloat64(x.Lo)
	return hi.Add(hi, lo)
}

func bigOf(x float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(x) }

func newBig() *big.Float { return new(big.Float).SetPrec(bits) }

// errorOf returns |got − want| / |want|.
func errorOf(got DD, want *big.Float) float64 {
	diff := newBig().Sub(exact(got), want)
	if want.Sign() == 0 {
		e, _ := diff.Float64()
		return math.Abs(e)
	}
	e, _ := diff.Quo(diff, want).Float64()
	return math.Abs(e)
}

// number draws a double-double of any sign with both parts in use.
func number(t *rapid.T, name string) DD {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, name), 1))
	hi := rng.NormFloat64() * math.Exp2(float64(rapid.IntRange(-60, 60).Draw(t, name+" exponent")))
	s, e := quickTwoSum(hi, hi*0x1p-54*(2*rng.Float64()-1))
	return DD{s, e}
}

// check fails unless got is within units of 2⁻¹⁰⁶ of want.
func check(t rapid.TB, what string, got DD, want *big.Float, units float64) {
	t.Helper()
	if e := errorOf(got, want); !(e <= units*0x1p-106) {
		t.Fatalf("%s: %v, relative error %g", what, got, e)
	}
	if got.Hi != got.Hi+got.Lo {
		t.Fatalf("%s: the parts of %v overlap", what, got)
	}
}

func TestArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := number(t, "x"), number(t, "y")
		if rapid.Bool().Draw(t, "cancel") {
			y = x.Neg().Add(DD{Hi: x.Hi * 0x1p-70}) // only the low parts are left
		}
		a, b := exact(x), exact(y)
		check(t, "sum", x.Add(y), newBig().Add(a, b), 4)
		check(t, "difference", x.Sub(y), newBig().Sub(a, b), 4)
		check(t, "product", x.Mul(y), newBig().Mul(a, b), 8)
		check(t, "quotient", x.Div(y), newBig().Quo(a, b), 4)
		check(t, "root", x.Abs().Sqrt(), newBig().Sqrt(newBig().Abs(a)), 16)
		if got := x.Cmp(y); got != a.Cmp(b) {
			t.Fatalf("%v against %v: %d", x, y, got)
		}
		if (x.Less(y)) != (a.Cmp(b) < 0) || Max(x, y) != Max(y, x) || Min(x, y).Cmp(Max(x, y)) > 0 {
			t.Fatalf("order of %v and %v", x, y)
		}
	})
}

// bigExp is e^x from the series of x/2⁶⁴.
func bigExp(x *big.Float) *big.Float {
	r := newBig().SetMantExp(newBig().Set(x), -64)
	sum, term := bigOf(1), bigOf(1)
	for n := 1; n < 40; n++ {
		term.Mul(term, r)
		term.Quo(term, bigOf(float64(n)))
		sum.Add(sum, term)
	}
	for range 64 {
		sum.Mul(sum, sum)
	}
	return sum
}

func TestExpLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := Of(rapid.Float64Range(-300, 300).Draw(t, "x")).Add(Of(rapid.Float64Range(-1e-17, 1e-17).Draw(t, "low")))
		check(t, "exp", x.Exp(), bigExp(exact(x)), 64*(1+math.Abs(x.Hi)))
		if math.Abs(x.Hi) < 1 {
			return
		}
		y := x.Exp() // a number of any size; its logarithm is x except for the rounding of y, which log undoes
		rest := newBig().Quo(bigExp(exact(y.Log())), exact(y))
		if e, _ := rest.Sub(rest, bigOf(1)).Float64(); !(math.Abs(e) <= 64*0x1p-106*(1+math.Abs(x.Hi))) {
			t.Fatalf("log of exp %v: off by %g", x, e)
		}
	})
}

// The angle's sine and cosine are those of the point; π/2 and π/4 are known.
func TestAtan2(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		angle := Of(math.Exp2(-rapid.Float64Range(0, 80).Draw(t, "log")) * .7).Add(Of(rapid.Float64Range(-1e-42, 1e-42).Draw(t, "low")))
		sin, cos := sinCos(angle)
		one := sin.Square().Add(cos.Square())
		check(t, "sin² + cos²", one, bigOf(1), 64)
		check(t, "atan", Atan2(sin, cos), exact(angle), 256)
		check(t, "atan of the complement", Atan2(cos, sin), exact(HalfPi.Sub(angle)), 256)
	})
	pi, _, _ := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798", 10, bits, big.ToNearestEven)
	check(t, "π/4", Atan2(Of(3), Of(3)), newBig().Quo(pi, bigOf(4)), 16)
	check(t, "π/2", Atan2(Of(3), DD{}), newBig().Quo(pi, bigOf(2)), 16)
}

func TestFunctionsOutsideTheirRange(t *testing.T) {
	if got := (DD{Hi: -1}).Sqrt().Hi; got == got {
		t.Errorf("root of −1: %g", got)
	}
	if got := Of(1e4).Exp().Hi; !math.IsInf(got, 1) {
		t.Errorf("exp of 10⁴: %g", got)
	}
	if got := (DD{}).Log().Hi; !math.IsInf(got, -1) {
		t.Errorf("log of 0: %g", got)
	}
	if got := Of(1).Div(DD{}).Hi; !math.IsInf(got, 1) {
		t.Errorf("1/0: %g", got)
	}
	if got := Of(1).Sqrt(); got != Of(1) {
		t.Errorf("√1 = %v", got)
	}
}
