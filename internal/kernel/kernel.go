// Package kernel defines what its packages share: element types, matrices, and sums in 16 parts. The loops under every network and
// every measure are grouped by client:
//
//	isa          which instructions are used, forced or found
//	memory       aligned slices, reading at full speed
//	gemm         matrix products
//	conv         convolutions, pooling and batch norm of images
//	elementwise  batch norm of rows, activations, SGD and Adam
//	rows         sums, searches and residuals of rows of features, for measuring
//
// Every operation exists as a generic Go version that is always compiled (the oracle of the tests, the fallback, and the
// explanation; most names end in Generic) and, where it pays, in SIMD. Each package has one table of functions, which it fills at
// start for the set that package isa chooses. Assembly is written by the generator in the package's folder asm, which go generate
// runs. Results depend on the instruction set and on shapes, never on the number of threads.
package kernel

import "unsafe"

// Float is the element type of every kernel.
type Float interface{ ~float32 | ~float64 }

// Matrix is a matrix in row-major order: element (i, j) is Data[i*Stride+j]. Elements between the end of a row and the next row do
// not belong to it.
type Matrix[T any] struct {
	Rows, Cols, Stride int
	Data               []T
}

// Dense returns a matrix without gaps between its rows.
func Dense[T any](rows, cols int, data []T) Matrix[T] { return Matrix[T]{rows, cols, cols, data} }

// Strided returns a matrix whose rows begin stride elements apart.
func Strided[T any](rows, cols, stride int, data []T) Matrix[T] {
	return Matrix[T]{rows, cols, stride, data}
}

// Fits reports whether the matrix lies within its slice and its rows do not overlap.
func (m Matrix[T]) Fits() bool {
	if m.Rows == 0 || m.Cols == 0 {
		return true
	}
	return m.Stride >= m.Cols && m.Rows-1 <= (len(m.Data)-m.Cols)/m.Stride && m.Cols <= len(m.Data)
}

// Row returns row i.
func (m Matrix[T]) Row(i int) []T { return m.Data[i*m.Stride:][:m.Cols] }

// From returns the columns from col on.
func (m Matrix[T]) From(col int) Matrix[T] {
	return Matrix[T]{m.Rows, m.Cols - col, m.Stride, m.Data[col:]}
}

// Parts is the number of partial sums of a row: element j belongs to sum j mod Parts. It is the width of the widest float32 vector.
const Parts = 16

// Sums are the partial sums of a row. They do not depend on the width of a vector, so the bits of a total do not either.
type Sums [Parts]float64

// Total adds the partial sums in pairs and overwrites them.
func (s *Sums) Total() float64 {
	for n := Parts / 2; n > 0; n /= 2 {
		for j := range n {
			s[j] += s[j+n]
		}
	}
	return s[0]
}

// IsFloat32 distinguishes the two element types; the compiler folds it.
func IsFloat32[T Float]() bool { return Size[T]() == 4 }

// Size returns the bytes of an element.
func Size[T any]() int {
	var x T
	return int(unsafe.Sizeof(x))
}

// As reinterprets a slice between a named float type and the plain type of the same size.
func As[To, From Float](x []From) []To {
	return unsafe.Slice((*To)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// First32 returns the address of x[0], for SIMD loops over a float type of float32's size.
func First32[T Float](x []T) *float32 { return (*float32)(unsafe.Pointer(&x[0])) }

// CeilDiv returns a/b, rounded up.
func CeilDiv(a, b int) int { return (a + b - 1) / b }

// RoundUp returns the lowest multiple of b that is not below a.
func RoundUp(a, b int) int { return CeilDiv(a, b) * b }
