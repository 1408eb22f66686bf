package wide

import (
	"math/rand/v2"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/measure/internal/vec"
)

// inMemory is a Source in memory.
type inMemory[T kernel.Float] struct {
	h []T
	d int
}

func (r inMemory[T]) Read(_ []T, from, to int) ([]T, error) { return r.h[from*r.d : to*r.d], nil }

// newSet is the set of features h (N×d) with classes 0, 1, …, k−1, 0, …; every class has a sample.
func newSet[T kernel.Float](h []T, k, d int) *Set[T] {
	n := len(h) / d
	s := &Set[T]{Source: inMemory[T]{h, d}, Views: true, Class: make([]int32, n), Rows: n, N: n, K: k, D: d,
		Means: make([]float64, k*d), Centre: make([]float64, d), Centred: make([]float64, k*d)}
	for i := range n {
		s.Class[i] = int32(i % k)
		for j, x := range h[i*d:][:d] {
			s.Means[i%k*d+j] += float64(x) / float64((n-1-i%k)/k+1)
			s.Centre[j] += float64(x) / float64(n)
		}
	}
	for i, x := range s.Means {
		s.Centred[i] = x - s.Centre[i%d]
	}
	return s
}

// newClassifier is the classifier w (k×d) without a bias.
func newClassifier(w []float64, k, d int) *Classifier {
	h := &Classifier{W: w, B: make([]float64, k), K: k, D: d, Centred: make([]float64, k*d)}
	for j := range d {
		centre := 0.0
		for c := range k {
			centre += w[c*d+j] / float64(k)
		}
		for c := range k {
			h.Centred[c*d+j] = w[c*d+j] - centre
		}
	}
	for c := range k {
		h.Norms = append(h.Norms, vec.Norm(w[c*d:][:d]))
		h.CentredNorm = append(h.CentredNorm, vec.Norm(h.Centred[c*d:][:d]))
	}
	return h
}

// around returns n samples of k classes around given means (k×d).
func around(n, k, d int, means []float64, size float64, rng *rand.Rand) *Set[float32] {
	h := make([]float32, n*d)
	for i := range h {
		h[i] = float32(means[i/d%k*d+i%d] + size*rng.NormFloat64())
	}
	return newSet(h, k, d)
}

// randomMeans are means of norm about √d, and a classifier near them.
func randomMeans(k, d int, rng *rand.Rand) (means, w []float64) {
	for range k * d {
		m := rng.NormFloat64()
		means, w = append(means, m), append(w, m+.1*rng.NormFloat64())
	}
	return means, w
}

// simplex are the vertices of an ETF of k classes in d ≥ k coordinates, where all wrong classes tie.
func simplex(k, d int) []float64 {
	w := make([]float64, k*d)
	for c := range k {
		for j := range k {
			w[c*d+j] = -1 / float64(k)
		}
		w[c*d+c]++
	}
	return w
}

// widen converts a row.
func widen[T kernel.Float](x []T) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}
