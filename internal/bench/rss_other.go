//go:build !unix

package bench

// PeakRSS is not known on this system: 0.
func PeakRSS() float64 { return 0 }
