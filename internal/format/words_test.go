package format

import (
	"math"
	"testing"
)

func TestWords(t *testing.T) {
	for v, want := range map[float64]string{0.12345: "0.123", 12345: "12345", -0.5: "−0.500", 1e-7: "1.00·10⁻⁷", 0: "0", 123456: "1.23·10⁵", math.NaN(): "–"} {
		if got := Digits(v); got != want {
			t.Errorf("digits(%g) = %q, wanted %q", v, got, want)
		}
	}
	if Percent(0.99999) != "99.99\u00a0%" || Percent(1) != "100.00\u00a0%" {
		t.Error("a share that is not whole was rounded to 100\u00a0%")
	}
}
