package queue

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"collapse.example/collapse/internal/faulttest"
	"collapse.example/collapse/internal/longtest"
)

// TestMain lets the test binary play a worker of another machine, or a coordinator that holds a lock.
func TestMain(m *testing.M) {
	defer faulttest.InMemory()()
	faulttest.SideBySide(8) // they mostly wait
	faulttest.Main(m, map[string]func([]string) error{"worker": roleWorker, "lock": roleLock})
}

// roleWorker works for the server at args[0] and prints the jobs it starts. A job counts to five, saving
// each number before it sends it; its payload, if any, is the milliseconds that a number takes.
func roleWorker(args []string) error {
	opt := Options{Version: "1"}
	if len(args) > 2 {
		opt.Version = args[2]
	}
	b, err := Connect(Remote{URL: args[0], Token: args[1]}, opt)
	if err != nil {
		return err
	}
	return b.Work(context.Background(), WorkerOptions{Name: fmt.Sprint(os.Getpid())}, count)
}

func count(ctx context.Context, t *Task) ([]byte, error) {
	from := 0
	if len(t.State) > 0 {
		from = int(t.State[0])
	}
	fmt.Println("start", t.ID, from, t.Attempt)
	pause, _ := strconv.Atoi(string(t.Payload))
	for n := from; n < 5; n++ {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(time.Duration(pause) * time.Millisecond):
		}
		if err := t.Send(ctx, []byte(fmt.Sprint(n))); err != nil {
			return nil, err
		}
		if err := t.SetState(ctx, []byte{byte(n + 1)}); err != nil {
			return nil, err
		}
		fmt.Println("sent", t.ID, n)
	}
	return []byte(fmt.Sprint("by ", t.w.name)), nil
}

func roleLock(args []string) error {
	l, err := TakeLock(args[0])
	if err != nil {
		return err
	}
	defer l.Release()
	fmt.Println("locked")
	time.Sleep(time.Hour)
	return nil
}

const testToken = "a-token-of-some-length"

// listening is a server open to other processes, with its coordinator.
func listening(t *testing.T, opt Options, dir string) (*Server, *Coordinator) {
	t.Helper()
	s := startServer(t, ServerOptions{Dir: dir, Listen: "127.0.0.1:0", Token: testToken})
	b, err := s.Connect(opt)
	must(t, err)
	t.Cleanup(b.Close)
	c, err := b.Coordinate(t.Context(), "lab")
	must(t, err)
	return s, c
}

// slow is a job whose five numbers take the given milliseconds each.
func slow(id string, ms int) Job {
	return Job{ID: id, Priority: Normal, Payload: []byte(fmt.Sprint(ms))}
}

// inOrder checks that the numbers 0 to 4 arrived, each number's first copy in order, and one end.
func (l *ledger) inOrder(t *testing.T, id string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	next := 0
	for _, n := range l.data[id] {
		if n == fmt.Sprint(next) {
			next++
		} else if n > fmt.Sprint(next) {
			t.Errorf("%s: %v", id, l.data[id])
		}
	}
	if next != 5 || len(l.final[id]) != 1 || l.final[id][0].Type != Done {
		t.Errorf("%s: %v, ended %+v", id, l.data[id], l.final[id])
	}
}

func TestAKilledWorkersJobGoesOnElsewhere(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	s, c := listening(t, hasty(t), "")
	l := collectFrom(t, c)
	must(t, c.Submit(soon(t), slow("a", 150)))
	first, out := faulttest.Play(t, "worker", s.URL(), testToken)
	faulttest.Heard(t, out, "start a 0 1")
	faulttest.Heard(t, out, "sent a 1")
	must(t, first.Process.Kill())
	_, out = faulttest.Play(t, "worker", s.URL(), testToken)
	began := time.Now()
	var from, attempt int
	_, err := fmt.Sscanf(faulttest.Heard(t, out, "start a"), "start a %d %d", &from, &attempt)
	must(t, err)
	if from < 1 || from > 4 || attempt != 2 {
		t.Errorf("the second worker starts at %d, attempt %d", from, attempt)
	}
	l.wait(t, 1)
	l.inOrder(t, "a")
	if d := time.Since(began); d > 6*time.Second {
		t.Errorf("that took %v", d)
	}
}

