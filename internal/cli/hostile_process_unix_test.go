//go:build unix

package cli

import (
	"bufio"
	"context"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What a command may take of a lab that is a stranger's.
const (
	hostileTime   = 10 * time.Second
	hostileSignal = 2 * time.Second
	hostileMemory = 500 << 20
)

// process is a command on the lab in a process of its own.
func (g ground) process(args ...string) (cmd *exec.Cmd, stdout, stderr interface{ String() string }) {
	c, out, errs := played(append([]string{"--threads", "1", "--lab", g.lab}, args...)...)
	return c, out, errs
}

// unharmed runs a part of a test and fails if anything around the lab has changed.
func (g ground) unharmed(t *testing.T, args []string, part func()) {
	t.Helper()
	before := g.around(t)
	part()
	if after := g.around(t); !maps.Equal(before, after) {
		t.Errorf("%v changes what is around the lab:\n%v\n%v", args, before, after)
	}
}

// sober fails if a process that has ended took too much memory, ended by a panic, or said what is the user's own.
func (g ground) sober(t *testing.T, cmd *exec.Cmd, said string) {
	t.Helper()
	var own syscall.Rusage // a process begins as its parent, which may be the larger
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil || !ok {
		t.Fatal(err)
	}
	if peak := int64(usage.Maxrss) << 10; runtime.GOOS == "linux" && peak > hostileMemory && usage.Maxrss > own.Maxrss {
		t.Errorf("%v takes %d MB", cmd.Args[2:], peak>>20)
	}
	if strings.Contains(said, precious) || strings.Contains(said, "goroutine ") {
		t.Errorf("%v says %.4000s", cmd.Args[2:], said)
	}
}

// bounded runs a command in a process that ends in time. Where other work takes the processors, only those commands count as slow that took as long
// of a processor, or that waited for most of it.
func (g ground) bounded(t *testing.T, args ...string) {
	t.Helper()
	cmd, stdout, stderr := g.process(args...)
	began := time.Now()
	g.unharmed(t, args, func() {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		late := time.AfterFunc(6*hostileTime, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // whether it works is not the question
		late.Stop()
	})
	took, computed := time.Since(began), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
	if took > hostileTime && (computed > hostileTime || computed < took/10 && took > 3*hostileTime || took > 6*hostileTime) {
		t.Errorf("%v takes %v, %v of a processor: %.2000s", args, took, computed, stderr)
	}
	g.sober(t, cmd, stdout.String()+stderr.String())
}

// signalled sends a command a signal within its first second, and reports whether it was still at work.
func (g ground) signalled(t *testing.T, rng *rand.Rand, args ...string) (ended bool) {
	t.Helper()
	cmd, stdout, stderr := g.process(args...)
	g.unharmed(t, args, func() {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() { defer close(done); _ = cmd.Wait() }()
		select {
		case <-done:
			return
		case <-time.After(time.Duration(100+rng.IntN(900)) * time.Millisecond):
		}
		ended = g.ends(t, cmd, rng, done)
	})
	g.sober(t, cmd, stdout.String()+stderr.String())
	return ended
}

// ends sends one of the two signals to a process, which must end in time.
func (g ground) ends(t *testing.T, cmd *exec.Cmd, rng *rand.Rand, done <-chan struct{}) bool {
	t.Helper()
	sig := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}[rng.IntN(2)]
	if cmd.Process.Signal(sig) != nil {
		return false
	}
	select {
	case <-done:
	case <-time.After(hostileSignal):
		t.Errorf("%v does not end within %v of %v", cmd.Args[2:], hostileSignal, sig)
		_ = cmd.Process.Kill()
		<-done
	}
	return true
}

var servedAt = regexp.MustCompile(`http://127\.0\.0\.1:\d+/\S*`)

// served asks a server of the lab for pages, until a signal ends it.
func (g ground) served(t *testing.T, rng *rand.Rand) {
	t.Helper()
	args := []string{"serve", "--listen", "127.0.0.1:0"}
	cmd, _, stderr := g.process(args...)
	cmd.Stdout = nil
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	g.unharmed(t, args, func() {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		defer func() { g.ends(t, cmd, rng, done) }()
		lines := bufio.NewScanner(out)
		late := time.AfterFunc(hostileTime, func() { _ = cmd.Process.Kill() })
		for lines.Scan() && servedAt.FindString(said.String()) == "" {
			said.WriteString(lines.Text() + "\n")
		}
		late.Stop()
		go func() { defer close(done); io.Copy(&said, out); _ = cmd.Wait() }()
		if url := servedAt.FindString(said.String()); url != "" {
			g.browse(t, url, "", "compare", "run/"+g.hash, "run/"+g.hash+"/figures/measures.json", "study?tag=q", "theory")
		}
	})
	g.sober(t, cmd, said.String()+stderr.String())
}

// browse asks for pages, each in time.
func (g ground) browse(t *testing.T, url string, pages ...string) {
	t.Helper()
	for _, page := range pages {
		ctx, stop := context.WithTimeout(t.Context(), 6*hostileTime) // other work may take the processors
		ask, err := http.NewRequestWithContext(ctx, "GET", url+page, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(ask)
		if err != nil {
			t.Errorf("serve, /%s: %v", page, err)
		} else {
			body, err := io.ReadAll(answer.Body)
			answer.Body.Close()
			if err != nil || strings.Contains(string(body), precious) {
				t.Errorf("serve, /%s: %v, %.300s", page, err, body)
			}
		}
		stop()
	}
}
