package format

import (
	"math"
	"reflect"
	"testing"
)

func TestOneForm(t *testing.T) {
	for _, c := range []struct {
		got, want string
	}{
		{Digits(3.48967e-05), "3.49·10⁻⁵"}, {Digits(8e-33), "< 10⁻¹²"}, {Digits(-8e-33), "> −10⁻¹²"}, {Digits(1e-12), "1.00·10⁻¹²"}, {Digits(0), "0"},
		{Digits(math.Inf(-1)), "−Inf"}, {Digits(math.NaN()), "–"},
		{Short(3.48967e-05, 6), "3.48967·10⁻⁵"}, {Short(0.5, 6), "0.5"}, {Short(1e-7, 3), "10⁻⁷"}, {Short(-1e-7, 3), "−10⁻⁷"}, {Short(1200, 6), "1200"}, {Short(9.9999e-4, 2), "10⁻³"},
		{Short(5e-324, 6), "< 10⁻¹²"}, {Short(123456.789, 8), "1.2345679·10⁵"},
		{Full(0.0005), "5·10⁻⁴"}, {Full(0.005), "0.005"}, {Full(1e-13), "10⁻¹³"}, {Full(-2), "−2"}, {Full(1e5), "10⁵"}, {Full(0.1), "0.1"},
		{Decimals(-0.001, 2), "0.00"}, {Decimals(-1.5, 1), "−1.5"},
	} {
		if c.got != c.want {
			t.Errorf("%q, wanted %q", c.got, c.want)
		}
	}
}

func TestSprintf(t *testing.T) {
	got := Sprintf("f = %.6g, f − f* = %.2g, p = %.1g, λ = %g, %d of %s, %.2f, below %.0e, %v", 0.25, 8e-33, -1e-20, 5e-4, 3, "K", -0.256, 1e-6, 1e-5)
	if want := "f = 0.25, f − f* < 10⁻¹², p > −10⁻¹², λ = 5·10⁻⁴, 3 of K, −0.26, below 10⁻⁶, 10⁻⁵"; got != want {
		t.Errorf("%q, wanted %q", got, want)
	}
}

func TestSprintfKeepsColumns(t *testing.T) {
	if got, want := Sprintf("|%8.3g|%-8.2g|%2.3g|%6.1f|", 2.5e-4, -0.25, 0.125, -1.0), "|2.5·10⁻⁴|−0.25   |0.125|  −1.0|"; got != want {
		t.Errorf("%q, wanted %q", got, want)
	}
}

func TestAxis(t *testing.T) {
	for _, c := range []struct {
		values []float64
		step   float64
		want   []string
	}{
		{[]float64{0, 1e6, 2e6}, 1e6, []string{"0", "1·10⁶", "2·10⁶"}},
		{[]float64{5e-5, 1e-4, 1.5e-4}, 5e-5, []string{"0.5·10⁻⁴", "1.0·10⁻⁴", "1.5·10⁻⁴"}},
		{[]float64{-0.5, 0, 0.5}, 0.5, []string{"−0.5", "0", "0.5"}},
		{[]float64{0.0005, 0.001, 0.0015}, 0.0005, []string{"0.0005", "0.0010", "0.0015"}},
	} {
		if got := Axis(c.values, c.step); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q, wanted %q", got, c.want)
		}
	}
}

func TestPlusMinus(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		v, by float64
		want  string
	}{
		{0.81234, 0.01234, "0.812 ± 0.012"}, {0.81234, 0.0996, "0.81 ± 0.10"}, {-0.0004, 0.02, "0.000 ± 0.020"}, {99.531, 12.4, "100 ± 12"}, {99.531, 124, "100 ± 124"},
		{9.985e-5, 4.4e-7, "(9.985 ± 0.044)·10⁻⁵"}, {-9.985e-5, 4.4e-6, "(−9.98 ± 0.44)·10⁻⁵"}, {2e-9, 3e-4, "(0.0 ± 3.0)·10⁻⁴"}, {123456789, 1234567, "(1.235 ± 0.012)·10⁸"},
		{0.75, nan, "0.75"}, {nan, 1, "–"}, {0.75, 0, "0.75 ± 0"}, {0, 0, "0 ± 0"}, {1, 1e-15, "1 ± < 10⁻¹²"}, {1, inf, "1 ± +Inf"}, {1, 2e-12, "1.0000000000000 ± 0.0000000000020"},
	} {
		if got := PlusMinus(c.v, c.by); got != c.want {
			t.Errorf("PlusMinus(%g, %g) is %q, want %q", c.v, c.by, got, c.want)
		}
	}
}
