package figure

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"collapse.example/collapse/internal/judge"
)

// plane is the plane in which features are drawn: a vector h has coordinates ((h − origin)·e1, (h −
// origin)·e2). For d = 2 it is the feature space itself. Otherwise it is chosen from the clean class
// means, as Words says; train and test use the same plane.
type plane struct {
	origin []float64
	e      [2][]float64
	X, Y   string // names of the axes
	Words  string // how the plane was chosen; "" for d = 2
	exact  bool   // d = 2
}

// planeOf chooses the plane for a run's features.
func planeOf(f *judge.Features) plane {
	if f.D == 2 {
		return plane{origin: []float64{0, 0}, e: [2][]float64{{1, 0}, {0, 1}}, X: "h₁", Y: "h₂", exact: true}
	}
	if f.D == 1 {
		return plane{origin: []float64{0}, e: [2][]float64{{1}, {0}}, X: "h", Y: "–", Words: "d = 1: features lie on a line."}
	}
	means, _ := f.CleanMeans()
	p := plane{origin: make([]float64, f.D)}
	for _, m := range means {
		for j, v := range m {
			p.origin[j] += v / float64(f.K)
		}
	}
	directions := principal(f, means, p.origin, 2)
	if f.K == 2 {
		p.X, p.Y = "along h₂ − h₁", "largest spread across it"
		p.Words = "Projection of the d-dimensional features onto the plane spanned by the difference of the class means and the direction of largest spread across it."
	} else {
		p.X, p.Y = "first axis of the class means", "second axis of the class means"
		p.Words = "Projection of the d-dimensional features onto the two main axes of the class means."
	}
	p.e[0], p.e[1] = directions[0], directions[1]
	return p
}

// principal returns the wanted number of orthonormal directions, or d if that is less: the main axes of the centred class means,
// completed from the samples' residuals if the means span less.
func principal(f *judge.Features, means [][]float64, origin []float64, wanted int) [][]float64 {
	var rows [][]float64
	for _, m := range means {
		rows = append(rows, minus(m, origin))
	}
	wanted = min(wanted, f.D)
	out := mainAxes(rows, f.D)
	out = out[:min(len(out), wanted)]
	if len(out) < wanted { // samples around their class means, minus what is already spanned
		var rest [][]float64
		step := 1 + len(f.True)/2000
		for i := 0; i < len(f.True); i += step {
			r := minus(f.TrainH[i*f.D:(i+1)*f.D], means[f.True[i]])
			if a := across(r, out); floats.Norm(a, 2) > 1e-9*floats.Norm(r, 2) { // else rounding alone
				rest = append(rest, a)
			}
		}
		more := mainAxes(rest, f.D)
		out = append(out, more[:min(len(more), wanted-len(out))]...)
	}
	for k := 0; len(out) < wanted && k < f.D; k++ { // no spread at all: any direction across
		e := make([]float64, f.D)
		e[k] = 1
		e = across(e, out)
		if length := floats.Norm(e, 2); length > 0.1 {
			for j := range e {
				e[j] /= length
			}
			out = append(out, e)
		}
	}
	return out
}

// across is v minus its components along orthonormal axes.
func across(v []float64, axes [][]float64) []float64 {
	out := append([]float64(nil), v...)
	for _, e := range axes {
		t := floats.Dot(out, e)
		for j := range out {
			out[j] -= t * e[j]
		}
	}
	return out
}

// mainAxes are the right singular vectors of the rows with singular values above rounding, largest
// first, each with its largest entry positive so that pictures do not flip by chance.
func mainAxes(rows [][]float64, d int) [][]float64 {
	if len(rows) == 0 {
		return nil
	}
	m := mat.NewDense(len(rows), d, nil)
	for i, r := range rows {
		m.SetRow(i, r)
	}
	var svd mat.SVD
	if !svd.Factorize(m, mat.SVDThinV) {
		return nil
	}
	var v mat.Dense
	svd.VTo(&v)
	var out [][]float64
	values := svd.Values(nil)
	for i, s := range values {
		if s == 0 || s < 1e-9*values[0] {
			break
		}
		e := mat.Col(nil, i, &v)
		top := 0
		for j := range e {
			if math.Abs(e[j]) > math.Abs(e[top])+1e-12 {
				top = j
			}
		}
		if e[top] < 0 {
			for j := range e {
				e[j] = -e[j]
			}
		}
		out = append(out, e)
	}
	return out
}

// minus is a − b.
func minus(a, b []float64) []float64 { return floats.SubTo(make([]float64, len(a)), a, b) }

// at projects a feature vector.
func (p plane) at(h []float64) (x, y float64) {
	r := minus(h, p.origin)
	return floats.Dot(r, p.e[0]), floats.Dot(r, p.e[1])
}

// direction projects a vector without a position, such as a row of W.
func (p plane) direction(v []float64) (x, y float64) {
	return floats.Dot(v, p.e[0]), floats.Dot(v, p.e[1])
}

// boundary is the classifier restricted to the plane: logit k is A[k]·x + B[k]·y + C[k] there.
type boundary struct{ A, B, C []float64 }

func boundaryOf(f *judge.Features, p plane) boundary {
	var b boundary
	for k := range f.K {
		w := f.Weight[k*f.D : (k+1)*f.D]
		x, y := p.direction(w)
		c := floats.Dot(w, p.origin)
		if f.Bias != nil {
			c += f.Bias[k]
		}
		b.A, b.B, b.C = append(b.A, x), append(b.B, y), append(b.C, c)
	}
	return b
}

// segments are the pieces of lines, inside the rectangle, at which the two largest logits are
// equal: where the decision changes. For K = 2 that is (w₁ − w₂)·h + b₁ − b₂ = 0.
func (b boundary) segments(x0, x1, y0, y1 float64) [][4]float64 {
	var out [][4]float64
	for i := range b.A {
		for j := i + 1; j < len(b.A); j++ {
			if s, ok := b.between(i, j, x0, x1, y0, y1); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

// between clips the line of equal logits i and j to the rectangle and to where no other is larger.
func (b boundary) between(i, j int, x0, x1, y0, y1 float64) ([4]float64, bool) {
	a, c, d := b.A[i]-b.A[j], b.B[i]-b.B[j], b.C[i]-b.C[j]
	n := math.Hypot(a, c)
	if !(n > 0) || math.IsInf(n, 0) {
		return [4]float64{}, false
	}
	px, py := -d*a/(n*n), -d*c/(n*n) // the point on the line nearest to the origin
	dx, dy := -c/n, a/n
	lo, hi := math.Inf(-1), math.Inf(1)
	atLeast := func(slope, offset float64) { // slope·t + offset ≥ 0
		switch {
		case slope > 0:
			lo = math.Max(lo, -offset/slope)
		case slope < 0:
			hi = math.Min(hi, -offset/slope)
		case offset < 0:
			lo, hi = 1, 0
		}
	}
	atLeast(dx, px-x0)
	atLeast(-dx, x1-px)
	atLeast(dy, py-y0)
	atLeast(-dy, y1-py)
	for k := range b.A {
		if k != i && k != j {
			ea, eb, ec := b.A[i]-b.A[k], b.B[i]-b.B[k], b.C[i]-b.C[k]
			atLeast(ea*dx+eb*dy, ea*px+eb*py+ec)
		}
	}
	if !(lo < hi) || math.IsInf(lo, 0) || math.IsInf(hi, 0) {
		return [4]float64{}, false
	}
	return [4]float64{px + lo*dx, py + lo*dy, px + hi*dx, py + hi*dy}, true
}
