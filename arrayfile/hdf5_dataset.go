package arrayfile

import (
	"bytes"
	"math"
	"slices"
	"strings"
)

// hdf5Dataset is an array's description: what it holds, how large it is and where it lies.
type hdf5Dataset struct {
	f       *hdf5File
	h       Header
	text    *hdf5Text // nil: numbers
	element int       // bytes
	dims    []uint64
	most    []uint64 // what the axes may grow to
	filters []hdf5Filter
	layout  []byte
}

// dataset returns the entry of an array. What cannot be read is an entry that says why.
func (f *hdf5File) dataset(name string, messages []hdf5Message) (e entry) {
	d := &hdf5Dataset{f: f, h: Header{Name: name}}
	e.Name = name
	defer recoveredHDF5(&e.err)
	for _, m := range messages {
		c := &hdf5Cursor{f, m.b}
		if m.shared && m.kind == hdf5Datatype {
			c = &hdf5Cursor{f, f.committed(c)}
		} else if m.shared && m.kind != hdf5Attribute {
			panic(naturef("a part of its header (%d) is shared with others", m.kind))
		}
		switch m.kind {
		case hdf5Dataspace:
			d.space(c)
		case hdf5Datatype:
			d.kind(c)
		case hdf5Layout:
			d.layout = c.b
		case hdf5Filters:
			d.filters = pipeline(c)
		case hdf5External:
			panic(naturef("its numbers lie in another file"))
		case hdf5Attribute:
			d.attribute(c)
		}
	}
	if d.element == 0 {
		damagedHDF5("it has no type")
	}
	n, ok := product(d.shape(), math.MaxInt/d.element)
	if !ok || len(d.dims) > 32 {
		damagedHDF5("a shape of %v is impossible", d.dims)
	}
	e.Header = d.h
	e.Shape = d.shape()
	if f.matlab {
		slices.Reverse(e.Shape)
		e.Fortran = len(e.Shape) > 1
	}
	e.load = func() ([]byte, error) { return d.bytes(n * d.element) }
	if d.text != nil {
		e.DType, e.BigEndian = I64, false
		words := wordNumbers{account: f.account}
		e.words = func() ([]string, error) { err := d.words(n, &words); return words.words, err }
		e.load = func() ([]byte, error) { return words.codes, nil }
	}
	return e
}

func (d *hdf5Dataset) shape() []int {
	out := make([]int, len(d.dims))
	for i, n := range d.dims {
		out[i] = int(n)
	}
	return out
}

// committed returns the type that several arrays share, from the header of the object that holds it.
func (f *hdf5File) committed(c *hdf5Cursor) []byte {
	version, kind := c.byte(), c.byte()
	if version == 1 {
		c.skip(6)
	}
	if version == 3 && kind != 2 {
		panic(naturef("its type lies in a heap of shared messages"))
	}
	m := find(f.messages(c.address()), hdf5Datatype)
	if m == nil || m.shared {
		damagedHDF5("its type is not where it should be")
	}
	return m.b
}

func (d *hdf5Dataset) space(c *hdf5Cursor) {
	version, rank, flags, kind := c.byte(), int(c.byte()), c.byte(), c.byte()
	if version == 1 {
		c.skip(4)
	} else if version == 2 && kind == 2 {
		panic(naturef("it is empty: it has no shape"))
	}
	for range rank {
		d.dims = append(d.dims, c.size())
	}
	d.most = d.dims
	if flags&1 != 0 {
		d.most = nil
		for range rank {
			d.most = append(d.most, c.size())
		}
	}
}

// attribute looks for what MATLAB says of an array: letters and truth values are numbers otherwise, and an empty array holds its own shape.
func (d *hdf5Dataset) attribute(c *hdf5Cursor) {
	version := c.byte()
	c.skip(1)
	n := c.uint(2)
	c.skip(4)
	if version == 3 {
		c.skip(1)
	}
	name := strings.TrimRight(string(c.take(n)), "\x00")
	if !d.f.matlab {
		return
	}
	if name == "MATLAB_empty" {
		panic(naturef("it is empty"))
	}
	for _, class := range []string{"char", "cell", "struct", "function_handle", "table"} {
		if name == "MATLAB_class" && bytes.Contains(c.b, []byte(class)) {
			panic(naturef("the array is of class %s; only real numerical arrays are read", class))
		}
	}
}

