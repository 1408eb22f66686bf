package measure

import (
	"math"
	"slices"
)

// rounding bounds how far class means and their centre are from the exact means of the given samples.
type rounding struct {
	mean   []float64 // (K) of ‖μ_k‖; for a class without samples 0
	centre float64   // of ‖h_G‖
}

// spreadMatters lists the measures that need the spread of classes as well as their means, if only to tell whether means
// differ by more than rounding.
var spreadMatters = keysOf(func(d *Definition) bool { return d.needs.any(needSpread | needApart | needSized) })

const coincident = "the class means coincide up to rounding: Σ_B = 0"

// variances returns v_k = (1/n_k) Σ ‖h − μ_k‖² from the sample counts; 0 for a class without samples.
func (s *samples[T]) variances() []float64 {
	v := make([]float64, s.k)
	for k, n := range s.count {
		if n > 0 && k < len(s.sampleCounts.scatter) {
			v[k] = s.sampleCounts.scatter[k] / float64(n)
		}
	}
	return v
}

// rounding bounds the errors of the means. A sum of n terms in any order errs by at most n·2⁻⁵³ Σ |x|, a mean of merged means by twice
// that, and (1/n) Σ ‖h‖ ≤ ‖μ‖ + √v. The centred mean is rounded once more.
func (s *samples[T]) rounding() rounding {
	out := rounding{mean: s.variances()}
	length := 0.0
	for k, n := range s.count {
		size := norm(s.mean(k))
		length = max(length, size)
		out.mean[k] = eps64 * (float64(n)*(size+math.Sqrt(out.mean[k])) + norm(s.centred[k*s.d:][:s.d]))
	}
	out.centre = slices.Max(out.mean) + float64(s.k)*eps64*length
	return out
}

// floor is the squared norm at or below which K centred means may all be zero.
func (r *rounding) floor() float64 {
	most := slices.Max(r.mean) + r.centre
	return float64(len(r.mean)) * most * most
}

// roundedMeans returns reason or, if that is empty, the reason why NC1 is undefined now that the spread is known.
func (s *samples[T]) roundedMeans(reason string) string {
	if reason != "" || s.k < 2 {
		return reason
	}
	if r := s.rounding(); !(dot(s.centred[:s.k*s.d], s.centred) > r.floor()) {
		return coincident
	}
	return ""
}

// oneMean returns two classes whose means may coincide up to rounding; false if there are none.
func (p *pairs) oneMean(r rounding) (i, j int, found bool) {
	most := slices.Max(r.mean)
	for i := range p.k {
		if far := r.mean[i] + most; p.nearest[i] > far*far {
			continue
		}
		for j := range p.k {
			limit := r.mean[i] + r.mean[j]
			if j != i && distance2(p.centred[i*p.d:][:p.d], p.centred[j*p.d:][:p.d]) <= limit*limit {
				return min(i, j), max(i, j), true
			}
		}
	}
	return 0, 0, false
}

// oneDirection reports whether two centred means may have the same direction up to rounding.
func (p *pairs) oneDirection(r rounding) bool {
	turn := make([]float64, p.k) // bound on the error of each direction
	for k, e := range r.mean {
		turn[k] = (e+r.centre)/p.length[k] + 2*eps64
	}
	most := slices.Max(turn)
	for i := range p.k {
		if !(p.closest[i] > turn[i]+most) {
			for j := range i {
				if !(math.Sqrt(p.apart2(i, j, 1)) > turn[i]+turn[j]) {
					return true
				}
			}
		}
	}
	return false
}
