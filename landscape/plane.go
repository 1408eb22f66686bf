package landscape

import (
	"fmt"
	"math"
)

// Plane is the plane spanned by two rows of any classifier: e1 along w_k, e2 along the part of w_j orthogonal to it. For a simplex
// ETF, a feature s(cos θ e1 + sin θ e2) of class k has the loss that Params gives; here it has the loss of the classifier itself.
type Plane struct {
	class  int
	k, d   int
	e1, e2 []float64
	x, y   []float64 // w·e1 and w·e2 of every row
	bias   []float64
}

// NewPlane returns the plane of rows class and other of w (k×d, row-major); b has k entries or is nil.
// It returns an error if an index is out of range or the rows are parallel.
func NewPlane(w, b []float64, k, d, class, other int) (*Plane, error) {
	if k < 2 || d < 2 || len(w) != k*d || b != nil && len(b) != k {
		return nil, fmt.Errorf("landscape: weights of %d and biases of %d numbers do not fit k = %d, d = %d", len(w), len(b), k, d)
	}
	if class == other || class < 0 || other < 0 || class >= k || other >= k {
		return nil, fmt.Errorf("landscape: classes %d and %d, wanted two different ones below %d", class, other, k)
	}
	p := &Plane{class: class, k: k, d: d, bias: b}
	p.e1 = append([]float64(nil), w[class*d:][:d]...)
	p.e2 = append([]float64(nil), w[other*d:][:d]...)
	size := math.Sqrt(dot(p.e2, p.e2))
	if !normalise(p.e1, 0) {
		return nil, fmt.Errorf("landscape: row %d of the classifier is zero or not finite", class)
	}
	along := dot(p.e1, p.e2)
	for i, v := range p.e1 {
		p.e2[i] -= along * v
	}
	if !normalise(p.e2, 1e-10*size) {
		return nil, fmt.Errorf("landscape: rows %d and %d of the classifier are parallel: they span no plane", class, other)
	}
	p.x, p.y = make([]float64, k), make([]float64, k)
	for j := range k {
		p.x[j], p.y[j] = dot(w[j*d:][:d], p.e1), dot(w[j*d:][:d], p.e2)
	}
	return p, nil
}

// Place returns (s, θ) of the projection of a feature h (d) onto the plane; θ in (−π, π].
func (p *Plane) Place(h []float64) (s, theta float64) {
	x, y := dot(h, p.e1), dot(h, p.e2)
	return math.Hypot(x, y), math.Atan2(y, x)
}

// CE is the cross-entropy of a feature of the plane's class at (s, θ).
func (p *Plane) CE(s, theta float64) Value {
	sin, cos := math.Sincos(theta)
	logits, top := make([]float64, p.k), math.Inf(-1)
	for j := range p.k {
		logits[j] = s * (cos*p.x[j] + sin*p.y[j])
		if p.bias != nil {
			logits[j] += p.bias[j]
		}
		top = math.Max(top, logits[j])
	}
	sum, ds, dt := 0.0, 0.0, 0.0
	for j, z := range logits {
		e := math.Exp(z - top)
		sum += e
		ds += e * (cos*p.x[j] + sin*p.y[j])
		dt += e * s * (cos*p.y[j] - sin*p.x[j])
	}
	k := p.class
	return Value{Loss: top + math.Log(sum) - logits[k],
		DS:     ds/sum - (cos*p.x[k] + sin*p.y[k]),
		DTheta: dt/sum - s*(cos*p.y[k]-sin*p.x[k])}
}

// MSE is the (rescaled) squared loss of a feature of the plane's class at (s, θ):
// α/2 (z_k − M)² + ½ Σ_{j≠k} z_j².
func (p *Plane) MSE(s, theta, alpha, m float64) Value {
	sin, cos := math.Sincos(theta)
	var v Value
	for j := range p.k {
		ds, dt := cos*p.x[j]+sin*p.y[j], s*(cos*p.y[j]-sin*p.x[j])
		z, weight := s*ds, 1.0
		if p.bias != nil {
			z += p.bias[j]
		}
		if j == p.class {
			z, weight = z-m, alpha
		}
		v.Loss += weight / 2 * z * z
		v.DS += weight * z * ds
		v.DTheta += weight * z * dt
	}
	return v
}

// normalise scales v to length 1; false if it is not longer than floor or not finite.
func normalise(v []float64, floor float64) bool {
	norm := math.Sqrt(dot(v, v))
	if !(norm > floor) || math.IsInf(norm, 0) {
		return false
	}
	for i := range v {
		v[i] /= norm
	}
	return true
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}
