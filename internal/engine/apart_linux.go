package engine

import "syscall"

// apart puts a process into a group of its own, which a signal from the keyboard does not reach, and has it killed when this program is.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
