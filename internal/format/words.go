// Package format writes numbers and counts for people to read.
package format

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Digits writes a number for reading: three significant digits, a true minus sign, "–" for none.
func Digits(v float64) string {
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

// Decimal writes a setting such as η as it was given.
func Decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Percent writes a share; one that is not whole never rounds to 100 %.
func Percent(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	s := strconv.FormatFloat(100*v, 'f', 2, 64)
	if v < 1 && s == "100.00" {
		s = "99.99"
	}
	return s + "\u00a0%" // never broken across lines
}

func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// List joins words with commas and "and".
func List(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

// Written writes a value of a measure for tables.
func Measure(key string, v float64) string {
	if strings.HasSuffix(key, "accuracy") {
		return Percent(v)
	}
	return Digits(v)
}

// Capital gives words a capital.
func Capital(words string) string {
	first, size := utf8.DecodeRuneInString(words)
	return string(unicode.ToUpper(first)) + words[size:]
}

// Time writes when a page was made; "" for no time.
func Time(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2 January 2006, 15:04 UTC")
}
