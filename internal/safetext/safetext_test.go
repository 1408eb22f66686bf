package safetext

import (
	"encoding/csv"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"": "",
		"η = 0.2, Größe, 数, 👩‍🔬, a\u00a0b": "η = 0.2, Größe, 数, 👩‍🔬, a\u00a0b",
		"a\x1b[2Jb":             `a\x1b[2Jb`,
		"a\x1b]0;title\x07":     `a\x1b]0;title\a`,
		"over\rwritten":         `over\rwritten`,
		"two\nlines\tand a tab": `two\nlines\tand a tab`,
		"del\x7f nul\x00 bs\b":  `del\x7f nul\x00 bs\b`,
		"c1 \u009b31m":          `c1 \u009b31m`,
		"gnp.\u202excod\u2066":  `gnp.\u202excod\u2066`,
		"sep\u2028\u2029\u0085": `sep\u2028\u2029\u0085`,
		"\xff\x9b31m":           `\xff\x9b31m`,
		"a real \ufffd":         "a real \ufffd",
		"tag\U000e0041":         `tag\U000e0041`,
		"first \U000e0000":      `first \U000e0000`,
		"last \U000e007f":       `last \U000e007f`,
	} {
		if got := Line(in); got != want {
			t.Errorf("Line(%q) = %q, want %q", in, got, want)
		}
	}
	if got, want := Lines("first\nsecond\x1b[m\r\nthird"), "first\n  second\\x1b[m\\r\n  third"; got != want {
		t.Errorf("Lines gives %q, want %q", got, want)
	}
}

func FuzzLine(f *testing.F) {
	f.Add("\x1b[31mred\xff\u202e\n")
	f.Fuzz(func(t *testing.T, s string) {
		got := Line(s)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }) {
			t.Errorf("Line(%q) = %q", s, got)
		}
		if Line(got) != got {
			t.Errorf("Line is not the same the second time: %q, %q", got, Line(got))
		}
	})
}

type named string

func (n named) String() string { return string(n) }

func TestPrintf(t *testing.T) {
	evil := "a\x1b[2J\nb"
	for _, c := range []struct {
		format string
		args   []any
		want   string
	}{
		{"%s|%v\n", []any{evil, evil}, `a\x1b[2J\nb|a\x1b[2J\nb` + "\n"},
		{"%-14s|%3s|", []any{"a\n", "ab\r"}, `a\n           |ab\r|`},
		{"%.3s|%q", []any{evil, evil}, `a\x|"a\x1b[2J\nb"`},
		{"%v", []any{fmt.Errorf("open %s: %w", evil, errors.New("no"))}, "open a\\x1b[2J\n  b: no"},
		{"%v %s %d", []any{[]string{evil}, []byte(evil), []int{3}}, `[a\x1b[2J\nb] a\x1b[2J\nb [3]`},
		{"%v %s", []any{named(evil), error(nil)}, `a\x1b[2J\nb %!s(<nil>)`},
		{"%+v", []any{struct{ Name string }{evil}}, `{Name:a\x1b[2J\nb}`},
		{"%*d|%.*f|%5.1f|%x|%t|%v|%c", []any{4, 7, 2, 1.2345, 2.5, 255, true, time.Second, 'x'}, "   7|1.23|  2.5|ff|true|1s|x"},
		{"%v %s", []any{nil, evil}, `<nil> a\x1b[2J\nb`}, // what follows one that needs nothing
		{"%[2]s %[1]d", []any{1, "x"}, "x 1"},
	} {
		if got := Sprintf(c.format, c.args...); got != c.want {
			t.Errorf("Sprintf(%q, %q) = %q, want %q", c.format, c.args, got, c.want)
		}
		var b strings.Builder
		Fprintf(&b, c.format, c.args...)
		if b.String() != c.want {
			t.Errorf("Fprintf gives %q, want %q", b.String(), c.want)
		}
	}
	if got := Sprintf("%s", []any{Sprintf("%s", evil)}...); got != `a\x1b[2J\nb` {
		t.Errorf("twice gives %q", got)
	}
}

func TestCell(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "plain": "plain", "train/nc1": "train/nc1", "it's": "it's", "'quoted'": "'quoted'", "a=b": "a=b", " =1": " =1",
		"=1+1": "'=1+1", `=HYPERLINK("http://x")`: `'=HYPERLINK("http://x")`, "+cmd": "'+cmd", "-cmd|' /C calc'!A0": "'-cmd|' /C calc'!A0", "@SUM(A1)": "'@SUM(A1)",
		"\t=1": "'\t=1", "\r=1": "'\r=1", "\n=1": "'\n=1", "＝1": "'＝1", "－x": "'－x",
		"-1": "-1", "+5": "+5", "-1e-5": "-1e-5", "-.5": "-.5", "-Inf": "-Inf", "-1-1": "'-1-1", "-": "'-", "--": "'--",
		"'=1": "''=1", "''-x": "'''-x", "'-1": "'-1", "'": "'",
	} {
		if got := Cell(in); got != want {
			t.Errorf("Cell(%q) = %q, want %q", in, got, want)
		}
	}
	if got := strings.Join(Cells([]string{"=1", "b"}), " "); got != "'=1 b" {
		t.Errorf("Cells gives %q", got)
	}
}

// FuzzCell checks that no two texts share a cell, and that CSV brings each back.
func FuzzCell(f *testing.F) {
	f.Add("=1")
	f.Add("'-1")
	f.Fuzz(func(t *testing.T, s string) {
		cell := Cell(s)
		if back := uncell(cell); back != s {
			t.Errorf("%q is written %q and read %q", s, cell, back)
		}
		if strings.ContainsRune(s, '\r') {
			return // which the csv package reads as a line feed's part
		}
		var b strings.Builder
		w := csv.NewWriter(&b)
		if err := w.Write([]string{cell, "x"}); err != nil {
			t.Fatal(err)
		}
		w.Flush()
		row, err := csv.NewReader(strings.NewReader(b.String())).Read()
		if err != nil || uncell(row[0]) != s {
			t.Errorf("%q is read %q (%v)", s, row, err)
		}
	})
}

// uncell is what docs/measuring.md tells readers to do.
func uncell(cell string) string {
	if strings.HasPrefix(cell, "'") && Cell(cell) != cell {
		return cell[1:]
	}
	return cell
}
