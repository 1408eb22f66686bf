package isa

import "golang.org/x/sys/cpu"

// supported returns the instruction sets of this machine, the plainest first.
func supported() []Set {
	sets := []Set{Generic}
	x := &cpu.X86
	if !x.HasAVX2 || !x.HasFMA {
		return sets
	}
	sets = append(sets, AVX2)
	if x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL {
		sets = append(sets, AVX512)
	}
	return sets
}

// VNNI reports whether AVX512 comes with products of 16-bit numbers. It changes speed alone: those products are exact.
func VNNI() bool { return cpu.X86.HasAVX512VNNI }
