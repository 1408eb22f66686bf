//go:build !amd64

package kernel

func adamSIMD(r adamRule[float32], p, g, m, v []float32) int { return 0 }
