package measure

import (
	"cmp"
	"slices"

	"collapse.example/collapse/internal/kernel"
	kernelrows "collapse.example/collapse/internal/kernel/rows"
)

// farRows is how many rows nulls take one by one: those farthest from a point. Under heavy tails a few rows decide where the means of
// shuffled classes are. Beyond 64 the next row has, for Student's t with two degrees of freedom, some 64th of the largest square.
const farRows = 64

// largest returns the places of the farRows largest numbers, in descending order; order decides between equal ones.
func largest(x []float64, order func(i, j int) int) []int {
	best, least := make([]int, 0, 4*farRows), 0.0
	sorted := func() {
		slices.SortFunc(best, func(i, j int) int { return cmp.Or(cmp.Compare(x[j], x[i]), order(i, j)) })
		best = best[:min(len(best), farRows)]
	}
	for i, v := range x {
		if v < least {
			continue
		}
		if best = append(best, i); len(best) == cap(best) {
			sorted()
			least = x[best[farRows-1]]
		}
	}
	sorted()
	return best
}

// farthest returns the rows (≤ farRows × d) of x that are farthest from zero, in descending order; those of equal norm are ordered by
// their numbers, so that what is kept of merged rows does not depend on the order of merges.
func farthest[T kernel.Float](x []T, d int) []float64 {
	row := func(i int) []T { return x[i*d:][:d] }
	squares := make([]float64, len(x)/d)
	for i := range squares {
		squares[i] = kernelrows.SumSquares(row(i))
	}
	best := largest(squares, func(i, j int) int { return slices.Compare(row(i), row(j)) })
	out := make([]float64, 0, len(best)*d)
	for _, i := range best {
		for _, v := range row(i) {
			out = append(out, float64(v))
		}
	}
	return out
}

// knowsFar reports whether m has its farthest rows.
func (m *Moments) knowsFar() bool {
	all := 0
	for _, n := range m.Count {
		all += n
	}
	return m.Pooled != nil && m.Far != nil && len(m.Far) == min(farRows, all)*m.D
}

// mergeFar keeps the farthest rows of m and o; none are known if either lacks its own.
func (m *Moments) mergeFar(o *Moments) {
	if m.Far == nil || o.Far == nil {
		m.Far = nil
		return
	}
	m.Far = farthest(slices.Concat(m.Far, o.Far), m.D)
}

// withFarthest returns a probe of p's rows and those farthest from the centre, which stand for themselves only; squares are those of all
// rows about the centre.
func withFarthest[T kernel.Float](s *samples[T], p *probe, squares []float64) (*probe, error) {
	if len(p.row) == p.n {
		return p, nil
	}
	far := largest(squares, cmp.Compare[int])
	out := *p
	out.row, out.class, out.h = nil, nil, make([]float64, 0, (len(p.row)+farRows)*p.d)
	for i, row := range p.row {
		if !slices.Contains(far, int(row)) {
			out.row, out.class, out.h = append(out.row, row), append(out.class, p.class[i]), append(out.h, p.at(i)...)
		}
	}
	if len(out.row) == 0 { // nobody would stand for the others
		return p, nil
	}
	buf := make([]T, s.d)
	for _, i := range far {
		if s.class[i] < 0 {
			continue
		}
		row, err := s.src.Read(buf, i, i+1)
		if err != nil {
			return nil, err
		}
		out.row, out.class = append(out.row, int32(i)), append(out.class, s.class[i])
		for _, v := range row[:s.d] {
			out.h = append(out.h, float64(v))
		}
		out.alone++
	}
	return &out, nil
}
