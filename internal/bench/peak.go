package bench

import (
	"fmt"
	"time"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/internal/version"
	"collapse.example/collapse/parallel"
)

// Limits is the most that a machine can do with the kernel in use.
type Limits struct {
	FMA1       float64 `json:"fma_gflops_1"`     // float32 multiply-adds from registers, one thread
	FMAAll     float64 `json:"fma_gflops_all"`   // the same, all threads at once
	FMA64All   float64 `json:"fma64_gflops_all"` // float64, all threads at once
	ReadGBs    float64 `json:"read_gb_s"`        // all threads reading a mapped file in the page cache, 10⁹ bytes a second
	KernelName string  `json:"kernel"`
	CPU        string  `json:"cpu"` // the processor's name for itself
	Threads    int     `json:"threads"`
}

const (
	limitRepeats = 5                     // the best of this many register loops is reported
	loopTime     = 20 * time.Millisecond // length of one timing of a register loop
	readBytes    = 1 << 30               // size of the file that is read
)

// Peak measures the machine's limits with threads threads (GOMAXPROCS if not positive). It takes about two
// seconds, and a gibibyte of page cache and of space for temporary files while it runs.
func Peak(threads int) (Limits, error) {
	tm := parallel.NewTeam(threads)
	defer tm.Close()
	l := Limits{KernelName: isa.Name(), CPU: version.CPU(), Threads: tm.Threads()}
	one, all, all64 := newLoop[float32](nil), newLoop[float32](tm), newLoop[float64](tm)
	for range limitRepeats {
		one.sample()
		all.sample()
		all64.sample()
	}
	l.FMA1, l.FMAAll, l.FMA64All = one.best, all.best, all64.best
	var err error
	if l.ReadGBs, err = readRate(tm, readBytes); err != nil {
		return l, fmt.Errorf("bench: reading speed: %w; set TMPDIR to a directory with room", err)
	}
	return l, nil
}

// loop times the register loop of one element type on every thread of a team.
type loop[T kernel.Float] struct {
	team   *parallel.Team
	rounds int
	best   float64 // GFLOP/s
}

// newLoop chooses the number of rounds that takes about loopTime.
func newLoop[T kernel.Float](tm *parallel.Team) *loop[T] {
	l := &loop[T]{team: tm, rounds: 1 << 12}
	for timed(l.run) < loopTime/2 {
		l.rounds *= 2
	}
	return l
}

// Run is the part of one thread.
func (l *loop[T]) Run(int) { gemm.PeakLoop[T](l.rounds) }

func (l *loop[T]) run() { l.team.Do(l.team.Threads(), l) }

// sample times the loop once and keeps the best rate.
func (l *loop[T]) sample() {
	operations := gemm.PeakLoop[T](1) * float64(l.rounds) * float64(l.team.Threads())
	l.best = max(l.best, giga(operations, timed(l.run)))
}
