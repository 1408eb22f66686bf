package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"collapse.example/collapse/internal/faulttest"
)

// TestMain lets the test binary play another process: STORE_TEST_ROLE says which part, the lab is
// its only argument.
func TestMain(m *testing.M) {
	role, ok := roles[os.Getenv("STORE_TEST_ROLE")]
	if !ok {
		defer faulttest.InMemory()()
		m.Run() // the code it ends with is heeded by whoever called TestMain
		return
	}
	if err := role(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var roles = map[string]func(dir string) error{
	"work":  work,
	"write": writeForEver,
	"read":  readOnce,
}

// process starts the test binary in a role.
func startRole(t *testing.T, role, dir string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0], dir)
	cmd.Env = append(os.Environ(), "STORE_TEST_ROLE="+role)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	return cmd, bufio.NewReader(out)
}

// work does thirty runs, waits for none, and prints the hashes of those it did.
func work(dir string) error {
	l, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	defer l.Close()
	for i := range 30 {
		c, _, err := l.Lease(spec(i))
		if errors.Is(err, ErrDone) || errors.As(err, new(*HeldError)) {
			continue
		}
		if err != nil {
			return err
		}
		for e := range int64(3) {
			if err := c.AppendEpoch(e, epochRows(10, e)); err != nil {
				return err
			}
		}
		if err := c.Finish(); err != nil {
			return err
		}
		fmt.Println(c.Hash)
	}
	return nil
}

// TestProcessesDoTheWorkOnce starts processes at once on a lab that none has made yet.
func TestProcessesDoTheWorkOnce(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	var mu sync.Mutex
	did := map[string]int{}
	for range 3 {
		cmd, out := startRole(t, "work", dir)
		wg.Go(func() {
			text, err := io.ReadAll(out)
			if err := errors.Join(err, cmd.Wait()); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, hash := range strings.Fields(string(text)) {
				did[hash]++
			}
		})
	}
	wg.Wait()
	r, err := OpenReader(dir)
	must(t, err)
	defer r.Close()
	runs, err := r.List(Filter{Statuses: []Status{Done}})
	must(t, err)
	if len(runs) != 30 || len(did) != 30 {
		t.Fatalf("%d runs done, %d reported, want 30", len(runs), len(did))
	}
	for _, run := range runs {
		values, err := r.Values(run.Hash)
		must(t, err)
		if did[run.Hash] != 1 || run.Generation != 1 || len(values) != 30 {
			t.Errorf("run %.12s: done %d times, generation %d, %d values", run.Hash, did[run.Hash], run.Generation, len(values))
		}
	}
}

const (
	crashRows   = 100
	crashEpochs = 12 // that a writer does at most, so that a slow reader keeps up
)

// writeForEver appends epochs to one run, prints each once it is committed, and never ends.
func writeForEver(dir string) error {
	l, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	c, run, err := l.Lease(spec(1))
	if err != nil {
		return err
	}
	first := int64(0)
	if run.HasEpochs {
		first = run.LastEpoch + 1
	}
	for e := first; e < first+crashEpochs; e++ {
		if err := c.AppendEpoch(e, epochRows(crashRows, e)); err != nil {
			return err
		}
		fmt.Println(e)
	}
	time.Sleep(time.Hour)
	return nil
}

// TestKilledWhileWriting kills a writer with signal 9 at random moments. Every epoch it reported is
// there, none is there in part, a reader at the time sees the same, and the run is free at once.
func TestKilledWhileWriting(t *testing.T) {
	if thisProcess().hostID == "" {
		t.Skip("this system does not tell which processes share a host")
	}
	dir := t.TempDir()
	open(t, dir) // keeps the lab open, as another run's process would
	r, err := OpenReader(dir)
	must(t, err)
	defer r.Close()
	reported := int64(-1)
	for kill := range 8 {
		cmd, out := startRole(t, "write", dir)
		for line := range 1 + kill%3 { // the first line means that it is at work
			if _, err := fmt.Fscanln(out, &reported); err != nil {
				t.Fatalf("kill %d, line %d: %v", kill, line, err)
			}
			whole(t, r, reported)
		}
		time.Sleep(time.Duration(kill) * 700 * time.Microsecond) // any moment will do
		must(t, cmd.Process.Kill())
		for {
			var e int64
			if _, err := fmt.Fscanln(out, &e); err != nil {
				break
			}
			reported = e
		}
		cmd.Wait() // reports the kill
		whole(t, r, reported)
	}
	l := open(t, dir)
	c := leased(t, l, spec(1))
	if c.Generation != 9 {
		t.Errorf("generation %d after eight killed writers", c.Generation)
	}
	var verdict string
	must(t, l.db.QueryRow("PRAGMA integrity_check").Scan(&verdict))
	if verdict != "ok" {
		t.Errorf("integrity: %s", verdict)
	}
}

// whole checks that the run holds every epoch up to at least last, and each whole.
func whole(t *testing.T, r *Reader, last int64) {
	t.Helper()
	values, err := r.Values(Hash(Train, []byte(`{"seed":1}`)))
	must(t, err)
	n := int64(len(values)) / crashRows
	if n*crashRows != int64(len(values)) || n < last+1 {
		t.Fatalf("%d values: want whole epochs of %d rows, up to %d at least", len(values), crashRows, last)
	}
	for _, v := range values {
		if v.Step >= n {
			t.Fatalf("a value of step %d among %d epochs", v.Step, n)
		}
	}
}

// TestReadersSeeWholeEpochs reads while this process writes.
func TestReadersSeeWholeEpochs(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	c := leased(t, l, spec(1))
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			r, err := OpenReader(dir)
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Close()
			for seen := 0; ; {
				select {
				case <-done:
					return
				default:
				}
				values, err := r.Values(c.Hash)
				if err != nil || len(values)%50 != 0 || len(values) < seen {
					t.Errorf("%d values after %d, %v", len(values), seen, err)
					return
				}
				seen = len(values)
			}
		})
	}
	for e := range int64(40) {
		must(t, c.AppendEpoch(e, epochRows(50, e)))
	}
	close(done)
	wg.Wait()
}

// readOnce prints how many runs the lab has.
func readOnce(dir string) error {
	r, err := OpenReader(dir)
	if err != nil {
		return err
	}
	runs, err := r.List(Filter{})
	if err != nil {
		return err
	}
	fmt.Println("runs:", len(runs))
	return r.Close()
}
