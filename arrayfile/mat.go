package arrayfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Level 5 MAT-files (MATLAB 5 to 7; MathWorks, "MAT-File Format", R2023b): a header of 128 bytes, then elements, each a tag with
// type and size followed by its data, padded to 8 bytes, except that compressed elements follow one another without padding.
// Numerical arrays and lists of words are read, also as fields of a structure; other cells, arrays of structures, sparse and complex arrays are named and refused. Files of MATLAB 7.3 are HDF5.

// matHeader is the length of the header: 116 bytes of text, 8 of an offset, a version and the letters that give the byte order.
const matHeader = 128

// Types of data elements.
const (
	matMatrix     = 14
	matCompressed = 15
)

// matTypes gives the element types that hold numbers, by their code.
var matTypes = map[uint32]DType{1: I8, 2: U8, 3: I16, 4: U16, 5: I32, 6: U32, 7: F32, 9: F64, 12: I64, 13: U64}

// isMAT reports whether b starts like a file of MATLAB 5 to 7.
func isMAT(b []byte) bool { return bytes.HasPrefix(b, []byte("MATLAB ")) }

// parseMAT lists the arrays of a file; compressed ones are unpacked only as far as their names and shapes.
func parseMAT(b []byte, account *account) ([]entry, error) {
	order, err := matOrder(b)
	if err != nil {
		return nil, fmt.Errorf("arrayfile: mat: %w", err)
	}
	var entries []entry
	seen := map[string]bool{}
	for at := matHeader; at < len(b); {
		some, end, err := nextMAT(b, at, order, account)
		if err != nil {
			return nil, fmt.Errorf("arrayfile: mat: element at byte %d: %w", at, err)
		}
		at = end
		for _, e := range some {
			if e.Name == "" {
				continue // a subsystem's data, which belongs to objects that are not read
			}
			if seen[e.Name] {
				return nil, fmt.Errorf("arrayfile: mat: %q occurs twice", e.Name)
			}
			seen[e.Name] = true
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// matOrder checks the header.
func matOrder(b []byte) (binary.ByteOrder, error) {
	if len(b) < matHeader {
		return nil, fmt.Errorf("the file ends within its header, after %d of %d bytes", len(b), matHeader)
	}
	var order binary.ByteOrder
	switch string(b[126:128]) {
	case "IM":
		order = binary.LittleEndian
	case "MI":
		order = binary.BigEndian
	default:
		return nil, fmt.Errorf("the header ends with %q; want IM or MI", b[126:128])
	}
	if v := order.Uint16(b[124:]); v != 0x0100 {
		return nil, fmt.Errorf("version %#04x; want 0x0100, which MATLAB 5 to 7 write: save with -v7", v)
	}
	return order, nil
}

// nextMAT reads the element at a byte offset, and returns where the next one starts.
func nextMAT(b []byte, at int, order binary.ByteOrder, account *account) ([]entry, int, error) {
	if len(b)-at < 8 {
		return nil, 0, fmt.Errorf("the file ends with %d bytes, which hold no tag", len(b)-at)
	}
	kind, size := order.Uint32(b[at:]), int64(order.Uint32(b[at+4:]))
	if size > int64(len(b)-at-8) {
		return nil, 0, fmt.Errorf("%d bytes are claimed and %d are left; the file was cut short", size, len(b)-at-8)
	}
	body := b[at+8:][:size:size]
	end := at + 8 + int(size)
	switch kind {
	case matCompressed:
		e, err := matElement{packed: body, account: account, order: order}.entries(0)
		return e, end, err
	case matMatrix:
		e, err := matElement{body: body, account: account, order: order}.entries(0)
		return e, min(end+padding(size), len(b)), err
	}
	return nil, 0, fmt.Errorf("type %d; want 14 (an array) or 15 (a compressed one)", kind)
}

// padding is the number of bytes missing to a multiple of 8.
func padding(size int64) int { return int(-size & 7) }

// entry reads name and shape. An array that has a name but is not read is an entry with the reason; anything else is an error.
func (m matElement) entry() (entry, error) {
	h, err := m.header()
	if h.class == matCell || h.class == matChar {
		if e, none := m.wordEntry(h); none == nil {
			return e, nil
		}
	}
	switch {
	case err != nil && !h.named:
		return entry{}, err
	case err != nil:
		return entry{Header: Header{Name: h.Name}, err: err}, nil
	}
	return entry{Header: h.Header, load: func() ([]byte, error) { return m.load(h) }}, nil
}

// matArray is a header and where its numbers are within the element.
type matArray struct {
	Header
	class byte // of an array of no numbers; 0: numbers
	named bool // the name was read, even if it is empty
	first int64
}

// Array classes and flags: the first byte of the array flags, and the second.
const (
	matSparse      = 5
	matFirstNumber = 6
	matLastNumber  = 15
	matComplex     = 8
)

var matClasses = map[byte]string{matCell: "a cell array", matStructure: "a structure", 3: "an object", matChar: "text", matSparse: "sparse"}

// header reads up to the numbers. The name is set as soon as it is known, even if an error follows.
func (m matElement) header() (matArray, error) {
	var h matArray
	s, err := m.open()
	if err != nil {
		return h, err
	}
	flags, err := s.element(6, 8)
	if err != nil || len(flags) != 8 {
		return h, errors.Join(errors.New("array flags are missing"), err)
	}
	dims, err := s.element(5, 4*maxAxes)
	if err != nil || len(dims) < 8 || len(dims)%4 != 0 {
		return h, errors.Join(errors.New("dimensions are missing"), err)
	}
	name, err := s.element(1, 1<<12)
	if err != nil {
		return h, fmt.Errorf("array name: %w", err)
	}
	h.Name, h.named = string(name), true
	for i := 0; i < len(dims); i += 4 {
		h.Shape = append(h.Shape, int(int32(m.order.Uint32(dims[i:]))))
	}
	word := m.order.Uint32(flags)
	class, options := byte(word), byte(word>>8)
	if class < matFirstNumber || class > matLastNumber || options&matComplex != 0 {
		what := matClasses[class]
		if options&matComplex != 0 {
			what = "complex"
		} else if what == "" {
			what = fmt.Sprintf("of class %d", class)
		}
		h.class, h.first = class, s.at
		if class == matStructure {
			return h, naturef("the array is a structure of several; in MATLAB: s = %[1]s(1); save x.mat -struct s saves the fields of one", h.Name)
		}
		return h, naturef("the array is %s; real numbers and lists of words are read", what)
	}
	return h, s.numbers(&h)
}

// numbers reads the tag of the numbers, whose type is often smaller than the class: whole doubles are stored in bytes.
func (s *matStream) numbers(h *matArray) error {
	kind, size, small, err := s.tag()
	if err != nil {
		return fmt.Errorf("numbers: %w", err)
	}
	h.DType = matTypes[kind]
	if !h.DType.valid() {
		return fmt.Errorf("its numbers are of type %d, which is not a numeric type", kind)
	}
	h.Fortran, h.BigEndian = true, s.order == binary.BigEndian && h.DType.Size() > 1
	h.first = s.at
	if small != nil {
		h.first -= 4
	}
	n, ok := product(h.Shape, math.MaxInt/h.DType.Size())
	if want := n * h.DType.Size(); !ok || int64(want) != size || s.left() < size-int64(len(small)) {
		return fmt.Errorf("shape %v of %s makes %d bytes, the file says %d and has room for %d", h.Shape, h.DType, want, size, s.left()+int64(len(small)))
	}
	return nil
}
