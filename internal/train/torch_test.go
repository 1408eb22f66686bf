package train

import (
	"math"
	"testing"

	"collapse.example/collapse/internal/engine"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/python"
)

// torchPool is a pool of engines in PyTorch. The test is skipped where there is none.
func torchPool(t *testing.T) *engine.Pool {
	t.Helper()
	p := &engine.Python{Interpreter: torchPython(t), Files: python.Files(), Version: python.Version()}
	pool := &engine.Pool{Launch: p.Launch, Devices: []string{"cpu"}}
	t.Cleanup(pool.Close)
	return pool
}

// nearValues compares rows but for times; want and got are of different engines.
func nearValues(t *testing.T, what string, want, got []store.Value, tolerance float64) (worst float64) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("%s: %d rows, wanted %d", what, len(got), len(want))
		return
	}
	for i, w := range want {
		g := got[i]
		if w.Key != g.Key || w.Step != g.Step || (w.Missing == "") != (g.Missing == "") {
			t.Errorf("%s: row %d is %+v, wanted %+v", what, i, g, w)
			continue
		}
		d := math.Abs(w.Value-g.Value) / math.Max(1e-3, math.Abs(w.Value))
		worst = math.Max(worst, d)
		if !(d <= tolerance) {
			t.Errorf("%s: epoch %d, %s/%s/%s is %.15g, wanted %.15g: off by %.2g", what, w.Step, w.Layer, w.Split, w.Measure, g.Value, w.Value, d)
		}
	}
	return worst
}

func TestTorchGivesTheRowsOfOurKernels(t *testing.T) {
	longtest.Only(t)
	pool := torchPool(t)
	for name, c := range map[string]Config{"tiny": elsewhere(), "rich": richElsewhere("float64")} {
		c.Run.DType = "float64"
		lab, own := newLab(t), newLab(t)
		got := mustRun(t, c, lab, Options{Engines: pool})
		c.Run.Engine = engineGo
		want := mustRun(t, c, own, Options{})
		worst := nearValues(t, name, epochValues(t, own, want.Run), epochValues(t, lab, got.Run), 1e-9)
		t.Logf("%s: largest difference %.2g", name, worst)
	}
}
