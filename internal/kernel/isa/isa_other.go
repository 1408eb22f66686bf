//go:build !amd64 && !arm64

package isa

// supported returns the instruction sets of this machine: plain Go alone.
func supported() []Set { return []Set{Generic} }
