//go:build !linux

package store

// lockHolder: there is no way to find out on this system.
func lockHolder(string) (pid int, name string, suspended bool) { return 0, "", false }
