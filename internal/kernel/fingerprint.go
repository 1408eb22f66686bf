package kernel

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Fingerprint continues the 64-bit hash seed with the bits of x: it tells, up to one chance in about 2⁶⁴, whether values
// are those of another time. It reads memory as fast as one thread can. The mixing step is that of wyhash (Wang Yi).
func Fingerprint[T Float](seed uint64, x []T) uint64 {
	if len(x) == 0 {
		return seed
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), len(x)*int(unsafe.Sizeof(x[0])))
	a, b, c, d := seed, seed+1, seed+2, seed+3 // four chains: a product takes four times as long as its load
	for ; len(bytes) >= 32; bytes = bytes[32:] {
		a = mix(a, binary.NativeEndian.Uint64(bytes))
		b = mix(b, binary.NativeEndian.Uint64(bytes[8:]))
		c = mix(c, binary.NativeEndian.Uint64(bytes[16:]))
		d = mix(d, binary.NativeEndian.Uint64(bytes[24:]))
	}
	h := seed
	for ; len(bytes) > 0; bytes = bytes[4:] {
		h = mix(h, uint64(binary.NativeEndian.Uint32(bytes)))
	}
	return mix(mix(mix(mix(h, a), b), c), d)
}

// mix folds the 128-bit product of h ^ word with 2⁶⁴ divided by the golden ratio.
func mix(h, word uint64) uint64 {
	high, low := bits.Mul64(h^word, 0x9e3779b97f4a7c15)
	return high ^ low
}
