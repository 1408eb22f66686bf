package report

import (
	"math"
	"reflect"
	"testing"

	"collapse/internal/store"
)

// liveRun is a run in some state with two measured epochs.
func liveRun(t *testing.T, hash, loss string, noise float64, status store.Status, nc1 float64) Run {
	t.Helper()
	config := []byte(`{"loss":{"kind":"` + loss + `"},"data":{"noise":` + decimal(noise) + `},"run":{"epochs":7}}`)
	value := func(split, measure string, step int64, v float64) store.Value {
		return store.Value{Key: store.Key{Series: "epoch", Split: split, Measure: measure}, Step: step, Value: v}
	}
	r, err := NewRun(store.Run{Hash: hash, Kind: store.Train, Status: status, Config: config}, []store.Value{
		value("train", "nc1_pinv", 1, 1), value("train", "nc1_pinv", 2, nc1), value("test", "accuracy", 2, 0.75), value("train", "loss", 2, 0.5)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCurvesDrawRunsInAnyState(t *testing.T) {
	runs := []Run{liveRun(t, "aa", "ce", 0, store.Running, 0.25), liveRun(t, "bb", "ls", 0.2, store.Failed, 0.5)}
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
	if got := Names(runs); got[0] == got[1] || got[0] != "cross entropy, η 0" {
		t.Errorf("names %q", got)
	}
	if twins := Names([]Run{runs[0], runs[0]}); twins[0] != "cross entropy (aa)" {
		t.Errorf("runs of one configuration are named %q", twins)
	}
	if runs[0].Epochs() != 7 {
		t.Errorf("epochs %d, want 7", runs[0].Epochs())
	}
}

func TestDifferencesListOnlyWhatDiffers(t *testing.T) {
	got := Differences([]Run{liveRun(t, "aa", "ce", 0, store.Done, 1), liveRun(t, "bb", "ls", 0, store.Done, 1)})
	want := []Difference{{"loss.kind", []string{"ce", "ls"}}}
	for _, d := range got {
		if d.Key == "loss.kind" && !reflect.DeepEqual(d, want[0]) || d.Key == "data.noise" || d.Key == "run.epochs" {
			t.Errorf("difference %+v", d)
		}
	}
	if len(got) == 0 {
		t.Error("no difference found")
	}
}

func TestGridMapsMeansOfCells(t *testing.T) {
	p := Grid([]Run{liveRun(t, "a", "ce", 0, store.Done, 0.2), liveRun(t, "b", "ce", 0, store.Running, 0.4), liveRun(t, "c", "ls", 0.2, store.Done, 0.8)})
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
	if one := Grid([]Run{liveRun(t, "a", "ce", 0, store.Done, 1)}); len(one.Panels) != 0 {
		t.Error("a single cell is no grid")
	}
}
