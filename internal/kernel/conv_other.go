//go:build !amd64

package kernel

func convKernels32() *convKernels[float32] { return genericConv32 }

func convKernels64() *convKernels[float64] { return genericConv64 }
