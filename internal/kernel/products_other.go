//go:build !amd64 && !arm64

package kernel

func supported() []isa { return []isa{isaGeneric} }

func productsFor(isa) (products[float32], products[float64]) {
	return genericProducts[float32](), genericProducts[float64]()
}

// pairsFor returns the generic version.
func pairsFor(isa) (products[int32], bool) { return genericPairs(), false }

func probesFor(isa) probes { return genericProbes() }
