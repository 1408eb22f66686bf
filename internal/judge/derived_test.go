package judge_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
	"collapse.example/collapse/internal/store"
)

func TestKeptValues(t *testing.T) {
	s := judge.JudgeRun(&judgetest.Halfway(t, 1)[0])
	for _, c := range []struct {
		name      string
		want, tol float64
	}{{"kept.memorized_way", 0.5, 0.005}, {"kept.test_spread", 0.03 * math.Sqrt(math.Pi/2), 0.003}, {"kept.degenerate", 0, 0}} {
		for range 2 { // computed, then remembered
			if got, err := s.Value(c.name, 1); err != nil || !(math.Abs(got-c.want) <= c.tol) {
				t.Errorf("%s = %g, %v, wanted %g ± %g", c.name, got, err, c.want, c.tol)
			}
		}
	}
	if _, err := s.Value("kept.test_spread", 0.5); err == nil || !strings.Contains(err.Error(), "last epoch") {
		t.Errorf("a kept value in the middle of a run: %v", err)
	}
	bare := judgetest.Common().Run(t, "ce", 0.2, 1)
	for _, name := range []string{"kept.memorized_way", "kept.test_spread"} {
		for range 2 {
			if v, err := judge.JudgeRun(&bare).Value(name, 1); err == nil || !strings.Contains(err.Error(), "features") {
				t.Errorf("%s without features: %g, %v", name, v, err)
			}
		}
	}
	if err := judge.CheckName("kept.way"); err == nil || !strings.Contains(err.Error(), "kept.memorized_way") {
		t.Errorf("an unknown name: %v", err)
	}
}

// A run that moved all the way has 1; one that lies on its class's test centroid has 0.
func TestMemorizedWayEnds(t *testing.T) {
	r := judgetest.Common().Run(t, "ce", 0.2, 1)
	for _, c := range []struct{ x, want float64 }{{0, 0}, {4, 1}, {-2, -0.5}} {
		r.SetFeatures(&judge.Features{D: 2, K: 2, TrainH: []float64{1 + c.x, 7}, True: []int{0}, Observed: []int{1}, TestH: []float64{1, 0, 5, 0}, TestTrue: []int{0, 1}}, "")
		if got, err := judge.JudgeRun(&r).Value("kept.memorized_way", 1); err != nil || !(math.Abs(got-c.want) < 1e-15) {
			t.Errorf("%g along the way: %g, %v, wanted %g", c.x, got, err, c.want)
		}
	}
}

// The centred means of a simplex ETF have K−1 equal singular values, whatever is added to all of them; stretched along one of its
// directions, their ratio is the stretch. Fewer dimensions than K−1 leave d of them.
func TestConditioning(t *testing.T) {
	r := judgetest.Common().Run(t, "ce", 0.2, 1)
	h := math.Sqrt(3) / 2
	for _, c := range []struct {
		d    int
		h    []float64
		want float64
	}{
		{2, []float64{8, 5, 7 - .5, 5 + h, 7 - .5, 5 - h}, 1},
		{2, []float64{1, 0, -.5, h, -.5, -h}, 1},
		{2, []float64{1, 9, -.5, 9 + h/100, -.5, 9 - h/100}, .01},
		{3, []float64{1, 0, 5, -.5, h, 5, -.5, -h, 5}, 1},
		{1, []float64{1, 2, 4}, 1},
	} {
		r.SetFeatures(&judge.Features{D: c.d, K: 3, TestH: c.h, TestTrue: []int{0, 1, 2}}, "")
		if got, err := judge.JudgeRun(&r).Value("kept.test_conditioning", 1); err != nil || !(math.Abs(got-c.want) < 1e-12) {
			t.Errorf("%v: %g, %v, wanted %g", c.h, got, err, c.want)
		}
	}
	r.SetFeatures(&judge.Features{D: 1, K: 2, TestH: []float64{3, 3}, TestTrue: []int{0, 1}}, "")
	if v, err := judge.JudgeRun(&r).Value("kept.test_conditioning", 1); err == nil || !strings.Contains(err.Error(), "coincide") {
		t.Errorf("equal means: %g, %v", v, err)
	}
	synthetic := judgetest.Common()
	synthetic.More = map[[2]string]float64{{"test", "nc1_trace_ratio"}: 0.81}
	r = synthetic.Run(t, "ce", 0.2, 1)
	if v, err := judge.JudgeRun(&r).Value("kept.dilation_trace", 1); err != nil || !(math.Abs(v-.9) < 1e-15) {
		t.Errorf("dilation by traces: %g, %v, wanted 0.9", v, err)
	}
}

func TestRegularAndDegenerateRuns(t *testing.T) {
	runs := judgetest.Halfway(t, 10)
	for i := range 5 {
		judgetest.SetFinal(&runs[i], "clean", "mean_norm_ratio", 0.01)
	}
	share := func(runs string, lo, hi float64) judge.Statement {
		return judge.Statement{ID: "a", Says: "b", Kind: judge.Equal, Left: `final("kept.degenerate")`, Right: "0.5", Band: &[2]float64{lo, hi}, Because: "a test", Runs: runs}
	}
	for _, c := range []struct {
		runs   string
		lo, hi float64
		want   judge.Verdict
	}{{"regular", -.6, .1, judge.Holds}, {"regular", -.1, .6, judge.Fails}, {"degenerate", -.1, .6, judge.Holds}, {"", -.6, .1, judge.CannotTell}} {
		s := share(c.runs, c.lo, c.hi)
		claim, err := s.Judge(runs)
		if err != nil || claim.Verdict != c.want {
			t.Errorf("runs %q in %g to %g: %s, %s, %v", c.runs, c.lo, c.hi, claim.Verdict, claim.Reason, err)
		}
		if noted := strings.Contains(strings.Join(claim.Statistics, " "), "5 runs left out, not "+c.runs); noted != (c.runs != "") {
			t.Errorf("runs %q: statistics %q", c.runs, claim.Statistics)
		}
	}
	alone := judgetest.Common().Run(t, "ce", 0.4, 1)
	judgetest.SetFinal(&alone, "clean", "mean_norm_ratio", 0.01)
	claim, err := share("regular", -.6, .1).Judge(append(runs, alone))
	if err != nil || claim.Verdict != judge.CannotTell || !strings.Contains(claim.Reason, "no run of 1 configuration is regular") {
		t.Errorf("a configuration of degenerate runs alone: %s, %s, %v", claim.Verdict, claim.Reason, err)
	}
}

// TestFinalIsOfTheRunsEnd: a value that a script stopped reporting is not passed off as its last.
func TestFinalIsOfTheRunsEnd(t *testing.T) {
	at := func(name string, step int64) store.Value {
		return store.Value{Key: store.Key{Series: "epoch", Split: "val", Measure: name}, Step: step, Value: float64(step)}
	}
	r, err := judge.NewRun(store.Run{Hash: "c", Kind: store.Script, Status: store.Done},
		[]store.Value{at("old", 34), at("every5", 35), at("loss", 40)})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"val/loss": "40", "val/every5": "35", "val/old": "was not measured near epoch 40; the nearest is 34"} {
		v, err := judge.JudgeRun(&r).Value(name, 1)
		if err != nil && !strings.Contains(err.Error(), want) || err == nil && fmt.Sprint(v) != want {
			t.Errorf("final(%s) is %g, %v, wanted %s", name, v, err, want)
		}
	}
}
