package data

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext/prng"
)

// The numbers of the golden tests in this package that name "port" come from a second
// implementation of randomstream.go in Python, written from its comments.

func TestStreamGolden(t *testing.T) {
	var s stream
	s.reset(1, purpose(2), 3)
	for i, want := range []uint64{0xc1b83595a83a9de4, 0x5cf4076ccd506fcc, 0x80764b02ab3219c} { // port
		if got := s.uint64(); got != want {
			t.Fatalf("draw %d: got %#x, want %#x", i, got, want)
		}
	}
}

func TestStreamKeysDiffer(t *testing.T) {
	seen := map[uint64][]uint64{}
	add := func(key ...uint64) {
		var s stream
		s.reset(key[0], purpose(key[1]), key[2:]...)
		v := s.uint64()
		if other, ok := seen[v]; ok {
			t.Fatalf("keys %v and %v start with the same draw", key, other)
		}
		seen[v] = key
	}
	for a := range uint64(8) {
		for b := range uint64(8) {
			add(a, b)
			for c := range uint64(8) {
				add(a, b, c)
				add(a, b, c, 0)
				add(a, b, 100, c)
			}
		}
	}
}

// TestStreamBelowUniform compares counts with their expectation: chi-square over n cells has mean
// n−1 and deviation √(2(n−1)); six deviations are a chance of about 1e-9.
func TestStreamBelowUniform(t *testing.T) {
	for _, n := range []int{2, 3, 10, 97} {
		var s stream
		s.reset(uint64(n), forNoise, 1)
		const draws = 100000
		count := make([]float64, n)
		for range draws {
			count[s.below(n)]++
		}
		chi, expect := 0.0, float64(draws)/float64(n)
		for _, c := range count {
			chi += (c - expect) * (c - expect) / expect
		}
		dof := float64(n - 1)
		if !(chi <= dof+6*math.Sqrt(2*dof)) {
			t.Errorf("below(%d): chi-square %g for %g degrees of freedom", n, chi, dof)
		}
	}
}

func TestMT19937(t *testing.T) {
	m := prng.NewMT19937()
	m.Seed(5489)
	var v uint32
	for range 10000 {
		v = m.Uint32()
	}
	if v != 4123659995 { // the C++ standard, [rand.predef], mt19937
		t.Fatalf("10000th output of seed 5489: got %d, want 4123659995", v)
	}
}
