// Package load measures the load that queue, coordinator and lab can carry: a study whose runs only sleep (simulate.go), on many
// workers in a process of their own (fleet.go).
package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"time"

	"collapse.example/collapse/internal/bench"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/coordinator"
	"collapse.example/collapse/internal/study/wire"
)

// Simulation is a study whose runs only sleep, on many workers elsewhere: the load on queue, coordinator and lab without the
// computing. Coordinator, server, lab and messages are those of any study, and each worker has its own connection.
type Simulation struct {
	Workers int           `json:"workers"`
	Runs    int           `json:"runs"`    // of the study; if there are fewer than workers, the others look for work all the time
	Length  time.Duration `json:"length"`  // of a run
	Epoch   time.Duration `json:"epoch"`   // of an epoch
	Rows    int           `json:"rows"`    // sent per epoch
	Bytes   int           `json:"bytes"`   // of the files that a finished run sends
	Speed   float64       `json:"speed"`   // all these times, and the queue's, are divided by it
	Measure time.Duration `json:"measure"` // how long to measure; not divided
}

// Report is the result of the measurement.
type Report struct {
	Simulation
	Seconds    float64 `json:"seconds"`     // measured
	AllBusy    float64 `json:"all_busy"`    // seconds from the workers' start until every worker that can have a run has had one
	RunsEnded  int     `json:"runs_ended"`  // in the lab
	RowsSent   int     `json:"rows_sent"`   // by workers
	RowsStored int     `json:"rows_stored"` // in the lab
	Unread     int     `json:"unread"`      // messages not yet handled by the coordinator at the end
	Heartbeats int     `json:"heartbeats"`
	Due        int     `json:"due"`       // heartbeats, if none had waited for the server
	Again      int     `json:"again"`     // runs taken from a worker that was alive
	CPU        float64 `json:"cpu"`       // processors kept busy by the coordinator, its server and its lab
	FleetCPU   float64 `json:"fleet_cpu"` // by all workers
	Overhead   Spread  `json:"overhead"`  // of a run: from its start to that of the worker's next one, minus its length
	Handover   Spread  `json:"handover"`  // the part of it between two runs: result, next job, lease
	Sending    Spread  `json:"sending"`   // the rows of an epoch, to the server's disk
	Updating   Spread  `json:"updating"`  // a lease with a new state, which costs as much as a heartbeat
}

// Spread is the middle and the upper end of a distribution, in seconds.
type Spread struct {
	N   int     `json:"n"`
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// Check says what is wrong with the numbers.
func (s Simulation) Check() error {
	switch {
	case !(s.Speed > 0) || s.Epoch <= 0 || s.Length < s.Epoch || s.Measure <= 0:
		return errors.New("study: a simulation's times must be positive, and a run at least an epoch long")
	case s.Workers < 1 || s.Runs < 1 || s.Rows < 1 || s.Bytes < 0:
		return errors.New("study: a simulation needs workers, runs and rows")
	case s.Bytes > wire.InlineLimit:
		return fmt.Errorf("study: files of %d bytes: at most %d go into a message", s.Bytes, wire.InlineLimit)
	}
	return nil
}

// scaled turns a duration of a real study into one of the simulation.
func (s Simulation) scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) / s.Speed)
}

// EnoughRuns is how many runs Simulate needs, with room for a slow start.
func (s Simulation) EnoughRuns() int {
	return s.Workers*2 + int(2*float64(s.Workers)*float64(s.Measure+20*time.Second)/float64(s.scaled(s.Length)))
}

const (
	simulationName  = "simulation"
	simulationToken = "a simulation has no secrets"
)

