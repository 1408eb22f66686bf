package dilation

import "gonum.org/v1/gonum/mathext"

// upperF is the probability that an F-distributed variable with a and b degrees of freedom exceeds f.
func upperF(f float64, a, b int) float64 {
	if !(f > 0) {
		return 1
	}
	da, db := float64(a), float64(b)
	return mathext.RegIncBeta(db/2, da/2, db/(db+da*f))
}
