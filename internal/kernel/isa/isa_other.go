//go:build !amd64 && !arm64

package isa

// supported returns the instruction sets of this machine: only plain Go.
func supported() []Set { return []Set{Generic} }
