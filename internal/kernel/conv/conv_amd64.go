package conv

import "collapse.example/collapse/internal/kernel/isa"

//go:generate go run ./asm -pkg conv -out conv_amd64.s -stubs stubs_amd64.go

func functionsFor(set isa.Set) functions {
	switch set {
	case isa.AVX512:
		return functions{avx512Float32, avx512Float64, avx512Images}
	case isa.AVX2:
		return functions{avx2Float32, avx2Float64, avx2Images}
	}
	return genericFunctions
}

var (
	avx512Float32 = &kernels[float32]{
		lanes: 16, tiles: convTilesAVX512F32, copies: []func(*float32, int, *float32, int, int){convCopyAVX512F32x1, convCopyAVX512F32x2},
		transpose: convTransposeAVX512,
		fence:     convFence,
		input:     winogradInputAVX512F32, output: winogradOutputAVX512F32, gradient: winogradGradientAVX512F32,
		filter: winogradFilterAVX512F32, filterGradient: winogradFilterGradientAVX512F32,
	}
	avx512Float64 = &kernels[float64]{
		lanes: 8, tiles: convTilesAVX512F64, copies: []func(*float64, int, *float64, int, int){convCopyAVX512F64x1, convCopyAVX512F64x2},
		transpose: transposeGeneric[float64],
		fence:     convFence,
		input:     winogradInputAVX512F64, output: winogradOutputAVX512F64, gradient: winogradGradientAVX512F64,
		filter: winogradFilterAVX512F64, filterGradient: winogradFilterGradientAVX512F64,
	}
	avx2Float32 = &kernels[float32]{
		lanes: 8, tiles: convTilesAVX2F32, copies: []func(*float32, int, *float32, int, int){convCopyAVX2F32x1, convCopyAVX2F32x2},
		transpose: convTransposeAVX2,
		fence:     func() {},
		input:     winogradInputAVX2F32, output: winogradOutputAVX2F32, gradient: winogradGradientAVX2F32,
		filter: winogradFilterAVX2F32, filterGradient: winogradFilterGradientAVX2F32,
	}
	avx2Float64 = &kernels[float64]{
		lanes: 4, tiles: convTilesAVX2F64, copies: []func(*float64, int, *float64, int, int){convCopyAVX2F64x1, convCopyAVX2F64x2},
		transpose: transposeGeneric[float64],
		fence:     func() {},
		input:     winogradInputAVX2F64, output: winogradOutputAVX2F64, gradient: winogradGradientAVX2F64,
		filter: winogradFilterAVX2F64, filterGradient: winogradFilterGradientAVX2F64,
	}
	avx512Images = &images{
		moments:           runMomentsAVX512,
		normalise:         [...]normaliseFunc{runNormaliseAVX512, runNormaliseReLUAVX512, runNormaliseAddAVX512, runNormaliseAddReLUAVX512},
		gradientSums:      [...]gradientSumsFunc{runGradientSumsAVX512, runGradientSumsOwnAVX512, runGradientSumsCutAVX512},
		gradientInput:     [...]func(rows, n int, dy, x, dx *float32, hi, lo, scale, shift, k1, k2, k3 float32, mask *uint32){runGradientInputAVX512, runGradientInputOwnAVX512},
		maxWindow:         maxWindowAVX512,
		maxWindowGradient: maxWindowGradientAVX512,
	}
	avx2Images = &images{
		moments:           runMomentsAVX2,
		normalise:         [...]normaliseFunc{runNormaliseAVX2, runNormaliseReLUAVX2, runNormaliseAddAVX2, runNormaliseAddReLUAVX2},
		gradientSums:      [...]gradientSumsFunc{runGradientSumsAVX2, runGradientSumsOwnAVX2, runGradientSumsCutAVX2},
		gradientInput:     [...]func(rows, n int, dy, x, dx *float32, hi, lo, scale, shift, k1, k2, k3 float32, mask *uint32){runGradientInputAVX2, runGradientInputOwnAVX2},
		maxWindow:         maxWindowAVX2,
		maxWindowGradient: maxWindowGradientAVX2,
	}
)
