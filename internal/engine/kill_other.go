//go:build !unix

package engine

import (
	"os/exec"
	"syscall"
)

func apart() *syscall.SysProcAttr { return nil }

func killGroup(cmd *exec.Cmd) { cmd.Process.Kill() }
