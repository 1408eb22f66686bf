//go:build !linux

package bench

// resident knows the whole process's peak and takes the mapped file off.
type resident struct{ mapped float64 }

func watchResident(mapped int) *resident { return &resident{float64(mapped) / (1 << 20)} }

// stop returns the peak in MB (2²⁰ bytes).
func (r *resident) stop() float64 { return max(0, PeakRSS()-r.mapped) }
