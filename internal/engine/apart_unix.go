//go:build unix && !linux

package engine

import "syscall"

// apart puts a process into a group of its own, which a signal from the keyboard does not reach.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
