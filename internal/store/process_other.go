//go:build !unix

package store

import "os"

// thisProcess does not identify the host: here only a stale heartbeat frees a lease.
func thisProcess() process {
	host, _ := os.Hostname()
	return process{host: host, pid: os.Getpid()}
}

func ended(int, string) bool { return false }
