package kernel

//go:generate go run ./asm/conv -pkg kernel -out conv_amd64.s -stubs conv_stubs_amd64.go

var (
	avx512Conv32 = &convKernels[float32]{
		lanes: 16, tiles: convTilesAVX512F32, copies: []func(*float32, int, *float32, int, int){convCopyAVX512F32x1, convCopyAVX512F32x2},
		transpose: convTransposeAVX512,
		fence:     convFence,
		input:     winogradInputAVX512F32, output: winogradOutputAVX512F32, gradient: winogradGradientAVX512F32,
		filter: winogradFilterAVX512F32, filterGradient: winogradFilterGradientAVX512F32,
	}
	avx512Conv64 = &convKernels[float64]{
		lanes: 8, tiles: convTilesAVX512F64, copies: []func(*float64, int, *float64, int, int){convCopyAVX512F64x1, convCopyAVX512F64x2},
		transpose: transposeGeneric[float64],
		fence:     convFence,
		input:     winogradInputAVX512F64, output: winogradOutputAVX512F64, gradient: winogradGradientAVX512F64,
		filter: winogradFilterAVX512F64, filterGradient: winogradFilterGradientAVX512F64,
	}
	avx2Conv32 = &convKernels[float32]{
		lanes: 8, tiles: convTilesAVX2F32, copies: []func(*float32, int, *float32, int, int){convCopyAVX2F32x1, convCopyAVX2F32x2},
		transpose: convTransposeAVX2,
		fence:     func() {},
		input:     winogradInputAVX2F32, output: winogradOutputAVX2F32, gradient: winogradGradientAVX2F32,
		filter: winogradFilterAVX2F32, filterGradient: winogradFilterGradientAVX2F32,
	}
	avx2Conv64 = &convKernels[float64]{
		lanes: 4, tiles: convTilesAVX2F64, copies: []func(*float64, int, *float64, int, int){convCopyAVX2F64x1, convCopyAVX2F64x2},
		transpose: transposeGeneric[float64],
		fence:     func() {},
		input:     winogradInputAVX2F64, output: winogradOutputAVX2F64, gradient: winogradGradientAVX2F64,
		filter: winogradFilterAVX2F64, filterGradient: winogradFilterGradientAVX2F64,
	}
)

func convKernelsFor(set isa) (*convKernels[float32], *convKernels[float64]) {
	switch set {
	case isaAVX512:
		return avx512Conv32, avx512Conv64
	case isaAVX2:
		return avx2Conv32, avx2Conv64
	}
	return genericConv32, genericConv64
}
