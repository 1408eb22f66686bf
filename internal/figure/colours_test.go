package figure

import (
	"slices"
	"testing"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/internal/measurement/measurementtest"
	"collapse.example/collapse/internal/store"
)

// TestEveryClassHasAColour draws two, ten and eleven classes in every picture of features: each class has a colour of its own as long as
// there are so many, and beyond them no legend names two classes by one.
func TestEveryClassHasAColour(t *testing.T) {
	for _, k := range []int{2, chart.DataColors, chart.DataColors + 1} {
		for name, panel := range cloudsOf(t, k) {
			classes, colours := map[string]bool{}, map[chart.Color]bool{}
			named := map[chart.Color]string{}
			for _, s := range panel.Series {
				if s.Marker != chart.Dot {
					continue
				}
				if len(s.X) == 0 {
					t.Errorf("%s of %d classes: %s has no points", name, k, s.ID)
				}
				classes[s.ID], colours[s.Color] = true, true
				if other := named[s.Color]; s.Label != "" && other != "" {
					t.Errorf("%s of %d classes: %s and %s have one colour", name, k, other, s.Label)
				}
				named[s.Color] = s.Label
			}
			if len(classes) != k || len(colours) != min(k, chart.DataColors) {
				t.Errorf("%s of %d classes: %d classes in %d colours", name, k, len(classes), len(colours))
			}
		}
	}
}

// cloudsOf is a panel of each picture of features, of k classes.
func cloudsOf(t *testing.T, k int) map[string]chart.Panel {
	t.Helper()
	dir := t.TempDir()
	judgetest.WriteFrame(t, dir, 1, k, k, 1, 0.1)
	film, err := OpenFilm(dir)
	if err != nil {
		t.Fatal(err)
	}
	pictures, err := film.Pictures(1)
	if err != nil {
		t.Fatal(err)
	}
	r, h, labels := measurementtest.Spikes(t, k, 4, k+2, 0.1)
	c := measurement.NewColumn("features", r)
	c.Sample, c.Classes = h, labels
	m := &measurement.Result{Columns: []measurement.Column{c}}
	run := judgetest.Common().Run(t, "ce", 0, 1)
	run.SetFeatures(judgetest.Cloud(k, k, 10, slices.Repeat([]float64{2}, k), 0), "")
	v := view{JudgedRun: judge.JudgeRun(&run), f: run.Features(), plane: planeOf(run.Features())}
	return map[string]chart.Panel{"the film": pictures[0].Panels[0], "the plane": meansPlane(m, m.MainColumn()).Panels[0], "the last epoch": v.panels()[0]}
}

// TestLastFeaturesShowEveryClass has more samples than a picture takes, whose classes come in turn.
func TestLastFeaturesShowEveryClass(t *testing.T) {
	const k, n = 10, 2 * measurement.SampleSize
	all := &judge.Features{D: 2, K: k, Weight: make([]float64, 2*k), TrainH: make([]float64, 2*n)}
	for i := range n {
		all.True, all.Observed = append(all.True, i%k), append(all.Observed, i%k)
	}
	shown := map[int]int{}
	for _, class := range lastFrame(all).True {
		shown[class]++
	}
	for class := range k {
		if shown[class] != measurement.SampleSize/k {
			t.Errorf("class %d has %d of %d samples", class, shown[class], measurement.SampleSize)
		}
	}
}

// TestCurvesOfScriptsAreSolid: runs without a known loss take the first colours, so that "train solid, test dashed" is true of them.
func TestCurvesOfScriptsAreSolid(t *testing.T) {
	run, err := judge.NewRun(store.Run{Hash: "aa", Kind: store.Script, Status: store.Done, Config: []byte(`{"lr":0.1}`)}, []store.Value{
		{Key: store.Key{Series: "epoch", Split: "train", Measure: "accuracy"}, Step: 1, Value: 0.5}, {Key: store.Key{Series: "epoch", Split: "train", Measure: "accuracy"}, Step: 2, Value: 0.6}})
	if err != nil {
		t.Fatal(err)
	}
	p := Curves([]judge.Run{run})
	if len(p.Panels) != 1 || len(p.Panels[0].Series) != 1 || p.Panels[0].Series[0].Color != chart.ColorFor(0) {
		t.Errorf("%+v", p.Panels)
	}
}