// Classes of types.
var hdf5Classes = map[byte]string{2: "times", 4: "bit fields", 5: "opaque", 6: "records of several values (a table, or complex numbers)", 7: "references", 9: "lists of unequal length", 10: "arrays within an array", 11: "complex numbers"}

// kind reads the type of the elements.
func (d *hdf5Dataset) kind(c *hdf5Cursor) {
	first := c.byte()
	class, version := first&15, first>>4
	flags := c.uint(3)
	size := c.uint(4)
	d.element = int(size)
	switch class {
	case 0:
		d.number(hdf5Integers[[2]uint64{size, flags >> 3 & 1}], flags, c.uint(2) == 0 && c.uint(2) == 8*size)
	case 1:
		layout := c.take(12)
		for dtype, want := range hdf5Floats {
			if string(layout) == want {
				d.number(dtype, flags, flags>>8 == 8*size-1 && size == uint64(dtype.Size()))
				return
			}
		}
		d.number(0, flags, false)
	case 3:
		d.text = &hdf5Text{pad: flags & 15}
	case 8:
		d.enum(c, version, flags&0xffff)
	case 9:
		if flags&15 != 1 {
			panic(naturef("the array holds %s, which are not read", hdf5Classes[9]))
		}
		d.text = &hdf5Text{heap: true, collections: map[uint64]map[uint64][]byte{}}
	default:
		panic(naturef("the array holds %s, which are not read", hdf5Classes[class]))
	}
	if size == 0 || size > math.MaxInt32 {
		damagedHDF5("elements of %d bytes", size)
	}
}

// hdf5Integers are types by their bytes and sign.
var hdf5Integers = map[[2]uint64]DType{{1, 0}: U8, {1, 1}: I8, {2, 0}: U16, {2, 1}: I16, {4, 0}: U32, {4, 1}: I32, {8, 0}: U64, {8, 1}: I64}

// hdf5Floats are the places and sizes of the parts of a number: all bits, exponent and mantissa, and the exponent's bias.
var hdf5Floats = map[DType]string{
	F16:  "\x00\x00\x10\x00\x0a\x05\x00\x0a\x0f\x00\x00\x00",
	BF16: "\x00\x00\x10\x00\x07\x08\x00\x07\x7f\x00\x00\x00",
	F32:  "\x00\x00\x20\x00\x17\x08\x00\x17\x7f\x00\x00\x00",
	F64:  "\x00\x00\x40\x00\x34\x0b\x00\x34\xff\x03\x00\x00",
}

func (d *hdf5Dataset) number(dtype DType, flags uint64, whole bool) {
	if !whole || !dtype.valid() || flags&0x40 != 0 {
		panic(naturef("the array holds numbers of %d bytes in a form of their own, which is not read", d.element))
	}
	d.h.DType, d.h.BigEndian = dtype, flags&1 != 0 && dtype.Size() > 1
}

// enum reads named numbers as numbers. h5py stores truth values so.
func (d *hdf5Dataset) enum(c *hdf5Cursor, version byte, members uint64) {
	size := d.element
	d.kind(c)
	if d.text != nil || d.element != size {
		damagedHDF5("names of %d bytes for elements of %d", size, d.element)
	}
	var names []string
	for range min(members, 3) {
		end := bytes.IndexByte(c.b, 0)
		name := string(c.b[:end])
		names = append(names, name)
		if end++; version < 3 {
			end = (end + 7) &^ 7
		}
		c.skip(end)
	}
	if d.h.DType == I8 && slices.Equal(names, []string{"FALSE", "TRUE"}) && bytes.HasPrefix(c.b, []byte{0, 1}) {
		d.h.DType = Bool
	}
}
