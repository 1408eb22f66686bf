//go:build !linux

package train

// freeMemory is known on Linux only.
func freeMemory() (bytes int64, ok bool) { return 0, false }
