//go:build unix

package process

import "syscall"

const (
	terminate = syscall.SIGTERM
	kill      = syscall.SIGKILL
)

// ownGroup has a program start in a group of its own, so that a signal reaches all that it starts, and a Ctrl-C at the
// terminal reaches this process alone.
func ownGroup(attr *syscall.SysProcAttr) *syscall.SysProcAttr {
	if attr == nil {
		attr = &syscall.SysProcAttr{}
	}
	attr.Setpgid = true
	endWithParent(attr)
	return attr
}

// signalGroup sends a signal to each process of a group; one that sleeps (SIGSTOP) wakes up, or it would not hear.
func signalGroup(group int, s syscall.Signal) {
	syscall.Kill(-group, s)
	syscall.Kill(-group, syscall.SIGCONT)
}

func groupLives(group int) bool { return syscall.Kill(-group, 0) == nil }
