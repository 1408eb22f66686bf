package report

import (
	"math"
	"strconv"
	"strings"
)

// digits writes a number for reading: three significant digits, a true minus sign, "–" for none.
func digits(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case math.IsInf(v, 0):
		return strings.Replace(strconv.FormatFloat(v, 'g', -1, 64), "-", "−", 1)
	case v == 0:
		return "0"
	}
	a := math.Abs(v)
	var s string
	if a >= 1e5 || a < 1e-3 {
		m, e, _ := strings.Cut(strconv.FormatFloat(v, 'e', 2, 64), "e")
		n, _ := strconv.Atoi(e)
		s = m + "·10" + superscript.Replace(strconv.Itoa(n))
	} else {
		s = strconv.FormatFloat(v, 'f', max(0, 2-int(math.Floor(math.Log10(a)))), 64)
	}
	return strings.Replace(s, "-", "−", 1)
}

var superscript = strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴",
	"5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")

// decimal writes a setting such as η as it was given.
func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// percent writes a share; one that is not whole never rounds to 100 %.
func percent(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	s := strconv.FormatFloat(100*v, 'f', 2, 64)
	if v < 1 && s == "100.00" {
		s = "99.99"
	}
	return s + "\u00a0%" // never broken across lines
}

func withInterval(r interval) string {
	if math.IsNaN(r.Lo) {
		return digits(r.Value) + " (no interval)"
	}
	return digits(r.Value) + " (95 % interval " + digits(r.Lo) + " to " + digits(r.Hi) + ")"
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// list joins words with commas and "and".
func list(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}
