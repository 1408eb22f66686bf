//go:build !amd64

package kernel

func convKernelsFor(isa) (*convKernels[float32], *convKernels[float64]) {
	return genericConv32, genericConv64
}
