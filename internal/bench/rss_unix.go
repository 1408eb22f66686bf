//go:build unix

package bench

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// PeakRSS returns the largest resident size of this process so far, in MB (2²⁰ bytes).
func PeakRSS() float64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	unit := 1024.0 // Linux counts kilobytes,
	if runtime.GOOS == "darwin" {
		unit = 1 // macOS bytes
	}
	return float64(u.Maxrss) * unit / (1 << 20)
}
