package measure_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/measure"
	"collapse.example/collapse/measure/internal/dd"
	"collapse.example/collapse/measure/measuretest"
)

// ofCoordinates are the measures that are defined by coordinates: a rotation changes them.
var ofCoordinates = map[string]bool{measure.KeyConfSmallestEntry: true, measure.KeyConfOverlap: true}

// TestMeasuresDoNotDependOnForm: numbers in another type give the same bits; samples and coordinates in another order, features rotated
// and rescaled give the same measures but for what both reports say that rounding leaves open.
func TestMeasuresDoNotDependOnForm(t *testing.T) {
	compared := map[string]int{}
	for index := range sets(t, longtest.Of(16, 80)) {
		s := longtest.Of(measuretest.Small, measuretest.Random)(10_000 + index)
		if len(s.Train.H) > 40_000 || testing.Short() && index >= 15 {
			continue
		}
		random := rand.New(rand.NewPCG(uint64(index), 0xf0))
		name := func(what string) string {
			return fmt.Sprintf("set %d (K=%d, d=%d, N=%d, %+v), %s", 10_000+index, s.Train.K, s.D, len(s.Train.Labels), s.Traits, what)
		}
		first := reportOf[float64](t, s)
		if s.Float32 {
			sameBits(t, name("as float32"), first, reportOf[float32](t, s))
		}
		agree(t, name("reordered"), first, reportOf[float64](t, reordered(s, random)), 1, nil, compared)
		if s.Float32 { // numbers of 24 bits do not stay that
			s = mapped(s, func(x []float64) []float64 { return rescale(x, 1.1) }, func(w []float64) []float64 { return rescale(w, 1/1.1) })
			first = reportOf[float64](t, s)
		}
		turn := mirrors(s.D, random)
		agree(t, name("rotated"), first, reportOf[float64](t, mapped(s, turn, turn)), 1, ofCoordinates, compared)
		scale := math.Pow(10, 24*random.Float64()-12)
		scaled := mapped(s, func(x []float64) []float64 { return rescale(x, scale) }, func(w []float64) []float64 { return rescale(w, 1/scale) })
		agree(t, name(fmt.Sprintf("times %g", scale)), first, reportOf[float64](t, scaled), scale, nil, compared)
	}
	for _, d := range measure.Definitions() {
		if compared[d.Key] < longtest.Of(3, 5) && !testing.Short() {
			t.Errorf("%s: compared only %d times", d.Key, compared[d.Key])
		}
	}
}

