package format

import (
	"math"
	"strings"
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

func TestFLOP(t *testing.T) {
	for flop, want := range map[float64]string{0: "0 FLOP", 999: "999 FLOP", 1000: "1.00 kFLOP", 999_700: "1.000 MFLOP", 2.5e12: "2.50 TFLOP", 7e17: "700 PFLOP", 7e21: "7000 EFLOP"} {
		if got := strings.ReplaceAll(FLOP(flop), "\u00a0", " "); got != want {
			t.Errorf("%g: %q, wanted %q", flop, got, want)
		}
	}
}
