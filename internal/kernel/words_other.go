//go:build !amd64

package kernel

func roundPairsSIMD([]int32, []float32, float32) int { return 0 }

func ditherPairsSIMD(_ []int32, _, _ []float32, _ float32, _ *Dither) int { return 0 }

func squareSumsSIMD([]float64, []float32, *[rowLanes]float32) int { return 0 }
