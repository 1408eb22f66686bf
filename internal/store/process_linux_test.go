package store

import (
	"os"
	"os/exec"
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
	if ended(os.Getpid(), "") {
		t.Error("this process has ended")
	}
}
