package store

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestAProcessThatNobodyWaitedForHasEnded looks at a process that was killed but whose parent, this
// one, has not asked about it yet: it still has its number.
func TestAProcessThatNobodyWaitedForHasEnded(t *testing.T) {
	cmd := exec.Command("sleep", "3600")
	must(t, cmd.Start())
	defer cmd.Wait()
	pid := cmd.Process.Pid
	_, started, err := readStat(pid)
	must(t, err)
	if ended(pid, started) {
		t.Error("a living process has ended")
	}
	must(t, cmd.Process.Kill())
	must(t, unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil))
	if !ended(pid, started) {
		t.Error("a dead process lives")
	}
	for text, want := range map[string]string{
		"7 (a) b) S" + strings.Repeat(" 1", 18) + " 99": "S 99 <nil>", "7 (a) S" + strings.Repeat(" 1", 18): "  store: /proc/7/stat has 21 fields", "7": "  store: /proc/7/stat has 3 fields",
	} {
		state, started, err := statFields(7, []byte(text))
		if got := fmt.Sprint(state, " ", started, " ", err); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	release := noDescriptors(t)
	blind, known := thisProcess(), ended(os.Getpid(), "another time")
	release()
	if blind.hostID != "" || blind.started != "" || blind.pid != os.Getpid() || known || !ended(os.Getpid(), "another time") {
		t.Errorf("a process that can open no files knows its host as %q and its start as %q; another has ended: %v", blind.hostID, blind.started, known)
	}
	if ended(os.Getpid(), "") {
		t.Error("this process has ended")
	}
}
