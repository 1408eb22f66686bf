package memory

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Fingerprint continues the 64-bit hash seed with the bits of x: it tells, except with a chance of about one in 2⁶⁰, whether values
// have changed. It reads memory as fast as a thread can. A change of one element is always detected.
func Fingerprint[T ~float32 | ~float64](seed uint64, x []T) uint64 {
	if len(x) == 0 {
		return seed
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), len(x)*int(unsafe.Sizeof(x[0])))
	sums := fingerprintPool.Get()
	*sums = fingerprintSums{}
	whole := len(bytes) &^ 63
	switch {
	case whole == 0:
	case table.fingerprint != nil:
		table.fingerprint(whole/64, &bytes[0], &fingerprintMask[0], &fingerprintStep[0], &sums[0])
	default:
		fingerprintGeneric(bytes[:whole], sums)
	}
	h := mix(seed, uint64(len(x)))
	for _, s := range sums {
		h = mix(h, s)
	}
	fingerprintPool.Put(sums)
	for rest := bytes[whole:]; len(rest) > 0; rest = rest[4:] {
		h = mix(h, uint64(binary.NativeEndian.Uint32(rest)))
	}
	return h
}

// fingerprintSums are sums over blocks of 8 words of 64 bits: of the words, and of the products of their halves after masking, with
// another mask for every word (NH of Black et al. 1999).
type fingerprintSums [16]uint64

// fingerprintPool lends sums to parallel callers; a local variable would escape to the heap because of the assembly.
var fingerprintPool Pool[fingerprintSums]

// fingerprintMask starts the masks, and fingerprintStep moves them on from block to block: digits of 2⁶⁴ times the golden
// ratio in a Weyl sequence.
var fingerprintMask, fingerprintStep = func() (mask, step [8]uint64) {
	x := uint64(0)
	for i := range mask {
		x += 0x9e3779b97f4a7c15
		mask[i] = mix(x, 0xd6e8feb86659fd93)
		step[i] = mix(x, 0xa0761d6478bd642f) | 1
	}
	return mask, step
}()

func fingerprintGeneric(bytes []byte, sums *fingerprintSums) {
	mask := fingerprintMask
	for ; len(bytes) > 0; bytes = bytes[64:] {
		for i := range mask {
			word := binary.NativeEndian.Uint64(bytes[8*i:])
			sums[i] += word
			word ^= mask[i]
			sums[8+i] += (word & (1<<32 - 1)) * (word >> 32)
			mask[i] += fingerprintStep[i]
		}
	}
}

// mix folds the 128-bit product of h ^ word with 2⁶⁴ divided by the golden ratio (wyhash, Wang Yi).
func mix(h, word uint64) uint64 {
	high, low := bits.Mul64(h^word, 0x9e3779b97f4a7c15)
	return high ^ low
}
