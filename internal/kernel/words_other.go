//go:build !amd64

package kernel

func roundPairsSIMD([]int32, []float32, float32) int { return 0 }
