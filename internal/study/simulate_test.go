package study

import (
	"context"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"collapse/internal/faulttest"
)

func roleFleet([]string) error { return SimulateFleet(context.Background(), os.Stdin, os.Stdout) }

// tenWorkers have runs of four epochs, which take two seconds.
func tenWorkers(runs int) Simulation {
	return Simulation{Workers: 10, Runs: runs, Length: 20 * time.Second, Epoch: 5 * time.Second, Rows: 7, Bytes: 1000, Speed: 10, Measure: 3 * time.Second}
}

// TestASimulationCountsWhatHappens compares the counts with what follows from the numbers alone.
func TestASimulationCountsWhatHappens(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: a machine that is busy, or a race detector, changes what is counted")
	}
	r, err := Simulate(t.Context(), tenWorkers(200), t.TempDir(), faulttest.Command("fleet"))
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got int, want, part float64) {
		t.Helper()
		if !(math.Abs(float64(got)-want) <= part*want) {
			t.Errorf("%s: %d, want about %.0f", what, got, want)
		}
	}
	near("runs", r.RunsEnded, 10*r.Seconds/2, 0.35)
	near("values sent", r.RowsSent, 10*r.Seconds/0.5*7, 0.25)
	near("values stored", r.RowsStored, float64(r.RowsSent), 0.1)
	near("heartbeats due", r.Due, 10*r.Seconds/0.5, 0.01)
	if beats := float64(r.Heartbeats) / float64(r.Due); !(beats > 0.3 && beats < 1.1) { // late ones are what a simulation is to show
		t.Errorf("%d heartbeats of %d due", r.Heartbeats, r.Due)
	}
	for what, s := range map[string]Spread{"overhead": r.Overhead, "handover": r.Handover, "sending": r.Sending} {
		if s.N < 5 || !(s.P50 > 0 && s.P50 <= s.P99 && s.P99 < 2) {
			t.Errorf("%s: %+v", what, s)
		}
	}
	if r.Again != 0 || !(r.CPU > 0 && r.FleetCPU > 0) || r.AllBusy <= 0 {
		t.Errorf("%+v", r)
	}
}

func TestASimulationWithTooFewRunsSaysSo(t *testing.T) {
	t.Parallel()
	short := tenWorkers(12)
	short.Length, short.Epoch = time.Millisecond, time.Millisecond // all have ended before every worker has had one
	for _, s := range []Simulation{tenWorkers(12), short} {
		if _, err := Simulate(t.Context(), s, t.TempDir(), faulttest.Command("fleet")); err == nil || !strings.Contains(err.Error(), "12 runs ended before the measurement did") {
			t.Errorf("%v", err)
		}
	}
	for _, s := range []Simulation{{}, {Workers: 1, Runs: 1, Rows: 1, Epoch: 1, Length: 1, Measure: 1, Speed: math.NaN()},
		{Workers: 1, Runs: 1, Rows: 1, Epoch: 1, Length: 1, Measure: 1, Speed: 1, Bytes: inlineLimit + 1}} {
		if err := s.Check(); err == nil {
			t.Errorf("%+v passes", s)
		}
	}
}

func TestSpread(t *testing.T) {
	list := make([]float64, 200)
	for i := range list {
		list[i] = float64(200 - i)
	}
	if got := spread(list); got != (Spread{N: 200, P50: 100, P99: 198}) {
		t.Errorf("%+v", got)
	}
	if got := spread(nil); got != (Spread{}) {
		t.Errorf("%+v", got)
	}
}