// Simulate runs a simulation with a lab in the empty folder dir. fleet is the command of the workers' process, which calls Fleet on
// its standard input and output, so that its CPU time is counted separately.
func Simulate(ctx context.Context, s Simulation, dir string, fleet *exec.Cmd) (Report, error) {
	if err := s.Check(); err != nil {
		return Report{}, err
	}
	lab, err := store.Open(dir, store.Options{})
	if err != nil {
		return Report{}, err
	}
	defer lab.Close()
	if _, err := study.Save(lab, simulationName, "", "", study.SimulatedItems(s.Runs)); err != nil {
		return Report{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	address, ended := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(ended)
		cancel(s.coordinate(ctx, lab, address))
	}()
	defer func() { cancel(nil); <-ended }()
	select {
	case url := <-address:
		r, err := s.observe(ctx, lab, queue.Remote{URL: url, Token: simulationToken}, fleet)
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx) // what ended the workers, too
		}
		return r, err
	case <-ctx.Done():
		return Report{}, context.Cause(ctx)
	}
}

// coordinate executes the study until ctx ends, which should be before the study ends.
func (s Simulation) coordinate(ctx context.Context, lab *store.Lab, address chan<- string) error {
	o := coordinator.Options{Listen: "127.0.0.1:0", Token: simulationToken, Queue: queue.Options{AckWait: s.scaled(ackWait)}}
	o.Logf = func(format string, args ...any) {
		if strings.HasPrefix(format, coordinator.Announcement) {
			address <- args[0].(string)
		}
	}
	if _, err := coordinator.Execute(ctx, lab, []string{simulationName}, o); err != nil {
		return err
	}
	return fmt.Errorf("study: the simulation's %d runs ended before the measurement did: it needs more", s.Runs)
}

// ackWait is the default of queue.Options.
const ackWait = 15 * time.Second

// reading is what has happened up to a moment.
type reading struct {
	at      time.Time
	cpu     time.Duration
	traffic queue.Traffic
	runs    int // ended
	epochs  int // stored
}

func read(ctx context.Context, lab *store.Lab, b *queue.Broker) (r reading, err error) {
	if r.traffic, err = b.Traffic(ctx); err != nil {
		return r, err
	}
	r.at, r.cpu = time.Now(), bench.CPU()
	list, err := lab.StudyRuns(simulationName)
	for _, run := range list {
		r.epochs += int(run.Epoch)
		if run.Status == store.Done {
			r.runs++
		}
	}
	return r, err
}

// observe starts the workers and measures once all of them are working.
func (s Simulation) observe(ctx context.Context, lab *store.Lab, remote queue.Remote, cmd *exec.Cmd) (r Report, err error) {
	b, err := queue.Connect(remote, queue.Options{})
	if err != nil {
		return r, err
	}
	defer b.Close()
	f, err := startFleet(cmd)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, f.stop()) }()
	defer context.AfterFunc(ctx, f.kill)()
	r.Simulation = s
	if err := f.exchange(fleetPlan{s, remote}, &r.AllBusy); err != nil {
		return r, err
	}
	// First let the work that the workers' start has caused be done.
	if err := sleep(ctx, s.Measure/8); err != nil {
		return r, err
	}
	before, err := read(ctx, lab, b)
	if err != nil {
		return r, err
	}
	if err := f.exchange("measure", nil); err != nil {
		return r, err
	}
	if err := sleep(ctx, s.Measure); err != nil {
		return r, err
	}
	var count fleetCount
	if err := f.exchange("report", &count); err != nil {
		return r, err
	}
	after, err := read(ctx, lab, b)
	r.fill(before, after, count)
	return r, err
}

func (r *Report) fill(before, after reading, count fleetCount) {
	r.Seconds = after.at.Sub(before.at).Seconds()
	r.RunsEnded = after.runs - before.runs
	r.RowsSent = count.Epochs * r.Rows
	r.RowsStored = (after.epochs - before.epochs) * r.Rows
	r.Unread = int(after.traffic.Unread)
	r.Heartbeats = int(after.traffic.Leases-before.traffic.Leases) - count.Started - count.Updating.N
	r.Due = int(math.Round(float64(min(r.Workers, r.Runs)) * r.Seconds / r.scaled(ackWait/3).Seconds()))
	r.Again = count.Again
	r.CPU = (after.cpu - before.cpu).Seconds() / r.Seconds
	r.FleetCPU = count.CPU / r.Seconds
	r.Overhead, r.Handover, r.Sending, r.Updating = count.Overhead, count.Handover, count.Sending, count.Updating
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
