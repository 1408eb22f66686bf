package measure

import (
	"math"

	"collapse/internal/kernel"
)

// marginBudget is how many times Options.Budget the products of cosine margins may cost within "default".
const marginBudget = 100

// marginWork estimates the operations of the margins: K products of length d for every sample, which no bound
// avoids, because in a simplex ETF all wrong classes tie.
func marginWork(n, d, k int) float64 { return 2 * float64(n) * float64(d) * float64(k) }

// paysMargins reports whether margins are to be computed; missMargins says why they are not.
func (w *wanted) paysMargins(n, d, k int) bool { return w.pays(marginWork(n, d, k) / marginBudget) }

func (b *builder) missMargins(n, d, k int) {
	for _, key := range []string{KeyMarginMean, KeyMarginMin, KeyMarginMax} {
		b.missDear(key, marginWork(n, d, k))
	}
}

// marginPass computes the cosine margin of every row from products of h − h_G with the unit vectors of w_j − w_G,
// in float64: the wrong classes may differ by very little.
type marginPass[T kernel.Float] struct {
	s        *samples[T]
	units    []float64 // (K×d)
	from, to int
	buf      []T
	q        []float64 // (block × d)
	length   []float64 // (block) ‖q‖
	products []float64 // (block × K)
	margins  []float64 // (rows)
	errs     []error
}

// margins fills the margins and their tally.
func (f *widePass[T, P]) margins() error {
	f.out.clock.enter(PhaseMargins)
	s, h := f.s, f.head
	m := &marginPass[T]{s: s, units: append([]float64(nil), h.centred...)}
	for j := range h.k {
		scale(m.units[j*s.d:][:s.d], 1/h.centredNorm[j])
	}
	f.out.margins = grow(f.out.margins, s.rows)
	m.margins = f.out.margins
	if err := m.run(f.team); err != nil {
		return err
	}
	t := &s.tally
	for i, c := range s.class {
		switch x := m.margins[i]; {
		case c < 0:
		case x != x:
			t.marginless++
		default:
			t.margin[c] += x
			t.marginMin, t.marginMax = min(t.marginMin, x), max(t.marginMax, x)
		}
	}
	return nil
}

func (m *marginPass[T]) run(team *kernel.Team) error {
	s := m.s
	rows := min(s.rows, wideRows(max(s.d, s.k)))
	if _, views := s.src.(*Rows[T]); !views {
		m.buf = make([]T, rows*s.d)
	}
	m.q, m.length, m.products = kernel.Alloc[float64](rows*s.d), make([]float64, rows), kernel.Alloc[float64](rows*s.k)
	m.errs = make([]error, (rows+wideStrip-1)/wideStrip)
	for m.from = 0; m.from < s.rows; m.from = m.to {
		m.to = min(m.from+rows, s.rows)
		n := m.to - m.from
		strips := (n + wideStrip - 1) / wideStrip
		team.Do(strips, (*marginCentre[T])(m))
		if err := firstError(m.errs); err != nil {
			return err
		}
		kernel.Gemm(team, kernel.NT, n, s.k, s.d, m.q, s.d, m.units, s.d, m.products, s.k, kernel.Epilogue[float64]{})
		team.Do(strips, (*marginRows[T])(m))
	}
	return nil
}

// marginCentre forms q of a strip of rows.
type marginCentre[T kernel.Float] marginPass[T]

func (m *marginCentre[T]) Run(part int) {
	d := m.s.d
	from, to := part*wideStrip, min((part+1)*wideStrip, m.to-m.from)
	var buf []T
	if m.buf != nil {
		buf = m.buf[from*d : to*d]
	}
	rows, err := m.s.src.Read(buf, m.from+from, m.from+to)
	if err != nil {
		m.errs[part] = err
		return
	}
	for i := from; i < to; i++ {
		m.length[i] = math.Sqrt(kernel.SubRow(m.q[i*d:][:d], rows[(i-from)*d:][:d], m.s.centre))
	}
}

// marginRows finds the margins of a strip of rows.
type marginRows[T kernel.Float] marginPass[T]

func (m *marginRows[T]) Run(part int) {
	k := m.s.k
	for i := part * wideStrip; i < min((part+1)*wideStrip, m.to-m.from); i++ {
		c := int(m.s.class[m.from+i])
		if c < 0 {
			continue
		}
		other := math.Inf(-1)
		row := m.products[i*k:][:k]
		for j, x := range row {
			if j != c {
				other = max(other, x)
			}
		}
		m.margins[m.from+i] = math.NaN()
		if m.length[i] > 0 {
			m.margins[m.from+i] = row[c]/m.length[i] - other/m.length[i]
		}
	}
}
