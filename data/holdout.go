package data

import (
	"fmt"
	"slices"
)

// HoldOut splits a set into samples to train on and samples to choose settings by: the share of each class, rounded, is held
// out. The choice depends only on (seed, class), and a larger share also holds out those of a smaller one. It returns an error
// if a class would be empty on either side. It panics on a set with label noise, and on a share outside (0, 1).
func (s *Set) HoldOut(share float64, seed uint64) (kept, held *Set, err error) {
	if !(share > 0 && share < 1) {
		panic("data: a share to hold out that is not between 0 and 1")
	}
	var in, out []int
	var rng stream
	for k, m := range s.members() {
		n := heldOf(len(m), share)
		if n == 0 || n == len(m) {
			return nil, nil, fmt.Errorf("data: %s %s: holding out %g of the %d samples of class %d leaves one side empty; use more samples or another share",
				s.Name, s.Split, share, len(m), k)
		}
		rng.reset(seed, forHoldOut, uint64(k))
		for i := range n { // Fisher–Yates from the front, as in some
			j := rng.within(i, len(m)-1)
			m[i], m[j] = m[j], m[i]
		}
		out, in = append(out, m[:n]...), append(in, m[n:]...)
	}
	slices.Sort(in)
	slices.Sort(out)
	return s.take(in).seal(), s.take(out).seal(), nil
}
