// Package format writes numbers and counts for people to read.
package format

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

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

// Few writes the first n words and says how many more there are: "a, b and 3 more".
func Few(words []string, n int) string {
	if len(words) <= n {
		return List(words)
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:n], ", "), len(words)-n)
}

// Measure writes a value of a measure for tables.
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

// FLOP writes a number of operations with a prefix.
func FLOP(n float64) string {
	prefixes := []string{"", "k", "M", "G", "T", "P", "E"}
	at := 0
	for ; at < len(prefixes)-1 && math.Abs(n) >= 999.5; at++ {
		n /= 1000
	}
	return Digits(n) + "\u00a0" + prefixes[at] + "FLOP"
}

// ShellWord is an argument as a shell takes it: quoted if it has a character that shells do not take as it stands.
func ShellWord(arg string) string {
	if arg == "" || strings.ContainsAny(arg, " \t\n\"'$\\*?[]{}()<>|&;~#`!") {
		return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	return arg
}
