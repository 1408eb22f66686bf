package train

import (
	"slices"
	"testing"

	"collapse.example/collapse/internal/store"
)

// copyEpochs gives dst the run's rows that keep wants, by epoch and measure.
func copyEpochs(t *testing.T, dst, src *store.Lab, hash string, keep func(epoch int64, k store.Key) bool) {
	t.Helper()
	run, err := src.Run(hash)
	if err != nil {
		t.Fatal(err)
	}
	lease, _, err := dst.Lease(store.Spec{Kind: run.Kind, Config: run.Config, Program: run.Program})
	if err != nil {
		t.Fatal(err)
	}
	epochs, err := src.RowsAfter(hash, -1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range epochs {
		epochs[i].Rows = slices.DeleteFunc(epochs[i].Rows, func(v store.Value) bool { return !keep(epochs[i].Epoch, v.Key) })
	}
	if err := lease.AppendEpochs(epochs); err != nil {
		t.Fatal(err)
	}
	if err := lease.Interrupt(); err != nil {
		t.Fatal(err)
	}
}

func TestGaps(t *testing.T) {
	c := tinyConfig()
	c.Run.Epochs, c.Run.MeasureEvery = 8, 3 // measured: 3, 6 and 8
	whole := newLab(t)
	r := mustRun(t, c, whole, Options{})
	for name, want := range map[string]struct {
		keep func(epoch int64, k store.Key) bool
		upTo int
		gaps string
	}{
		"whole":                   {func(int64, store.Key) bool { return true }, 8, ""},
		"beyond the end":          {func(int64, store.Key) bool { return true }, 100, ""},
		"nothing":                 {func(int64, store.Key) bool { return false }, 8, "1–8"},
		"nothing is wanted":       {func(int64, store.Key) bool { return false }, 0, ""},
		"epochs in the middle":    {func(e int64, _ store.Key) bool { return e < 2 || e > 4 }, 8, "2–4"},
		"after the question":      {func(e int64, _ store.Key) bool { return e < 5 }, 4, ""},
		"the last":                {func(e int64, _ store.Key) bool { return e < 8 }, 8, "8"},
		"measures in the middle":  {func(e int64, k store.Key) bool { return e != 6 || k.Measure == "lr" }, 8, "6"},
		"measures of the last":    {func(e int64, k store.Key) bool { return e != 8 || k.Measure == "lr" }, 8, "8"},
		"measures after question": {func(e int64, k store.Key) bool { return e != 8 || k.Measure == "lr" }, 7, ""},
		"every measure":           {func(_ int64, k store.Key) bool { return k.Measure == "lr" }, 8, "3–6 (every 3), 8"},
	} {
		lab := newLab(t)
		copyEpochs(t, lab, whole, r.Run, want.keep)
		gaps, err := Gaps(lab.Reader, r.Run, c, want.upTo)
		if text := store.NameSpans(gaps); err != nil || text != want.gaps {
			t.Errorf("%s: %q, %v; want %q", name, text, err, want.gaps)
		}
	}
	lab := newLab(t)
	copyEpochs(t, lab, whole, r.Run, func(e int64, k store.Key) bool { return e < 6 || k.Measure == "lr" })
	c.Run.MeasureEvery = 4 // the last epoch is measured as a multiple, too
	if gaps, err := Gaps(lab.Reader, r.Run, c, 8); err != nil || store.NameSpans(gaps) != "4–8 (every 4)" {
		t.Errorf("the last epoch among others: %v, %v", gaps, err)
	}
	if _, err := Gaps(whole.Reader, r.Run, Config{}, 8); err == nil {
		t.Error("a configuration without epochs is answered")
	}
}
