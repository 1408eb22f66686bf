package train

import (
	"context"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/parallel"
)

// rowsFrom are the rows from an epoch on.
func rowsFrom(rows []store.Value, first int64) (out []store.Value) {
	for _, v := range rows {
		if v.Step >= first {
			out = append(out, v)
		}
	}
	return out
}

// A run that measures its start has rows of every measure at epoch 0, and every later row is that of a run that does not.
func TestMeasuringTheStartChangesNothing(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"perceptron": func(*Config) {}, "no batch norm": func(c *Config) { c.Net.BatchNorm = false },
		"training pass": func(c *Config) { c.Run.MeasureFrom = fromTraining }, "every second epoch": func(c *Config) { c.Run.MeasureEvery = 2 },
		"L-BFGS": func(c *Config) { c.Optim = Default().Optim; c.Optim.Kind, c.Optim.LR = "lbfgs", 0.1 },
	} {
		t.Run(name, func(t *testing.T) {
			c := tinyConfig()
			change(&c)
			without, with := newLab(t), newLab(t)
			plain := mustRun(t, c, without, Options{})
			c.Run.MeasureStart = true
			r := mustRun(t, c, with, Options{})
			if plain.Run == r.Run {
				t.Error("measuring the start is no part of the run's identity")
			}
			rows := epochValues(t, with, r.Run)
			sameValues(t, "later rows", epochValues(t, without, plain.Run), rowsFrom(rows, 1))
			start, end := map[string]bool{}, map[string]bool{}
			for _, v := range rows {
				key := v.Split + "@" + v.Layer + "." + v.Measure
				switch {
				case v.Step == 0:
					start[key] = true
					if v.Missing == "" && !finite(v.Value) {
						t.Errorf("%s is %g at epoch 0", key, v.Value)
					}
				case v.Step == int64(c.Run.Epochs) && v.Measure != "lr" && !strings.HasPrefix(v.Measure, "running_"):
					end[key] = true
				}
			}
			for key := range end {
				if !start[key] {
					t.Errorf("%s is not measured at epoch 0", key)
				}
			}
			if len(end) == 0 || len(start) != len(end) {
				t.Errorf("%d measures at epoch 0, %d at the end", len(start), len(end))
			}
		})
	}
}

// Interrupted before and after its first checkpoint, a run ends with the rows of epoch 0, once.
func TestTheStartSurvivesInterruptions(t *testing.T) {
	for _, every := range []int{1, 2} {
		for _, stop := range []int{1, 3} {
			c := tinyConfig()
			c.Run.Epochs, c.Run.CheckpointEvery, c.Run.MeasureStart = 4, every, true
			whole, lab := newLab(t), newLab(t)
			want := mustRun(t, c, whole, Options{})
			ctx, cancel := context.WithCancel(context.Background())
			r, err := Run(ctx, c, lab, Options{Sink: &stopAfter{epochs: stop, cancel: cancel}, Open: openOnce})
			if err == nil {
				t.Fatal("the run was not interrupted")
			}
			if _, err := Resume(context.Background(), lab, r.Run, Options{Open: openOnce}); err != nil {
				t.Fatal(err)
			}
			sameValues(t, "resumed", epochValues(t, whole, want.Run), epochValues(t, lab, r.Run))
		}
	}
}

// The checkpoint of epoch 1 keeps the rows of epoch 0: a kill between it and its rows loses neither.
func TestTheFirstCheckpointKeepsTheStart(t *testing.T) {
	c := tinyConfig()
	c.Run.Epochs, c.Run.CheckpointEvery, c.Run.MeasureStart = 3, 1, true
	whole, lab := newLab(t), newLab(t)
	want := mustRun(t, c, whole, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	r, err := Run(ctx, c, lab, Options{Sink: &stopAfter{epochs: 1, cancel: cancel}, Open: openOnce})
	if err == nil {
		t.Fatal("the run was not interrupted")
	}
	lease, _, err := lab.Lease(store.Spec{Kind: store.Train, Config: mustConfig(t, lab, r.Run)})
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.DeleteAfter(-1); err != nil { // as if the rows of epochs 0 and 1 had not been written
		t.Fatal(err)
	}
	if err := lease.Interrupt(); err != nil {
		t.Fatal(err)
	}
	if _, err := Resume(context.Background(), lab, r.Run, Options{Open: openOnce, RowsElsewhere: 1}); err != nil {
		t.Fatal(err)
	}
	sameValues(t, "resumed", epochValues(t, whole, want.Run), epochValues(t, lab, r.Run))
}

func mustConfig(t *testing.T, lab *store.Lab, hash string) []byte {
	t.Helper()
	run, err := lab.Run(hash)
	if err != nil {
		t.Fatal(err)
	}
	return run.Config
}

// A lab without the rows of epoch 0 has a gap there, and no checkpoint reaches over it.
func TestAMissingStartIsAGap(t *testing.T) {
	c := tinyConfig()
	lab := newLab(t)
	r := mustRun(t, c, lab, Options{})
	if gaps, err := Gaps(lab.Reader, r.Run, c, c.Run.Epochs); err != nil || len(gaps) != 0 {
		t.Fatalf("gaps %v, %v", gaps, err)
	}
	c.Run.MeasureStart = true
	gaps, err := Gaps(lab.Reader, r.Run, c, c.Run.Epochs)
	if err != nil || len(gaps) != 1 || gaps[0].First != 0 || gaps[0].Last != 0 {
		t.Errorf("gaps %v, %v, wanted epoch 0", gaps, err)
	}
	if whole, gap, err := Reach(lab.Reader, r.Run, c, 0, c.Run.Epochs); err != nil || whole != 0 || gap != "0" {
		t.Errorf("rows reach epoch %d, gap %q, %v", whole, gap, err)
	}
}

// After settling, running statistics are the training set's: the network in evaluation mode computes on its batches what training mode does,
// nearly, which with fresh statistics it does not.
func TestSettledStatistics(t *testing.T) {
	c := tinyConfig()
	team := parallel.NewTeam(2)
	defer team.Close()
	s := tinySession[float64](t, c, team)
	n := nativeOf(s)
	far := func() (sum float64) {
		x, _ := n.loaded()
		training := slices.Clone(n.net.Forward(x, n.batch, nn.Train).Features)
		for i, v := range n.net.Forward(x, n.batch, nn.Eval).Features {
			sum += (v - training[i]) * (v - training[i])
		}
		return sum
	}
	samples := make([]int32, 32)
	for i := range samples {
		samples[i] = int32(i)
	}
	n.loadBatch(samples, 0)
	fresh := far()
	if err := n.settle(func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	n.loadBatch(samples, 0)
	if settled := far(); !(settled < fresh/10) {
		t.Errorf("squared distance %g with fresh statistics, %g with settled ones", fresh, settled)
	}
}
