package sphere

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"collapse.example/collapse/internal/descent"
)

// Solution is the best point of a search.
type Solution struct {
	Objective float64    `json:"objective"`
	LogF      float64    `json:"tau_log_f"` // τ·log f, which tends to −(smallest margin) as τ → 0
	Bound     float64    `json:"bound"`     // no point lies lower (Config.Bound)
	Proved    bool       `json:"proved"`    // the bound is the optimum, and Objective is within 1e-9 of it
	Gradient  float64    `json:"gradient"`  // its norm on the spheres, of τ·log f
	From      string     `json:"from"`      // the start that it came from: the name of a code, or "random"
	Starts    int        `json:"starts"`
	Reached   int        `json:"reached"` // starts that end within 1e-7 of the best, in τ·log f
	Shape     Shape      `json:"shape"`
	W, H      *mat.Dense `json:"-"`
}

// Shape is the geometry of a point.
type Shape struct {
	Margin      float64 `json:"margin"`       // the smallest one-vs-rest margin of W
	MarginMost  float64 `json:"margin_most"`  // the largest
	Cosine      float64 `json:"cosine"`       // the largest of two classifiers
	Duality     float64 `json:"duality"`      // the largest ‖w_k − h_k‖
	TightFrame  float64 `json:"tight_frame"`  // ‖WᵀW·d/K − I‖/√d
	KnownMargin float64 `json:"known_margin"` // of the known code, 0 if none is in the list
	Known       string  `json:"known,omitempty"`
}

// reachedBy is how near to the best a start must end to count.
const reachedBy = 1e-7

// Solve descends from the known code, if there is one, and from random starts, both at the temperature asked for and at falling ones down to it. The same
// seed gives the same points. After each start it calls each, unless that is nil. It returns ctx's error if cancelled.
func (c Config) Solve(ctx context.Context, starts int, seed uint64, each func(ended int, f float64)) (*Solution, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return c.search(ctx, Known(c.K, c.D), starts, seed, each)
}

// Random is Solve without a start from a known code.
func (c Config) Random(ctx context.Context, starts int, seed uint64) (*Solution, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return c.search(ctx, nil, starts, seed, nil)
}

// LogF is τ·log f where both classifiers and features are the rows of a code.
func (c Config) LogF(code *mat.Dense) float64 {
	return newProblem(c).eval(append(flat(code), flat(code)...), nil)
}

// warmest are the temperatures from which random starts are cooled, in turn. From the highest many starts fall into one basin, whose minimum at the
// temperature asked for need not be the lowest. So each start also descends at that temperature at once: with K = 30, d = 6, τ = 0.1 five of twelve
// such descents end at the lowest value known, and one of thirty-six that are cooled.
var warmest = []float64{1, 0.3, 0.55}

// search descends from a code, unless that is nil, and from random starts.
func (c Config) search(ctx context.Context, code *Code, starts int, seed uint64, each func(ended int, f float64)) (*Solution, error) {
	p, best := newProblem(c), &Solution{LogF: math.Inf(1)}
	var ends []float64
	try := func(from string, start []float64, temperatures ...float64) error {
		lowest := math.Inf(1)
		for _, warm := range temperatures {
			x, f, err := p.anneal(ctx, slices.Clone(start), warm)
			if err != nil {
				return err
			}
			lowest = min(lowest, f)
			if f < best.LogF {
				best.LogF, best.From = f, from
				best.W, best.H = p.rows(x)
			}
		}
		ends = append(ends, lowest)
		if each != nil {
			each(len(ends), lowest)
		}
		return nil
	}
	if code != nil {
		if err := try(code.Name, append(flat(code.Vectors), flat(code.Vectors)...), warmest[0]); err != nil {
			return nil, err
		}
	}
	for i := range starts {
		temperatures := []float64{c.Temperature}
		if warm := warmest[i%len(warmest)]; warm > c.Temperature {
			temperatures = append(temperatures, warm)
		}
		if err := try("random", c.start(rand.New(rand.NewPCG(seed, uint64(i)))), temperatures...); err != nil {
			return nil, err
		}
	}
	if len(ends) == 0 {
		return nil, fmt.Errorf("sphere: no code of %d vectors in %d dimensions is known, wanted at least 1 random start", c.K, c.D)
	}
	c.finish(p, best, ends)
	return best, nil
}

