package measure

import (
	"errors"
	"math"
	"testing"
)

// TestClosenessOfADecision: own is row 0 here, which may lose to several others; only the best of them counts.
func TestClosenessOfADecision(t *testing.T) {
	rows, x := []float64{1, 0, 3, 0, 2, 0}, []float64{1, 0}
	for own, want := range map[int]float64{0: 2 / 2.0, 1: 1 / 1.0, 2: 1 / 1.0, -1: 1 / 1.0, 3: 1 / 1.0} {
		if got := closeness([]float64{1, 3, 2}, rows, x, 1, own); got != want {
			t.Errorf("own %d: %g, wanted %g", own, got, want)
		}
	}
	if got := closeness([]float64{1}, rows[:2], x, 1, 0); !math.IsInf(got, 1) {
		t.Errorf("alone: %g", got)
	}
}

// TestRanksOfNothing: of singular values that are all zero no rank is known.
func TestRanksOfNothing(t *testing.T) {
	for _, list := range [][]float64{{0, 0}, {}} {
		if a, b, c := ranksOf(list); !math.IsNaN(a) || !math.IsNaN(b) || !math.IsNaN(c) {
			t.Errorf("%v: %g, %g, %g", list, a, b, c)
		}
	}
}

// narrow is a source of rows without a coordinate.
type narrow struct{}

func (narrow) Size() (n, d int)                                    { return 4, 0 }
func (narrow) Read(buf []float64, from, to int) ([]float64, error) { return buf[:0], nil }

// TestErrorsOfAMeasurementArrive: of options, of a width, and of a classifier beside moments.
func TestErrorsOfAMeasurementArrive(t *testing.T) {
	in := gaussian[float64](40, 3, 4, .5, 1)
	if r, err := Measure(in, Options{Measures: []string{"no such measure"}}); r != nil || err == nil {
		t.Errorf("an unknown measure: %v, %v", r, err)
	}
	var shape *ShapeError
	if _, err := Measure(Input[float64]{Train: Split[float64]{Features: narrow{}, Labels: []int32{0, 0, 1, 1}}}, Options{}); !errors.As(err, &shape) || shape.Want != 1 || shape.Found != 0 {
		t.Errorf("features without a width: %v", err)
	}
	m := momentsOf(t, in, true, 0, 40)
	if r, err := m.Report(make([]float64, 7), nil, Options{}); r != nil || !errors.As(err, &shape) {
		t.Errorf("a classifier of another width: %v, %v", r, err)
	}
	if r, err := m.Report(make([]float64, 12), make([]float64, 5), Options{}); r != nil || !errors.As(err, &shape) {
		t.Errorf("a bias of another length: %v, %v", r, err)
	}
}
