//go:build !linux

package kernel

// adviseHuge does nothing: only Linux takes the advice.
func adviseHuge([]byte) {}
