package cli

import (
	"errors"
	"os"
	"os/exec"
	"time"

	"collapse.example/collapse/internal/bench/load"
)

type benchQueueCmd struct {
	Workers int           `default:"1000" help:"Workers: each has a connection and one slot." placeholder:"N"`
	Runs    int           `help:"Runs of the study; default: enough for twice the time. With fewer runs than workers, the idle workers look for work." placeholder:"N"`
	Length  time.Duration `default:"10m" help:"How long a run takes." placeholder:"D"`
	Epoch   time.Duration `default:"26s" help:"How long an epoch takes: 26s by default, as one of md-fig1 on one core." placeholder:"D"`
	Rows    int           `default:"100" help:"Values in an epoch." placeholder:"N"`
	Bytes   int           `default:"16384" help:"Bytes of files that a finished run sends." placeholder:"N"`
	Speed   float64       `default:"1" help:"Divide all times of runs and queue by this, which multiplies the load." placeholder:"X"`
	Time    time.Duration `default:"30s" help:"How long to measure: in total." placeholder:"D"`
	Dir     string        `help:"Folder on the disk to store results on; default: that of temporary files." type:"existingdir" placeholder:"DIR"`

	Fleet bool `hidden:"" help:"Be the workers, for the process that started this one."`
}

func (c benchQueueCmd) Run(a *app) (err error) {
	if c.Fleet {
		return load.Fleet(a.ctx, os.Stdin, a.stdout)
	}
	s := load.Simulation{Workers: c.Workers, Runs: c.Runs, Length: c.Length, Epoch: c.Epoch, Rows: c.Rows, Bytes: c.Bytes, Speed: c.Speed, Measure: c.Time}
	if s.Runs == 0 && s.Speed > 0 && s.Length > 0 {
		s.Runs = s.EnoughRuns()
	}
	if err := s.Check(); err != nil {
		return usageError{err}
	}
	dir, err := os.MkdirTemp(c.Dir, "collapse-bench-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	r, err := load.Simulate(a.ctx, s, dir, exec.CommandContext(a.ctx, self, "bench", "queue", "--fleet"))
	if err != nil {
		return err
	}
	return a.emit(r, func() { printSimulation(a, r) })
}

func printSimulation(a *app, r load.Report) {
	a.printf("%d workers, runs of %v with %d values every %v, %g times as fast, measured for %.1f s\n\n", r.Workers, r.Length, r.Rows, r.Epoch, r.Speed, r.Seconds)
	a.printf("all working after              %.1f s\n", r.AllBusy)
	a.printf("runs ended                     %.1f per second (taken from a living worker: %d)\n", float64(r.RunsEnded)/r.Seconds, r.Again)
	a.printf("values sent, stored            %.0f, %.0f per second (messages waiting at the end: %d)\n", float64(r.RowsSent)/r.Seconds, float64(r.RowsStored)/r.Seconds, r.Unread)
	a.printf("heartbeats                     %.0f per second of %.0f due\n", float64(r.Heartbeats)/r.Seconds, float64(r.Due)/r.Seconds)
	a.printf("processors busy                %.2f with the coordinator, its server and lab, %.2f with all workers\n\n", r.CPU, r.FleetCPU)
	line := func(what string, s load.Spread) {
		if s.N > 0 {
			a.printf("%-30s half within %.1f ms, 99 of 100 within %.1f ms (%d)\n", what, 1000*s.P50, 1000*s.P99, s.N)
		}
	}
	line("overhead of a run", r.Overhead)
	line("  of which between two runs", r.Handover)
	line("storing the rows of an epoch", r.Sending)
	line("updating a lease", r.Updating)
}
