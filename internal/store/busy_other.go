//go:build !linux

package store

// lockHolder knows no way to ask here.
func lockHolder(string) (pid int, name string, suspended bool) { return 0, "", false }
