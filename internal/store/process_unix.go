//go:build unix && !linux

package store

import (
	"errors"
	"os"
	"syscall"
)

func thisProcess() process {
	host, _ := os.Hostname()
	return process{host: host, hostID: host, pid: os.Getpid()}
}

// ended reports whether process pid is no more. A later process of the same number looks like it:
// then the claim is free when its heartbeat is stale.
func ended(pid int, _ string) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
