package kernel

//go:generate go run ./asm/elementwise -pkg kernel -out passes_amd64.s -stubs passes_stubs_amd64.go

func passesFor(set isa) passes {
	switch set {
	case isaAVX512:
		return passesAVX512
	case isaAVX2:
		return passesAVX2
	}
	return passes{}
}

var passesAVX512 = passes{
	lanes:             16,
	addRows:           addRowsAVX512,
	addSquares:        addSquaresAVX512,
	normalise:         pair(normaliseAVX512, normaliseReLUAVX512),
	gradientSums:      pair(gradientSumsAVX512, gradientSumsReLUAVX512),
	gradientInput:     pair(gradientInputAVX512, gradientInputReLUAVX512),
	relu:              reluAVX512,
	sigmoid:           sigmoidAVX512,
	reluGradient:      reluGradientAVX512,
	sigmoidGradient:   sigmoidGradientAVX512,
	sgd:               pair(sgdAVX512, sgdNesterovAVX512),
	adam:              adamAVX512,
	runMoments:        runMomentsAVX512,
	runNormalise:      [...]runNormaliseFunc{runNormaliseAVX512, runNormaliseReLUAVX512, runNormaliseAddAVX512, runNormaliseAddReLUAVX512},
	runGradientSums:   [...]runGradientSumsFunc{runGradientSumsAVX512, runGradientSumsOwnAVX512, runGradientSumsCutAVX512},
	runGradientInput:  pair(runGradientInputAVX512, runGradientInputOwnAVX512),
	maxWindow:         maxWindowAVX512,
	maxWindowGradient: maxWindowGradientAVX512,
	fingerprint:       fingerprintAVX512,
}

var passesAVX2 = passes{
	lanes:             8,
	addRows:           addRowsAVX2,
	addSquares:        addSquaresAVX2,
	normalise:         pair(normaliseAVX2, normaliseReLUAVX2),
	gradientSums:      pair(gradientSumsAVX2, gradientSumsReLUAVX2),
	gradientInput:     pair(gradientInputAVX2, gradientInputReLUAVX2),
	relu:              reluAVX2,
	sigmoid:           sigmoidAVX2,
	reluGradient:      reluGradientAVX2,
	sigmoidGradient:   sigmoidGradientAVX2,
	sgd:               pair(sgdAVX2, sgdNesterovAVX2),
	adam:              adamAVX2,
	runMoments:        runMomentsAVX2,
	runNormalise:      [...]runNormaliseFunc{runNormaliseAVX2, runNormaliseReLUAVX2, runNormaliseAddAVX2, runNormaliseAddReLUAVX2},
	runGradientSums:   [...]runGradientSumsFunc{runGradientSumsAVX2, runGradientSumsOwnAVX2, runGradientSumsCutAVX2},
	runGradientInput:  pair(runGradientInputAVX2, runGradientInputOwnAVX2),
	maxWindow:         maxWindowAVX2,
	maxWindowGradient: maxWindowGradientAVX2,
	fingerprint:       fingerprintAVX2,
}

func pair[F any](a, b F) [2]F { return [2]F{a, b} }
