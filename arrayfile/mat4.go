package arrayfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// Level 4 MAT-files (MathWorks, "MAT-File Format", R2023b, chapter 2; scipy.io.savemat(…, format="4")): matrices one after the other, each
// a header of five numbers of 32 bits, a name and the elements by columns. There is no magic number: a file is one if its first header
// cannot be anything else.

const mat4Header = 20

// mat4Types are the element types by the tens digit of a matrix' type.
var mat4Types = [...]DType{F64, F32, I32, I16, U16, U8}

// mat4 is the header of a matrix.
type mat4 struct {
	order         binary.ByteOrder
	kind          uint32 // 0: full, 1: text, 2: sparse
	dtype         DType
	rows, columns int
	imaginary     bool
	name          string
	begin, end    int // of the real part, in the file
}

// isMAT4 reports whether b begins with a matrix of level 4.
func isMAT4(b []byte) bool {
	_, err := nextMAT4(b, 0)
	return err == nil
}

// nextMAT4 reads the header at a byte offset.
func nextMAT4(b []byte, at int) (m mat4, err error) {
	if len(b)-at < mat4Header+2 {
		return m, fmt.Errorf("the file ends with %d bytes, which hold no matrix", len(b)-at)
	}
	m.order = binary.LittleEndian
	kind := m.order.Uint32(b[at:])
	if kind > 9999 {
		m.order = binary.BigEndian
		kind = m.order.Uint32(b[at:])
	}
	var field [4]uint32
	for i := range field {
		field[i] = m.order.Uint32(b[at+4+4*i:])
	}
	big := uint32(0)
	if m.order == binary.BigEndian {
		big = 1
	}
	if kind/1000 != big || kind/100%10 != 0 || kind/10%10 >= uint32(len(mat4Types)) || kind%10 > 2 || field[2] > 1 || field[0] > math.MaxInt32 || field[1] > math.MaxInt32 {
		return m, fmt.Errorf("type %d, imaginary part %d; want those of a matrix", kind, field[2])
	}
	m.kind, m.dtype, m.rows, m.columns, m.imaginary = kind%10, mat4Types[kind/10%10], int(field[0]), int(field[1]), field[2] == 1
	length := int64(field[3])
	if length < 2 || length > 1<<12 || length > int64(len(b)-at-mat4Header) {
		return m, fmt.Errorf("a name of %d bytes", length)
	}
	name := b[at+mat4Header:][:length]
	if m.name = string(name[:length-1]); name[length-1] != 0 || bytes.ContainsFunc(name[:length-1], func(r rune) bool { return r <= ' ' || r > '~' }) {
		return m, fmt.Errorf("a name of %q", name)
	}
	m.begin = at + mat4Header + int(length)
	n, ok := product([]int{m.rows, m.columns}, len(b)/m.dtype.Size())
	size := n * m.dtype.Size()
	parts := 1
	if m.imaginary {
		parts = 2
	}
	if !ok || size > (len(b)-m.begin)/parts {
		return m, fmt.Errorf("%q claims %d×%d numbers, and %d bytes are left; the file was cut short", m.name, m.rows, m.columns, len(b)-m.begin)
	}
	m.end = m.begin + size
	return m, nil
}

// parseMAT4 lists the matrices.
func parseMAT4(b []byte, account *account) ([]entry, error) {
	var entries []entry
	seen := map[string]bool{}
	for at := 0; at < len(b); {
		m, err := nextMAT4(b, at)
		if err == nil && seen[m.name] {
			err = fmt.Errorf("%q occurs twice", m.name)
		}
		if err == nil {
			err = account.take(entryMemory)
		}
		if err != nil {
			return nil, fmt.Errorf("arrayfile: mat: matrix at byte %d: %w", at, err)
		}
		seen[m.name] = true
		if at = m.end; m.imaginary {
			at += m.end - m.begin
		}
		e := entry{Header: Header{Name: m.name}}
		switch {
		case m.kind != 0 || m.imaginary:
			e.err = naturef("the array is %s; only real numerical arrays are read", [...]string{"complex", "text", "sparse"}[m.kind])
		default:
			e.DType, e.Shape, e.Fortran = m.dtype, []int{m.rows, m.columns}, true
			e.BigEndian = m.order == binary.BigEndian && m.dtype.Size() > 1
			e.load = func() ([]byte, error) { return b[m.begin:m.end:m.end], nil }
		}
		entries = append(entries, e)
	}
	return entries, nil
}
