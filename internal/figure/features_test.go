package figure

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
)

func TestPlaneIsTheFeatureSpaceInTwoDimensions(t *testing.T) {
	f := judgetest.Cloud(2, 2, 10, []float64{3, 2}, 0)
	if x, y := planeOf(f).at([]float64{1.5, -2}); x != 1.5 || y != -2 {
		t.Errorf("(1.5, −2) is drawn at (%g, %g)", x, y)
	}
}

// TestPlane: two orthonormal directions; for two classes the first is along the difference of the
// means, for three classes in general position all distances between means survive.
func TestPlane(t *testing.T) {
	for _, c := range []struct{ d, k int }{{5, 2}, {5, 3}, {7, 5}, {3, 2}} {
		size := make([]float64, c.k)
		for i := range size {
			size[i] = 2 + 0.3*float64(i)
		}
		f := judgetest.Cloud(c.d, c.k, 50, size, 5)
		p := planeOf(f)
		if !judgetest.Near(floats.Norm(p.e[0], 2), 1, 1e-9) || !judgetest.Near(floats.Norm(p.e[1], 2), 1, 1e-9) || !judgetest.Near(floats.Dot(p.e[0], p.e[1]), 0, 1e-9) {
			t.Fatalf("d=%d K=%d: directions are not orthonormal", c.d, c.k)
		}
		m, _ := f.CleanMeans()
		for i := range c.k {
			for j := range i {
				xi, yi := p.at(m[i])
				xj, yj := p.at(m[j])
				drawn, real := math.Hypot(xi-xj, yi-yj), floats.Norm(minus(m[i], m[j]), 2)
				if drawn > real*(1+1e-9) || (c.k <= 3 && !judgetest.Near(drawn, real, 1e-9*real)) {
					t.Errorf("d=%d K=%d: means %d and %d are %g apart, drawn %g", c.d, c.k, i, j, real, drawn)
				}
				if c.k == 2 && !judgetest.Near(yi, yj, 1e-9) {
					t.Errorf("d=%d: the first axis is not along the difference of the means", c.d)
				}
			}
		}
	}
	same := judgetest.Cloud(4, 2, 3, []float64{1, 1}, 0)
	for i := range same.TrainH {
		same.TrainH[i] = 1 // no spread of any kind
	}
	p := planeOf(same)
	if !judgetest.Near(floats.Norm(p.e[0], 2), 1, 1e-9) || !judgetest.Near(floats.Norm(p.e[1], 2), 1, 1e-9) || !judgetest.Near(floats.Dot(p.e[0], p.e[1]), 0, 1e-9) {
		t.Error("features without spread gave no plane")
	}
}

// TestDecisionLine checks the closed form (w₁ − w₂)·h + b₁ − b₂ = 0 at both ends of the line.
func TestDecisionLine(t *testing.T) {
	f := &judge.Features{D: 2, K: 2, Weight: []float64{2, 1, -1, 3}, Bias: []float64{0.5, -1}}
	s := boundaryOf(f, plane{origin: []float64{0, 0}, e: [2][]float64{{1, 0}, {0, 1}}}).segments(-2, 2, -2, 2)
	if len(s) != 1 {
		t.Fatalf("%d segments", len(s))
	}
	for i := 0; i < 4; i += 2 {
		x, y := s[0][i], s[0][i+1]
		if v := 3*x - 2*y + 1.5; !judgetest.Near(v, 0, 1e-12) {
			t.Errorf("end (%g, %g) is off the line by %g", x, y, v)
		}
		if !judgetest.Near(math.Max(math.Abs(x), math.Abs(y)), 2, 1e-12) {
			t.Errorf("end (%g, %g) is not on the frame", x, y)
		}
	}
}

