package figure

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
	"collapse.example/collapse/internal/store"
)

func TestCurvesDrawRunsInAnyState(t *testing.T) {
	runs := []judge.Run{judgetest.LiveRun(t, "aa", "ce", 0, store.Running, 0.25), judgetest.LiveRun(t, "bb", "ls", 0.2, store.Failed, 0.5)}
	first := Curves(runs)
	if first.Panels[0].ID != "nc1_pinv-train" || len(first.Panels[0].Series) != 2 {
		t.Fatalf("first panel %s with %d curves, want NC1 with two", first.Panels[0].ID, len(first.Panels[0].Series))
	}
	for i, want := range []float64{0.25, 0.5} {
		s := first.Panels[0].Series[i]
		if !reflect.DeepEqual([]float64(s.Y), []float64{1, want}) || s.YLo != nil {
			t.Errorf("curve %d is %v, want 1 and %g without a band", i, s.Y, want)
		}
	}
}

// TestAScaleShowsWhatThereIs: measures that shrink by orders of magnitude have a logarithmic axis, unless all of it is 0, for which that has
// no place; ranks are counts.
func TestAScaleShowsWhatThereIs(t *testing.T) {
	for clean, want := range map[float64]chart.Scale{5e-5: chart.Log, 0: chart.Linear} {
		m := judgetest.Common()
		m.More = map[[2]string]float64{{"clean", "nc1_pinv"}: clean, {"train", "rank_between_cut"}: 2}
		scales := map[string]chart.Scale{}
		for _, p := range OtherCurves([]judge.Run{m.Run(t, "ce", 0, 1)}).Panels {
			scales[p.ID] = p.Y.Scale
		}
		if got, drawn := scales["nc1_pinv-clean"]; !drawn || got != want {
			t.Errorf("NC1 of %g: a scale %q, wanted %q", clean, got, want)
		}
		if got, drawn := scales["rank_between_cut-train"]; !drawn || got != chart.Linear {
			t.Errorf("a rank: a scale %q", got)
		}
	}
}

func TestGridMapsMeansOfCells(t *testing.T) {
	p := Grid([]judge.Run{judgetest.LiveRun(t, "a", "ce", 0, store.Done, 0.2), judgetest.LiveRun(t, "b", "ce", 0, store.Running, 0.4), judgetest.LiveRun(t, "c", "ls", 0.2, store.Done, 0.8)})
	if len(p.Panels) != 4 {
		t.Fatalf("%d maps", len(p.Panels))
	}
	z := p.Panels[0].Series[0].Heat.Z // rows: cross entropy, label smoothing; columns: 0, 0.2
	if !(math.Abs(z[0]-0.3) < 1e-12) || !math.IsNaN(z[1]) || !math.IsNaN(z[2]) || z[3] != 0.8 {
		t.Errorf("NC1 of the cells %v, want 0.3, none, none, 0.8", z)
	}
	if done := p.Panels[3].Series[0].Heat.Z; done[0] != 0.5 || done[3] != 1 {
		t.Errorf("finished %v", done)
	}
	if one := Grid([]judge.Run{judgetest.LiveRun(t, "a", "ce", 0, store.Done, 1)}); len(one.Panels) != 0 {
		t.Error("a single cell is no grid")
	}
}

// TestOtherCurvesAreBounded draws some of very many measures and says what it leaves out.
func TestOtherCurvesAreBounded(t *testing.T) {
	var values []store.Value
	for i := range mostOwnPanels + mostOthers + 51 {
		values = append(values, store.Value{Key: store.Key{Series: "epoch", Split: "train", Measure: fmt.Sprintf("m%d", i)}, Step: 1, Value: 1})
	}
	run, err := judge.NewRun(store.Run{Kind: store.Script, Status: store.Done}, values)
	if err != nil {
		t.Fatal(err)
	}
	p := OtherCurves([]judge.Run{run})
	if n := len(Curves([]judge.Run{run}).Panels); n != mostOwnPanels || len(p.Panels) != mostOthers || len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "51 more measures not drawn") {
		t.Errorf("%d panels, %q", len(p.Panels), p.Notes)
	}
	run.Every = 7
	for _, p := range []Picture{OtherCurves([]judge.Run{run}), Curves([]judge.Run{run})} {
		if !slices.ContainsFunc(p.Notes, func(n string) bool { return strings.Contains(n, "one in 7 is drawn") }) {
			t.Errorf("%s does not say that epochs are left out: %q", p.ID, p.Notes)
		}
	}
	if _, some := FoldedCurves([]judge.Run{run}); !some {
		t.Error("no other measures to unfold")
	}
}

// TestWhatScriptsReportIsDrawnUnderItsNames, losses and accuracies, too, of one run and of groups.
func TestWhatScriptsReportIsDrawnUnderItsNames(t *testing.T) {
	var values []store.Value
	for _, name := range [][2]string{{"test", "loss"}, {"val", "f1"}, {"train", "accuracy"}, {"", "lr"}} {
		for step := range int64(3) {
			values = append(values, store.Value{Key: store.Key{Series: "epoch", Split: name[0], Measure: name[1]}, Step: step + 1, Value: float64(step)})
		}
	}
	run, err := judge.NewRun(store.Run{Kind: store.Script, Status: store.Done}, values)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []Picture{Curves([]judge.Run{run}), GroupCurves([]Group{{Words: "a", Runs: []judge.Run{run}}})} {
		var titles []string
		for _, panel := range p.Panels {
			titles = append(titles, panel.Title)
		}
		slices.Sort(titles)
		if !slices.Equal(titles, []string{"lr", "test/loss", "train/accuracy", "val/f1"}) || p.Title != "What the script reported, against epoch" || strings.Contains(p.Caption, "evaluation mode") {
			t.Errorf("%q: %q, %q", titles, p.Title, p.Caption)
		}
	}
	if _, more := FoldedCurves([]judge.Run{run}); more {
		t.Error("nothing is left to unfold")
	}
	none := DrawingPanel{Y: "test/los"}
	if words := none.unseen(judge.Finished([]judge.Run{run})); words != "No run has test/los; did you mean test/loss?" {
		t.Error(words)
	}
	misnamed := DrawingPanel{Y: "test/loss", X: "epochs"}
	if words := misnamed.unseen(judge.Finished([]judge.Run{run})); words != "No run has epochs; did you mean epoch?" {
		t.Error(words)
	}
}
