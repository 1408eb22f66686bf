package queue

import (
	"errors"
	"testing"
	"time"
)

// BenchmarkTrivialJobs is the queue's own cost: jobs that do nothing, through two workers, every message
// on the disk before it counts.
func BenchmarkTrivialJobs(b *testing.B) {
	s, err := StartServer(ServerOptions{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	broker, err := s.Connect(Options{Version: "1"})
	if err != nil {
		b.Fatal(err)
	}
	defer broker.Close()
	c, err := broker.Coordinate(b.Context(), "lab")
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"one", "two"} {
		go broker.Work(b.Context(), WorkerOptions{Name: name, Slots: 1}, echo)
	}
	list := jobs(b.N)
	b.ResetTimer()
	start := time.Now()
	if err := c.Submit(b.Context(), list...); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(time.Since(start).Microseconds())/float64(b.N), "submit-µs/job")
	ended := 0
	if err := c.Receive(b.Context(), func(got []Message) error {
		for _, m := range got {
			if err := c.Forget(b.Context(), m.Job); err != nil {
				return err
			}
		}
		if ended += len(got); ended >= b.N {
			return errEnough
		}
		return nil
	}); err != errEnough {
		b.Fatal(err)
	}
	b.ReportMetric(float64(time.Since(start).Microseconds())/float64(b.N), "µs/job")
}

var errEnough = Fail(errors.New("enough"))
