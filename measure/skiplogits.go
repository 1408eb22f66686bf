package measure

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
	"collapse.example/collapse/measure/internal/vec"
	"collapse.example/collapse/measure/internal/wide"
	"collapse.example/collapse/parallel"
)

// Near collapse, the logits of the class means decide nearly every sample (decision radii). A second pass that needs only the largest
// logit, not margins, then leaves the classifier out of S, and computes its products only for blocks with an undecided sample.

// spare decides whether the pass does so: if radii decide nearly all of the first block. It uses parts[0].
func (f *secondPass[T]) spare(team *parallel.Team) error {
	s, h := f.s, f.head
	f.skipLogits = false
	if f.ask.margins {
		return nil
	}
	wide.FillLogitRadii[float64](team, &f.radius, s.centred, s.centre, s.n, s.k, s.d, h.wide())
	p, end := &f.parts[0], min(f.cut.block, s.rows)
	p.sampleCounts.reset(s.k)
	f.begin(p, 0, 0)
	defer f.end(p)
	m, err := f.residuals(p, 0, end)
	if err != nil {
		return err
	}
	f.skipLogits = f.undecided(p, 0, end) <= m/16
	f.classifier = grow(f.classifier, h.k*s.d)
	transpose(f.classifier, h.w, h.k, s.d)
	return nil
}

// undecided counts the measured rows of [at, end) that no radius decides; their residuals are in p.
func (f *secondPass[T]) undecided(p *part[T], at, end int) (n int) {
	m := 0
	for _, c := range f.s.class[at:end] {
		if c >= 0 {
			if !(p.square[m] < f.radius.Logit[c]) {
				n++
			}
			m++
		}
	}
	return n
}

// scores returns W r of the m measured rows of [at, end), and their stride; nil if not needed.
func (f *secondPass[T]) scores(p *part[T], at, end, m int) (scores []float64, row int) {
	switch {
	case f.atV >= 0:
		return p.product[f.atV:], f.width
	case !f.skipLogits || f.undecided(p, at, end) == 0:
		return nil, 0
	}
	row = f.head.k
	p.logits = grow(p.logits, m*row)
	gemm.Multiply(nil, gemm.NN, kernel.Strided(m, f.s.d, vec.Stride[float64](f.s.d), p.residual), kernel.Dense(f.s.d, row, f.classifier), kernel.Dense(m, row, p.logits), gemm.Epilogue[float64]{})
	return p.logits, row
}

// largestLogit returns argmax_j of the logits of a sample of class c, of ‖r‖² = square and W r = v; v is nil if no sample of the block
// needs it.
func (f *secondPass[T]) largestLogit(c int, square float64, v []float64) int {
	if f.skipLogits && square < f.radius.Logit[c] {
		return int(f.radius.First[c])
	}
	return largestSum(f.logit[c*f.head.k:][:f.head.k], v)
}
