package report

import (
	"math"
	"strings"
	"testing"

	"collapse/internal/chart"
)

// Two directions of a view are unit vectors at right angles: lengths across the line of sight are true.
func TestOrthographicKeepsLengths(t *testing.T) {
	p := orthographic()
	for _, c := range []struct{ got, want float64 }{{norm(p.e[0]), 1}, {norm(p.e[1]), 1}, {dot(p.e[0], p.e[1]), 0}} {
		if !(math.Abs(c.got-c.want) < 1e-15) {
			t.Errorf("%g, wanted %g", c.got, c.want)
		}
	}
	for _, v := range [][]float64{{1, 2, 3}, {-4, 0.5, 2}} {
		x, y := p.at(v)
		sight := []float64{p.e[0][1]*p.e[1][2] - p.e[0][2]*p.e[1][1], p.e[0][2]*p.e[1][0] - p.e[0][0]*p.e[1][2], p.e[0][0]*p.e[1][1] - p.e[0][1]*p.e[1][0]}
		depth := dot(v, sight)
		if !(math.Abs(x*x+y*y+depth*depth-dot(v, v)) < 1e-12) {
			t.Errorf("%v is seen at (%g, %g), %g deep: not its length", v, x, y, depth)
		}
	}
}

func TestPanelOfFeatures(t *testing.T) {
	r := common().run(t, "ce", 0, 1)
	d := Drawing{Title: "Features", Panels: []DrawingPanel{{Title: "cross entropy", X: "features", Where: map[string]any{"loss.kind": "ce"}}, {Title: "squared error", X: "features", Where: map[string]any{"loss.kind": "mse"}}}}
	if err := d.Check(); err != nil {
		t.Fatal(err)
	}
	r.Features = &Features{D: 3, K: 2, TrainH: []float64{1, 0, 0, 3, 0, 0, 0, 0, 5, 0, 0, 5}, Observed: []int{0, 0, 1, 1}, True: []int{0, 0, 1, 1}, Redrawn: make([]bool, 4)}
	p := d.draw("f", []*subject{judge(&r)})
	if len(p.Panels) != 1 || len(p.Notes) != 2 || !strings.Contains(p.Notes[1], "squared error") {
		t.Fatalf("%d panels, notes %q", len(p.Panels), p.Notes)
	}
	view := orthographic()
	for _, s := range p.Panels[0].Series {
		if s.Kind == chart.Points && s.Label == "class 1" {
			if x, y := view.at([]float64{0, 0, 5}); len(s.X) != 2 || s.X[0] != x || s.Y[1] != y {
				t.Errorf("class 1 at %v, %v, wanted (%g, %g)", s.X, s.Y, x, y)
			}
		}
		if s.Kind == chart.Arrows && len(s.X2) != 3 {
			t.Errorf("%d axes", len(s.X2))
		}
	}
	if want := []string{"cross entropy", "0", "2", "2.00", "1.00"}; strings.Join(p.Table.Rows[0], " ") != strings.Join(want, " ") {
		t.Errorf("row %q, wanted %q: norm and spread of class 0", p.Table.Rows[0], want)
	}
	d.Panels[0].Y = "train.nc1_pinv"
	if d.Check() == nil {
		t.Error("a panel of features with a y passes")
	}
}

func TestMarginShare(t *testing.T) {
	a, b := common().run(t, "ce", 0, 1), common().run(t, "ce", 0, 2)
	wide := &Features{D: 2, K: 2, TrainH: []float64{1, 0, 1, 0, 0, 1, 0, 1}, Observed: []int{0, 0, 1, 1}, Weight: []float64{1, 0, 0, 1}}
	wrong := *wide
	wrong.Observed = []int{0, 1, 0, 1} // one sample of each class labelled as the other: the means are equal
	wrong.TrainH = []float64{1, 0, 1, 0, 0, 1, 0, 2}
	a.Features, b.Features = wide, &wrong
	of := func(limit float64, subjects ...*subject) float64 {
		v, err := newSample(subjects).marginShare(limit)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	one, two := judge(&a), judge(&b)
	if got := of(1.9, one); got != 0 {
		t.Errorf("share %g of aligned samples, wanted 0", got)
	}
	if got := of(2.1, one); got != 1 {
		t.Errorf("share %g below 2.1, wanted 1", got)
	}
	if got := of(0, two); got != 0.5 {
		t.Errorf("share %g of wrong samples, wanted 0.5", got)
	}
	if got := of(0, one, two); got != 0.25 {
		t.Errorf("mean share %g, wanted 0.25", got)
	}
	c := common().run(t, "ce", 0, 3)
	if _, err := newSample([]*subject{judge(&c)}).marginShare(0); err == nil || !strings.Contains(err.Error(), "features") {
		t.Errorf("without features: %v", err)
	}
}

// An error rate is what its accuracy leaves, in percent.
func TestPanelOfTheComplement(t *testing.T) {
	r := common().run(t, "ce", 0.4, 1)
	accuracy, ok, _ := r.Final("test", "accuracy")
	if !ok || !(accuracy < 0.95) {
		t.Fatalf("accuracy %g", accuracy)
	}
	panel := DrawingPanel{X: "epoch", Y: "test.accuracy", Unit: "%", Complement: true}
	points := panel.points([]*subject{judge(&r)}, 100)
	if got := points[len(points)-1].y[0]; !(math.Abs(got-100*(1-accuracy)) < 1e-12) {
		t.Errorf("error %g %%, accuracy %g", got, accuracy)
	}
}
