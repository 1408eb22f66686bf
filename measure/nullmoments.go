package measure

import (
	"math"
	"math/rand/v2"
	"slices"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
	"collapse.example/collapse/internal/kernel/rows"
	"collapse.example/collapse/parallel"
)

const samplesPerCoordinate = 10 // that a null of moments needs

// momentsNull fills Report.Null from moments with the pooled scatter, when there are no samples to shuffle.
//
// T holds every sample's own square, which shuffled labels do not spread as evenly as normal numbers do: with few samples for the width the
// draws are too close to a simplex, and there is no null.
func (e *Engine[T]) momentsNull(r *Report, m *Moments) error {
	s := &e.train
	if m.Pooled == nil || s.k < 2 || s.n < samplesPerCoordinate*s.d {
		return nil
	}
	labels := newLabelDraw(e.opt.Team, m)
	if labels == nil {
		return nil
	}
	random := rand.New(rand.NewPCG(nullSeed, uint64(s.n)^fractions(m.Far)))
	values, draws := collectNull{}, nulls(e.opt.Null, m.D, m.K, m.D)
	opt := e.opt.plain(r.Measures.of)
	opt.Measures = slices.DeleteFunc(opt.Measures, func(key string) bool { return !slices.Contains(nullKeys, key) || slices.Contains(sampleKeys, key) })
	for range draws {
		fresh, err := NewEngine[float64](opt)
		if err != nil {
			return err
		}
		found, err := fresh.moments(labels.draw(e.opt.Team, random), nil, nil)
		if err != nil {
			return err
		}
		values.add(found.Measures.of)
	}
	r.Null = values.ranges(draws)
	return nil
}

// centre returns the mean of all samples.
func (m *Moments) centre() []float64 {
	centre, n := make([]float64, m.D), 0
	for c, count := range m.Count {
		axpy(centre, float64(count), m.Mean[c*m.D:][:m.D])
		n += count
	}
	scale(centre, 1/float64(n))
	return centre
}

// total returns N·T (D×D): the scatter of all samples around their mean.
func (m *Moments) total(team *parallel.Team) []float64 {
	out, centre := slices.Clone(m.Pooled), m.centre()
	apart := make([]float64, m.K*m.D)
	for c, n := range m.Count {
		row := apart[c*m.D:][:m.D]
		rows.SubRow(row, m.Mean[c*m.D:][:m.D], centre)
		scale(row, math.Sqrt(float64(n)))
	}
	gemm.Multiply(team, gemm.TN, kernel.Dense(m.K, m.D, apart), kernel.Dense(m.K, m.D, apart), kernel.Dense(m.D, m.D, out), gemm.Epilogue[float64]{Accumulate: true})
	return out
}

// fractions mixes the digits of numbers, not their powers of two: nulls of other samples come from other draws, those of scaled samples
// from the same.
func fractions(x []float64) (mixed uint64) {
	for _, v := range x {
		fraction, _ := math.Frexp(v)
		mixed = (mixed ^ math.Float64bits(fraction)) * 0x9e3779b97f4a7c15
		mixed ^= mixed >> 29
	}
	return mixed
}
