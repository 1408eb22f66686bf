package figure

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
)

// Two directions of a view are unit vectors at right angles: lengths across the line of sight are true.
func TestOrthographicKeepsLengths(t *testing.T) {
	p := orthographic()
	for _, c := range []struct{ got, want float64 }{{floats.Norm(p.e[0], 2), 1}, {floats.Norm(p.e[1], 2), 1}, {floats.Dot(p.e[0], p.e[1]), 0}} {
		if !(math.Abs(c.got-c.want) < 1e-15) {
			t.Errorf("%g, wanted %g", c.got, c.want)
		}
	}
	for _, v := range [][]float64{{1, 2, 3}, {-4, 0.5, 2}} {
		x, y := p.at(v)
		sight := []float64{p.e[0][1]*p.e[1][2] - p.e[0][2]*p.e[1][1], p.e[0][2]*p.e[1][0] - p.e[0][0]*p.e[1][2], p.e[0][0]*p.e[1][1] - p.e[0][1]*p.e[1][0]}
		depth := floats.Dot(v, sight)
		if !(math.Abs(x*x+y*y+depth*depth-floats.Dot(v, v)) < 1e-12) {
			t.Errorf("%v is seen at (%g, %g), %g deep: not its length", v, x, y, depth)
		}
	}
}

func TestPanelOfFeatures(t *testing.T) {
	r := judgetest.Common().Run(t, "ce", 0, 1)
	d := Drawing{Title: "Features", Panels: []DrawingPanel{{Title: "cross entropy", X: "features", Where: map[string]any{"loss.kind": "ce"}}, {Title: "squared error", X: "features", Where: map[string]any{"loss.kind": "mse"}}}}
	if err := d.Check(judge.Vocabulary{}); err != nil {
		t.Fatal(err)
	}
	r.SetFeatures(&judge.Features{D: 3, K: 2, TrainH: []float64{1, 0, 0, 3, 0, 0, 0, 0, 5, 0, 0, 5}, Observed: []int{0, 0, 1, 1}, True: []int{0, 0, 1, 1}, Redrawn: make([]bool, 4)}, "")
	p := d.Draw("f", []*judge.JudgedRun{judge.JudgeRun(&r)})
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
	if d.Check(judge.Vocabulary{}) == nil {
		t.Error("a panel of features with a y passes")
	}
}

// An error rate is what its accuracy leaves, in percent.
func TestPanelOfTheComplement(t *testing.T) {
	r := judgetest.Common().Run(t, "ce", 0.4, 1)
	accuracy, ok, _ := r.Final("test", "accuracy")
	if !ok || !(accuracy < 0.95) {
		t.Fatalf("accuracy %g", accuracy)
	}
	panel := DrawingPanel{X: "epoch", Y: "test.accuracy", Unit: "%", Complement: true}
	points := panel.points([]*judge.JudgedRun{judge.JudgeRun(&r)}, 100)
	if got := points[len(points)-1].y[0]; !(math.Abs(got-100*(1-accuracy)) < 1e-12) {
		t.Errorf("error %g %%, accuracy %g", got, accuracy)
	}
}

func TestScheme(t *testing.T) {
	runs := judgetest.Halfway(t, 2)
	judgetest.SetFinal(&runs[0], "clean", "mean_norm_ratio", 0.01)
	f := runs[1].Features()
	for i := range f.True {
		if f.Corrupted(i) && f.Observed[i] == 0 {
			f.TrainH[2*i]++ // u₁ lies elsewhere than u₂
		}
	}
	panel := DrawingPanel{Title: "scheme", X: "features", Show: "scheme", Runs: "regular"}
	d := Drawing{Title: "Scheme", Panels: []DrawingPanel{panel}}
	if err := d.Check(judge.Vocabulary{}); err != nil {
		t.Fatal(err)
	}
	p := d.Draw("f", []*judge.JudgedRun{judge.JudgeRun(&runs[0]), judge.JudgeRun(&runs[1])})
	if len(p.Panels) != 1 || p.Panels[0].Title != "scheme" {
		t.Fatalf("%d panels, notes %q", len(p.Panels), p.Notes)
	}
	found := map[string]bool{}
	for _, s := range p.Panels[0].Series {
		if s.Kind != chart.Points || s.Labels == nil {
			continue
		}
		for i, label := range s.Labels {
			found[label] = true
			want := map[string][2]float64{"h₁": {5, 0}, "h₂": {0, 5}, "u₁": {3.5, 2.5}, "u₂": {2.5, 2.5}}[label]
			if !(math.Hypot(s.X[i]-want[0], s.Y[i]-want[1]) < 0.05) {
				t.Errorf("%s at (%g, %g), wanted %v", label, s.X[i], s.Y[i], want)
			}
		}
	}
	if len(found) != 4 {
		t.Errorf("centroids %v", found)
	}
	for _, bad := range []DrawingPanel{{X: "features", Show: "film"}, {X: "epoch", Y: "train.loss", Show: "test"}, {X: "features", Runs: "odd"}} {
		if (Drawing{Panels: []DrawingPanel{bad}}).Check(judge.Vocabulary{}) == nil {
			t.Errorf("%+v passes", bad)
		}
	}
}
