package measure

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/measure/internal/vec"
)

const (
	roundoff64 = 0x1p-53
	roundoff24 = 0x1p-24
)

// inputRoundoff returns u, the relative rounding of the given numbers: 2⁻²⁴ if float32 holds all of them, else 2⁻⁵³.
// It depends on the numbers, not on the type that stores them.
func inputRoundoff(single bool) float64 {
	if single {
		return roundoff24
	}
	return roundoff64
}

// fitsFloat32 reports whether float32 holds every measured value of a source. It stops at the first that it does not
// hold, which comes early in features computed in float64.
func (s *samples[T]) fitsFloat32() (bool, error) {
	if vec.IsFloat32[T]() {
		return true, nil
	}
	block := blockRows(s.d)
	buf := make([]T, min(block, s.rows)*s.d)
	for at := 0; at < s.rows; at += block {
		s.team.Check()
		rows, err := s.src.Read(buf, at, min(at+block, s.rows))
		if err != nil {
			return false, err
		}
		for i := range len(rows) / s.d {
			if s.class[at+i] >= 0 && !allFloat32(rows[i*s.d:][:s.d]) {
				return false, nil
			}
		}
	}
	return true, nil
}

// allFloat32 reports whether float32 holds every element of x; NaN and infinities count as held.
func allFloat32[T kernel.Float](x []T) bool {
	for _, v := range x {
		if T(float32(v)) != v && v-v == 0 {
			return false
		}
	}
	return true
}

// cutoff says which singular values of the centred means C (d×K) cannot be distinguished from zero.
//
// An element μ_ki of the class means is known up to e_ki = c·u·√(μ_ki² + v_i), u the relative rounding of the given numbers and v_i the
// variance of coordinate i within classes: numbers of that size were rounded, summed and divided. So the image of C in the direction of a
// unit vector v is known up to √(Σ_i v_i² Σ_k e_ki²). A coordinate that is a million times larger than the others blurs only the directions
// that contain it.
type cutoff struct {
	relative   float64   // chosen: g ≤ relative·g_max is zero; 0: not chosen
	coordinate []float64 // (d) Σ_k e_ki²
	total      float64   // Σ_i of coordinate: ‖C‖² at or below it is zero
	largest    float64   // of coordinate
}

// arithmetic is c for float64 numbers: their own rounding and that of sums over samples.
const arithmetic = 8

// newCutoff returns the cut-off for class means (K×d) of samples whose coordinates have a variance (d) within classes.
func newCutoff(single bool, asked float64, means, variance []float64, d, k int) cutoff {
	c := cutoff{relative: asked, coordinate: make([]float64, d)}
	u := inputRoundoff(single)
	if !single {
		u *= arithmetic
	}
	for class := range k {
		for i, x := range means[class*d:][:d] {
			c.coordinate[i] += u * u * (x*x + variance[i])
		}
	}
	for _, e := range c.coordinate {
		c.total += e
		c.largest = max(c.largest, e)
	}
	return c
}

// along returns the squared rounding in the direction of the unit vector v.
func (c *cutoff) along(v []float64) float64 {
	sum := 0.0
	for i, x := range v {
		sum += x * x * c.coordinate[i]
	}
	return sum
}