func (c Config) start(rng *rand.Rand) []float64 {
	x := make([]float64, 2*c.K*c.D)
	for i := range c.K * c.D {
		x[i] = rng.NormFloat64()
		x[c.K*c.D+i] = x[i] + 0.1*rng.NormFloat64() // features near their classifiers
	}
	return x
}

// finish describes the best point.
func (c Config) finish(p *problem, best *Solution, ends []float64) {
	grad := make([]float64, 2*c.K*c.D)
	best.LogF = p.eval(append(flat(best.W), flat(best.H)...), grad)
	best.Objective = math.Exp(best.LogF / c.Temperature)
	best.Gradient = mat.Norm(mat.NewVecDense(len(grad), grad), 2)
	best.Bound = c.Bound()
	best.Proved = c.Attained() && best.Objective <= best.Bound+1e-9
	best.Starts = len(ends)
	for _, f := range ends {
		if f < best.LogF+reachedBy {
			best.Reached++
		}
	}
	best.Shape = shapeOf(best.W, best.H)
	if code := Known(c.K, c.D); code != nil {
		best.Shape.Known, best.Shape.KnownMargin = code.Name, code.Margin
	}
}

func shapeOf(w, h *mat.Dense) Shape {
	K, d := w.Dims()
	out := Shape{Margin: math.Inf(1), Cosine: -1}
	for _, m := range Margins(w) {
		out.Margin, out.MarginMost = min(out.Margin, m), max(out.MarginMost, m)
	}
	var gram, frame mat.Dense
	gram.Mul(w, w.T())
	frame.Mul(w.T(), w)
	frame.Scale(float64(d)/float64(K), &frame)
	for i := range d {
		frame.Set(i, i, frame.At(i, i)-1)
	}
	out.TightFrame = mat.Norm(&frame, 2) / math.Sqrt(float64(d))
	for k := range K {
		for j := range k {
			out.Cosine = max(out.Cosine, gram.At(j, k))
		}
		var apart mat.VecDense
		apart.SubVec(w.RowView(k), h.RowView(k))
		out.Duality = max(out.Duality, mat.Norm(&apart, 2))
	}
	return out
}

func flat(m *mat.Dense) []float64 { return append([]float64(nil), m.RawMatrix().Data...) }

// rows are W and H with unit rows.
func (p *problem) rows(x []float64) (w, h *mat.Dense) {
	p.normalise(x)
	size := p.K * p.D
	return mat.NewDense(p.K, p.D, append([]float64(nil), p.units[:size]...)), mat.NewDense(p.K, p.D, append([]float64(nil), p.units[size:]...))
}

// anneal descends at falling temperatures: each end is the next start.
func (p *problem) anneal(ctx context.Context, x []float64, from float64) ([]float64, float64, error) {
	asked := p.Temperature
	defer func() { p.Temperature = asked }()
	f := 0.0
	for tau := max(asked, from); ; tau = max(asked, tau/3) {
		p.Temperature = tau
		var err error
		if x, f, err = p.descend(ctx, x); err != nil || tau == asked {
			return x, f, err
		}
	}
}

func (p *problem) descend(ctx context.Context, x []float64) ([]float64, float64, error) {
	x, f, err := descent.Limited(ctx, p.eval, x, descent.Until{Iterations: 3000, Gradient: 1e-11, Change: 1e-14, Still: 50})
	if err != nil {
		return nil, 0, fmt.Errorf("sphere: %w", err)
	}
	return x, f, nil
}
