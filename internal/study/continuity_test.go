package study

import (
	"context"
	"errors"
	"testing"
	"time"

	"collapse/internal/faulttest"
	"collapse/internal/store"
	"collapse/train"
	"strings"
)

// stopAt ends a run's context after an epoch.
type stopAt struct {
	firstStep
	epoch int
	stop  func()
}

func (stopAt) Started(train.Started) {}

func (s stopAt) Epoch(e train.EpochDone) {
	if e.Epoch == s.epoch {
		s.stop()
	}
}

// trainedUpTo leaves a run in the lab as a process that ended after an epoch.
func trainedUpTo(t *testing.T, lab *store.Lab, c train.Config, epoch int) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	if _, err := train.Run(ctx, c, lab, train.Options{Sink: stopAt{epoch: epoch, stop: stop}}); !errors.Is(err, context.Canceled) {
		t.Fatalf("the run is to stop at epoch %d: %v", epoch, err)
	}
}

// waitForEpoch returns once the lab has rows of a run up to an epoch.
func waitForEpoch(t *testing.T, lab *store.Lab, hash string, epoch int64) {
	t.Helper()
	for start := time.Now(); time.Since(start) < time.Minute; time.Sleep(5 * time.Millisecond) {
		run, err := lab.Run(hash)
		must(t, err)
		if run.LastEpoch >= epoch {
			return
		}
	}
	t.Fatalf("the rows of epoch %d do not reach the lab", epoch)
}

// stepByStep is a run with a checkpoint and measures after every epoch.
func stepByStep() train.Config {
	c := longer()
	c.Run.MeasureEvery, c.Run.CheckpointEvery = 1, 1
	return c
}

// TestNoGapAfterAWorkerElsewhere computes a run here up to epoch 50, then elsewhere from its start up to epoch 20, where worker and
// coordinator are killed, then here again: the checkpoint of epoch 50 is of epochs whose rows are gone.
func TestNoGapAfterAWorkerElsewhere(t *testing.T) {
	t.Parallel()
	configs := []train.Config{stepByStep()}
	hash := itemsOf(t, configs)[0].Hash
	lab := saved(t, configs)
	trainedUpTo(t, lab, configs[0], 50)
	coordinator, out := faulttest.Play(t, "coordinator", lab.Dir(), "127.0.0.1:0")
	line := faulttest.Heard(t, out, "workers elsewhere")
	at := strings.Fields(line[strings.Index(line, "nats://"):])[0]
	worker, work := faulttest.Play(t, "worker", at, t.TempDir(), string(newGate(t)))
	faulttest.Heard(t, work, "epoch 20")
	waitForEpoch(t, lab, hash, 20)
	must(t, coordinator.Process.Kill())
	must(t, worker.Process.Kill())
	coordinator.Wait()
	s, err := Execute(t.Context(), lab, []string{"s"}, options(t, 1))
	if err != nil || s != (Summary{Runs: 1, Done: 1}) {
		t.Fatalf("%+v, %v", s, err)
	}
	sameValues(t, lab, directly(t, configs), configs)
}
