//go:build unix

package process

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"collapse.example/collapse/internal/faulttest"
	"collapse.example/collapse/internal/longtest"
)

func TestMain(m *testing.M) {
	faulttest.Main(m, map[string]func(args []string) error{"parent": parent})
}

// parent starts a program with a child of its own and waits.
func parent(args []string) error {
	c, err := Start(exec.Command("/bin/sh", "-c", family(args[0])))
	if err != nil {
		return err
	}
	fmt.Println("started", c.watch.cmd.Process.Pid)
	return c.Err()
}

// family is a script that starts a child, writes both their numbers and runs until it is ended.
func family(file string) string {
	return fmt.Sprintf("sleep 1000 & echo $! $$ > %[1]s.tmp; mv %[1]s.tmp %[1]s; while :; do sleep 0.1; done", file)
}

// members waits for the numbers that a family writes.
func members(t *testing.T, file string) (pids []int) {
	t.Helper()
	wait(t, "the family to start", func() bool { _, err := os.Stat(file); return err == nil })
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	if len(pids) != 2 {
		t.Fatalf("the family wrote %q", text)
	}
	return pids
}

func wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for start := time.Now(); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Since(start) > 30*time.Second {
			t.Fatal("waited in vain for ", what)
		}
	}
}

// alive says that a process runs; one that only waits for its parent to look at it does not.
func alive(pid int) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && len(out) > 0 && out[0] != 'Z'
}

func gone(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		wait(t, fmt.Sprintf("the end of process %d", pid), func() bool { return !alive(pid) })
	}
}

func start(t *testing.T, script string) *Child {
	t.Helper()
	c, err := Start(exec.Command("/bin/sh", "-c", script))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Stop(0) })
	return c
}

func TestStopEndsTheWholeGroup(t *testing.T) {
	for name, before := range map[string]string{"willing": "", "deaf": "trap '' TERM; ", "asleep": "kill -STOP $$; "} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pids")
			c := start(t, strings.Replace(family(file), "; while", "; "+before+"while", 1))
			pids := members(t, file)
			if name == "deaf" {
				time.Sleep(100 * time.Millisecond) // until it does not hear
			}
			c.Stop(500 * time.Millisecond)
			for _, pid := range pids {
				if alive(pid) {
					t.Errorf("process %d lives", pid)
				}
			}
			if c.Err() == nil {
				t.Error("a program that was ended has ended well")
			}
			c.Stop(time.Hour) // nothing is left to wait for
		})
	}
}

func TestAStoppedProgramHasTime(t *testing.T) {
	file := filepath.Join(t.TempDir(), "last words")
	c := start(t, fmt.Sprintf("trap 'sleep 0.3; echo done > \"%s\"; exit 0' TERM; echo > \"%s\"; while :; do sleep 0.05; done", file, file))
	wait(t, "the script", func() bool { _, err := os.Stat(file); return err == nil })
	c.Stop(20 * time.Second)
	if text, err := os.ReadFile(file); string(text) != "done\n" {
		t.Errorf("%q, %v", text, err)
	}
	if err := c.Err(); err != nil {
		t.Error(err)
	}
}

func TestWhatAProgramLeavesBehindEnds(t *testing.T) {
	longtest.Only(t)
	var out bytes.Buffer
	cmd := exec.Command("/bin/sh", "-c", "sleep 1000 & echo $!") // and the child holds the pipe
	cmd.Stdout = &out
	c, err := Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Err(); err != nil {
		t.Error(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	gone(t, pid)
}

// TestNothingOutlivesThisProcess kills it, alone and together with the process that watches over the group.
func TestNothingOutlivesThisProcess(t *testing.T) {
	for round := range 6 {
		file := filepath.Join(t.TempDir(), "pids")
		cmd, lines := faulttest.Play(t, "parent", file)
		watch, err := strconv.Atoi(strings.TrimPrefix(faulttest.Heard(t, lines, "started "), "started "))
		if err != nil {
			t.Fatal(err)
		}
		pids := members(t, file)
		if round%2 == 1 {
			syscall.Kill(watch, syscall.SIGKILL)
			defer syscall.Kill(pids[0], syscall.SIGKILL) // what the program has started is left then
			pids = pids[1:]
		}
		cmd.Process.Kill()
		gone(t, append(pids, watch)...)
	}
}

func TestHowAProgramEnded(t *testing.T) {
	if _, err := Start(exec.Command(filepath.Join(t.TempDir(), "none"))); err == nil {
		t.Error("a program that is not there was started")
	}
	if err := start(t, "exit 0").Err(); err != nil {
		t.Error(err)
	}
	if err := start(t, "exit 3").Err(); err == nil || err.Error() != "exit status 3" {
		t.Error(err)
	}
	if err := start(t, "kill -KILL $$").Err(); err == nil || err.Error() != "signal: killed" {
		t.Error(err)
	}
}
