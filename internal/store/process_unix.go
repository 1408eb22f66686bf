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

// ended reports whether process pid no longer exists. A later process with the same number is mistaken for it: then the lease
// becomes free only when its heartbeat is stale.
func ended(pid int, _ string) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
