package train

import (
	"errors"
	"math"
	"testing"

	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
)

// otherEngine is an engine that computes nothing: it gives prescribed answers.
type otherEngine struct {
	backend[float32]
	trained  tally
	training error
	passing  error
}

func (o otherEngine) machine() Machine { return Machine{Kernel: "other"} }

func (o otherEngine) epoch(epochOrder[float32]) (tally, error) { return o.trained, o.training }

func (o otherEngine) evaluate(string, bool, taker[float32]) error { return o.passing }

// TestEngineThatFailsIsNotARunThatDiverged: only a non-finite objective is a divergence, with the counts of the session; any other
// error of the engine stays as it is.
func TestEngineThatFailsIsNotARunThatDiverged(t *testing.T) {
	s := tinySession[float32](t, tinyConfig(), nil)
	j := &job[float32]{s: s, cfg: s.cfg.given}
	gone, own := errors.New("the engine is gone"), s.engine
	var diverged *DivergedError

	s.engine = otherEngine{backend: own, passing: gone}
	if _, err := j.measureEpoch(0); !errors.Is(err, gone) || errors.As(err, &diverged) {
		t.Errorf("an evaluation that failed: %v", err)
	}
	s.engine = otherEngine{backend: own, trained: tally{steps: 3, last: 0.5}, training: gone}
	if _, err := s.epoch(t.Context(), 0, &watch{}, nil); !errors.Is(err, gone) || s.step != 3 || s.lastLoss != 0.5 {
		t.Errorf("an epoch that failed: %v after %d steps", err, s.step)
	}
	s.engine = otherEngine{backend: own, trained: tally{steps: 2, last: 0.25, bad: math.Inf(1)}, training: errNotFinite}
	_, err := s.epoch(t.Context(), 1, &watch{}, nil)
	if !errors.As(err, &diverged) || diverged.Step != 5 || diverged.Epoch != 2 || diverged.LastGood != 0.25 || !math.IsInf(diverged.Loss, 1) {
		t.Errorf("%+v", err)
	}
}

// TestCheckpointsNameTheEngine: the engine says what the bits depend on, and only ours has traces.
func TestCheckpointsNameTheEngine(t *testing.T) {
	s := tinySession[float32](t, tinyConfig(), nil)
	s.engine = otherEngine{backend: s.engine}
	lease, _, err := newLab(t).Lease(store.Spec{Kind: store.Train, Config: map[string]any{}})
	if err != nil {
		t.Fatal(err)
	}
	j := &job[float32]{s: s, lease: lease}
	if got := j.state(1, nil).Machine; got != (Machine{Kernel: "other"}) {
		t.Errorf("the checkpoint is of %v", got)
	}
	if _, err := newTracer(t.Context(), rundir.System{}, Trace{Dir: t.TempDir(), Steps: FirstSteps(1)}, s); err == nil {
		t.Error("an engine without single steps has a trace")
	}
}
