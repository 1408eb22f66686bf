package arrayfile

import (
	"encoding/json"
	"slices"
)

// jsonColumn is what all values of one name hold.
type jsonColumn struct {
	name   string
	rows   int   // records that have it
	sides  []int // lengths of the lists, outermost first; -1: not known yet
	axes   int   // how many lists a number lies in, plus one; 0: not known yet
	ints   []int64
	floats []float64 // instead of ints, as soon as one is no whole number
	words  wordNumbers
	err    error
}

func (c *jsonColumn) fail(format string, args ...any) {
	if c.err == nil {
		c.err = naturef(format, args...)
		c.ints, c.floats, c.words.codes = nil, nil, nil
	}
}

func (c *jsonColumn) begin(records int) {
	if c.rows++; c.rows > records+1 {
		c.fail("a record has it twice")
	}
}

// side takes the length of a list, which is the same in all places.
func (c *jsonColumn) side(depth, n int) {
	for len(c.sides) <= depth {
		c.sides = append(c.sides, -1)
	}
	if c.sides[depth] >= 0 && c.sides[depth] != n {
		c.fail("its lists have different lengths: %d and %d", c.sides[depth], n)
	}
	c.sides[depth] = n
}

func (c *jsonColumn) add(t json.Token, depth int) error {
	if c.axes == 0 {
		c.axes = depth + 1
	} else if c.axes != depth+1 {
		c.fail("its values lie in %d lists, and some in %d", c.axes-1, depth)
	}
	if c.err != nil {
		return nil
	}
	n := int64(0)
	switch v := t.(type) {
	case json.Number:
		whole, err := v.Int64()
		if err != nil || c.floats != nil {
			return c.float(v)
		}
		n = whole
	case bool:
		if v {
			n = 1
		}
	case string:
		return c.word(v)
	default:
		c.fail("record %d has null", c.rows-1)
		return nil
	}
	if c.words.codes != nil {
		c.fail("it holds numbers and text")
	} else if c.floats != nil {
		c.floats = append(c.floats, float64(n))
	} else {
		c.ints = append(c.ints, n)
	}
	return nil
}

// float adds a number that is not whole, or follows one.
func (c *jsonColumn) float(v json.Number) error {
	x, err := v.Float64()
	if err != nil {
		c.fail("%.40q is beyond a double", v.String())
		return nil
	}
	if c.floats == nil {
		c.floats = make([]float64, len(c.ints), cap(c.ints)+1)
		for i, n := range c.ints {
			c.floats[i] = float64(n)
		}
		c.ints = nil
	}
	if c.words.codes != nil {
		c.fail("it holds numbers and text")
		return nil
	}
	c.floats = append(c.floats, x)
	return nil
}

func (c *jsonColumn) word(v string) error {
	if c.ints != nil || c.floats != nil {
		c.fail("it holds numbers and text")
		return nil
	}
	if c.words.seen == nil {
		if err := c.words.start(0); err != nil {
			return err
		}
	}
	return c.words.see([]byte(v))
}

// entry returns the column of all records; the values of a single one are whole arrays.
func (c *jsonColumn) entry(records int, single bool) entry {
	shape := slices.Clone(c.sides)
	if !single {
		shape = append([]int{c.rows}, shape...)
	}
	n := max(len(c.ints), len(c.floats), len(c.words.codes)/8)
	if want, ok := product(shape, n); c.err == nil && c.rows != records {
		c.fail("%d of %d records have it", c.rows, records)
	} else if c.err == nil && (!ok || want != n || c.axes != len(c.sides)+1) {
		c.fail("its lists are empty or of different depth")
	}
	switch {
	case c.err != nil:
		return entry{Header: Header{Name: c.name}, err: c.err}
	case c.words.codes != nil:
		a := Array{Header{Name: c.name, DType: I64, Shape: shape, Categories: c.words.words}, c.words.codes}
		return loaded(a)[0]
	case c.floats != nil:
		return loaded(Of(c.name, shape, c.floats))[0]
	}
	return loaded(Of(c.name, shape, c.ints))[0]
}
