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
	"testing"

	"collapse.example/collapse/internal/demo"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/parallel"
)

// besideVariable says what the test binary, started again, is to be: "worker" or "server" of the lab that labVariable names.
const (
	besideVariable = "COLLAPSE_TEST_BESIDE"
	labVariable    = "COLLAPSE_TEST_BESIDE_LAB"
	seedVariable   = "COLLAPSE_TEST_BESIDE_SEED"
)

// beside is a process that works beside the test and tells its processor time when asked.
type beside struct {
	ask    io.Writer
	answer *bufio.Reader
}

func startBeside(b testing.TB, environment ...string) *beside {
	b.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), environment...)
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
	return &beside{in, bufio.NewReader(out)}
}

// startWorker starts a process that computes a run.
func startWorker(b testing.TB, dir string, i int) *beside {
	b.Helper()
	return startBeside(b, besideVariable+"=worker", labVariable+"="+dir, seedVariable+"="+strconv.Itoa(i))
}

// startServer starts a process that serves a lab. It returns its address too.
func startServer(b testing.TB, dir string) (*beside, string) {
	b.Helper()
	p := startBeside(b, besideVariable+"=server", labVariable+"="+dir)
	var url string
	if _, err := fmt.Fscanln(p.answer, &url); err != nil {
		b.Fatal(err)
	}
	return p, url
}

// tell is the process's time of the processors in seconds, and how many epochs a worker has measured or browsers a server has.
func (p *beside) tell(b testing.TB) (seconds, count float64) {
	if _, err := io.WriteString(p.ask, "?\n"); err != nil {
		b.Fatal(err)
	}
	if _, err := fmt.Fscanln(p.answer, &seconds, &count); err != nil {
		b.Fatal(err)
	}
	return seconds, count
}

func init() {
	role, dir := os.Getenv(besideVariable), os.Getenv(labVariable)
	do := map[string]func(string) error{"worker": work, "server": answerFor}[role]
	if do == nil {
		return
	}
	if err := do(dir); err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// obey answers tell until the input ends.
func obey(count func() int64) {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		fmt.Println(ownTime(), count())
	}
}

// answerFor is the other side of startServer.
func answerFor(dir string) error {
	s, err := Start(Options{Lab: dir, Listen: "127.0.0.1:0"})
	if err != nil {
		return err
	}
	fmt.Println(s.URL())
	obey(func() int64 { return int64(s.hub.listeners()) })
	return s.Close()
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

// work is the other side of startWorker: a long run of the demo's kind until the input ends.
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
		obey(measured.epochs.Load)
	}()
	plan := demo.Smoke(1).Grid.Base
	plan.Run.Epochs, plan.Run.MeasureEvery, plan.Run.CheckpointEvery = 1_000_000, 8, 40
	if plan.Run.Seed, err = strconv.ParseUint(os.Getenv(seedVariable), 10, 64); err != nil {
		return err
	}
	team := parallel.NewTeam(1)
	defer team.Close()
	if _, err := train.Run(ctx, plan, lab, train.Options{Team: team, Sink: measured, Tags: []string{"demo"}}); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
