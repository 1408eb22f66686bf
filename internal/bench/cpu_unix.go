//go:build unix

package bench

import (
	"time"

	"golang.org/x/sys/unix"
)

// CPU returns how long this process has computed so far, all its threads together.
func CPU() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(unix.TimevalToNsec(u.Utime) + unix.TimevalToNsec(u.Stime))
}
