package memory

import (
	"testing"
	"unsafe"
)

func TestAlloc(t *testing.T) {
	for _, n := range []int{0, 1, 15, 16, 17, 1000, hugePage / 8, hugePage/4 + 1, hugePage} {
		testAlloc[float32](t, n)
		testAlloc[float64](t, n)
	}
	defer func() {
		if recover() == nil {
			t.Error("a negative length did not panic")
		}
	}()
	Alloc[float32](-1)
}

func testAlloc[T float32 | float64](t *testing.T, n int) {
	t.Helper()
	x := Alloc[T](n)
	if len(x) != n || cap(x) != n {
		t.Fatalf("Alloc(%d): length %d, capacity %d", n, len(x), cap(x))
	}
	if address := uintptr(unsafe.Pointer(unsafe.SliceData(x))); address%64 != 0 {
		t.Fatalf("Alloc(%d): address %#x is not a multiple of 64", n, address)
	}
	for i, v := range x {
		if v != 0 {
			t.Fatalf("Alloc(%d): element %d is %v", n, i, v)
		}
	}
}
