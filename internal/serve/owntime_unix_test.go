//go:build unix

package serve

import (
	"syscall"
	"time"
)

// ownTime is the processor time of this process in seconds.
func ownTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // who may ask is not a question of luck
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
