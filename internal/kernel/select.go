package kernel

import (
	"fmt"
	"os"
	"strings"
)

// isa is an instruction set that kernels are written for. Kernels that have a SIMD version switch on
// the variable active.
type isa uint8

const (
	isaGeneric isa = iota
	isaNEON
	isaAVX2
	isaAVX512
)

var isaNames = [...]string{isaGeneric: "generic", isaNEON: "neon", isaAVX2: "avx2", isaAVX512: "avx512"}

var (
	active    isa   // the instruction set in use
	activeErr error // what was wrong with COLLAPSE_KERNEL
	fastPairs bool  // FastPairs
)

func init() {
	sets := supported()
	activate(sets[len(sets)-1])
	if forced := os.Getenv("COLLAPSE_KERNEL"); forced != "" {
		activeErr = Use(forced)
	}
}

// activate makes set the instruction set of every kernel.
func activate(set isa) {
	active = set
	products32, products64 = productsFor(set)
	productsPairs, fastPairs = pairsFor(set)
	activeProbes = probesFor(set)
	convKernels32, convKernels64 = convKernelsFor(set)
	simd = passesFor(set)
}

// Name returns the kernel in use: "generic", "avx2", "avx512" or "neon". Bits of results are promised
// per kernel.
func Name() string { return isaNames[active] }

// Err returns what was wrong with the environment variable COLLAPSE_KERNEL, nil if it was unset or
// honoured. The best kernel is in use when it is not nil.
func Err() error { return activeErr }

// Available returns the names Use accepts on this machine, from the plainest to the fastest.
func Available() []string {
	var names []string
	for _, set := range supported() {
		names = append(names, isaNames[set])
	}
	return names
}

// Use switches every kernel to the named one. It serves start-up and tests: no kernel may be running.
// The error names the kernels this machine can run.
func Use(name string) error {
	for _, set := range supported() {
		if isaNames[set] == name {
			activate(set)
			return nil
		}
	}
	return fmt.Errorf("kernel: COLLAPSE_KERNEL=%q cannot run on this machine; use one of %s, or unset it",
		name, strings.Join(Available(), ", "))
}