// TestAWorkerThatSleptChangesNothing stops a worker past its lease (SIGSTOP, as a suspended laptop or a
// paused container), lets another one do the job, and wakes the first.
func TestAWorkerThatSleptChangesNothing(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	s, c := listening(t, hasty(t), "")
	l := collectFrom(t, c)
	must(t, c.Submit(soon(t), slow("a", 150)))
	first, out := faulttest.Play(t, "worker", s.URL(), testToken)
	faulttest.Heard(t, out, "start a 0 1")
	must(t, first.Process.Signal(syscall.SIGSTOP))
	_, out2 := faulttest.Play(t, "worker", s.URL(), testToken)
	faulttest.Heard(t, out2, "start a")
	must(t, first.Process.Signal(syscall.SIGCONT)) // while the second one has it
	l.wait(t, 1)
	l.inOrder(t, "a")
	if l.final["a"][0].Worker == fmt.Sprint(first.Process.Pid) {
		t.Error("the sleeper's end counted")
	}
	must(t, c.Submit(soon(t), slow("b", 1), slow("c", 1), slow("d", 1)))
	l.wait(t, 4) // it also works again
	l.inOrder(t, "b")
}

func TestAJobThatKillsItsWorkersIsGivenUp(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	opt := quick(t)
	opt.AckWait, opt.MaxAttempts = 600*time.Millisecond, 2
	s, c := listening(t, opt, "")
	l := collectFrom(t, c)
	must(t, c.Submit(soon(t), slow("a", 60_000)))
	for attempt := range 2 {
		w, out := faulttest.Play(t, "worker", s.URL(), testToken)
		faulttest.Heard(t, out, fmt.Sprintf("start a 0 %d", attempt+1))
		must(t, w.Process.Kill())
	}
	b, err := Connect(Remote{URL: s.URL(), Token: testToken}, Options{Version: "1", MaxAttempts: 2})
	must(t, err)
	defer b.Close()
	defer work(t, b, WorkerOptions{}, func(context.Context, *Task) ([]byte, error) {
		t.Error("the job was started a third time")
		return nil, nil
	})()
	l.wait(t, 1)
	if got := l.final["a"][0]; got.Type != GaveUp || !strings.Contains(got.Error, "died or fell silent") {
		t.Errorf("%+v", got)
	}
}

func TestTheServerIsAwayForAWhile(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	dir := t.TempDir()
	opt := quick(t)
	opt.AckWait = 6 * time.Second // "greedy" watches a lease for half of it: enough time to hear from its holder, even on a busy machine
	s := startServer(t, ServerOptions{Dir: dir, Listen: "127.0.0.1:0", Token: testToken})
	address := strings.TrimPrefix(s.URL(), "nats://")
	b, err := s.Connect(opt)
	must(t, err)
	c, err := b.Coordinate(t.Context(), "lab")
	must(t, err)
	must(t, c.Submit(soon(t), slow("a", 300), slow("b", 300)))
	_, out := faulttest.Play(t, "worker", s.URL(), testToken)
	faulttest.Heard(t, out, "sent a 0")
	b.Close()
	s.Close()
	time.Sleep(opt.AckWait * 5 / 4) // the job's time is up, though its worker lives
	s = startServer(t, ServerOptions{Dir: dir, Listen: address, Token: testToken})
	b, err = s.Connect(opt)
	must(t, err)
	defer b.Close()
	c, err = b.Coordinate(t.Context(), "lab")
	must(t, err)
	l := collectFrom(t, c)
	defer work(t, b, WorkerOptions{Name: "greedy"}, count)() // would take a job that nobody holds
	l.wait(t, 2)
	l.inOrder(t, "a")
	l.inOrder(t, "b")
	if l.final["a"][0].Worker == "greedy" {
		t.Error("the job was taken from a worker that was alive")
	}
}

func TestAWrongToken(t *testing.T) {
	s, _ := listening(t, quick(t), "")
	for _, token := range []string{"", "something else entirely"} {
		_, err := Connect(Remote{URL: s.URL(), Token: token}, Options{})
		var refused *TokenError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "--token-file") {
			t.Errorf("token %q: %v", token, err)
		}
	}
	if _, err := StartServer(ServerOptions{Dir: t.TempDir(), Listen: ":0"}); err == nil || !strings.Contains(err.Error(), "token") {
		t.Errorf("a server without a token: %v", err)
	}
	if !strings.Contains(s.URL(), "127.0.0.1") {
		t.Errorf("%s is not this machine alone", s.URL())
	}
}

