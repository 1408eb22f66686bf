package kernel

// AddRow adds the row x to dst in float64: dst[j] += x[j]. Class means are sums of rows, and collapse is
// a tiny spread around them, so they are never summed in float32.
// It panics if the lengths differ.
func AddRow[T Float](dst []float64, x []T) {
	if len(dst) != len(x) {
		panic("kernel: AddRow needs slices of one length")
	}
	addRowGeneric(dst, x)
}

// SubRow writes the residual dst[j] = x[j] − mean[j] in float64 and returns Σ_j dst[j]².
// It panics if the lengths differ.
func SubRow[T Float](dst []float64, x []T, mean []float64) float64 {
	if len(dst) != len(x) || len(mean) != len(x) {
		panic("kernel: SubRow needs slices of one length")
	}
	return subRowGeneric(dst, x, mean)
}

func addRowGeneric[T Float](dst []float64, x []T) {
	dst = dst[:len(x)]
	for j, v := range x {
		dst[j] += float64(v)
	}
}

// subRowGeneric keeps four partial sums, so that additions do not wait for each other.
func subRowGeneric[T Float](dst []float64, x []T, mean []float64) float64 {
	dst, mean = dst[:len(x)], mean[:len(x)]
	var s0, s1, s2, s3 float64
	j := 0
	for ; j+4 <= len(x); j += 4 {
		a, b := float64(x[j])-mean[j], float64(x[j+1])-mean[j+1]
		c, e := float64(x[j+2])-mean[j+2], float64(x[j+3])-mean[j+3]
		dst[j], dst[j+1], dst[j+2], dst[j+3] = a, b, c, e
		s0 += a * a
		s1 += b * b
		s2 += c * c
		s3 += e * e
	}
	for ; j < len(x); j++ {
		a := float64(x[j]) - mean[j]
		dst[j] = a
		s0 += a * a
	}
	return (s0 + s1) + (s2 + s3)
}
