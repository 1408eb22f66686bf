package bench

import (
	"container/heap"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/parallel"
)

// Scaling is what more threads would make of a step, by the times of its parts on one thread.
type Scaling struct {
	Net      string       `json:"net"`
	Batch    int          `json:"batch"`
	Eval     bool         `json:"eval"`
	Kernel   string       `json:"kernel"`
	SerialMS float64      `json:"serial_ms"` // outside of jobs
	Jobs     int          `json:"jobs"`      // of a step
	Rows     []ScalingRow `json:"rows"`
}

// ScalingRow is a number of threads. A forecast knows neither of caches and memory that threads share nor of clocks that fall.
type ScalingRow struct {
	Threads    int      `json:"threads"`
	ForecastMS float64  `json:"forecast_ms"`
	Gain       float64  `json:"gain"`                  // over one thread, forecast
	MeasuredMS *float64 `json:"measured_ms,omitempty"` // if the machine has so many processors
}

// handOver is what opening a job to other threads, and waiting for the last, costs at least, in seconds.
const handOver = 3e-6

// job is one call of Team.Do.
type job struct {
	op    nn.Operation // in which it was made
	parts []float64    // of each part the weight, such as its seconds
}

// makespan is how long the parts take on so many threads, each taken by the first that is free.
func (j job) makespan(threads int) float64 {
	free := make(threadTimes, min(threads, len(j.parts)))
	for _, part := range j.parts {
		free[0] += part
		heap.Fix(&free, 0)
	}
	return slices.Max(append(free, 0))
}

// threadTimes is a heap of when threads are free.
type threadTimes []float64

func (t threadTimes) Len() int           { return len(t) }
func (t threadTimes) Less(i, j int) bool { return t[i] < t[j] }
func (t threadTimes) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *threadTimes) Push(any)          {}
func (t *threadTimes) Pop() any          { return nil }

// forecast is the time of jobs one after the other on so many threads.
func forecast(jobs []job, threads int) (sum float64) {
	for _, j := range jobs {
		sum += j.makespan(threads)
		if threads > 1 && len(j.parts) > 1 {
			sum += handOver
		}
	}
	return sum
}

// record returns the jobs of a step on a team of one thread, each part with the least time of so many steps, and the least time of a step
// outside of them. Without run, parts are not computed, and their weights mean nothing.
func (s *stepper) record(team *parallel.Team, steps int, run bool) (jobs []job, serial float64) {
	clock := &nn.Clock{}
	s.net.Watch(clock)
	at, inJobs := 0, 0.0
	var laps []int // of each job the operations that had ended
	team.Observe(func(parts int, t parallel.Task) {
		if at == len(jobs) {
			jobs, laps = append(jobs, job{parts: slices.Repeat([]float64{math.Inf(1)}, parts)}), append(laps, len(clock.Operations()))
		}
		j := jobs[at]
		at++
		if !run {
			return
		}
		begin := time.Now()
		for part := range parts {
			from := time.Now()
			t.Run(part)
			j.parts[part] = min(j.parts[part], time.Since(from).Seconds())
		}
		inJobs += time.Since(begin).Seconds()
	})
	serial = math.Inf(1)
	for range steps {
		at, inJobs = 0, 0
		begin := time.Now()
		s.clocked(clock)
		serial = min(serial, time.Since(begin).Seconds()-inJobs)
	}
	team.Observe(nil)
	ops := clock.Operations()
	for i := range jobs {
		jobs[i].op = ops[min(laps[i], len(ops)-1)]
	}
	return jobs, serial
}

// Scale records a step and says how it would scale to each of threads; those that the machine has processors for are measured, too.
func Scale(c TrainConfig, threads []int) (Scaling, error) {
	if c.Steps < 1 {
		return Scaling{}, fmt.Errorf("bench: %d steps, wanted at least 1", c.Steps)
	}
	alone := parallel.NewTeam(1)
	defer alone.Close()
	s, err := newStepper(c, alone)
	if err != nil {
		return Scaling{}, err
	}
	s.step() // warms up caches and buffers
	s.step()
	jobs, serial := s.record(alone, c.Steps, true)
	one := serial + forecast(jobs, 1)
	r := Scaling{Net: c.Name, Batch: c.Batch, Eval: c.Eval, Kernel: isa.Name(), SerialMS: 1e3 * serial, Jobs: len(jobs)}
	for _, n := range threads {
		all := serial + forecast(jobs, n)
		row := ScalingRow{Threads: n, ForecastMS: 1e3 * all, Gain: one / all}
		if n <= runtime.GOMAXPROCS(0) {
			team := parallel.NewTeam(n)
			seen, err := Train(c, team)
			team.Close()
			if err != nil {
				return Scaling{}, err
			}
			row.MeasuredMS = &seen.StepMS
		}
		r.Rows = append(r.Rows, row)
	}
	return r, nil
}
