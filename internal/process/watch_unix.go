//go:build unix

package process

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// watch is a process that kills a group when this process has ended, however that was: a shell which reads from a pipe that only
// this process holds open.
type watch struct {
	cmd  *exec.Cmd
	hold *os.File
}

// watchText waits for the end of standard input. $1 is the group.
const watchText = `while read -r _; do :; done; kill -s KILL -- "-$1"`

func startWatch(group int) (*watch, error) {
	r, hold, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("/bin/sh", "-c", watchText, "sh", strconv.Itoa(group))
	cmd.Stdin, cmd.Dir = r, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what is meant for this process's group must not end it
	err = cmd.Start()
	r.Close()
	if err != nil {
		hold.Close()
		return nil, err
	}
	return &watch{cmd, hold}, nil
}

// end ends the watch first and lets the pipe go then: the group's number may be another's by now.
func (w *watch) end() {
	w.cmd.Process.Kill()
	w.cmd.Wait()
	w.hold.Close()
}
