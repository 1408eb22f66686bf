package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

// quick options: failed attempts are retried soon. A worker counts as silent after 15 s, as in programs, however busy the machine is.
func quick(t *testing.T) Options {
	return Options{Version: "1", Backoff: 20 * time.Millisecond, Logf: t.Logf}
}

// hasty options: a worker counts as silent after 1.2 s. One that is held up for that long loses its job.
func hasty(t *testing.T) Options {
	opt := quick(t)
	opt.AckWait = 1200 * time.Millisecond
	return opt
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A test waits in total no longer than patience, and at its end at most ending for each thing that it started. Its failure message
// names what it waited for.
const (
	patience = 80 * time.Second
	ending   = 15 * time.Second
)

var firstWaits sync.Map // when each test waited first

// left is what remains of a test's patience.
func left(t *testing.T) time.Duration {
	first, known := firstWaits.LoadOrStore(t, time.Now())
	if !known {
		t.Cleanup(func() { firstWaits.Delete(t) })
	}
	return patience - time.Since(first.(time.Time))
}

var errPatience = fmt.Errorf("the call did not return before the test had waited for %v", patience)

// soon is a context for one call.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeoutCause(t.Context(), left(t), errPatience)
	t.Cleanup(cancel)
	return ctx
}

// next returns what comes through c.
func next[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(left(t)):
		t.Fatalf("%s: not within %v", what, patience)
		panic("not reached")
	}
}

// give sends v through c.
func give[T any](t *testing.T, what string, c chan<- T, v T) {
	t.Helper()
	select {
	case c <- v:
	case <-time.After(left(t)):
		t.Fatalf("%s: not within %v", what, patience)
	}
}

// ends waits for something that ends with the test, and returns its result.
func ends[T any](t *testing.T, what string, ended <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-ended:
	case <-time.After(ending):
		t.Errorf("%s does not end within %v", what, ending)
	}
	return v
}

func startServer(t *testing.T, o ServerOptions) *Server {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	s, err := StartServer(o)
	must(t, err)
	t.Cleanup(func() {
		closed := make(chan struct{})
		go func() { defer close(closed); s.Close() }()
		ends(t, "the server", closed)
	})
	return s
}

// local is a server, a coordinator and a broker for workers, all in this process.
func local(t *testing.T, opt Options) (*Server, *Coordinator, *Broker) {
	t.Helper()
	s := startServer(t, ServerOptions{})
	b, err := s.Connect(opt)
	must(t, err)
	t.Cleanup(b.Close)
	c, err := b.Coordinate(t.Context(), "lab")
	must(t, err)
	return s, c, b
}

func jobs(n int) []Job {
	list := make([]Job, n)
	for i := range list {
		list[i] = Job{ID: fmt.Sprintf("job%05d", i), Kind: "test", Priority: Normal, Payload: []byte{byte(i)}}
	}
	return list
}

// work starts a worker and returns what stops it.
func work(t *testing.T, b *Broker, o WorkerOptions, do func(context.Context, *Task) ([]byte, error)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.Work(ctx, o, do) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := ends(t, "worker "+o.Name, ended); !errors.Is(err, context.Canceled) {
				t.Errorf("worker %s: %v", o.Name, err)
			}
		})
	}
	t.Cleanup(stop)
	return stop
}

func echo(_ context.Context, task *Task) ([]byte, error) { return task.Payload, nil }
