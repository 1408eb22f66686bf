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

	cut   partition
	bufs  buffers[T]
	lists buffers[float64] // of x and y
	errs  []error
}

const productElements = 1 << 24 // elements in the products of all parts together

// run visits all rows; start gets the number of parts first.
func (p *products[T]) run(team *parallel.Team, start func(parts int)) error {
	d := p.s.d
	p.width = len(p.stack) / d
	p.cut = newPartition(p.s.rows, max(1, min(blockRows(d), productElements/max(p.width, 1))))
	p.cut.parts = max(1, min(p.cut.parts, productElements/(p.cut.block*max(p.width, 1))))
	parts := p.cut.parts
	p.errs = make([]error, parts)
	start(parts)
	team.Do(parts, p)
	return vec.FirstError(p.errs)
}

// Run visits the rows of one part.
func (p *products[T]) Run(part int) {
	from, to := p.cut.span(part)
	d, block := p.s.d, p.cut.block
	buf, lists := p.bufs.take(bufferSize(p.s.src, block*d)), p.lists.take(block*(d+p.width))
	defer p.bufs.give(buf)
	defer p.lists.give(lists)
	x, y := lists[:block*d], lists[block*d:]
	for at := from; at < to && p.errs[part] == nil && p.s.team.Err() == nil; at += p.cut.block {
		p.errs[part] = p.tally(part, at, min(at+block, to), buf, x, y)
	}
}

// tally visits rows [at, end) in the memory of buf, x (block × d) and y (block × width).
func (p *products[T]) tally(part, at, end int, buf []T, x, y []float64) error {
	d := p.s.d
	rows, err := p.s.src.Read(buf, at, end)
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
