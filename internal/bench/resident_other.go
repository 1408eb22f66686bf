//go:build !linux

package bench

// resident takes the peak of the whole process and subtracts the mapped file.
type resident struct{ mapped float64 }

func watchResident(mapped int) *resident { return &resident{float64(mapped) / (1 << 20)} }

// stop returns the peak in MB (2²⁰ bytes).
func (r *resident) stop() float64 { return max(0, PeakRSS()-r.mapped) }
