package arrayfile

import (
	"bytes"
	"fmt"
)

// hdf5Text says how text is stored: in place, or in a heap that elements point to.
type hdf5Text struct {
	pad         uint64 // 0: ends with a zero, 1: zeros follow, 2: spaces follow
	heap        bool
	collections map[uint64]map[uint64][]byte // heaps that were read, by their address
}

// words numbers the elements by their text.
func (d *hdf5Dataset) words(n int, words *wordNumbers) (err error) {
	defer recoveredHDF5(&err)
	if err := words.start(n); err != nil {
		return err
	}
	if !d.text.heap && d.element > maxWord {
		return fmt.Errorf("text of %d characters is impossible for a label; at most %d are read", d.element, maxWord)
	}
	data, err := d.bytes(n * d.element)
	if err != nil {
		return err
	}
	f := *d.f
	f.spent = 0
	for i := range n {
		raw := data[i*d.element:][:d.element]
		switch {
		case d.text.heap:
			raw = f.inHeap(d.text, raw)
		case d.text.pad == 0:
			raw, _, _ = bytes.Cut(raw, []byte{0})
		case d.text.pad == 2:
			raw = bytes.TrimRight(raw, " ")
		default:
			raw = bytes.TrimRight(raw, "\x00")
		}
		if err := words.see(raw); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return nil
}

// inHeap returns the text that an element of a length, an address and a number points to.
func (f *hdf5File) inHeap(t *hdf5Text, element []byte) []byte {
	c := &hdf5Cursor{f, element}
	n, address, index := c.uint(4), c.address(), c.uint(4)
	f.spent -= len(element) // of the array, not of a structure
	if n == 0 {
		return nil
	}
	heap, known := t.collections[address]
	if !known {
		heap = f.collection(address)
		t.collections[address] = heap
	}
	text, found := heap[index]
	if !found {
		damagedHDF5("a text lies in no heap")
	}
	f.spend(int(n)) // many elements may name one text
	return text[:n]
}

// collection reads a heap of texts.
func (f *hdf5File) collection(address uint64) map[uint64][]byte {
	c := f.from(address)
	c.sign("GCOL")
	c.skip(3)
	c = f.cursor(address, c.size())
	c.skip(8 + f.length)
	out := map[uint64][]byte{}
	for len(c.b) >= 8+f.length {
		index := c.uint(2)
		c.skip(6)
		n := c.size()
		if index == 0 {
			break // the rest is free
		}
		if err := f.account.take(wordMemory); err != nil {
			panic(err)
		}
		out[index] = c.take(n)
		c.skip(min(int(-n&7), len(c.b)))
	}
	return out
}
