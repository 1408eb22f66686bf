package measure

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
	kernelrows "collapse.example/collapse/internal/kernel/rows"
	"collapse.example/collapse/measure/internal/vec"
	"collapse.example/collapse/parallel"
)

// products visits the measured rows of a split once, with their offsets x = h − centre in float64 and their products y =
// S x with the rows of a stack. A row's results depend only on the row and the shapes, so neither team nor partition
// changes a bit.
type products[T kernel.Float] struct {
	s      *samples[T]
	centre []float64 // (d)
	stack  []float64 // S (width × d)
	width  int
	// visit gets the number of the part, that of the row, its features, x (d) and y (width).
	visit func(part, row int, h []T, x, y []float64)

	cut    partition
	buf    [][]T
	offset [][]float64 // (block × d) of each part
	y      [][]float64 // (block × width) of each part
	errs   []error
}

const productElements = 1 << 24 // elements in the products of all parts together

// run visits all rows; start gets the number of parts first.
func (p *products[T]) run(team *parallel.Team, start func(parts int)) error {
	d := p.s.d
	p.width = len(p.stack) / d
	p.cut = newPartition(p.s.rows, max(1, min(blockRows(d), productElements/max(p.width, 1))))
	p.cut.parts = max(1, min(p.cut.parts, productElements/(p.cut.block*max(p.width, 1))))
	parts := p.cut.parts
	p.buf = blockBuffers(nil, p.s.src, parts, p.cut.block*d)
	p.offset, p.y, p.errs = make([][]float64, parts), make([][]float64, parts), make([]error, parts)
	for i := range parts {
		p.offset[i], p.y[i] = make([]float64, p.cut.block*d), make([]float64, p.cut.block*p.width)
	}
	start(parts)
	team.Do(parts, p)
	return vec.FirstError(p.errs)
}

// Run visits the rows of one part.
func (p *products[T]) Run(part int) {
	from, to := p.cut.span(part)
	for at := from; at < to && p.errs[part] == nil && p.s.team.Err() == nil; at += p.cut.block {
		p.errs[part] = p.block(part, at, min(at+p.cut.block, to))
	}
}

func (p *products[T]) block(part, at, end int) error {
	d, x, y := p.s.d, p.offset[part], p.y[part]
	rows, err := p.s.src.Read(p.buf[part], at, end)
	if err != nil {
		return err
	}
	m := 0
	for i, c := range p.s.class[at:end] {
		if c >= 0 {
			kernelrows.SubRow(x[m*d:][:d], rows[i*d:][:d], p.centre)
			m++
		}
	}
	if p.width > 0 {
		gemm.Multiply(nil, gemm.NT, kernel.Dense(m, d, x), kernel.Dense(p.width, d, p.stack), kernel.Dense(m, p.width, y), gemm.Epilogue[float64]{})
	}
	m = 0
	for i, c := range p.s.class[at:end] {
		if c >= 0 {
			p.visit(part, at+i, rows[i*d:][:d], x[m*d:][:d], y[m*p.width:][:p.width])
			m++
		}
	}
	return nil
}
