package load

import (
	"context"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/faulttest"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/studytest"
	"collapse.example/collapse/internal/study/wire"
)

var must = studytest.Must

// TestMain lets the test binary play the workers.
func TestMain(m *testing.M) {
	defer faulttest.InMemory()()
	faulttest.Main(m, map[string]func([]string) error{"fleet": roleFleet})
}

// tenWorkers have runs of four epochs, which take two seconds.
func tenWorkers(runs int) Simulation {
	return Simulation{Workers: 10, Runs: runs, Length: 20 * time.Second, Epoch: 5 * time.Second, Rows: 7, Bytes: 1000, Speed: 10, Measure: 3 * time.Second}
}

// TestASimulationReportsItsReadings: the report follows from what was read before and after, and from what the workers counted.
func TestASimulationReportsItsReadings(t *testing.T) {
	at := time.Now()
	before := reading{at: at, cpu: time.Second, traffic: queue.Traffic{Leases: 1000, Unread: 9}, runs: 20, epochs: 80}
	after := reading{at: at.Add(4 * time.Second), cpu: 3 * time.Second, traffic: queue.Traffic{Leases: 1100, Unread: 5}, runs: 38, epochs: 160}
	count := fleetCount{Started: 19, Again: 2, Epochs: 81, CPU: 6, Overhead: Spread{N: 1}, Handover: Spread{N: 2}, Sending: Spread{N: 3}, Updating: Spread{N: 4}}
	want := Report{Simulation: tenWorkers(200), Seconds: 4, AllBusy: 7, RunsEnded: 18, RowsSent: 567, RowsStored: 560, Unread: 5,
		Heartbeats: 100 - 19 - 4, Due: 80, Again: 2, CPU: 0.5, FleetCPU: 1.5, Overhead: count.Overhead, Handover: count.Handover, Sending: count.Sending, Updating: count.Updating}
	got := Report{Simulation: tenWorkers(200), AllBusy: 7}
	got.fill(before, after, count)
	if got != want {
		t.Errorf("%+v\nwanted\n%+v", got, want)
	}
	few := Report{Simulation: tenWorkers(3)}
	few.fill(before, after, count)
	if few.Due != 24 { // of three workers that have a run
		t.Errorf("%d heartbeats due", few.Due)
	}
}

// patient is a simulation in which no worker is taken for dead, however slow the machine is: runs of 40 ms, on a queue that waits for minutes.
func patient(runs int) Simulation {
	return Simulation{Workers: 10, Runs: runs, Length: 2 * time.Millisecond, Epoch: 500 * time.Microsecond, Rows: 7, Bytes: 1000, Speed: 0.05, Measure: time.Hour}
}

// TestASimulationCountsWhatHappens runs a simulation to the end of its runs: what its workers report as sent is in the lab.
func TestASimulationCountsWhatHappens(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	s := patient(60)
	lab := studytest.Lab(t)
	_, err := study.Save(lab, simulationName, "", "", study.SimulatedItems(s.Runs))
	must(t, err)
	address, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- s.coordinate(t.Context(), lab, address) }()
	f, err := startFleet(faulttest.Command("fleet"))
	must(t, err)
	defer f.stop()
	defer context.AfterFunc(t.Context(), f.kill)()
	var busy float64
	var first, rest fleetCount
	must(t, f.exchange(fleetPlan{s, queue.Remote{URL: <-address, Token: simulationToken}}, &busy))
	must(t, f.exchange("measure", &first))
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "60 runs ended") {
		t.Errorf("%v", err)
	}
	must(t, f.exchange("report", &rest))
	runs, err := lab.StudyRuns(simulationName)
	must(t, err)
	epochs, ends := 0, 0
	for _, run := range runs {
		epochs += int(run.Epoch)
		if run.Status == store.Done {
			ends++
		}
	}
	// Each worker's first run is shorter by a tenth of the length for each worker before it: 4, 4, 4, 3, 3, 2, 2, 2, 1 and 1 epochs.
	if want := 50*4 + 26; ends != 60 || epochs != want || first.Epochs+rest.Epochs != want || first.Started+rest.Started != 60 || first.Again+rest.Again != 0 {
		t.Errorf("%d runs and %d epochs are in the lab, %+v and %+v are counted; wanted 60 runs and %d epochs", ends, epochs, first, rest, want)
	}
	if n := first.Sending.N + rest.Sending.N; n != epochs {
		t.Errorf("%d times rows were sent, of %d epochs", n, epochs)
	}
	if n := first.Overhead.N + rest.Overhead.N; n != 50 || first.Handover.N+rest.Handover.N != n { // each run but a worker's first
		t.Errorf("%d overheads and %d handovers of 60 runs", n, first.Handover.N+rest.Handover.N)
	}
	for what, s := range map[string]Spread{"overhead": rest.Overhead, "handover": rest.Handover, "sending": rest.Sending} {
		if s.N > 0 && !(s.P50 > 0 && s.P50 <= s.P99) {
			t.Errorf("%s: %+v", what, s)
		}
	}
	if !(busy > 0 && first.CPU+rest.CPU > 0) {
		t.Errorf("all were busy after %g s, with %g s of processor time", busy, first.CPU+rest.CPU)
	}
}

// TestASimulationMeasures runs a whole simulation, as `collapse bench queue` does. The amount of work done is up to the machine.
func TestASimulationMeasures(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	began := time.Now()
	s := patient(3000)
	s.Measure = time.Second
	r, err := Simulate(t.Context(), s, t.TempDir(), faulttest.Command("fleet"))
	must(t, err)
	most := 10 * (time.Since(began).Seconds()/0.04 + 1) // runs, if none cost more than its length
	if !(r.Seconds >= 1 && r.AllBusy > 0 && r.CPU > 0 && r.FleetCPU > 0) || float64(r.RunsEnded) > most || float64(r.RowsSent) > most*4*7 || r.RowsSent%7 != 0 || r.Again != 0 {
		t.Errorf("%+v", r)
	}
}

// TestASimulationWithTooFewRunsSaysSo measures for an hour, in which the runs end on any machine.
func TestASimulationWithTooFewRunsSaysSo(t *testing.T) {
	t.Parallel()
	short := patient(12)
	short.Length, short.Epoch = time.Microsecond, time.Microsecond // all have ended before every worker has had one
	for _, s := range []Simulation{patient(12), short} {
		if _, err := Simulate(t.Context(), s, t.TempDir(), faulttest.Command("fleet")); err == nil || !strings.Contains(err.Error(), "12 runs ended before the measurement did") {
			t.Errorf("%v", err)
		}
	}
	for _, s := range []Simulation{{}, {Workers: 1, Runs: 1, Rows: 1, Epoch: 1, Length: 1, Measure: 1, Speed: math.NaN()},
		{Workers: 1, Runs: 1, Rows: 1, Epoch: 1, Length: 1, Measure: 1, Speed: 1, Bytes: wire.InlineLimit + 1}} {
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

func roleFleet([]string) error { return Fleet(context.Background(), os.Stdin, os.Stdout) }
