package memory

import "unsafe"

// hugePage is the size of a large page on the machines that support them.
const hugePage = 2 << 20

// Alloc returns n zeros whose first element is aligned to 64 bytes, a cache line and the widest vector. Slices of a large page or
// more are aligned to large pages, and the system is asked to use them: weights and packed panels are read with large strides, and
// with 4 KiB pages the address translations take noticeable time.
func Alloc[T number](n int) []T {
	if n < 0 {
		panic("memory: Alloc of a negative length")
	}
	if n == 0 {
		return nil
	}
	var zero T
	size := int(unsafe.Sizeof(zero))
	align := 64
	if n*size >= hugePage {
		align = hugePage
	}
	buf := make([]T, n+align/size)
	address := int(uintptr(unsafe.Pointer(unsafe.SliceData(buf))))
	skip := (align - address%align) % align / size
	x := buf[skip : skip+n : skip+n]
	if align == hugePage {
		bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), n*size)
		adviseHuge(bytes[:len(bytes)/hugePage*hugePage])
	}
	return x
}