func TestAWorkerOfAnotherVersion(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	s, c := listening(t, quick(t), "")
	must(t, c.Submit(soon(t), slow("a", 1)))
	_, out := faulttest.Play(t, "worker", s.URL(), testToken, "2")
	if line := faulttest.Heard(t, out, "error:"); !strings.Contains(line, "collapse 1 and this worker collapse 2") {
		t.Error(line)
	}
	b, err := Connect(Remote{URL: s.URL(), Token: testToken}, Options{Version: "2"})
	must(t, err)
	defer b.Close()
	if _, err := b.Coordinate(t.Context(), "another lab"); err == nil {
		t.Error("another lab took the queue")
	}
	var owner *OwnerError
	if _, err := b.Coordinate(t.Context(), "another lab"); !errors.As(err, &owner) || owner.Owner != "lab" {
		t.Errorf("%v", err)
	}
}

func TestOneProcessHasTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queue.lock")
	first, out := faulttest.Play(t, "lock", path)
	faulttest.Heard(t, out, "locked")
	_, err := TakeLock(path)
	var held *HeldError
	if !errors.As(err, &held) || !strings.Contains(held.Holder, fmt.Sprintf("process %d on ", first.Process.Pid)) {
		t.Fatalf("%v", err)
	}
	must(t, first.Process.Kill())
	first.Wait()
	l, err := TakeLock(path)
	must(t, err)
	if _, err := TakeLock(path); !errors.As(err, &held) {
		t.Errorf("taken twice: %v", err)
	}
	must(t, l.Release())
	l, err = TakeLock(path)
	must(t, err)
	must(t, l.Release())
}

// cluster starts three servers that know each other, and returns them with their addresses.
func cluster(t *testing.T) ([]*server.Server, string) {
	t.Helper()
	var ports [3]int
	var routes []string
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		ports[i] = l.Addr().(*net.TCPAddr).Port
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", ports[i]))
		must(t, l.Close())
	}
	var all []*server.Server
	var urls []string
	for i, port := range ports {
		s, err := server.NewServer(&server.Options{ServerName: fmt.Sprint("s", i), Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true,
			JetStream: true, StoreDir: t.TempDir(), Routes: server.RoutesFromStr(strings.Join(routes, ",")),
			Cluster: server.ClusterOpts{Name: "c", Host: "127.0.0.1", Port: port}})
		must(t, err)
		s.Start()
		t.Cleanup(func() {
			closed := make(chan struct{})
			go func() { defer close(closed); s.Shutdown(); s.WaitForShutdown() }()
			ends(t, "a server of the cluster", closed)
		})
		if !s.ReadyForConnections(10 * time.Second) {
			t.Fatal("a server of the cluster does not start")
		}
		all, urls = append(all, s), append(urls, s.ClientURL())
	}
	return all, strings.Join(urls, ",")
}

func TestOneOfThreeServersDies(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	if testing.Short() {
		t.Skip("three servers take a while to agree")
	}
	servers, urls := cluster(t)
	opt := quick(t)
	opt.AckWait = 3 * time.Second
	b, err := Connect(Remote{URL: urls}, opt)
	must(t, err)
	defer b.Close()
	var c *Coordinator
	for start := time.Now(); ; time.Sleep(200 * time.Millisecond) { // until they have a leader
		if c, err = b.Coordinate(t.Context(), "lab"); err == nil {
			break
		}
		if time.Since(start) > 20*time.Second {
			t.Fatal(err)
		}
	}
	l := collectFrom(t, c)
	list := jobs(40)
	for i := range list {
		list[i].Payload = []byte("20")
	}
	must(t, c.Submit(soon(t), list...))
	w, err := Connect(Remote{URL: urls}, opt)
	must(t, err)
	defer w.Close()
	defer work(t, w, WorkerOptions{Slots: 4}, count)()
	l.wait(t, 5)
	servers[1].Shutdown()
	l.wait(t, 40)
	for _, job := range list {
		l.inOrder(t, job.ID)
	}
}
