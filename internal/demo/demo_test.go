package demo_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/demo"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/study/studytest"
	"collapse.example/collapse/internal/train"
)

// counter is a sink that counts.
type counter struct {
	epochs map[int]int
	done   []int
	after  func(done int) // called after each finished run
}

func newCounter() *counter { return &counter{epochs: map[int]int{}, after: func(int) {}} }

func (c *counter) Epoch(i int, _ train.EpochDone) { c.epochs[i]++ }
func (c *counter) Done(i int, _ demo.Outcome)     { c.done = append(c.done, i); c.after(len(c.done)) }

func TestOneFailedRunDoesNotStopTheOthers(t *testing.T) {
	configs := demo.Grid{Base: studytest.Tiny(), Losses: []string{"ce", "mse"}, Noise: []float64{0, 0.2}, Seeds: 2}.Configs()
	configs[3].Optim.LR = 1e38 // diverges in its first steps
	sink := newCounter()
	outcomes, err := demo.Run(t.Context(), studytest.Lab(t), configs, 2, 2, sink)
	if err != nil {
		t.Fatal(err)
	}
	hashes := map[string]bool{}
	for i, o := range outcomes {
		if o.Config != configs[i] {
			t.Errorf("outcome %d is of another configuration", i)
		}
		var diverged *train.DivergedError
		if i == 3 {
			if !errors.As(o.Err, &diverged) {
				t.Errorf("run 3: got %v, want a *DivergedError", o.Err)
			}
			continue
		}
		if o.Err != nil || o.Result.Epochs != 2 || sink.epochs[i] != 2 {
			t.Errorf("run %d: %v, %d epochs, %d reported", i, o.Err, o.Result.Epochs, sink.epochs[i])
		}
		hashes[o.Result.Run] = true
	}
	if len(sink.done) != len(configs) || len(hashes) != len(configs)-1 {
		t.Errorf("%d runs reported, %d different finished ones", len(sink.done), len(hashes))
	}
	if failures := demo.Failures(outcomes); failures == nil || !strings.Contains(failures.Error(), demo.Name(configs[3])) {
		t.Errorf("Failures does not name the run: %v", failures)
	}
}

func TestAStoppedStudyGoesOnWhereItWas(t *testing.T) {
	lab := studytest.Lab(t)
	configs := demo.Grid{Base: studytest.Tiny(), Losses: []string{"ce"}, Noise: []float64{0, 0.1, 0.2}, Seeds: 2}.Configs()
	ctx, cancel := context.WithCancel(t.Context())
	sink := newCounter()
	sink.after = func(done int) {
		if done == 2 {
			cancel()
		}
	}
	outcomes, err := demo.Run(ctx, lab, configs, 1, 1, sink)
	if !errors.Is(err, context.Canceled) || len(outcomes) != len(configs) {
		t.Fatalf("got %d outcomes and %v, want %d and context.Canceled", len(outcomes), err, len(configs))
	}
	if outcomes[0].Err != nil || outcomes[1].Err != nil || outcomes[5].Err == nil {
		t.Errorf("first: %v, second: %v, last: %v", outcomes[0].Err, outcomes[1].Err, outcomes[5].Err)
	}
	outcomes, err = demo.Run(t.Context(), lab, configs, 2, 2, newCounter())
	if err != nil || demo.Failures(outcomes) != nil {
		t.Fatal(err, demo.Failures(outcomes))
	}
	for i, o := range outcomes {
		if o.Result.AlreadyDone != (i < 2) {
			t.Errorf("run %d: already done is %v", i, o.Result.AlreadyDone)
		}
	}
}

func TestTheDemoTakesTheLargestGridThatFits(t *testing.T) {
	longtest.Only(t)
	least, err := demo.Plan(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	most, err := demo.Plan(1, time.Duration(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(least.Grid.Configs()), 2*4*6; got != want {
		t.Errorf("no time at all: %d runs, want the smallest grid's %d", got, want)
	}
	if got, want := len(most.Grid.Configs()), 4*7*8; got != want {
		t.Errorf("all the time in the world: %d runs, want the largest grid's %d", got, want)
	}
	if least.Time <= 0 || most.Time <= least.Time {
		t.Errorf("estimates %v and %v", least.Time, most.Time)
	}
	for _, c := range append(most.Grid.Configs(), demo.Smoke(2).Grid.Configs()...) {
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
	}
}
