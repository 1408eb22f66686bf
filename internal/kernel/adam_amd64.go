package kernel

// adamSIMD runs the SIMD version on as many whole vectors as there are and returns how many elements
// those are.
func adamSIMD(r adamRule[float32], p, g, m, v []float32) int {
	n := vectors(len(p))
	switch {
	case n == 0:
	case active == isaAVX512:
		adamAVX512(n, &p[0], &g[0], &m[0], &v[0], r.decay, r.beta1, r.take1, r.beta2, r.take2, r.root, r.eps, r.rate)
	default:
		adamAVX2(n, &p[0], &g[0], &m[0], &v[0], r.decay, r.beta1, r.take1, r.beta2, r.take2, r.root, r.eps, r.rate)
	}
	return n
}
