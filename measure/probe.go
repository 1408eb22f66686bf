package measure

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
	"collapse.example/collapse/measure/internal/wide"
	"collapse.example/collapse/parallel"
)

// probeElements bounds the elements of a probe; small sets are probed completely.
const probeElements = 1 << 18

// probe is a subset of the measured rows of a split, spread evenly over it. It stands in for all rows where another pass would be
// expensive: in estimating how far rounding moves a sum over them.
type probe struct {
	k, d, n  int       // n: measured rows of the whole split
	row      []int32   // (m) rows of the source
	class    []int32   // (m)
	h        []float64 // (m×d)
	alone    int       // the last rows of which each stands for itself only
	means    []float64 // (k×d) of the whole split
	count    []int     // (k) of the whole split
	variance []float64 // (d) mean of (h_i − μ_ki)² over the probe: within-class variance of each coordinate
}

// fewRows are enough to estimate the size of the numbers.
const fewRows = 64

// manyRows returns the number of rows in a probe for sums over samples.
func manyRows(d int) int { return max(fewRows, probeElements/d) }

// newProbe reads a probe of the given number of rows from a split with known means.
func newProbe[T kernel.Float](s *samples[T], rows int) (*probe, error) {
	p := &probe{k: s.k, d: s.d, n: s.n, means: s.means[:s.k*s.d], count: s.count, variance: make([]float64, s.d)}
	m := min(s.n, rows)
	p.h = make([]float64, 0, m*s.d)
	buf := make([]T, s.d)
	for j, i := 0, -1; j < m; j++ {
		for i = max(i+1, j*s.rows/m); i < s.rows && s.class[i] < 0; i++ { // the next measured row from there
		}
		if i >= s.rows {
			break
		}
		c := s.class[i]
		row, err := s.src.Read(buf, i, i+1)
		if err != nil {
			return nil, err
		}
		p.row, p.class = append(p.row, int32(i)), append(p.class, c)
		h := p.h[len(p.h) : len(p.h)+s.d]
		p.h = p.h[:len(p.h)+s.d]
		for j, mean := range s.mean(int(c)) {
			h[j] = float64(row[j])
			r := h[j] - mean
			p.variance[j] += r * r
		}
	}
	scale(p.variance, 1/float64(len(p.class)))
	return p, nil
}

// at returns row i.
func (p *probe) at(i int) []float64 { return p.h[i*p.d:][:p.d] }

// span is rows [from, to) of the probe.
func (p *probe) span(from, to int) *probe {
	part := *p
	part.row, part.class, part.h = p.row[from:to], p.class[from:to], p.h[from*p.d:to*p.d]
	return &part
}

// residuals fills out with h − μ_k of every row (m×d), and returns it.
func (p *probe) residuals(out []float64) []float64 {
	for i, c := range p.class {
		to, h, mean := out[i*p.d:][:p.d], p.at(i), p.means[int(c)*p.d:][:p.d]
		for j := range to {
			to[j] = h[j] - mean[j]
		}
	}
	return out[:len(p.h)]
}

// weights returns the weight of every row in Σ ω ‖z‖² over the whole split: the number of rows it stands for, times ω
// of its class.
func (p *probe) weights(im Imbalance) []float64 {
	w := make([]float64, len(p.class))
	even := len(p.class) - p.alone
	for i, c := range p.class {
		if w[i] = 1; i < even {
			w[i] = float64(p.n-p.alone) / float64(even)
		}
		if im == PerClass {
			w[i] /= float64(p.count[c])
		}
	}
	return w
}

// probed is the within-class scatter of a probe.
type probed struct {
	probe  *probe
	weight []float64 // (m)
}

// probeBlock is how many elements of a probe's rows are copied at a time for changing or multiplying.
const probeBlock = 1 << 20

// blockRows returns the rows of a block whose products with n others are held in memory.
func (p *probe) blockRows(others int) int {
	return max(1, min(len(p.class), probeBlock/p.d, productElements/max(others, 1)))
}

// trace returns Σ ω ‖A r‖², A (rank×d).
func (p *probed) trace(team *parallel.Team, a []float64, rank, d int) float64 {
	total, block := 0.0, p.probe.blockRows(rank)
	z, apart := make([]float64, block*rank), make([]float64, block*d)
	for at := 0; at < len(p.weight); at += block {
		end := min(at+block, len(p.weight))
		rows := p.probe.span(at, end)
		gemm.Multiply(team, gemm.NT, kernel.Dense(end-at, d, rows.residuals(apart)), kernel.Dense(rank, d, a), kernel.Dense(end-at, rank, z), gemm.Epilogue[float64]{})
		for i, w := range p.weight[at:end] {
			row := z[i*rank:][:rank]
			total += w * dot(row, row)
		}
	}
	return total
}

// withinScatter is the within-class scatter S, as NC1 needs it: tr(A S Aᵀ), A (rank×d).
type withinScatter interface {
	trace(team *parallel.Team, a []float64, rank, d int) float64
}

// pooledScatter is S itself (d×d).
type pooledScatter []float64

func (s pooledScatter) trace(team *parallel.Team, a []float64, rank, d int) float64 {
	return wide.TraceOf(team, a, rank, s, d)
}

// diagonalScatter is the diagonal of S (d).
type diagonalScatter []float64

func (s diagonalScatter) trace(_ *parallel.Team, a []float64, rank, d int) float64 {
	total := 0.0
	for j := range rank {
		for i, x := range a[j*d:][:d] {
			total += x * x * s[i]
		}
	}
	return total
}
