package measuretest

import "math"

// classifier draws W near the centred means or away from them, of any size, and a bias in half of the sets. Both hold float32
// numbers if the features do.
func (g *generator) classifier(s *Set) {
	k, d := g.k, g.d
	count, mean, centre := make([]float64, k), make([]float64, k*d), make([]float64, d)
	for _, c := range s.Train.Labels {
		count[c]++
	}
	for i, c := range s.Train.Labels {
		for j, x := range s.Train.H[i*d:][:d] {
			mean[int(c)*d+j] += x / count[c]
			centre[j] += x / count[c] / float64(k)
		}
	}
	length := 0.0
	for i := range mean {
		mean[i] -= centre[i%d]
		length = math.Hypot(length, mean[i])
	}
	away, size := g.power(-6, .5), g.power(-3, 3)
	if g.chance(.15) || !(length > 0) {
		length, away = math.Inf(1), 1 // independent of the means
	}
	s.W = g.normal(k * d)
	for i, x := range s.W {
		s.W[i] = size * (mean[i]/length + away*x/math.Sqrt(float64(k*d)))
	}
	if g.chance(.5) {
		s.B = g.normal(k)
		for c := range s.B {
			s.B[c] *= size * .1
		}
	}
	if s.Float32 {
		for i, x := range s.W {
			s.W[i] = float64(float32(x))
		}
		for c, x := range s.B {
			s.B[c] = float64(float32(x))
		}
	}
}
