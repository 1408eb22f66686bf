package format

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Numbers have one form on pages and in reports: plain digits from a thousandth up to a hundred thousand, else 2.63·10⁻⁴; a true
// minus sign; "–" for none. Rounding of 64-bit arithmetic ends near Least: what is smaller, and not exactly 0, is written as
// "< 10⁻¹²" ("> −10⁻¹²" below zero), since its digits say nothing. Files for programs (JSON, CSV) hold every digit.
//
// Digits is for tables, Short for sentences that need another precision, Full for settings, Sprintf for text with several of them.

// Least is the smallest size that is written as a number.
const Least = 1e-12

const minus = "−"

// Digits writes a number for reading: three significant digits, trailing zeros included.
func Digits(v float64) string { return significant(v, 3, false) }

// Significant writes a number with so many significant digits, trailing zeros included.
func Significant(v float64, digits int) string { return significant(v, digits, false) }

// Short writes a number with at most so many significant digits, without trailing zeros.
func Short(v float64, digits int) string { return significant(v, digits, true) }

// Full writes every digit of a number that somebody chose, such as a penalty, however small.
func Full(v float64) string {
	if s, special := word(v); special {
		return s
	}
	if plain(v) {
		return signed(strconv.FormatFloat(v, 'f', -1, 64))
	}
	return scientific(v, -1, true)
}

func significant(v float64, digits int, trim bool) string {
	if s, special := word(v); special {
		return s
	}
	switch a := math.Abs(v); {
	case a < Least && v > 0:
		return "< 10⁻¹²"
	case a < Least:
		return "> −10⁻¹²"
	case !plain(v):
		return scientific(v, digits-1, trim)
	}
	s := strconv.FormatFloat(v, 'f', max(0, digits-1-int(math.Floor(math.Log10(math.Abs(v))))), 64)
	if trim {
		s = trimmed(s)
	}
	return signed(s)
}

// word writes what has no digits.
func word(v float64) (string, bool) {
	switch {
	case math.IsNaN(v):
		return "–", true
	case math.IsInf(v, 0):
		return signed(strconv.FormatFloat(v, 'g', -1, 64)), true
	}
	return "0", v == 0
}

// plain reports whether a number is written without a power of ten.
func plain(v float64) bool { return math.Abs(v) >= 1e-3 && math.Abs(v) < 1e5 }

// scientific writes a number with a power of ten; decimals −1 are as many as it takes.
func scientific(v float64, decimals int, trim bool) string {
	m, e, _ := strings.Cut(strconv.FormatFloat(v, 'e', decimals, 64), "e")
	n, _ := strconv.Atoi(e)
	if trim {
		m = trimmed(m)
	}
	return Scaled(m, n)
}

// Scaled writes m·10ⁿ, where m is written already; of 1·10ⁿ the 1 is left out.
func Scaled(m string, n int) string {
	power := "10" + superscript.Replace(strconv.Itoa(n))
	switch m {
	case "1":
		return power
	case "-1":
		return minus + power
	}
	return signed(m) + "·" + power
}

var superscript = strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴",
	"5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")

func trimmed(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

func signed(s string) string { return strings.Replace(s, "-", minus, 1) }

// Decimals writes a number with a fixed count of decimals.
func Decimals(v float64, n int) string {
	s := strconv.FormatFloat(v, 'f', n, 64)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-")
	}
	return signed(s)
}

// PlusMinus writes a number and how uncertain it is: two digits of the uncertainty, and the number with as many decimals.
func PlusMinus(v, by float64) string {
	size := math.Max(math.Abs(v), by)
	switch {
	case math.IsNaN(v) || math.IsNaN(by):
		return Short(v, 4)
	case math.IsInf(size, 0) || by < Least:
		return Short(v, 4) + " ± " + Short(by, 2)
	case size < 1e-3 || size >= 1e6:
		e := math.Floor(math.Log10(size))
		return Scaled("("+PlusMinus(v/math.Pow(10, e), by/math.Pow(10, e))+")", int(e))
	}
	_, exponent, _ := strings.Cut(strconv.FormatFloat(by, 'e', 1, 64), "e") // of the rounded uncertainty
	e, _ := strconv.Atoi(exponent)
	decimals := max(0, 1-e)
	return Decimals(v, decimals) + " ± " + Decimals(by, decimals)
}

// Axis writes evenly spaced numbers with the digits that their step needs, all with the same power of ten.
func Axis(values []float64, step float64) []string {
	size := 0.0
	for _, v := range values {
		size = math.Max(size, math.Abs(v))
	}
	e := 0
	if size > 0 && !plain(size) {
		e = int(math.Floor(math.Log10(size) + 1e-9))
	}
	decimals := min(max(0, int(math.Ceil(float64(e)-math.Log10(step)-1e-9))), 12)
	out := make([]string, len(values))
	for i, v := range values {
		switch {
		case math.Abs(v) < step*1e-6:
			out[i] = "0"
		case e == 0:
			out[i] = Decimals(v, decimals)
		default:
			out[i] = signed(strconv.FormatFloat(v/math.Pow(10, float64(e)), 'f', decimals, 64)) + "·10" + superscript.Replace(strconv.Itoa(e))
		}
	}
	return out
}

// Sprintf is fmt.Sprintf with numbers in the one form: of a float64, %.3g are at most three significant digits, %g all of them, and
// %.2f two decimals.
func Sprintf(layout string, args ...any) string {
	return Related(fmt.Sprintf(layout, Numbers(args)...))
}

// Numbers are the arguments with every float64 in the one form, for another Sprintf; Related is for its result.
func Numbers(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		if v, ok := a.(float64); ok {
			a = number(v)
		}
		out[i] = a
	}
	return out
}

// Related leaves one sign of a relation where a number too small to write brought its own.
func Related(s string) string {
	return strings.NewReplacer("= < 10⁻¹²", "< 10⁻¹²", "= > −10⁻¹²", "> −10⁻¹²").Replace(s)
}

type number float64

// Format writes the number for a verb.
func (n number) Format(state fmt.State, verb rune) {
	digits, given := state.Precision()
	text := Full(float64(n))
	switch {
	case verb == 'f' && given:
		text = Decimals(float64(n), digits)
	case verb == 'e' && given:
		text = Short(float64(n), digits+1)
	case given:
		text = Short(float64(n), max(digits, 1))
	}
	if width, ok := state.Width(); ok {
		pad := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
		if state.Flag('-') {
			text += pad
		} else {
			text = pad + text
		}
	}
	fmt.Fprint(state, text)
}
