package report

import (
	"math"
	"strings"
	"testing"

	"collapse/internal/chart"
)

// halfway is runs whose features are known: class k at 5 on axis k with deviation 0.03, mislabelled samples half way.
func halfway(t *testing.T, seeds int) []Run {
	t.Helper()
	var out []Run
	for seed := 1; seed <= seeds; seed++ {
		r := common().run(t, "ce", 0.2, seed)
		r.Features = cloud(2, 2, 400, []float64{5, 5}, 40)
		out = append(out, r)
	}
	return out
}

// makeDegenerate moves the last norm ratio of clean means below the limit.
func makeDegenerate(r *Run) {
	points := r.series[seriesKey{"clean", "", "mean_norm_ratio"}]
	points[len(points)-1].Value = 0.01
}

func TestKeptValues(t *testing.T) {
	s := judge(&halfway(t, 1)[0])
	for _, c := range []struct {
		name      string
		want, tol float64
	}{{"kept.memorized_way", 0.5, 0.005}, {"kept.test_spread", 0.03 * math.Sqrt(math.Pi/2), 0.003}, {"kept.degenerate", 0, 0}} {
		for range 2 { // computed, then remembered
			if got, err := valueOf(s, c.name, 1); err != nil || !(math.Abs(got-c.want) <= c.tol) {
				t.Errorf("%s = %g, %v, wanted %g ± %g", c.name, got, err, c.want, c.tol)
			}
		}
	}
	if _, err := valueOf(s, "kept.test_spread", 0.5); err == nil || !strings.Contains(err.Error(), "last epoch") {
		t.Errorf("a kept value in the middle of a run: %v", err)
	}
	bare := common().run(t, "ce", 0.2, 1)
	for _, name := range []string{"kept.memorized_way", "kept.test_spread"} {
		for range 2 {
			if v, err := valueOf(judge(&bare), name, 1); err == nil || !strings.Contains(err.Error(), "features") {
				t.Errorf("%s without features: %g, %v", name, v, err)
			}
		}
	}
	if err := knownName("kept.way"); err == nil || !strings.Contains(err.Error(), "kept.memorized_way") {
		t.Errorf("an unknown name: %v", err)
	}
}

// A run that moved all the way has 1; one that lies on its class's test centroid has 0.
func TestMemorizedWayEnds(t *testing.T) {
	r := common().run(t, "ce", 0.2, 1)
	for _, c := range []struct{ x, want float64 }{{0, 0}, {4, 1}, {-2, -0.5}} {
		r.Features = &Features{D: 2, K: 2, TrainH: []float64{1 + c.x, 7}, True: []int{0}, Observed: []int{1}, TestH: []float64{1, 0, 5, 0}, TestTrue: []int{0, 1}}
		if got, err := judge(&r).memorizedWay(); err != nil || !(math.Abs(got-c.want) < 1e-15) {
			t.Errorf("%g along the way: %g, %v, wanted %g", c.x, got, err, c.want)
		}
	}
}

func TestRegularAndDegenerateRuns(t *testing.T) {
	runs := halfway(t, 8)
	for i := range 4 {
		makeDegenerate(&runs[i])
	}
	for _, c := range []struct {
		runs, share string
		want        Verdict
	}{{"regular", "== 0", Holds}, {"degenerate", "== 1", Holds}, {"", "== 0", Fails}, {"regular", "== 1", Fails}} {
		s := Statement{ID: "a", Says: "b", Holds: `final("kept.degenerate") ` + c.share, Runs: c.runs}
		claim, err := s.Judge(runs)
		if err != nil || claim.Verdict != c.want {
			t.Errorf("runs %q, share %s: %s, %s, %v", c.runs, c.share, claim.Verdict, claim.Reason, err)
		}
		if noted := strings.Contains(strings.Join(claim.Statistics, " "), "4 runs that are not "+c.runs); noted != (c.runs != "") {
			t.Errorf("runs %q: statistics %q", c.runs, claim.Statistics)
		}
	}
	alone := common().run(t, "ce", 0.4, 1)
	makeDegenerate(&alone)
	claim, err := Statement{ID: "a", Says: "b", Holds: `final("kept.degenerate") == 0`, Runs: "regular"}.Judge(append(runs, alone))
	if err != nil || claim.Verdict != CannotTell || !strings.Contains(claim.Reason, "no run of 1 configuration is regular") {
		t.Errorf("a configuration of degenerate runs alone: %s, %s, %v", claim.Verdict, claim.Reason, err)
	}
	if (Statement{ID: "a", Holds: "true", Runs: "odd"}).Check() == nil {
		t.Error("a word for runs that does not exist passes")
	}
}

func TestScheme(t *testing.T) {
	runs := halfway(t, 2)
	makeDegenerate(&runs[0])
	f := runs[1].Features
	for i := range f.True {
		if f.Corrupted(i) && f.Observed[i] == 0 {
			f.TrainH[2*i]++ // u₁ lies elsewhere than u₂
		}
	}
	panel := DrawingPanel{Title: "scheme", X: "features", Show: "scheme", Runs: "regular"}
	d := Drawing{Title: "Scheme", Panels: []DrawingPanel{panel}}
	if err := d.Check(); err != nil {
		t.Fatal(err)
	}
	p := d.draw("f", []*subject{judge(&runs[0]), judge(&runs[1])})
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
		if (Drawing{Panels: []DrawingPanel{bad}}).Check() == nil {
			t.Errorf("%+v passes", bad)
		}
	}
}
