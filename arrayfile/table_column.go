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
	if k.text {
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

// tableColumn is a column with its values: whole numbers, numbers, or the numbers of words.
type tableColumn struct {
	columnKind
	ints   []int64
	floats []float64
	words  []string
	seen   map[string]int64
}

// add takes the next field; an empty one makes a column of numbers unread.
func (c *tableColumn) add(field string, account *account) error {
	switch {
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
	n := len(c.ints) + len(c.floats)
	switch {
	case !c.text && c.empty > 0:
		return entry{Header: Header{Name: name}, err: naturef("%d of its %d rows are empty, the first is row %d; drop such rows", c.empty, n, c.at)}
	case c.text || c.whole:
		a := Of(name, []int{n}, c.ints)
		a.Categories = c.words
		return loaded(a)[0]
	}
	return loaded(Of(name, []int{n}, c.floats))[0]
}
