package data

import (
	"math/bits"
	"math/rand/v2"
)

// purpose separates the streams of one seed. The values are part of every result: never renumber.
type purpose uint64

const (
	forGlyph   purpose = 1 // key words: split, class, instance
	forNoise   purpose = 2 // key words: sample
	forOrder   purpose = 3 // key words: epoch
	forSubset  purpose = 4 // key words: class
	forLatent  purpose = 5 // key words: class
	forLabels  purpose = 6 // key words: split
	forPixels  purpose = 7 // key words: epoch, sample
	forHoldOut purpose = 8 // key words: class
)

// stream is a PCG-DXSM generator (math/rand/v2) started from a key. Draws are integers, or integers
// scaled by a power of two, so they have the same bits on every platform.
type stream struct{ pcg rand.PCG }

// reset starts the stream of (seed, purpose, key words). The words are absorbed one by one through
// the SplitMix64 finaliser (Steele, Lea & Flood 2014); two further outputs are the 128-bit PCG state.
func (s *stream) reset(seed uint64, p purpose, words ...uint64) {
	h := mix64(seed) ^ mix64(uint64(p)+golden)
	for _, w := range words {
		h = mix64(h) ^ mix64(w+golden)
	}
	s.pcg.Seed(mix64(h+golden), mix64(h+golden+golden))
}

// golden is 2^64/φ, the increment of SplitMix64.
const golden = 0x9e3779b97f4a7c15

func mix64(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (s *stream) uint64() uint64 { return s.pcg.Uint64() }

// unit returns a multiple of 2^-53 in [0, 1).
func (s *stream) unit() float64 { return float64(s.uint64()>>11) / (1 << 53) }

// below returns an unbiased integer in [0, n), n > 0 (Lemire 2019, multiply and reject).
func (s *stream) below(n int) int {
	m := uint64(n)
	hi, lo := bits.Mul64(s.uint64(), m)
	for lo < m && lo < -m%m {
		hi, lo = bits.Mul64(s.uint64(), m)
	}
	return int(hi)
}

// within returns an unbiased integer in [lo, hi].
func (s *stream) within(lo, hi int) int { return lo + s.below(hi-lo+1) }