// TestBoundaries: on every piece, the two largest logits of the full classifier are equal; and
// walking across the frame, the predicted class changes only at a piece.
func TestBoundaries(t *testing.T) {
	value := rapid.Float64Range(-3, 3)
	rapid.Check(t, func(t *rapid.T) {
		k, d := rapid.IntRange(2, 5).Draw(t, "K"), rapid.IntRange(2, 4).Draw(t, "d")
		f := &judge.Features{D: d, K: k, Weight: rapid.SliceOfN(value, k*d, k*d).Draw(t, "W"), Bias: rapid.SliceOfN(value, k, k).Draw(t, "b")}
		p := plane{origin: rapid.SliceOfN(value, d, d).Draw(t, "origin")}
		for i := range p.e {
			p.e[i] = make([]float64, d)
			p.e[i][i] = 1
		}
		logits := func(x, y float64) (best, second float64, class int) {
			best, second = math.Inf(-1), math.Inf(-1)
			for c := range k {
				z := f.Bias[c]
				for j := range d {
					z += f.Weight[c*d+j] * (p.origin[j] + x*p.e[0][j] + y*p.e[1][j])
				}
				if z > best {
					best, second, class = z, best, c
				} else if z > second {
					second = z
				}
			}
			return best, second, class
		}
		pieces := boundaryOf(f, p).segments(-1, 1, -1, 1)
		for _, s := range pieces {
			for _, u := range []float64{0, 0.3, 1} {
				x, y := s[0]+u*(s[2]-s[0]), s[1]+u*(s[3]-s[1])
				if best, second, _ := logits(x, y); !judgetest.Near(best, second, 1e-6) {
					t.Fatalf("at (%g, %g) of a piece the largest logits are %g and %g", x, y, best, second)
				}
			}
		}
		best, second, from := logits(-1, -1)
		most, next, to := logits(1, 1)
		clear := best-second > 1e-9 && most-next > 1e-9 // not by rounding alone
		if from != to && clear && len(pieces) == 0 {
			t.Fatal("the class changes across the frame without a line")
		}
	})
}

func TestCorruptedSamplesAreMarked(t *testing.T) {
	m := judgetest.Common()
	r := m.Run(t, "ce", 0.1, 1)
	r.SetFeatures(judgetest.Cloud(2, 2, 200, []float64{3, 2.5}, 20), "")
	r.Features().Redrawn[150] = true // drawn anew, to its own class: not mislabelled
	g, _ := judge.Experiments([]judge.Run{r})
	p := FeatureFigures(g[0], nil)[0]
	if len(p.Panels) != 2 {
		t.Fatalf("%d panels, wanted train and test", len(p.Panels))
	}
	n := map[string]int{}
	for _, s := range p.Panels[0].Series {
		n[s.ID] = len(s.X)
	}
	if n["cross-0"] != 20 || n["cross-1"] != 20 || n["dot-0"] != 180 || n["dot-1"] != 180 || n["decision"] != 1 || n["rows"] != 2 || n["mean"] != 2 || n["corrupted"] != 2 {
		t.Errorf("series sizes %v", n)
	}
	for _, s := range p.Panels[0].Series {
		if s.ID == "corrupted" && !(judgetest.Near(s.X[0], 1.5, 0.05) && judgetest.Near(s.Y[0], 1.25, 0.05)) {
			t.Errorf("mislabelled samples of class 0 have their mean at (%g, %g), wanted near (1.5, 1.25)", s.X[0], s.Y[0])
		}
		if s.ID == "mean" && !(judgetest.Near(s.X[0], 3, 0.02) && judgetest.Near(s.Y[1], 2.5, 0.02)) {
			t.Errorf("class means at %v, %v", s.X, s.Y)
		}
	}
	for _, s := range p.Panels[1].Series {
		if s.Marker == "cross" {
			t.Error("test samples have no corrupted labels")
		}
	}
	if len(p.Table.Rows) != 4 || p.Table.Rows[0][7] != "20" {
		t.Errorf("table %q", p.Table.Rows)
	}
}

func TestManySamplesAreThinnedAndSaidSo(t *testing.T) {
	m := judgetest.Common()
	r := m.Run(t, "ce", 0, 1)
	r.SetFeatures(judgetest.Cloud(2, 2, 4000, []float64{3, 2.5}, 0), "")
	g, _ := judge.Experiments([]judge.Run{r})
	p := FeatureFigures(g[0], nil)[0]
	drawn := len(p.Panels[0].Series[0].X)
	if drawn > mostSamples || drawn < mostSamples/2 || len(p.Notes) == 0 {
		t.Errorf("%d of 4000 samples drawn, notes %q", drawn, p.Notes)
	}
}

// Train and test of a run stand in one frame, so that a reader sees which of them is wider.
func TestTrainAndTestShareAFrame(t *testing.T) {
	r := judgetest.Common().Run(t, "ce", 0, 1)
	f := judgetest.Cloud(2, 2, 10, []float64{3, 2}, 0)
	for i := range f.TestH {
		f.TestH[i] *= 5
	}
	r.SetFeatures(f, "")
	v := view{JudgedRun: judge.JudgeRun(&r), f: r.Features(), plane: planeOf(r.Features())}
	panels := v.panels()
	if len(panels) != 2 || *panels[0].X.Range != *panels[1].X.Range || *panels[0].Y.Range != *panels[1].Y.Range || panels[0].X.Range[1] < slices.Max(f.TestH) {
		t.Errorf("train %v × %v, test %v × %v", panels[0].X.Range, panels[0].Y.Range, panels[1].X.Range, panels[1].Y.Range)
	}
}
