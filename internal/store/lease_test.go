package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// clock is a clock that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func leased(t testing.TB, l *Lab, s Spec) *Lease {
	t.Helper()
	c, _, err := l.Lease(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheLifeOfARun(t *testing.T) {
	now := newClock()
	l := openAt(t, t.TempDir(), Options{Now: now.Now})
	s := spec(1)
	s.Label, s.Tags = "first", []string{"b", "a"}
	run, err := l.Ensure(s)
	must(t, err)
	if run.Status != Pending || run.Label != "first" || strings.Join(run.Tags, " ") != "a b" || string(run.Config) != `{"seed":1}` || run.HasEpochs || !run.Started.IsZero() {
		t.Fatalf("after Ensure: %+v", run)
	}
	c := leased(t, l, s)
	if info, err := os.Stat(c.Dir); err != nil || !info.IsDir() || c.Dir != l.RunDir(run.Hash) {
		t.Fatalf("directory %s: %v", c.Dir, err)
	}
	now.pass(time.Second)
	must(t, c.AppendEpoch(0, epochRows(2, 0)))
	must(t, c.Interrupt())
	must(t, c.Finish()) // the first call counts
	run, err = l.Run(run.Hash)
	must(t, err)
	if run.Status != Interrupted || !run.HasEpochs || run.LastEpoch != 0 || !run.Finished.Equal(now.Now()) || run.Program != s.Program {
		t.Fatalf("after Interrupt: %+v", run)
	}
	s.Program.Kernel = "avx512"
	c, before, err := l.Lease(s)
	must(t, err)
	if before.Status != Interrupted || before.Program.Kernel != "generic" || c.Generation != 2 {
		t.Fatalf("second lease %d found %+v", c.Generation, before)
	}
	must(t, c.Fail(errors.New("step 7: loss is NaN")))
	if run, err = l.Run(run.Hash); err != nil || run.Status != Failed || run.Error != "step 7: loss is NaN" {
		t.Fatalf("after Fail: %+v, %v", run, err)
	}
	c = leased(t, l, s)
	must(t, c.Finish())
	if _, run, err = l.Lease(s); !errors.Is(err, ErrDone) || run.Status != Done || run.Error != "" {
		t.Fatalf("a done run: %+v, %v", run, err)
	}
	attempts, err := l.Attempts(run.Hash)
	must(t, err)
	if len(attempts) != 3 || attempts[0].Program.Kernel != "generic" || attempts[1].Program.Kernel != "avx512" {
		t.Fatalf("attempts %+v", attempts)
	}
}

func TestAgainReplaces(t *testing.T) {
	l := open(t, t.TempDir())
	c := leased(t, l, spec(1))
	must(t, c.AppendEpoch(3, epochRows(5, 3)))
	must(t, os.WriteFile(filepath.Join(c.Dir, "old"), nil, 0o666))
	if _, _, err := l.Again(spec(1)); !errors.As(err, new(*HeldError)) {
		t.Fatalf("again while it runs: %v", err)
	}
	must(t, c.Finish())
	c, before, err := l.Again(spec(1))
	must(t, err)
	if before.Status != Done || c.Generation != 2 {
		t.Fatalf("before %+v, generation %d", before, c.Generation)
	}
	run, err := l.Run(c.Hash)
	must(t, err)
	values, err := l.Values(c.Hash)
	must(t, err)
	left, err := os.ReadDir(filepath.Join(l.Dir(), "runs"))
	must(t, err)
	if _, err := os.Stat(filepath.Join(c.Dir, "old")); !os.IsNotExist(err) || len(left) != 1 {
		t.Errorf("old file: %v; %v in runs", err, left)
	}
	attempts, err := l.Attempts(c.Hash)
	must(t, err)
	if run.Status != Running || run.HasEpochs || len(values) != 0 || len(attempts) != 1 {
		t.Errorf("after Again: %+v with %d values, %d attempts", run, len(values), len(attempts))
	}
}

func TestALeaseThatFellSilentIsTakenOver(t *testing.T) {
	now, dir := newClock(), t.TempDir()
	opt := Options{Now: now.Now, Stale: time.Minute}
	first, second := openAt(t, dir, opt), openAt(t, dir, opt)
	old := leased(t, first, spec(1))
	must(t, old.AppendEpoch(0, epochRows(3, 0)))

	now.pass(time.Minute)
	var held *HeldError
	if _, _, err := second.Lease(spec(1)); !errors.As(err, &held) || held.PID != os.Getpid() {
		t.Fatalf("a minute later: %v", err)
	}
	must(t, old.Beat())
	now.pass(time.Minute)
	if _, _, err := second.Lease(spec(1)); !errors.As(err, &held) {
		t.Fatalf("a minute after a beat: %v", err)
	}
	now.pass(time.Millisecond)
	c := leased(t, second, spec(1))
	if c.Generation != old.Generation+1 {
		t.Fatalf("generation %d after %d", c.Generation, old.Generation)
	}
	for name, write := range map[string]func() error{
		"append": func() error { return old.AppendEpoch(1, epochRows(3, 1)) },
		"delete": func() error { return old.DeleteAfter(-1) },
		"beat":   old.Beat,
	} {
		if err := write(); !errors.Is(err, ErrLost) {
			t.Errorf("%s through the old lease: %v", name, err)
		}
	}
	select {
	case <-old.Lost():
	default:
		t.Error("Lost is open")
	}
	if err := old.Finish(); !errors.Is(err, ErrLost) {
		t.Errorf("finish through the old lease: %v", err)
	}
	run, err := first.Run(c.Hash)
	must(t, err)
	values, err := first.Values(c.Hash)
	must(t, err)
	if run.Status != Running || run.LastEpoch != 0 || len(values) != 3 {
		t.Errorf("the old lease changed the run: %+v, %d values", run, len(values))
	}
	must(t, c.Finish())
}

func TestADeadProcessIsSeenAtOnce(t *testing.T) {
	l := open(t, t.TempDir())
	if l.self.hostID == "" {
		t.Skip("this system does not tell which processes share a host")
	}
	for name, c := range map[string]struct {
		change func(*process)
		free   bool
	}{
		"itself":                     {func(*process) {}, false},
		"no such process":            {func(p *process) { p.pid = 1 << 22 }, true},
		"its number was given again": {func(p *process) { p.started = "1" }, l.self.started != ""},
		"on another host":            {func(p *process) { p.pid, p.hostID = 1<<22, "another" }, false},
		"on a nameless host":         {func(p *process) { p.pid, p.hostID = 1<<22, "" }, false},
	} {
		me := l.self
		c.change(&l.self)
		lease := leased(t, l, Spec{Kind: Trial, Config: map[string]any{"name": name}})
		l.self = me
		_, _, err := l.Lease(Spec{Kind: Trial, Config: map[string]any{"name": name}})
		if free := err == nil; free != c.free {
			t.Errorf("%s: lease gave %v", name, err)
		}
		if c.free && !errors.Is(lease.Beat(), ErrLost) {
			t.Errorf("%s: the old lease still writes", name)
		}
	}
}

func TestKeepBeatingHoldsAndStops(t *testing.T) {
	dir := t.TempDir()
	l := openAt(t, dir, Options{Stale: 60 * time.Millisecond})
	c := leased(t, l, spec(1))
	watch, err := l.Watch()
	must(t, err)
	defer watch.Close()
	stop := c.KeepBeating()
	deadline := time.Now().Add(20 * time.Second)
	for beats := 0; beats < 3; {
		changed, err := watch.Changed()
		must(t, err)
		if time.Now().After(deadline) {
			t.Fatalf("%d beats within 20 s, want 3", beats)
		}
		if changed {
			beats++
		}
		time.Sleep(time.Millisecond)
	}
	stop()
	stop()
	must(t, c.Beat())

	// KeepBeating ends by itself when the lease is lost, and reports that.
	stop = c.KeepBeating()
	other := openAt(t, dir, Options{Now: func() time.Time { return time.Now().Add(time.Hour) }})
	leased(t, other, spec(1))
	select {
	case <-c.Lost():
	case <-time.After(20 * time.Second):
		t.Fatal("the beater did not notice within 20 s that its lease was taken")
	}
	stop()

	// Six beats come within the time after which a lease is stale.
	long := openAt(t, t.TempDir(), Options{Stale: 6 * time.Second})
	c = leased(t, long, spec(1))
	_, err = long.db.Exec("UPDATE claim SET heartbeat = 0")
	must(t, err)
	stop = c.KeepBeating()
	for begun, beat := time.Now(), int64(0); beat == 0; time.Sleep(5 * time.Millisecond) {
		must(t, long.Reader.db.QueryRow("SELECT heartbeat FROM claim").Scan(&beat))
		if time.Since(begun) > 6*time.Second {
			t.Fatal("no beat in the time of six")
		}
	}
	stop()

	// A run that was ended is not lost.
	c = leased(t, l, spec(2))
	stop = c.KeepBeating()
	must(t, c.Finish())
	select {
	case <-c.Lost():
		t.Error("a lease that was given up is called lost")
	case <-time.After(50 * time.Millisecond): // five times as long as between two beats
	}
	stop()
}

func TestWritingAfterGivingUpPanics(t *testing.T) {
	c := leased(t, open(t, t.TempDir()), spec(1))
	must(t, c.Finish())
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	c.AppendEpoch(0, nil)
}

func TestOneOfManyGetsTheRun(t *testing.T) {
	dir := t.TempDir()
	labs := []*Lab{open(t, dir), open(t, dir)}
	var wg sync.WaitGroup
	won := make(chan *Lease, 16)
	for i := range 16 {
		wg.Go(func() {
			c, _, err := labs[i%2].Lease(spec(1))
			switch {
			case err == nil:
				won <- c
			case !errors.As(err, new(*HeldError)):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(won) != 1 {
		t.Fatalf("%d of 16 have the run", len(won))
	}
}

// TestAHeartbeatFromTheFuture takes a run over from a process of another host, which cannot be seen, whose clock was ahead.
func TestAHeartbeatFromTheFuture(t *testing.T) {
	for _, c := range []struct {
		ahead time.Duration
		held  bool
	}{{30 * time.Second, true}, {time.Minute, true}, {-time.Minute, true}, {-61 * time.Second, false}, {61 * time.Second, false}, {24 * 365 * time.Hour, false}} {
		now := newClock()
		l := openAt(t, t.TempDir(), Options{Now: now.Now})
		first := leased(t, l, spec(1))
		_, err := l.db.Exec("UPDATE claim SET host = 'elsewhere', host_id = 'elsewhere', heartbeat = ?", now.Now().Add(c.ahead).UnixMilli())
		must(t, err)
		second, _, err := l.Lease(spec(1))
		if errors.As(err, new(*HeldError)) != c.held {
			t.Errorf("%v ahead: %v", c.ahead, err)
		}
		if second != nil {
			if err := first.AppendEpoch(1, epochRows(1, 1)); !errors.Is(err, ErrLost) {
				t.Errorf("%v ahead: the first one wrote: %v", c.ahead, err)
			}
			must(t, second.Finish())
		}
	}
}
