package figure

import (
	"math"
	"strings"
	"testing"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
	"collapse.example/collapse/internal/store"
)

// TestMeansLeaveDegenerateRunsOut at the last epoch of every panel.
func TestMeansLeaveDegenerateRunsOut(t *testing.T) {
	m := judgetest.Common()
	m.Losses, m.Noises, m.Jitter = []string{"ce"}, []float64{0}, 0
	runs := m.Runs(t)
	bad := m.Run(t, "ce", 0, 9)
	judgetest.SetFinal(&bad, "train", "mean_norm_ratio", 0.01)
	judgetest.SetFinal(&bad, "train", "nc3_centred", 5)
	gs, _ := judge.Experiments(append(runs, bad))
	first, rest := EpochFigures(gs[0], 0)
	faint := 0
	for _, p := range first.Panels {
		for _, s := range p.Series {
			if p.ID == "nc3_centred-train" && s.ID == "mean-train-0" && !judgetest.Near(s.Y[len(s.Y)-1], 0.05, 1e-12) {
				t.Errorf("mean of NC3 is %g, wanted 0.05", s.Y[len(s.Y)-1])
			}
			if s.Label == "degenerate run" {
				faint++
			}
		}
	}
	if faint != len(first.Panels) || !strings.Contains(strings.Join(first.Notes, ""), "1 degenerate run") || len(rest.Notes) != 1 {
		t.Errorf("%d faint lines in %d panels, notes %q", faint, len(first.Panels), first.Notes)
	}
}

// pointsOf sums the runs behind the mean points of a curve in the first panel.
func pointsOf(p Picture, curve string) int {
	n := 0
	for _, s := range p.Panels[0].Series {
		if s.Label == curve {
			for _, k := range s.N {
				n += k
			}
		}
	}
	return n
}

func TestTheMainFigureLeavesDegenerateRunsOut(t *testing.T) {
	m := judgetest.Common()
	runs := m.Runs(t)
	for seed, ratio := range []float64{0.099, 0.1, 0.0667} {
		r := m.Run(t, "ce", 0.1, 21+seed)
		judgetest.SetFinal(&r, "clean", "mean_norm_ratio", ratio)
		runs = append(runs, r)
	}
	unknown := m.Run(t, "ce", 0.1, 24)
	judgetest.Forget(&unknown, "clean", "mean_norm_ratio")
	gs, _ := judge.Experiments(append(runs, unknown))
	main, all := MainFigures(gs[0])[0], MainFigures(gs[0])[1]
	without, with := pointsOf(main, "cross entropy"), pointsOf(all, "cross entropy")
	if without != 5*m.Seeds+2 || with != 5*m.Seeds+4 {
		t.Errorf("%d runs of CE in the figure without degenerate runs, %d with them", without, with)
	}
	if !strings.Contains(strings.Join(main.Notes, " "), "2 degenerate runs left out") {
		t.Errorf("notes %q do not count them", main.Notes)
	}
}

func TestCurvesOfOneLossDifferInColour(t *testing.T) {
	m := judgetest.Common()
	m.Noises, m.Seeds = []float64{0.1}, 1
	smooth := m.Run(t, "ls", 0.1, 6)
	smooth.Settings["loss.smoothing"] = "0.2"
	gs, _ := judge.Experiments(append(m.Runs(t), smooth))
	if a, b := color(gs[0], "label smoothing"), color(gs[0], "label smoothing (α = 0.2)"); a == b {
		t.Error("two curves share a colour")
	}
}

// In a grid's cell no older value stands in for one that is missing.
func TestACellOfTheGridIsNeverAnOlderValue(t *testing.T) {
	value := func(measure string, step int64, v float64, missing string) store.Value {
		return store.Value{Key: store.Key{Series: "epoch", Split: "train", Measure: measure}, Step: step, Value: v, Missing: missing}
	}
	r, err := judge.NewRun(store.Run{}, []store.Value{value("accuracy", 5, 0.75, ""), value("nc1_pinv", 5, 4, ""), value("nc1_pinv", 10, 0, "class 1 is empty")})
	if err != nil {
		t.Fatal(err)
	}
	if v := cell([]judge.Run{r}, r.CurveName(), r.Noise, "train", "accuracy"); v != 0.75 {
		t.Errorf("the grid's cell shows %g, wanted 0.75", v)
	}
	if v := cell([]judge.Run{r}, r.CurveName(), r.Noise, "train", "nc1_pinv"); !math.IsNaN(v) {
		t.Errorf("the grid's cell shows %g of an older epoch", v)
	}
}

// One run far above every mean would flatten the curves on a linear axis.
func TestStray(t *testing.T) {
	mean := chart.Series{Y: chart.Numbers{0.5, 1.2}}
	for _, of := range []struct {
		runs []float64
		want bool
	}{{[]float64{0.4, 0.6, 2.3}, false}, {[]float64{0.4, 2.5}, true}} {
		if got := stray([]chart.Series{{Y: of.runs, Faint: true}, mean}); got != of.want {
			t.Errorf("%v: %v", of.runs, got)
		}
	}
}

func TestAStrayRunMakesTheAxisLogarithmic(t *testing.T) {
	for _, dilation := range []float64{0.5, 500} {
		m := judgetest.Common()
		runs := m.Runs(t)
		judgetest.SetFinal(&runs[0], "test", "dilation", dilation)
		gs, _ := judge.Experiments(runs)
		y := dilationFigure(gs[0], "dilation", gs[0].Runs, []judge.MemoryForm{gs[0].Form()}).Panels[0].Y
		if log := y.Scale == chart.Log; log != (dilation == 500) {
			t.Errorf("dilation %v: %+v", dilation, y)
		}
	}
}