func reportOf[T float32 | float64](t *testing.T, s *measuretest.Set) *measure.Report {
	t.Helper()
	r, err := measureSet[T](s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sameBits fails unless both reports hold the same numbers, uncertainties and reasons.
func sameBits(t *testing.T, what string, a, b *measure.Report) {
	t.Helper()
	for _, d := range measure.Definitions() {
		x, okX := a.Measures.Get(d.Key)
		y, okY := b.Measures.Get(d.Key)
		if okX != okY || x != y {
			t.Errorf("%s: %s: %.17g (%v) and %.17g (%v)", what, d.Key, x, okX, y, okY)
		}
		if a.Uncertainty[d.Key] != b.Uncertainty[d.Key] || a.InputRounding[d.Key] != b.InputRounding[d.Key] || a.Reason[d.Key] != b.Reason[d.Key] || a.Missing[d.Key] != b.Missing[d.Key] {
			t.Errorf("%s: %s: ± %g and %g, rounding %g and %g, reasons %q and %q", what, d.Key, a.Uncertainty[d.Key], b.Uncertainty[d.Key], a.InputRounding[d.Key], b.InputRounding[d.Key],
				a.Reason[d.Key]+a.Missing[d.Key], b.Reason[d.Key]+b.Missing[d.Key])
		}
	}
}

// agree fails unless b has the measures of a, times their power of scale, to what both reports leave open together.
func agree(t *testing.T, what string, a, b *measure.Report, scale float64, except map[string]bool, compared map[string]int) {
	t.Helper()
	for _, d := range measure.Definitions() {
		x, okX := a.Measures.Get(d.Key)
		y, okY := b.Measures.Get(d.Key)
		if except[d.Key] || !okX && !okY {
			continue
		}
		if okX != okY && d.Key == measure.KeyOODMahalanobis { // withheld above a condition number, which grows by a rotation of heavy coordinates
			continue
		}
		if okX != okY {
			t.Errorf("%s: %s: %.17g (missing %q) and %.17g (missing %q)", what, d.Key, x, a.Missing[d.Key], y, b.Missing[d.Key])
			continue
		}
		unit := math.Pow(scale, float64(measure.PowerOf(d.Key)))
		openA, knownA := a.Open(d.Key)
		openB, knownB := b.Open(d.Key)
		compared[d.Key]++
		open := openA + openB/unit + 4*0x1p-52*math.Abs(x) // and the rounding of the unit
		if away := math.Abs(y/unit - x); !(away <= open) || !knownA || !knownB {
			t.Errorf("%s: %s: %.17g ± %.2g and %.17g ± %.2g: %.2g apart", what, d.Key, x, openA, y/unit, openB/unit, away)
		}
	}
}

// mapped returns a set whose rows of features and of W are mapped.
func mapped(s *measuretest.Set, features, w func([]float64) []float64) *measuretest.Set {
	out := *s
	out.Float32 = false
	rows := func(x []float64, f func([]float64) []float64) []float64 {
		if x == nil {
			return nil
		}
		y := make([]float64, 0, len(x))
		for i := 0; i < len(x); i += s.D {
			y = append(y, f(x[i:][:s.D])...)
		}
		return y
	}
	out.Train.H, out.OOD, out.W = rows(s.Train.H, features), rows(s.OOD, features), rows(s.W, w)
	if s.Test != nil {
		test := *s.Test
		test.H = rows(test.H, features)
		out.Test = &test
	}
	return &out
}

func rescale(x []float64, by float64) []float64 {
	y := make([]float64, len(x))
	for i := range x {
		y[i] = by * x[i]
	}
	return y
}

// mirrors returns a rotation: two reflections, evaluated in double-double arithmetic and rounded once.
func mirrors(d int, random *rand.Rand) func([]float64) []float64 {
	var normals [2][]dd.DD
	for m := range normals {
		for range d {
			normals[m] = append(normals[m], dd.Of(random.NormFloat64()))
		}
	}
	return func(x []float64) []float64 {
		at := dd.Vector(x)
		for _, v := range normals {
			share := dd.Dot(v, at).Times(2).Div(dd.Dot(v, v))
			for j := range at {
				at[j] = at[j].Sub(v[j].Mul(share))
			}
		}
		y := make([]float64, d)
		for j := range y {
			y[j] = at[j].Float()
		}
		return y
	}
}

// reordered returns a set with samples and coordinates in another order.
func reordered(s *measuretest.Set, random *rand.Rand) *measuretest.Set {
	columns := random.Perm(s.D)
	permute := func(x []float64) []float64 {
		y := make([]float64, s.D)
		for j, c := range columns {
			y[j] = x[c]
		}
		return y
	}
	out := mapped(s, permute, permute)
	out.Float32 = s.Float32
	rows := random.Perm(len(s.Train.Labels))
	out.Train.H, out.Train.Labels = inOrder(out.Train.H, s.D, rows), inOrder(s.Train.Labels, 1, rows)
	out.True, out.Redrawn = inOrder(s.True, 1, rows), inOrder(s.Redrawn, 1, rows)
	return out
}

func inOrder[E any](x []E, d int, rows []int) []E {
	if x == nil {
		return nil
	}
	y := make([]E, 0, len(x))
	for _, i := range rows {
		y = append(y, x[i*d:][:d]...)
	}
	return y
}
