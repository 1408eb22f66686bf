package train

import (
	"math"
	"slices"
)

// bySize lists the classes with the most samples and those with the fewest, of those that have any.
func bySize(counts []int) (of [2][]int) {
	most, fewest := slices.Max(counts), math.MaxInt
	for _, n := range counts {
		if n > 0 {
			fewest = min(fewest, n)
		}
	}
	for k, n := range counts {
		if n == most {
			of[0] = append(of[0], k)
		}
		if n == fewest {
			of[1] = append(of[1], k)
		}
	}
	return of
}

// sideOf averages over classes what their means and classifiers are.
func sideOf(classes []int, d int, means, W, b []float64) (s side) {
	n := float64(len(classes))
	s[0], s[2] = lengths(classes, d, W)
	s[1], s[3] = lengths(classes, d, means)
	for _, k := range classes {
		s[4] += lead(k, d, means[k*d:(k+1)*d], W, b) / n
	}
	return s
}

// lengths are the mean length of rows and the mean cosine between two of them: for unit vectors u the cosines of all pairs sum to
// (‖Σu‖² − n)/2.
func lengths(classes []int, d int, rows []float64) (length, cosine float64) {
	n, total := float64(len(classes)), make([]float64, d)
	for _, k := range classes {
		v := rows[k*d : (k+1)*d]
		size := math.Sqrt(dot(v, v))
		length += size / n
		for j, x := range v {
			total[j] += x / size // NaN where the length is 0
		}
	}
	if n < 2 {
		return length, math.NaN()
	}
	return length, (dot(total, total) - n) / (n * (n - 1))
}

// lead is by how much the logit of class k is above the next at a point.
func lead(k, d int, at, W, b []float64) float64 {
	own, next := 0.0, math.Inf(-1)
	for j := range len(W) / d {
		z := dot(W[j*d:(j+1)*d], at)
		if b != nil {
			z += b[j]
		}
		if j == k {
			own = z
		} else {
			next = max(next, z)
		}
	}
	return own - next
}

func dot(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

func sum(counts []int) (n int) {
	for _, v := range counts {
		n += v
	}
	return n
}
