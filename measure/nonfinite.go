package measure

import (
	"math"
	"slices"

	"collapse.example/collapse/internal/kernel"
)

// checkFinite returns *NonFiniteError if x (rows of width d) has NaN or infinity.
func checkFinite[T kernel.Float](where string, x []T, d int) error {
	e := NonFiniteError{Where: where}
	last := -1
	for i, v := range x {
		if v-v == 0 {
			continue
		}
		if e.Count == 0 {
			e.Row, e.Col = i/d, i%d
		}
		e.Count++
		if i/d != last {
			e.Rows++
			last = i / d
		}
	}
	if e.Count > 0 {
		return &e
	}
	return nil
}

// nonFinite finds rows with NaN or infinity among the measured ones. It excludes them if drop is set and
// returns their number; otherwise it returns *NonFiniteError, or *RangeError if every value is finite
// and only the sums overflow.
func (s *samples[T]) nonFinite(drop bool) (int, error) {
	e := NonFiniteError{Where: s.name}
	buf := make([]T, blockRows(s.d)*s.d)
	s.copyClasses()
	for at := 0; at < s.rows; at += blockRows(s.d) {
		s.team.Check()
		rows, err := s.src.Read(buf, at, min(at+blockRows(s.d), s.rows))
		if err != nil {
			return 0, err
		}
		for i := range len(rows) / s.d {
			if s.class[at+i] >= 0 {
				s.countRow(&e, at+i, rows[i*s.d:][:s.d])
			}
		}
	}
	if e.Count == 0 {
		return 0, &RangeError{Where: s.name, Class: s.number(firstNonFinite(s.means) / s.d)}
	}
	if !drop {
		return 0, &e
	}
	s.countClasses()
	if s.n == 0 {
		return 0, &e
	}
	return e.Rows, nil
}

// countRow adds a row to e and excludes it if it is not finite.
func (s *samples[T]) countRow(e *NonFiniteError, row int, x []T) {
	found := 0
	for j, v := range x {
		if v-v == 0 {
			continue
		}
		if e.Count+found == 0 {
			e.Row, e.Col = row, j
		}
		found++
	}
	if found > 0 {
		e.Count += found
		e.Rows++
		s.class[row] = -1
	}
}

func firstNonFinite(x []float64) int {
	return slices.IndexFunc(x, func(v float64) bool { return math.IsNaN(v - v) })
}
