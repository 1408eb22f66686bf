package arrayfile

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// columnKind says what a column holds.
type columnKind struct {
	text  bool
	whole bool // whole numbers of 64 bits
	list  int  // how many numbers each of its lists has; 0: it holds none; -1: not known yet
	empty int  // rows without a value
	at    int  // the first of them
}

// mostWhole is where float64 no longer holds every whole number: beyond it only digits alone are one.
const mostWhole = 1 << 53

// wholeNumber reads a whole number, also if it is written as 1.0 or 1e3.
func wholeNumber(field string) (int64, bool) {
	if n, err := strconv.ParseInt(field, 10, 64); err == nil {
		return n, true
	}
	v, err := strconv.ParseFloat(field, 64)
	return int64(v), err == nil && v == math.Trunc(v) && math.Abs(v) < mostWhole
}

func (k *columnKind) see(field string, row int) {
	if field == "" {
		if k.empty == 0 || row < k.at {
			k.at = row
		}
		k.empty++
		return
	}
	if k.list != 0 {
		n, _ := listOf(field, nil)
		if k.text = k.list > 0 && n != k.list; !k.text {
			k.list = n
		} else {
			k.list, k.whole = 0, false
		}
	}
	if k.text || k.list > 0 {
		return
	}
	if k.whole {
		_, k.whole = wholeNumber(field)
	}
	if !k.whole {
		_, err := strconv.ParseFloat(field, 64)
		k.text = err != nil && !errors.Is(err, strconv.ErrRange)
	}
}

// listOf appends to dst the numbers of a list in one field, as pandas writes lists, numpy's arrays and lists of numpy's numbers:
// [0.5, 1], [0.5 1. ], [np.float32(0.5), np.float32(1.0)]. It returns how many there are, 0 if the field is no such list.
func listOf(field string, dst []float64) (int, []float64) {
	if len(field) < 2 || field[0] != '[' || field[len(field)-1] != ']' {
		return 0, dst
	}
	n := 0
	for item := range strings.FieldsFuncSeq(field[1:len(field)-1], func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\r' || r == '\t' }) {
		if inner, ok := strings.CutPrefix(item, "np.float"); ok {
			_, inner, _ = strings.Cut(inner, "(")
			item = strings.TrimSuffix(inner, ")")
		}
		v, err := strconv.ParseFloat(item, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return 0, dst
		}
		n, dst = n+1, append(dst, v)
	}
	return n, dst
}

// tableColumn is a column with its values: whole numbers, numbers, lists of numbers, or the numbers of words.
type tableColumn struct {
	columnKind
	rows   int
	ints   []int64
	floats []float64
	words  []string
	seen   map[string]int64
}

// add takes the next field; an empty one makes a column of numbers unread.
func (c *tableColumn) add(field string, account *account) error {
	c.rows++
	switch {
	case c.list > 0:
		_, c.floats = listOf(field, c.floats)
	case c.text:
		n, known := c.seen[field]
		if !known {
			if err := account.take(int64(len(field)) + wordMemory); err != nil {
				return err
			}
			if c.seen == nil {
				c.seen = map[string]int64{}
			}
			field, n = strings.Clone(field), int64(len(c.words))
			c.seen[field], c.words = n, append(c.words, field)
		}
		c.ints = append(c.ints, n)
	case c.whole:
		n, _ := wholeNumber(field)
		c.ints = append(c.ints, n)
	default:
		v, _ := strconv.ParseFloat(field, 64)
		c.floats = append(c.floats, v)
	}
	return nil
}

func (c *tableColumn) entry(name string) entry {
	switch {
	case !c.text && c.empty > 0:
		return entry{Header: Header{Name: name}, err: naturef("%d of its %d rows are empty, the first is row %d; drop such rows", c.empty, c.rows, c.at)}
	case c.list > 0:
		return loaded(Of(name, []int{c.rows, c.list}, c.floats))[0]
	case c.text || c.whole:
		a := Of(name, []int{c.rows}, c.ints)
		a.Categories = c.words
		return loaded(a)[0]
	}
	return loaded(Of(name, []int{c.rows}, c.floats))[0]
}
