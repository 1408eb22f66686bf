//go:build !linux

package train

// freeMemory is known only on Linux.
func freeMemory() (bytes int64, ok bool) { return 0, false }
