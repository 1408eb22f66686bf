//go:build unix

package bench

import (
	"time"

	"golang.org/x/sys/unix"
)

// CPU returns the CPU time of this process so far, summed over its threads.
func CPU() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(unix.TimevalToNsec(u.Utime) + unix.TimevalToNsec(u.Stime))
}
