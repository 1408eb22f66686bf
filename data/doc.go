// Package data knows image sets: where they come from, which samples and classes a run keeps, what
// label noise does to them, how pixels become network inputs, and in which order batches are drawn.
//
// The path of a sample: Open (file or built-in) → Set (8-bit pixels, labels) → Set.WithNoise
// (observed labels) → Prepare (the papers' input pipeline) → Fill (float rows of one batch, whose
// sample numbers come from Batches).
//
// Everything random is drawn from streams keyed by what is drawn (randomstream.go), never from a shared
// generator, so a result does not depend on threads, on order of calls or on where a run was resumed.
//
// Start with set.go; knownsets.go lists the sets that have a name.
package data
