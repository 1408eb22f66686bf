package measure

import (
	"math"

	"collapse.example/collapse/internal/kernel"
)

// Some measures need fourth powers of the features (squares of Gram matrices), which leave the range of float64 long before the features
// do. So features of extreme size are measured times a power of two, which changes no digit, and what has a unit is multiplied back.
// Rows of W are divided by it, so that logits stay.

// extreme is the binary exponent beyond which numbers count as extreme: fourth powers of smaller ones, and sums of many, are far inside the
// range.
const extreme = 160

const scaleRows = 64 // rows of a source that show its size

// vectorPowers are the same of vectors over classes.
var vectorPowers = map[string]int{"within_trace": 2, "test_within_trace": 2, "mean_norm": 1, "centred_norm": 1, "weight_norm": -1}

// extremeExponent returns the exponent of a power of two that x is to be divided by, 0 if its largest number is not extreme.
func extremeExponent[T kernel.Float](x []T) int {
	most := 0.0
	for _, v := range x {
		if v := math.Abs(float64(v)); v > most && !math.IsInf(v, 0) {
			most = v
		}
	}
	switch _, exp := math.Frexp(most); {
	case most > 0 && exp > extreme:
		return exp - extreme/2 // no further than needed: W is multiplied by as much
	case most > 0 && exp < -extreme:
		return exp + extreme/2
	}
	return 0
}

// exponent is extremeExponent of the first rows of a source. No float32 is extreme.
func exponent[T kernel.Float](src Source[T]) (int, error) {
	var zero T
	if _, wide := any(zero).(float64); !wide || src == nil {
		return 0, nil
	}
	n, d := src.Size()
	if d < 1 {
		return 0, nil
	}
	n = min(n, scaleRows)
	rows, err := src.Read(make([]T, n*d), 0, n)
	if err != nil {
		return 0, err
	}
	return extremeExponent(rows), nil
}

// scaled is a source times 2^exp.
type scaled[T kernel.Float] struct {
	Source[T]
	exp int
}

// Read fills buf: what a source returns may be a view of memory that others read.
func (s *scaled[T]) Read(buf []T, from, to int) ([]T, error) {
	rows, err := s.Source.Read(buf, from, to)
	if err != nil {
		return nil, err
	}
	out := buf[:len(rows)]
	for i, v := range rows {
		out[i] = T(math.Ldexp(float64(v), s.exp))
	}
	return out, nil
}

// times2 returns x times 2^exp in fresh memory; nil stays nil.
func times2(x []float64, exp int) []float64 {
	if x == nil {
		return nil
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Ldexp(v, exp)
	}
	return out
}

// rescaled returns the input times 2^−exp.
func (in Input[T]) rescaled(exp int) Input[T] {
	if exp == 0 {
		return in
	}
	for _, src := range []*Source[T]{&in.Train.Features, &in.Test.Features, &in.OOD} {
		if *src != nil {
			*src = &scaled[T]{*src, -exp}
		}
	}
	in.W = times2(in.W, exp)
	return in
}

// rescaled returns the moments times 2^−exp.
func (m *Moments) rescaled(exp int) *Moments {
	out := &Moments{K: m.K, D: m.D, Count: m.Count, Values: m.Values, Float32: m.Float32, Dropped: m.Dropped}
	out.Rest, out.Far = times2(m.Rest, -exp), times2(m.Far, -exp)
	out.Mean, out.Scatter, out.Pooled, out.Spread = times2(m.Mean, -exp), times2(m.Scatter, -2*exp), times2(m.Pooled, -2*exp), times2(m.Spread, -2*exp)
	return out
}

// rescale multiplies what has a unit by 2^exp, and says what then leaves the range.
func (r *Report) rescale(exp int) {
	for i := range definitions {
		key, power := definitions[i].Key, definitions[i].power
		v, ok := r.Measures.of[key]
		if !ok || power == 0 {
			continue
		}
		by := func(x float64) float64 { return math.Ldexp(x, power*exp) }
		if out := by(v); math.IsInf(out, 0) || out == 0 && v != 0 {
			r.drop(key, outOfRange)
			continue
		}
		r.Measures.of[key] = by(v)
		if _, known := r.Uncertainty[key]; known {
			r.Uncertainty[key], r.InputRounding[key] = by(r.Uncertainty[key]), by(r.InputRounding[key])
		}
		if null, known := r.Null[key]; known {
			r.Null[key] = Null{by(null.Low), by(null.Median), by(null.High)}
		}
	}
	for key, power := range vectorPowers {
		scaleBy2(r.PerClass[key], power*exp)
	}
	scaleBy2(r.ClassMeans, exp)
	scaleBy2(r.GlobalMean, exp)
	scaleBy2(r.TestClassMeans, exp)
	scaleBy2(r.Eigenvalues, 2*exp)
	f := &r.Facts
	f.Between = math.Ldexp(f.Between, 2*exp)
	scaleBy2(f.Spread, 2*exp)
	scaleBy2(f.Apart, 2*exp)
	scaleBy2(f.Lengths, exp)
}

func scaleBy2(x []float64, exp int) {
	for i, v := range x {
		x[i] = math.Ldexp(v, exp)
	}
}

// drop takes a measure out of a report, for a reason.
func (r *Report) drop(key, reason string) {
	delete(r.Measures.of, key)
	delete(r.Uncertainty, key)
	delete(r.InputRounding, key)
	delete(r.Reason, key)
	delete(r.Null, key)
	delete(r.Conventions, key)
	r.Missing[key] = reason
}

// ofSize1 returns W times a power of two if it is extreme: for measures that do not depend on its size.
func (h *head) ofSize1() []float64 {
	if exp := extremeExponent(h.w); exp != 0 {
		return times2(h.w, -exp)
	}
	return h.w
}
