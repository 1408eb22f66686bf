package measure

import (
	"collapse.example/collapse/internal/kernel"
	kernelrows "collapse.example/collapse/internal/kernel/rows"
	"collapse.example/collapse/measure/internal/vec"
)

// squares are ‖h − h_G‖² of the rows of a split. The spread of shuffled classes needs those of single samples: under heavy tails a class
// with an outlier is both wide and far away, so that an even share for each class gives cdnv another null.
type squares[T kernel.Float] struct {
	s    *samples[T]
	cut  partition
	of   []float64 // (rows)
	bufs buffers[T]
	errs []error
}

// squares returns what the second pass over s found on its way, or makes another pass.
func (e *Engine[T]) squares(s *samples[T]) ([]float64, error) {
	if found := e.second.squares; len(found) > 0 {
		return found, nil
	}
	q := &squares[T]{s: s, cut: newPartition(s.rows, blockRows(s.d)), of: make([]float64, s.rows)}
	q.errs = make([]error, q.cut.parts)
	e.opt.Team.Do(q.cut.parts, q)
	return q.of, vec.FirstError(q.errs)
}

// Run fills one part.
func (q *squares[T]) Run(part int) {
	from, to := q.cut.span(part)
	d := q.s.d
	buf, apart := q.bufs.take(bufferSize(q.s.src, q.cut.block*d)), make([]float64, d)
	defer q.bufs.give(buf)
	for at := from; at < to && q.s.team.Err() == nil; at += q.cut.block {
		end := min(at+q.cut.block, to)
		rows, err := q.s.src.Read(buf, at, end)
		if err != nil {
			q.errs[part] = err
			return
		}
		for i := range end - at {
			if q.s.class[at+i] >= 0 {
				q.of[at+i] = kernelrows.SubRow(apart, rows[i*d:][:d], q.s.centre)
			}
		}
	}
}

// scatterAbout returns Σ ‖h − μ_k‖² of the classes of s, from the squares of their samples about a centre: n_k ‖μ_k − centre‖² less than
// theirs.
func scatterAbout[T kernel.Float](s *samples[T], squares, centre []float64) []float64 {
	out := make([]float64, s.k)
	for i, c := range s.class {
		if c >= 0 {
			out[c] += squares[i]
		}
	}
	for c, n := range s.count {
		out[c] = max(0, out[c]-float64(n)*distance2(s.mean(c), centre))
		if n < 2 {
			out[c] = 0
		}
	}
	return out
}
