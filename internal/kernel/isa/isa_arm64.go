package isa

// supported returns the instruction sets of this machine, the plainest first: every arm64 processor has NEON.
func supported() []Set { return []Set{Generic, NEON} }
