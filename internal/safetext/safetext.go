// Package safetext writes texts of others where they could act: names of files, runs, classes, layers and hosts, and
// what workers report. A terminal obeys escape sequences, a log believes in lines, a spreadsheet computes what begins
// with "=". JSON and HTML have escapes of their own.
package safetext

import (
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns s on one line that a terminal only shows: control characters (with line feeds and tabs), characters that
// change the direction of writing, line separators and bytes that are no UTF-8 appear as Go escapes, such as \x1b.
func Line(s string) string { return escaped(s, "") }

// Lines is Line for texts of several lines. Those after the first are set in, so that none of them can be taken for a
// line of its own.
func Lines(s string) string { return escaped(s, "\n  ") }

// escaped writes line feeds as feed, or as \n where that is "".
func escaped(s, feed string) string {
	at := strings.IndexFunc(s, acts) // also finds bytes that are no UTF-8
	if at < 0 {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:at])
	for s = s[at:]; s != ""; {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == '\n' && feed != "":
			b.WriteString(feed)
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case acts(r) && r != utf8.RuneError:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return b.String()
}

// acts reports whether a character does more than show itself. utf8.RuneError stands for bytes that are no UTF-8.
func acts(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' ||
		r >= 0xe0000 && r <= 0xe007f || // invisible tags
		r == utf8.RuneError
}

// Fprintf is fmt.Fprintf with arguments that only show themselves: errors as Lines, other texts as Line. The format is
// taken as it is.
func Fprintf(w io.Writer, format string, args ...any) {
	if false {
		_ = fmt.Sprintf(format, args...) // lets vet check the calls
	}
	fmt.Fprintf(w, format, shown(args)...)
}

// Sprintf is fmt.Sprintf in the same way.
func Sprintf(format string, args ...any) string {
	if false {
		_ = fmt.Sprintf(format, args...)
	}
	return fmt.Sprintf(format, shown(args)...)
}

// shown wraps all arguments but numbers.
func shown(args []any) []any {
	out := make([]any, len(args))
	for i, arg := range args {
		out[i] = arg
		if _, done := arg.(argument); done || arg == nil {
			continue
		}
		_, words := arg.(interface{ String() string })
		_, fails := arg.(error)
		if kind := reflect.TypeOf(arg).Kind(); words || fails || kind > reflect.Complex128 {
			out[i] = argument{arg}
		}
	}
	return out
}

// argument is a value that only shows itself.
type argument struct{ v any }

// Format prints the value with the verb and flags of the format.
func (a argument) Format(f fmt.State, verb rune) {
	format := fmt.FormatString(f, verb)
	if verb != 's' && verb != 'v' { // %q escapes; others are of numbers
		fmt.Fprintf(f, format, a.v)
		return
	}
	switch v := a.v.(type) {
	case string:
		fmt.Fprintf(f, format, Line(v))
	case error:
		fmt.Fprintf(f, format, Lines(v.Error()))
	default:
		io.WriteString(f, Line(fmt.Sprintf(format, v)))
	}
}

// Cell returns a text for a cell of a CSV file. Spreadsheets compute texts that begin with = + - @, a tab or a line
// break, also in their wide forms; such a text gets a ' in front, which spreadsheets take for "text follows" and do not
// show. Numbers stay as they are. Where a text has such a ' already it gets another one, so that taking one away always
// gives the text back.
func Cell(s string) string {
	rest := strings.TrimLeft(s, "'")
	if first, _ := utf8.DecodeRuneInString(rest); rest == "" || !strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return s
	}
	if _, err := strconv.ParseFloat(rest, 64); err == nil {
		return s
	}
	return "'" + s
}

// Cells is Cell of each text.
func Cells(texts []string) []string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = Cell(s)
	}
	return out
}
