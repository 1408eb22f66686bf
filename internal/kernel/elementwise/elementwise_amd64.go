package elementwise

import (
	"collapse.example/collapse/internal/kernel/isa"
)

//go:generate go run ./asm -pkg elementwise -out elementwise_amd64.s -stubs stubs_amd64.go

func functionsFor(set isa.Set) functions {
	switch set {
	case isa.AVX512:
		return functionsAVX512
	case isa.AVX2:
		return functionsAVX2
	}
	return functions{}
}

var functionsAVX512 = functions{
	lanes:           16,
	addRows:         addRowsAVX512,
	addSquares:      addSquaresAVX512,
	normalise:       pair(normaliseAVX512, normaliseReLUAVX512),
	gradientSums:    pair(gradientSumsAVX512, gradientSumsReLUAVX512),
	gradientInput:   pair(gradientInputAVX512, gradientInputReLUAVX512),
	relu:            reluAVX512,
	sigmoid:         sigmoidAVX512,
	reluGradient:    reluGradientAVX512,
	sigmoidGradient: sigmoidGradientAVX512,
	sgd:             pair(sgdAVX512, sgdNesterovAVX512),
	adam:            adamAVX512,
}

var functionsAVX2 = functions{
	lanes:           8,
	addRows:         addRowsAVX2,
	addSquares:      addSquaresAVX2,
	normalise:       pair(normaliseAVX2, normaliseReLUAVX2),
	gradientSums:    pair(gradientSumsAVX2, gradientSumsReLUAVX2),
	gradientInput:   pair(gradientInputAVX2, gradientInputReLUAVX2),
	relu:            reluAVX2,
	sigmoid:         sigmoidAVX2,
	reluGradient:    reluGradientAVX2,
	sigmoidGradient: sigmoidGradientAVX2,
	sgd:             pair(sgdAVX2, sgdNesterovAVX2),
	adam:            adamAVX2,
}

func pair[F any](a, b F) [2]F { return [2]F{a, b} }
