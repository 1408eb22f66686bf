package arrayfile

import (
	"encoding/binary"
	"errors"
)

// words numbers the rows by their texts.
func (c *arrowColumn) words() (words []string, err error) {
	defer recoveredArrow(&err)
	if err := c.numbers.start(c.rows); err != nil {
		return nil, err
	}
	if c.f.dictionary {
		err := c.coded(c.numbers.see)
		return c.numbers.words, err
	}
	for b := range c.batches {
		batch := &c.batches[b]
		if err := c.texts(batch, c.at(c.i, batch), batch.rows, c.numbers.see); err != nil {
			return nil, err
		}
	}
	return c.numbers.words, nil
}

// coded visits the texts of a column that numbers those of a dictionary.
func (c *arrowColumn) coded(see func([]byte) error) error {
	var dictionary [][]byte
	for b := range c.dictionaries[c.f.id] {
		batch := &c.dictionaries[c.f.id][b]
		if _, nulls := batch.node(0); nulls != 0 {
			return errors.New("its dictionary holds nulls")
		}
		if err := c.account.take(24 * int64(batch.rows)); err != nil {
			return err
		}
		err := c.texts(batch, place{}, batch.rows, func(text []byte) error { dictionary = append(dictionary, text); return nil })
		if err != nil {
			return err
		}
	}
	for b := range c.batches {
		batch := &c.batches[b]
		data, taken, err := c.buffer(batch, c.at(c.i, batch).buffer+1)
		if err == nil {
			n := batch.rows * c.f.dtype.Size()
			var codes []int64
			codes, err = Array{Header{DType: c.f.dtype, Shape: []int{batch.rows}}, data[:n:n]}.Int64s()
			for _, code := range codes {
				if err == nil {
					err = see(dictionary[code])
				}
			}
		}
		if c.account.give(taken); err != nil {
			return err
		}
	}
	return nil
}

// texts visits n texts of a batch. They share its memory, or that of an unpacked buffer, which stays taken.
func (c *arrowColumn) texts(batch *arrowBatch, p place, n int, see func([]byte) error) error {
	if n == 0 {
		return nil
	}
	if c.f.kind == arrowUtf8View {
		return c.views(batch, p, n, see)
	}
	offsets, _, err := c.offsets(batch, p)
	if err != nil {
		return err
	}
	data, _, err := c.buffer(batch, p.buffer+2)
	for i := 0; err == nil && i < n; i++ {
		err = see(data[offsets(i):offsets(i+1)])
	}
	return err
}

// views visits texts that are described by 16 bytes each: a length and, up to 12 bytes, the text, else four bytes of it, a buffer and a
// place in it.
func (c *arrowColumn) views(batch *arrowBatch, p place, n int, see func([]byte) error) error {
	views, _, err := c.buffer(batch, p.buffer+1)
	if err != nil {
		return err
	}
	buffers := map[int][]byte{}
	for i := range n {
		v := views[16*i:][:16]
		size := int(int32(binary.LittleEndian.Uint32(v)))
		if size <= 12 {
			if err := see(v[4:][:size]); err != nil {
				return err
			}
			continue
		}
		of := int(int32(binary.LittleEndian.Uint32(v[8:])))
		if buffers[of] == nil {
			if of < 0 || uint64(of) >= binary.LittleEndian.Uint64(batch.variadic[8*p.variadic:]) {
				return errors.New("a text lies in no buffer")
			}
			if buffers[of], _, err = c.buffer(batch, p.buffer+2+of); err != nil {
				return err
			}
		}
		if err := see(buffers[of][binary.LittleEndian.Uint32(v[12:]):][:size]); err != nil {
			return err
		}
	}
	return nil
}
