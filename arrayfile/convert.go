package arrayfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Number is a type that Convert can produce.
type Number interface{ float32 | float64 | int64 }

// Convert writes elements [first, first+len(dst)) of a, counted in row-major order whatever the
// layout, to dst. Conversion to float32 or float64 rounds to nearest; Bool becomes 0 or 1.
//
// For int64 every element must be an integer that fits, as floating-point labels often are; the error names the first that is not.
// An array whose data do not fit its shape, which no reader returns, is also an error. It panics if the range is outside a.
func Convert[T Number](a Array, first int, dst []T) error {
	if err := a.check(); err != nil {
		return err
	}
	if first < 0 || first > a.Len()-len(dst) {
		panic("arrayfile: Convert outside the array")
	}
	if v, ok := View[T](a); ok {
		copy(dst, v[first:])
		return nil
	}
	return a.runs(first, len(dst), func(at, stride, lo, hi int) error {
		switch dst := any(dst).(type) {
		case []float32:
			floats(a, at, stride, dst[lo:hi])
		case []float64:
			floats(a, at, stride, dst[lo:hi])
		case []int64:
			if bad := integers(a, at, stride, dst[lo:hi]); bad >= 0 {
				return fmt.Errorf("arrayfile: %q: element %d (row-major) of type %s is not a whole number of 64 bits", a.Name, first+lo+bad, a.DType)
			}
		}
		return nil
	})
}

// Float32s returns all elements in row-major order, rounded to float32; always a copy. The error
// is Convert's.
func (a Array) Float32s() ([]float32, error) {
	if a.Categories != nil {
		return nil, errText
	}
	return convertAll[float32](a)
}

// Float64s returns all elements in row-major order; always a copy. The error is Convert's.
func (a Array) Float64s() ([]float64, error) {
	if a.Categories != nil {
		return nil, errText
	}
	return convertAll[float64](a)
}

var errText = errors.New("arrayfile: the elements are text; numbers are wanted")

// Int64s returns all elements in row-major order; always a copy. The error is Convert's.
func (a Array) Int64s() ([]int64, error) { return convertAll[int64](a) }

func convertAll[T Number](a Array) ([]T, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	out := make([]T, a.Len())
	if err := Convert(a, 0, out); err != nil {
		return nil, err
	}
	return out, nil
}

// runs walks elements [first, first+n) in row-major order in pieces that are evenly spaced in the file: elements [first+lo,
// first+hi) are at file positions at, at+stride, …
func (h Header) runs(first, n int, do func(at, stride, lo, hi int) error) error {
	if n == 0 {
		return nil
	}
	if h.rowMajor() {
		return do(first, 1, 0, n)
	}
	last := h.Shape[len(h.Shape)-1]
	stride := h.Len() / last // distance between positions of the last axis, in column-major order
	for lo := 0; lo < n; {
		row, column := (first+lo)/last, (first+lo)%last
		hi := min(n, lo+last-column)
		if err := do(h.columnMajor(row)+column*stride, stride, lo, hi); err != nil {
			return err
		}
		lo = hi
	}
	return nil
}

// columnMajor returns the column-major position of the first element of a row, where rows extend along the last axis and are counted
// in row-major order.
func (h Header) columnMajor(row int) int {
	at, step := 0, h.Len()/h.Shape[len(h.Shape)-1]
	for axis := len(h.Shape) - 2; axis >= 0; axis-- {
		size := h.Shape[axis]
		step /= size
		at += row % size * step
		row /= size
	}
	return at
}

// floats converts len(dst) elements at file positions at, at+stride, …
func floats[T float32 | float64](a Array, at, stride int, dst []T) {
	r := reader{a.Data, at, stride, a.BigEndian}
	switch a.DType {
	case Bool:
		for i := range dst {
			dst[i] = T(min(r.u8(i), 1))
		}
	case U8:
		for i := range dst {
			dst[i] = T(r.u8(i))
		}
	case I8:
		for i := range dst {
			dst[i] = T(int8(r.u8(i)))
		}
	case U16:
		for i := range dst {
			dst[i] = T(r.u16(i))
		}
	case I16:
		for i := range dst {
			dst[i] = T(int16(r.u16(i)))
		}
	case U32:
		for i := range dst {
			dst[i] = T(r.u32(i))
		}
	case I32:
		for i := range dst {
			dst[i] = T(int32(r.u32(i)))
		}
	case U64:
		for i := range dst {
			dst[i] = T(r.u64(i))
		}
	case I64:
		for i := range dst {
			dst[i] = T(int64(r.u64(i)))
		}
	case F16:
		for i := range dst {
			dst[i] = T(half(r.u16(i)))
		}
	case BF16:
		for i := range dst {
			dst[i] = T(math.Float32frombits(uint32(r.u16(i)) << 16))
		}
	case F32:
		for i := range dst {
			dst[i] = T(math.Float32frombits(r.u32(i)))
		}
	case F64:
		for i := range dst {
			dst[i] = T(math.Float64frombits(r.u64(i)))
		}
	}
}

// integers is floats for int64. It returns the index of the first element that is not an integer in range, or a negative number.
func integers(a Array, at, stride int, dst []int64) (bad int) {
	if a.DType == I64 || a.DType == U64 { // the types whose values float64 cannot represent exactly
		r := reader{a.Data, at, stride, a.BigEndian}
		for i := range dst {
			dst[i] = int64(r.u64(i))
		}
		if a.DType == U64 {
			return slices.IndexFunc(dst, func(v int64) bool { return v < 0 })
		}
		return -1
	}
	var block [256]float64
	for lo := 0; lo < len(dst); lo += len(block) {
		some := block[:min(len(block), len(dst)-lo)]
		floats(a, at+lo*stride, stride, some)
		for i, x := range some {
			if !(x >= -(1<<63) && x < 1<<63 && x == math.Trunc(x)) {
				return lo + i
			}
			dst[lo+i] = int64(x)
		}
	}
	return -1
}

// reader loads evenly spaced elements.
type reader struct {
	data       []byte
	at, stride int // in elements
	big        bool
}

func (r *reader) u8(i int) uint8 { return r.data[r.at+i*r.stride] }

func (r *reader) u16(i int) uint16 {
	u := binary.LittleEndian.Uint16(r.data[2*(r.at+i*r.stride):])
	if r.big {
		return bits.ReverseBytes16(u)
	}
	return u
}

func (r *reader) u32(i int) uint32 {
	u := binary.LittleEndian.Uint32(r.data[4*(r.at+i*r.stride):])
	if r.big {
		return bits.ReverseBytes32(u)
	}
	return u
}

func (r *reader) u64(i int) uint64 {
	u := binary.LittleEndian.Uint64(r.data[8*(r.at+i*r.stride):])
	if r.big {
		return bits.ReverseBytes64(u)
	}
	return u
}

// half widens an IEEE 754 binary16, exactly; a NaN keeps its payload.
func half(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exponent {
	case 0: // zero and subnormal: fraction·2⁻²⁴
		return math.Float32frombits(sign | math.Float32bits(float32(fraction)*0x1p-24))
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}
