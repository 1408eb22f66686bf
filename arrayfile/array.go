// Package arrayfile reads and writes the files in which numerical programs keep arrays: numpy's
// .npy and .npz, safetensors, and, read only, PyTorch's .pt, Parquet, Arrow, HDF5, MATLAB's .mat, pickles
// of arrays, JSON and tables of text, any of them also packed with gzip.
//
// Readers are bounded: whatever a file claims, they allocate no more than its bytes justify, and nothing in a file is ever executed.
// Writers are deterministic: the same arrays give the same bytes, and a file written by this package, read and written again, stays
// the same.
//
// Read file.go first: Open recognises a format and returns arrays by name. array.go holds what all formats share.
package arrayfile

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"unsafe"
)

// DType is the type of one element.
type DType uint8

// The element types that the formats have in common. The zero value is not a type.
const (
	Bool DType = iota + 1 // one byte, 0 or 1
	U8
	I8
	U16
	I16
	U32
	I32
	U64
	I64
	F16  // IEEE 754 binary16
	BF16 // the upper half of a binary32
	F32
	F64
)

type dtype struct {
	name string // as safetensors spells it
	size int
}

var dtypes = [...]dtype{
	Bool: {"BOOL", 1}, U8: {"U8", 1}, I8: {"I8", 1}, U16: {"U16", 2}, I16: {"I16", 2},
	U32: {"U32", 4}, I32: {"I32", 4}, U64: {"U64", 8}, I64: {"I64", 8},
	F16: {"F16", 2}, BF16: {"BF16", 2}, F32: {"F32", 4}, F64: {"F64", 8},
}

func (t DType) valid() bool { return t > 0 && int(t) < len(dtypes) }

// String returns the safetensors name, such as "F32".
func (t DType) String() string {
	if !t.valid() {
		return fmt.Sprintf("DType(%d)", uint8(t))
	}
	return dtypes[t].name
}

// Size returns the bytes of one element. It panics if t is not one of the constants.
func (t DType) Size() int {
	if !t.valid() {
		panic("arrayfile: Size of an invalid DType")
	}
	return dtypes[t].size
}

// IsFloat reports whether t is a floating-point type.
func (t DType) IsFloat() bool { return t >= F16 && t <= F64 }

// Header describes an array without its elements.
type Header struct {
	Name  string // key within the file; "" for a .npy
	DType DType
	Shape []int // sizes of the axes; empty for a scalar, which has one element

	// Categories, for a column of text, are the words that the elements stand for; the elements are then I64 counted from 0.
	Categories []string
	// Text says that a file has a column of text here; Categories are sure to be known once it is loaded.
	Text bool

	// The layout of the elements in the file. The zero value is row-major (C) order, little endian.
	Fortran   bool // column-major: the first axis varies fastest
	BigEndian bool
}

// Len returns the number of elements: the product of the shape, 1 for a scalar. Headers that come
// from a reader cannot overflow it.
func (h Header) Len() int {
	n := 1
	for _, s := range h.Shape {
		n *= s
	}
	return n
}

// Array is an array with its elements, encoded as the header says.
//
// An array from an opened File may share the file's memory: it must not be written to, nor used
// after the File is closed.
type Array struct {
	Header
	Data []byte // Len()·DType.Size() bytes
}

// Element is a Go type that an array can hold without conversion.
type Element interface {
	bool | uint8 | int8 | uint16 | int16 | uint32 | int32 | uint64 | int64 | float32 | float64
}

// dtypeOf returns the DType of elements of type T.
func dtypeOf[T Element]() DType {
	return [...]DType{reflect.Bool: Bool, reflect.Uint8: U8, reflect.Int8: I8, reflect.Uint16: U16, reflect.Int16: I16, reflect.Uint32: U32,
		reflect.Int32: I32, reflect.Uint64: U64, reflect.Int64: I64, reflect.Float32: F32, reflect.Float64: F64}[reflect.TypeFor[T]().Kind()]
}

// Of makes an array of v, row-major, with the given name and shape. It shares v's memory (on a big-endian machine the header says
// so, and writers swap bytes).
//
// It panics if the shape has a negative size or its product is not len(v).
func Of[T Element](name string, shape []int, v []T) Array {
	t := dtypeOf[T]()
	if n, ok := product(shape, math.MaxInt); !ok || n != len(v) {
		panic("arrayfile: shape and number of values differ")
	}
	return Array{
		Header: Header{Name: name, DType: t, Shape: slices.Clone(shape), BigEndian: hostBigEndian && t.Size() > 1},
		Data:   unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*t.Size()),
	}
}

var hostBigEndian = func() bool {
	one := uint16(1)
	return *(*byte)(unsafe.Pointer(&one)) == 0
}()

// View returns the elements of a as they are in memory, without a copy. It returns false if a is not of type T, not row-major, of
// foreign byte order, or not aligned; Convert always works. The result shares a's memory and must not be written to.
func View[T Element](a Array) ([]T, bool) {
	t := dtypeOf[T]()
	if a.DType != t || t == Bool || !a.rowMajor() || t.Size() > 1 && a.BigEndian != hostBigEndian {
		return nil, false
	}
	if len(a.Data) == 0 {
		return nil, true
	}
	p := unsafe.Pointer(unsafe.SliceData(a.Data))
	if uintptr(p)%uintptr(t.Size()) != 0 {
		return nil, false
	}
	return unsafe.Slice((*T)(p), len(a.Data)/t.Size()), true
}

// rowMajor reports whether the elements are in C order, which is also true of a Fortran array with at most one axis longer than 1.
func (h Header) rowMajor() bool {
	if !h.Fortran {
		return true
	}
	long := 0
	for _, s := range h.Shape {
		if s != 1 {
			long++
		}
	}
	return long <= 1
}

// product multiplies the sizes of a shape without overflow. It returns false for a negative size and for a product above limit.
func product(shape []int, limit int) (int, bool) {
	for _, s := range shape {
		if s < 0 {
			return 0, false
		}
	}
	if slices.Contains(shape, 0) {
		return 0, true
	}
	n := 1
	for _, s := range shape {
		if s > limit/n {
			return 0, false
		}
		n *= s
	}
	return n, n <= limit
}

// check reports the first inconsistency in an array that is about to be written.
func (a Array) check() error {
	if !a.DType.valid() {
		return fmt.Errorf("arrayfile: array %q has no element type", a.Name)
	}
	n, ok := product(a.Shape, math.MaxInt/a.DType.Size())
	if !ok || len(a.Data) != n*a.DType.Size() {
		return fmt.Errorf("arrayfile: array %q of shape %v and type %s has %d bytes of data", a.Name, a.Shape, a.DType, len(a.Data))
	}
	return nil
}

// Canonical returns a in row-major order and little endian: a itself if it already is, else a copy.
func (a Array) Canonical() Array {
	if a.rowMajor() && !a.BigEndian {
		a.Fortran = false
		return a
	}
	size := a.DType.Size()
	out := Array{Header: Header{Name: a.Name, DType: a.DType, Shape: a.Shape}, Data: make([]byte, 0, len(a.Data))}
	copyRun := func(at, stride, lo, hi int) error {
		for i := range hi - lo {
			p := (at + i*stride) * size
			out.Data = append(out.Data, a.Data[p:p+size]...)
			if a.BigEndian {
				slices.Reverse(out.Data[len(out.Data)-size:])
			}
		}
		return nil
	}
	if err := a.runs(0, a.Len(), copyRun); err != nil {
		panic("arrayfile: copying an array failed")
	}
	return out
}
