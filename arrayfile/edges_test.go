package arrayfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// TestSumsOfFletcherHaveTwoZeros: a sum is taken modulo 65535, so that 0 and 65535 are the same in each half, and nothing else is.
func TestSumsOfFletcherHaveTwoZeros(t *testing.T) {
	for _, c := range []struct {
		a, b uint32
		same bool
	}{{0, 0xffffffff, true}, {0xffff, 0, true}, {0xffff0000, 0, true}, {0x1ffff, 0x10000, true}, {1, 0, false}, {0xfffe, 0, false}, {0xfffe0000, 0, false}, {0x10000, 1, false}, {5, 5, true}, {0xfffe, 0xfffe, true}} {
		if sameFletcher(c.a, c.b) != c.same || sameFletcher(c.b, c.a) != c.same {
			t.Errorf("%#x and %#x are the same: %v", c.a, c.b, !c.same)
		}
	}
}

// TestListsOfSizes: as many as a shape has axes, none negative and each a number.
func TestListsOfSizes(t *testing.T) {
	axes := func(n int) (out tuple) {
		for range n {
			out = append(out, int64(1))
		}
		return out
	}
	for name, c := range map[string]struct {
		v  any
		ok bool
	}{"none": {tuple{}, true}, "most": {axes(maxAxes), true}, "more": {axes(maxAxes + 1), false}, "negative": {tuple{int64(-1)}, false}, "zero": {tuple{int64(0)}, true}, "text": {tuple{"1"}, false}, "a list": {&list{}, false}, "nothing": {nil, false}} {
		if v, ok := integers64(c.v); ok != c.ok || ok && len(v) != len(c.v.(tuple)) {
			t.Errorf("%s: %v, %v", name, v, ok)
		}
	}
}

// TestArrowColumnsThatAreTooLarge: lists whose claims no file holds, and those of the largest that one may.
func TestArrowColumnsThatAreTooLarge(t *testing.T) {
	node := func(length int64) []byte {
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(length)), 0)
	}
	for width, cause := range map[int]string{1 << 13: "", 1<<13 + 1: "it claims more values than any file holds", 0: "have different lengths or none"} {
		const rows = 1 << 30
		f := &arrowField{name: "x", kind: arrowFixedList, size: width, children: []*arrowField{{kind: arrowFloat, dtype: F32}}}
		a := &arrowFile{fields: []*arrowField{f}, account: newAccount(nil, 100), batches: []arrowBatch{{rows: rows, codec: -1, nodes: append(node(rows), node(rows)...), buffers: make([]byte, 48)}}}
		c := &arrowColumn{arrowFile: a, f: f, width: 1}
		_, err := c.shape()
		if cause == "" {
			if err != nil || c.rows != rows || c.width != width {
				t.Errorf("%d rows of %d: %v", c.rows, c.width, err)
			}
		} else {
			says(t, "a large column", err, cause)
		}
	}
}

// TestProductsOfSizes: of no axes 1, with an axis of none 0 whatever the others are, and false beyond the limit or where one is negative.
func TestProductsOfSizes(t *testing.T) {
	for _, c := range []struct {
		shape []int
		limit int
		want  int
		ok    bool
	}{{nil, 1, 1, true}, {[]int{2, 3}, 6, 6, true}, {[]int{2, 3}, 5, 0, false}, {[]int{0, 1 << 62, 1 << 62}, 6, 0, true}, {[]int{1 << 62, 1 << 62, 0}, 6, 0, true}, {[]int{-1}, 6, 0, false}, {[]int{-1, -1}, 6, 0, false}, {[]int{1, 1, 6}, 6, 6, true}, {[]int{7}, 6, 0, false}, {[]int{1 << 32, 1 << 32}, 1 << 62, 0, false}} {
		if n, ok := product(c.shape, c.limit); ok != c.ok || ok && n != c.want {
			t.Errorf("%v up to %d: %d, %v; want %d, %v", c.shape, c.limit, n, ok, c.want, c.ok)
		}
	}
}

// TestWholeNumbersOfTables: digits are read whole; other spellings as long as a float64 tells the number from its neighbours.
func TestWholeNumbersOfTables(t *testing.T) {
	for text, want := range map[string]string{
		"7": "7 true", "-7": "-7 true", "9223372036854775807": "9223372036854775807 true", "-9223372036854775808": "-9223372036854775808 true", "1.0": "1 true", "1e3": "1000 true", "-2.5e1": "-25 true",
		"9007199254740991.0": "9007199254740991 true", "-9007199254740991.0": "-9007199254740991 true", "9007199254740992.0": "false", "-9007199254740992.0": "false", "-1e300": "false", "1e300": "false",
		"1.5": "false", "x": "false", "": "false", "NaN": "false", "Inf": "false", "9223372036854775808": "false",
	} {
		n, ok := wholeNumber(text)
		if got := map[bool]string{true: fmt.Sprint(n, " ", ok), false: fmt.Sprint(ok)}[ok]; got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestSpacesInTables: those before a field of commas do not belong to it, while between tabs an empty field stays one.
func TestSpacesInTables(t *testing.T) {
	checkContents(t, "commas", []byte("a, b\n1, 2\n3, 4\n"), "a I64 [2] [1 3] b I64 [2] [2 4]")
	checkContents(t, "tabs", []byte("a\tb\n1\t2\n3\t4\n"), "a I64 [2] [1 3] b I64 [2] [2 4]")
	f, err := Parse([]byte("a\tb\n\t2\n1\t3\n"))
	if err != nil {
		t.Fatal(err)
	}
	if r := f.Refused(); len(r) != 1 || r[0].Name != "a" || !strings.Contains(r[0].Err.Error(), "empty") || len(f.Headers()) != 1 || f.Headers()[0].Name != "b" {
		t.Errorf("an empty field before a tab: %v, %v", f.Headers(), r)
	}
}

// TestDictionariesOfArrowThatChange: the words of rows that were read would be others; two dictionaries before the first rows are one replaced.
func TestDictionariesOfArrowThatChange(t *testing.T) {
	seen := 0
	for name, b := range arrowFiles(t) {
		if bytes.HasPrefix(b, []byte(arrowMagic)) {
			continue
		}
		var dictionary []byte
		first, end := 0, 0
		a := &arrowFile{dictionaries: map[int64][]arrowBatch{}, account: newAccount(nil, len(b)), limit: freeParquet}
		for at := 0; len(b)-at >= 8 && binary.LittleEndian.Uint32(b[at+4:]) != 0; {
			next, err := a.messageAt(b, at)
			if err != nil {
				t.Fatal(err)
			}
			if len(a.dictionaries) > 0 && dictionary == nil {
				dictionary, first = b[at:next], next
			}
			at, end = next, next
		}
		if dictionary == nil {
			continue
		}
		seen++
		changed := append(append(bytes.Clone(b[:end]), dictionary...), b[end:]...)
		says(t, name, parseAll(changed), "a dictionary that changes between batches is not read")
		twice := append(append(bytes.Clone(b[:first]), dictionary...), b[first:]...)
		got, err := spelled(twice)
		want, _ := spelled(b)
		if err != nil || got != want {
			t.Errorf("%s: the same dictionary twice: %v", name, err)
		}
	}
	if seen == 0 {
		t.Error("no stream has a dictionary")
	}
}
