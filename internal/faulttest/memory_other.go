//go:build !linux

package faulttest

// InMemory does nothing: only Linux has a memory disk that tests can rely on.
func InMemory() (leave func()) { return func() {} }
