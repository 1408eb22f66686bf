package search

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
)

// Memo keeps what searches of one configuration proposed, by all that a proposal depends on. A study replays its searches from the start in each
// round, and a Gaussian process takes a tenth of a second and more: with a Memo each is fitted once. The zero value is empty. It is not safe for
// concurrent use.
type Memo struct {
	points map[[sha256.Size]byte]Point
}

// Remember has the search look up its proposals in m, and keep there what it lacks. m is of searches of the same configuration.
func (s *Search) Remember(m *Memo) {
	if m.points == nil {
		m.points = map[[sha256.Size]byte]Point{}
	}
	s.memo = m
}

// remembered is the point that propose makes, from the memo if it is there.
func (s *Search) remembered(trial int, propose func() Point) Point {
	if s.memo == nil {
		return propose()
	}
	key := s.known(trial)
	p, ok := s.memo.points[key]
	if !ok {
		p = propose()
		s.memo.points[key] = p
	}
	return p
}

// known is a digest of the points so far and of all that was told of them.
func (s *Search) known(trial int) [sha256.Size]byte {
	text := binary.LittleEndian.AppendUint64(nil, uint64(trial))
	for _, p := range s.points {
		for _, x := range p {
			text = binary.LittleEndian.AppendUint64(text, math.Float64bits(x))
		}
	}
	for _, r := range s.Results() {
		for _, n := range []uint64{uint64(r.Trial), uint64(r.Budget), math.Float64bits(r.Value)} {
			text = binary.LittleEndian.AppendUint64(text, n)
		}
	}
	return sha256.Sum256(text)
}
