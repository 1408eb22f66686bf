//go:build unix

// Package faulttest lets a test binary play other processes, which a test listens to, stops and kills.
package faulttest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// role names the part that a process plays.
const role = "COLLAPSE_TEST_ROLE"

// Main is a package's TestMain: it runs the tests and returns, or plays the role that Command chose and ends the
// process. A role's error is its last line, after "error:".
func Main(m *testing.M, roles map[string]func(args []string) error) {
	name := os.Getenv(role)
	if name == "" {
		m.Run() // the code it ends with is heeded by whoever called TestMain
		return
	}
	play, ok := roles[name]
	if !ok {
		panic("faulttest: a role that the package does not have")
	}
	if err := play(os.Args[1:]); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Command is this binary in a role.
func Command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), role+"="+name)
	return cmd
}

// Play starts a process in a role; the test's end kills it. Lines of its output come through the channel.
func Play(t *testing.T, name string, args ...string) (*exec.Cmd, <-chan string) {
	t.Helper()
	cmd := Command(name, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 10_000)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	t.Cleanup(func() { cmd.Process.Signal(syscall.SIGCONT); cmd.Process.Kill(); cmd.Wait() })
	return cmd, lines
}

// Heard waits for a line that begins with prefix and returns it. A process that ends without it, or with an error
// that was not waited for, fails the test.
func Heard(t *testing.T, lines <-chan string, prefix string) string {
	t.Helper()
	over := time.After(60 * time.Second)
	for {
		select {
		case line, ok := <-lines:
			switch {
			case !ok:
				t.Fatalf("the process ended without saying %q", prefix)
			case strings.HasPrefix(line, prefix):
				return line
			case strings.HasPrefix(line, "error:"):
				t.Fatal(line)
			}
		case <-over:
			t.Fatalf("nothing begins with %q", prefix)
		}
	}
}
