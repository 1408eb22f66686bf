//go:build unix

package engine

import (
	"os/exec"
	"syscall"
)

// killGroup kills a process and those that it has started. The group keeps its number until the last of them is gone.
func killGroup(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
