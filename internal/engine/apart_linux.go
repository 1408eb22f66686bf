package engine

import "syscall"

// apart puts a process into its own group, which signals from the keyboard do not reach, and has it killed when this program dies.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
