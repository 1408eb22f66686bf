package arrayfile

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// arrowColumn is one column, whose parts lie in all batches.
type arrowColumn struct {
	*arrowFile
	i       int
	f       *arrowField
	rows    int
	width   int // values of a row: 1, or the length of a list
	numbers wordNumbers
}

// entry describes a column.
func (a *arrowFile) entry(i int) (e entry) {
	f := a.fields[i]
	e.Name = f.name
	defer func() { // what its bytes claim is wrong
		if r := recover(); r != nil {
			e = entry{Header: Header{Name: f.name}, err: fmt.Errorf("it is damaged: %v", r)}
		}
	}()
	c := &arrowColumn{arrowFile: a, i: i, f: f, width: 1, numbers: wordNumbers{account: a.account}}
	text, err := c.shape()
	if err != nil {
		e.err = err
		return e
	}
	e.DType, e.Shape = f.dtype, []int{c.rows}
	if text {
		e.DType, e.words, e.load = I64, c.words, func() ([]byte, error) { return c.numbers.codes, nil }
		return e
	}
	if f.isList() { // a damaged file may give a number items
		e.DType, e.Shape = f.children[0].dtype, []int{c.rows, c.width}
	}
	e.load = c.load
	return e
}

// isText reports whether the values are words.
func (f *arrowField) isText() bool {
	return f.dictionary && len(f.children) == 0 && (f.kind == arrowUtf8 || f.kind == arrowLargeUtf8 || f.kind == arrowUtf8View) ||
		!f.dictionary && (f.kind == arrowUtf8 || f.kind == arrowLargeUtf8 || f.kind == arrowUtf8View)
}

func (f *arrowField) isNumber() bool {
	return !f.dictionary && f.dtype.valid() && (f.kind == arrowInt || f.kind == arrowFloat || f.kind == arrowBool)
}

func (f *arrowField) isList() bool {
	return !f.dictionary && (f.kind == arrowList || f.kind == arrowLargeList || f.kind == arrowFixedList) && len(f.children) == 1 && f.children[0].isNumber()
}

// shape finds rows and width, and refuses nulls and lists of different lengths.
func (c *arrowColumn) shape() (text bool, err error) {
	f := c.f
	if text = f.isText(); !text && !f.isNumber() && !f.isList() {
		name := arrowNames[f.kind]
		switch {
		case f.dictionary:
			name = "dictionary of other values than text"
		case name == "" && f.kind != arrowInt && f.kind != arrowFloat:
			name = "list of other values than numbers"
		}
		return false, naturef("columns of type %s are not read; want numbers, lists of numbers, or text for labels", name)
	}
	c.width = -1
	for b := range c.batches {
		if err := c.batchShape(&c.batches[b]); err != nil {
			return false, err
		}
	}
	c.width = max(c.width, 1)
	if _, ok := product([]int{c.rows, c.width, 8}, 1<<46); !ok {
		return false, errors.New("it claims more values than any file holds")
	}
	return text, nil
}

func (c *arrowColumn) batchShape(batch *arrowBatch) error {
	p := c.at(c.i, batch)
	length, nulls := batch.node(p.node)
	if length != int64(batch.rows) {
		return fmt.Errorf("%d values in a batch of %d rows", length, batch.rows)
	}
	if nulls != 0 {
		return naturef("%d of the rows from %d on are null; drop such rows", nulls, c.rows)
	}
	c.rows += batch.rows
	if !c.f.isList() || batch.rows == 0 {
		return nil
	}
	if _, nulls := batch.node(p.node + 1); nulls != 0 {
		return naturef("its lists hold %d nulls; drop such rows", nulls)
	}
	width := c.f.size
	if c.f.kind != arrowFixedList {
		offsets, taken, err := c.offsets(batch, p)
		defer c.account.give(taken)
		if err != nil {
			return err
		}
		width = int(offsets(1) - offsets(0))
		for i := range batch.rows {
			if n := offsets(i+1) - offsets(i); n != int64(width) {
				return naturef("its lists have different lengths (%d and %d values); want one width", width, n)
			}
		}
	}
	if c.width >= 0 && c.width != width || width <= 0 {
		return naturef("its lists have different lengths or none (%d and %d values); want one width", c.width, width)
	}
	c.width = width
	return nil
}

// offsets returns a function for the places at which the lists or texts of a batch begin; it panics beyond the last.
func (c *arrowColumn) offsets(batch *arrowBatch, p place) (func(int) int64, int64, error) {
	b, taken, err := c.buffer(batch, p.buffer+1)
	if err != nil {
		return nil, taken, err
	}
	if c.f.kind == arrowLargeList || c.f.kind == arrowLargeUtf8 {
		return func(i int) int64 { return int64(binary.LittleEndian.Uint64(b[8*i:])) }, taken, nil
	}
	return func(i int) int64 { return int64(int32(binary.LittleEndian.Uint32(b[4*i:]))) }, taken, nil
}

// load returns the numbers of all batches.
func (c *arrowColumn) load() (out []byte, err error) {
	defer recoveredArrow(&err)
	f := c.f
	if f.isList() {
		f = f.children[0]
	}
	size := int64(c.rows) * int64(c.width) * int64(f.dtype.Size())
	direct := len(c.batches) == 1 && f.dtype != Bool
	if !direct {
		if err := c.account.take(size); err != nil {
			return nil, err
		}
	}
	for b := range c.batches {
		values, taken, err := c.values(&c.batches[b], f)
		if err != nil {
			c.account.give(taken)
			return nil, err
		}
		if direct {
			return values, nil
		}
		out = append(out, values...)
		c.account.give(taken)
	}
	return out, nil
}

// values returns the numbers of one batch; f is the column, or the items of its lists.
func (c *arrowColumn) values(batch *arrowBatch, f *arrowField) ([]byte, int64, error) {
	p, first := c.at(c.i, batch), 0
	if f != c.f {
		if batch.rows == 0 {
			return nil, 0, nil
		}
		if c.f.kind != arrowFixedList {
			offsets, taken, err := c.offsets(batch, p)
			if err != nil {
				return nil, taken, err
			}
			first = int(offsets(0))
			c.account.give(taken)
			p.buffer++
		}
		p.buffer++
	}
	data, taken, err := c.buffer(batch, p.buffer+1)
	if err != nil {
		return nil, taken, err
	}
	n := batch.rows * c.width
	if f.dtype == Bool {
		if n/8 > len(data) {
			return nil, taken, fmt.Errorf("%d values in %d bytes", n, len(data))
		}
		out := make([]byte, n)
		for i := range out {
			out[i] = data[(first+i)/8] >> ((first + i) % 8) & 1
		}
		return out, taken, nil
	}
	size := f.dtype.Size()
	return data[first*size:][: n*size : n*size], taken, nil
}

func recoveredArrow(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("the file is damaged: %v", r)
	}
}
