//go:build unix && !linux

package process

import "syscall"

// endWithParent does nothing: the watch alone ends the group.
func endWithParent(*syscall.SysProcAttr) {}
