package demo

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/parallel"
)

// Outcome is what became of one configuration of a study.
type Outcome struct {
	Config train.Config
	Result train.Result
	Err    error // nil if the run is finished; a failed run does not stop the others
}

// Sink is told how a study goes. Calls come one at a time.
type Sink interface {
	// Epoch reports an epoch of the i-th configuration.
	Epoch(i int, e train.EpochDone)
	// Done reports the end of the i-th configuration.
	Done(i int, o Outcome)
}

// Run computes every configuration, slots of them side by side with one team of threads each,
// and returns their outcomes in the order given. It returns an error, with the outcomes so far,
// only if ctx ended before the last run did: single failures are in the outcomes.
func Run(ctx context.Context, lab *store.Lab, configs []train.Config, slots, threads int, sink Sink) ([]Outcome, error) {
	outcomes := make([]Outcome, len(configs))
	next := make(chan int)
	var mu sync.Mutex // guards the sink
	var wg sync.WaitGroup
	for range slots {
		wg.Go(func() {
			team := parallel.NewTeam(max(1, threads/slots))
			defer team.Close()
			for i := range next {
				s := runSink{i: i, mu: &mu, sink: sink}
				r, err := train.Run(ctx, configs[i], lab, train.Options{Team: team, Sink: s})
				outcomes[i] = Outcome{Config: configs[i], Result: r, Err: err}
				s.done(outcomes[i])
			}
		})
	}
	started := feed(ctx, next, len(configs))
	wg.Wait()
	for i := started; i < len(configs); i++ {
		outcomes[i] = Outcome{Config: configs[i], Err: context.Cause(ctx)}
	}
	if err := ctx.Err(); err != nil {
		return outcomes, fmt.Errorf("study: stopped with %d of %d runs finished; run the same command again to continue: %w",
			finished(outcomes), len(configs), err)
	}
	return outcomes, nil
}

// feed hands out 0..n-1 until ctx ends and returns how many it handed out.
func feed(ctx context.Context, next chan<- int, n int) int {
	defer close(next)
	for i := range n {
		select {
		case next <- i:
		case <-ctx.Done():
			return i
		}
	}
	return n
}

func finished(outcomes []Outcome) int {
	n := 0
	for _, o := range outcomes {
		if o.Err == nil {
			n++
		}
	}
	return n
}

// Failures joins the errors of the runs that did not finish, each with what sets it apart.
func Failures(outcomes []Outcome) error {
	var all []error
	for _, o := range outcomes {
		if o.Err != nil {
			all = append(all, fmt.Errorf("%s: %w", Name(o.Config), o.Err))
		}
	}
	return errors.Join(all...)
}

// Name says in a few words which run of a memorization–dilation grid a configuration is.
func Name(c train.Config) string {
	return fmt.Sprintf("%s, noise %g, seed %d", c.Loss.Kind, c.Data.Noise, c.Run.Seed)
}

// runSink turns the events of one run into those of the study.
type runSink struct {
	i    int
	mu   *sync.Mutex
	sink Sink
}

func (s runSink) Started(train.Started) {}
func (s runSink) Step(train.StepDone)   {}
func (s runSink) Note(string)           {}

func (s runSink) Epoch(e train.EpochDone) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sink.Epoch(s.i, e)
}

func (s runSink) done(o Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sink.Done(s.i, o)
}
