package train

import (
	"fmt"
	"testing"

	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/parallel"
)

// idle is the fault of an engine that does nothing: idleEngine.
const idle = "idle"

// idleEngine neither trains nor evaluates: it answers at once, with features and logits that were computed once. The time of a run
// with it is that of protocol and files.
type idleEngine struct {
	fakeEngine[float32]
	rows map[string]*fakeRows[float32]
}

func (f *idleEngine) do(o fakeOrder) (map[string]any, error) {
	switch {
	case o.Do == "epoch":
		n, batch := f.n.in.train.N(), f.n.cfg.batch(f.n.in.sizes())
		return map[string]any{"done": o.Do, "loss_sum": float64(n), "correct": 0, "samples": n, "steps": (n + batch - 1) / batch, "last": 1.0, "bad": nil}, nil
	case o.Do == "evaluate" && o.Set == 0:
		for _, split := range o.Splits {
			if f.rows[split] == nil {
				if _, err := f.fakeEngine.do(o); err != nil {
					return nil, err
				}
				if f.rows == nil {
					f.rows = map[string]*fakeRows[float32]{}
				}
				f.rows[split] = f.fakeEngine.rows(f.n.in.pixels(split).N(), false)
			}
			f.rows[split].put(f.folder, fmt.Sprintf("%s.%d", split, o.Set))
		}
		return map[string]any{"done": o.Do, "penalty_squares": f.n.penaltySquares()}, nil
	}
	return f.fakeEngine.do(o)
}

// BenchmarkProtocolAndFiles is an epoch of an engine that does nothing: orders, answers, order of samples, features and logits of 10,000
// training and 2,000 test samples with 512 features. Measures come on top, as they do with our own kernels.
//
//	go test -run xxx -bench ProtocolAndFiles ./internal/train
func BenchmarkProtocolAndFiles(b *testing.B) {
	c := elsewhere()
	c.Data.Classes, c.Data.SamplesPerClass, c.Data.TestSamplesPerClass = 10, 1000, 200
	c.Net.Depth, c.Net.Width, c.Net.FeatureDim, c.Run.Batch = 1, 8, 512, 512
	pool, _ := fakePool(b, c, idle)
	plan, err := c.Plan()
	if err != nil {
		b.Fatal(err)
	}
	in, err := openInputs(plan, Options{Open: openOnce})
	if err == nil {
		err = in.prepare(c.Data.Pipeline)
	}
	if err != nil {
		b.Fatal(err)
	}
	team := parallel.NewTeam(2)
	defer team.Close()
	s, err := newSession[float32](b.Context(), plan, in, Options{Engines: pool, Team: team})
	if err != nil {
		b.Fatal(err)
	}
	defer s.engine.close()
	if err := s.engine.open(b.Context(), "run", rundir.Dir(b.TempDir()).Writer(nil), false); err != nil {
		b.Fatal(err)
	}
	b.Run("epoch", func(b *testing.B) {
		for epoch := 0; b.Loop(); epoch++ {
			seen := 0
			take := func(samples []int32, out outputs[float32]) {
				if len(out.features) == 512*len(samples) && len(out.logits) == 10*len(samples) {
					seen += len(samples)
				}
			}
			_, err := s.engine.epoch(epochOrder[float32]{number: epoch, lr: 0.1, stop: func() error { return nil }, stepped: func(*tally, int, int) {}})
			for _, split := range []string{splitTrain, splitTest} {
				if err == nil {
					err = s.engine.evaluate(split, false, take)
				}
			}
			if err != nil || seen != 12000 {
				b.Fatalf("%d samples, %v", seen, err)
			}
		}
	})
	b.Run("checkpoint", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := s.engine.save(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
