//go:build !unix

package bench

// PeakRSS returns 0: it is not known on this system.
func PeakRSS() float64 { return 0 }
