// Package isa says which instructions the kernels use: the best that the processor has, or those that COLLAPSE_KERNEL names. The
// bits of results are guaranteed per name, so a run's identity records it.
//
// Every kernel package has one table of functions and passes Fill a function that fills it for a Set. isa_amd64.go and isa_arm64.go
// say which sets a processor can run.
package isa

import (
	"fmt"
	"os"
	"strings"
)

// Set is an instruction set that kernels are written for.
type Set uint8

// Generic is plain Go.
const (
	Generic Set = iota
	NEON
	AVX2   // with FMA
	AVX512 // F, DQ, BW and VL
)

// String returns the name that COLLAPSE_KERNEL takes.
func (s Set) String() string {
	return [...]string{Generic: "generic", NEON: "neon", AVX2: "avx2", AVX512: "avx512"}[s]
}

var (
	active    Set         // the instruction set in use
	activeErr error       // what was wrong with COLLAPSE_KERNEL
	fills     []func(Set) // of all kernel packages
)

func init() {
	sets := supported()
	active = sets[len(sets)-1]
	if forced := os.Getenv("COLLAPSE_KERNEL"); forced != "" {
		activeErr = Use(forced)
	}
}

// Fill calls fill with the instruction set in use, and again whenever Use changes it. A package calls it once, from init.
func Fill(fill func(Set)) {
	fills = append(fills, fill)
	fill(active)
}

// Name returns the instruction set in use: "generic", "avx2", "avx512" or "neon".
func Name() string { return active.String() }

// Err returns what was wrong with the environment variable COLLAPSE_KERNEL, nil if it was unset or honoured. If it is not nil, the
// best set is in use.
func Err() error { return activeErr }

// Available returns the names that Use accepts on this machine, from the plainest to the fastest.
func Available() []string {
	var names []string
	for _, set := range supported() {
		names = append(names, set.String())
	}
	return names
}

// Use switches every kernel to the named set. It is for start-up and tests: no kernel may be running. The error lists the names that
// this machine can run.
func Use(name string) error {
	for _, set := range supported() {
		if set.String() == name {
			active = set
			for _, fill := range fills {
				fill(set)
			}
			return nil
		}
	}
	return fmt.Errorf("kernel: COLLAPSE_KERNEL=%q cannot run on this machine; use one of %s, or unset it",
		name, strings.Join(Available(), ", "))
}
