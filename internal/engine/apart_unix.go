//go:build unix && !linux

package engine

import "syscall"

// apart puts a process into its own group, which signals from the keyboard do not reach.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
