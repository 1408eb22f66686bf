//go:build unix

package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/systeminfo"
	"github.com/chromedp/chromedp"

	"collapse/internal/kernel"
	"collapse/internal/store"
	"collapse/internal/study"
	"collapse/train"
)

// workersVariable names the lab that the test binary, started again as a worker, computes a run of.
const workersVariable = "COLLAPSE_TEST_WORKER_LAB"

const workers = 4

// tabsWindow is how long costs are gathered.
const tabsWindow = 4 * time.Second

// BenchmarkTenTabs is what ten tabs of one browser cost four workers: processor time of the serving process over that of the workers,
// which are processes that compute runs of the demo, one thread each, as fast as they can. One tab is in front, as in a browser.
func BenchmarkTenTabs(b *testing.B) {
	dir := b.TempDir()
	lab, err := store.Open(dir, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer lab.Close()
	var crew []*worker
	for i := range workers {
		crew = append(crew, startWorker(b, dir, i))
	}
	s := startTest(b, Options{Lab: dir})
	runs := waitForRuns(b, lab, workers)
	browser := newBrowser(b)
	var tabs []context.Context
	for _, path := range []string{"run/" + runs[0], "study?tag=demo", "", "compare?run=" + runs[0] + "&run=" + runs[1], "run/" + runs[1],
		"run/" + runs[2], "run/" + runs[3], "?again=1", "study?tag=demo&again=1", "run/" + runs[0] + "?again=1"} {
		tab := newTab(b, browser, 5*time.Minute)
		do(b, tab, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(s.URL()+path))
		until(b, tab, time.Minute, "document.getElementById('status').textContent === 'live'")
		tabs = append(tabs, tab)
	}
	if n := s.hub.listeners(); n != 1 {
		b.Fatalf("ten tabs of one browser have %d streams", n)
	}
	for front, name := range []string{"run", "study", "studies"} {
		b.Run("front="+name, func(b *testing.B) {
			for i, tab := range tabs {
				inSight(b, tab, i == front)
			}
			for b.Loop() {
				time.Sleep(time.Second) // what was missed while hidden is fetched once
				costs(b, browser, crew)
			}
		})
	}
}

// inSight makes a tab what it is in a window: without one, a browser takes every tab for visible.
func inSight(b testing.TB, tab context.Context, visible bool) {
	look[bool](b, tab, fmt.Sprintf("Object.defineProperty(document, 'hidden', { configurable: true, value: %v }), document.dispatchEvent(new Event('visibilitychange'))", !visible))
}

// costs gathers what everybody's processors did during a window.
func costs(b *testing.B, browser context.Context, crew []*worker) {
	at := func() (server, work, page, epochs float64) {
		for _, w := range crew {
			spent, done := w.spent(b)
			work += spent
			epochs += done
		}
		return ownTime(b), work, browserTime(b, browser), epochs
	}
	server, work, page, epochs := at()
	began := time.Now()
	time.Sleep(tabsWindow)
	server2, work2, page2, epochs2 := at()
	seconds := time.Since(began).Seconds()
	b.ReportMetric((server2-server)/seconds*1e3, "server-ms/s")
	b.ReportMetric((work2-work)/seconds, "workers-s/s")
	b.ReportMetric((page2-page)/seconds*1e3, "browser-ms/s")
	b.ReportMetric((epochs2-epochs)/seconds, "epochs/s")
	b.ReportMetric(100*(server2-server)/(work2-work), "%ofworkers")
	b.ReportMetric(0, "ns/op")
}

// ownTime is the processor time of this process, which is the server's and that of the few calls that watch it.
func ownTime(b testing.TB) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// browserTime is the processor time of all the browser's processes.
func browserTime(b testing.TB, browser context.Context) float64 {
	found, err := chromedp.CallBrowser(browser, systeminfo.GetProcessInfo, cdp.Empty{})
	if err != nil {
		b.Fatal(err)
	}
	total := 0.0
	for _, p := range found.ProcessInfo {
		total += p.CPUTime
	}
	return total
}

// worker is a process that computes runs and tells its processor time when asked.
type worker struct {
	ask    io.Writer
	answer *bufio.Reader
}

func startWorker(b testing.TB, dir string, i int) *worker {
	b.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), workersVariable+"="+dir, workersVariable+"_SEED="+strconv.Itoa(i))
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close() // it ends with its input
		if err := command.Wait(); err != nil {
			b.Error(err)
		}
	})
	return &worker{in, bufio.NewReader(out)}
}

// spent is the worker's processor time in seconds, and how many epochs it has measured.
func (w *worker) spent(b testing.TB) (seconds, epochs float64) {
	if _, err := io.WriteString(w.ask, "?\n"); err != nil {
		b.Fatal(err)
	}
	if _, err := fmt.Fscanln(w.answer, &seconds, &epochs); err != nil {
		b.Fatal(err)
	}
	return seconds, epochs
}

func init() {
	dir := os.Getenv(workersVariable)
	if dir == "" {
		return
	}
	if err := work(dir); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// counting counts measured epochs.
type counting struct{ epochs atomic.Int64 }

func (c *counting) Started(train.Started) {}
func (c *counting) Step(train.StepDone)   {}
func (c *counting) Note(string)           {}
func (c *counting) Epoch(e train.EpochDone) {
	if e.Measured {
		c.epochs.Add(1)
	}
}

// waitForRuns are the hashes of so many runs that are being worked on and have a measured epoch.
func waitForRuns(b testing.TB, lab *store.Lab, n int) []string {
	b.Helper()
	for start := time.Now(); time.Since(start) < time.Minute; time.Sleep(50 * time.Millisecond) {
		rows, err := lab.List(store.Filter{Statuses: []store.Status{store.Running}})
		if err != nil {
			b.Fatal(err)
		}
		var out []string
		for _, r := range rows {
			if r.LastEpoch > 0 {
				out = append(out, r.Hash)
			}
		}
		if len(out) == n {
			return out
		}
	}
	b.Fatalf("%d workers did not begin", n)
	return nil
}

// work is the other side: a long run of the demo's kind until the input ends.
func work(dir string) error {
	lab, err := store.Open(dir, store.Options{})
	if err != nil {
		return err
	}
	defer lab.Close()
	ctx, stop := context.WithCancel(context.Background())
	measured := &counting{}
	go func() {
		defer stop()
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			var u syscall.Rusage
			if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
				return
			}
			fmt.Println(time.Duration(u.Utime.Nano()+u.Stime.Nano()).Seconds(), measured.epochs.Load())
		}
	}()
	plan := study.SmokeDemo(1).Grid.Base
	plan.Run.Epochs, plan.Run.MeasureEvery, plan.Run.CheckpointEvery = 1_000_000, 8, 40
	if plan.Run.Seed, err = strconv.ParseUint(os.Getenv(workersVariable+"_SEED"), 10, 64); err != nil {
		return err
	}
	team := kernel.NewTeam(1)
	defer team.Close()
	if _, err := train.Run(ctx, plan, lab, train.Options{Team: team, Sink: measured, Tags: []string{"demo"}}); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
