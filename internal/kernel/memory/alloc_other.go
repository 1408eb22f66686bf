//go:build !linux

package memory

// adviseHuge does nothing: only Linux takes the advice.
func adviseHuge([]byte) {}
