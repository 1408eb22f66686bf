package measure

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/memory"
	kernelrows "collapse.example/collapse/internal/kernel/rows"
	"collapse.example/collapse/measure/internal/vec"
	"collapse.example/collapse/measure/internal/wide"
	"collapse.example/collapse/parallel"
)

// Sizes of the partition; they depend only on shapes, so that the bits do not depend on the team.
const (
	blockElements = 1 << 15 // of a block of rows: 256 KiB in float64, which fits a second-level cache, but at least 64 rows, because a product packs its other factor once per block
	maxParts      = 32
	partialLimit  = 1 << 20 // elements of the class sums of a part; beyond it parts are groups of classes
	togetherLimit = 1 << 22 // elements of the class sums of all parts of several labellings
	groupRows     = 4       // rows per class in a block of the first pass, on average: its sums are read and written once for all of them
	stripColumns  = 128
	viewElements  = 1 << 25 // of a block of rows in the class form, if it is a view of memory
)

// blockRows returns the rows of a block of width d.
func blockRows(d int) int { return min(max(blockElements/d, 64), 1024) }

// partition cuts rows into parts of whole blocks.
type partition struct {
	rows, block, parts int
}

func newPartition(rows, block int) partition {
	p := partition{rows: rows, block: block}
	p.parts = max(1, min(p.blocks(), maxParts))
	return p
}

func (p *partition) blocks() int { return (p.rows + p.block - 1) / p.block }

// span returns the rows [from, to) of a part.
func (p *partition) span(part int) (from, to int) {
	blocks := p.blocks()
	return min(part*blocks/p.parts*p.block, p.rows), min((part+1)*blocks/p.parts*p.block, p.rows)
}

// firstPass sums the features of each class in float64. Every part sums its own rows in order, and the
// parts are added in order. If class sums are too large for one copy per part, blocks of rows are read
// one after another and each part sums a group of classes instead.
type firstPass[T kernel.Float] struct {
	s          *samples[T]
	labellings [][]int32 // classes of the rows, −1: not measured; several if sums for other labels are wanted as well
	cut        partition
	partial    []float64 // (parts × labellings × k×d)
	groups     []groups
	bufs       buffers[T]
	errs       []error

	block []T // current rows in the class form
}

// run fills s.means with class sums.
func (f *firstPass[T]) run(team *parallel.Team, s *samples[T]) (err error) {
	s.means, err = f.sums(team, s, s.means, s.class)
	return err
}

// sums returns the class sums (labellings × k×d) of several labellings of the rows of s, in the memory of to. Rows are read once for all
// labellings.
func (f *firstPass[T]) sums(team *parallel.Team, s *samples[T], to []float64, labellings ...[]int32) ([]float64, error) {
	f.s, f.labellings = s, labellings
	size := len(labellings) * s.k * s.d
	to = grow(to, size)
	if s.k*s.d > partialLimit {
		return to, f.byClasses(team, to, labellings[0])
	}
	f.prepare(size)
	team.Do(f.cut.parts, f)
	copy(to, f.partial[:size])
	for p := 1; p < f.cut.parts; p++ {
		kernelrows.AddRow(to, f.partial[p*size:][:size])
	}
	return to, vec.FirstError(f.errs)
}

// prepare cuts the rows into parts, each with scratch memory for the given number of sums.
func (f *firstPass[T]) prepare(size int) {
	s := f.s
	f.cut = newPartition(s.rows, max(blockRows(s.d), min(groupRows*s.k, 1024)))
	parts := f.cut.parts
	if cap(f.partial) < parts*size {
		f.partial = memory.Alloc[float64](parts * size)
	} else {
		f.partial = f.partial[:parts*size]
		clear(f.partial)
	}
	f.errs = grow(f.errs, parts)
	clear(f.errs)
	for len(f.groups) < parts {
		f.groups = append(f.groups, groups{})
	}
	for p := range parts {
		g := &f.groups[p]
		g.order, g.end = grow(g.order, f.cut.block), grow(g.end, s.k)
	}
}

// together returns how many labellings of s are summed at a time: reading dominates, but memory is bounded.
func together(k, d int) int { return max(1, togetherLimit/(maxParts*k*d)) }

// Run sums the rows of one part.
func (f *firstPass[T]) Run(part int) {
	s, d, size := f.s, f.s.d, f.s.k*f.s.d
	g := &f.groups[part]
	from, to := f.cut.span(part)
	buf := f.bufs.take(bufferSize(s.src, f.cut.block*d))
	defer f.bufs.give(buf)
	for at := from; at < to && s.team.Err() == nil; at += f.cut.block {
		end := min(at+f.cut.block, to)
		rows, err := s.src.Read(buf, at, end)
		if err != nil {
			f.errs[part] = err
			return
		}
		if at == from {
			memory.Touch(rows)
		}
		ahead := f.ahead(end, min(end+f.cut.block, to))
		for i, class := range f.labellings {
			g.sort(class[at:end])
			sums := f.partial[(part*len(f.labellings)+i)*size:][:size]
			for c := range s.k {
				if in := g.of(c); len(in) > 0 {
					kernelrows.SumRows(sums[c*d:][:d], kernel.Dense(len(rows)/d, d, rows), in, ahead)
					ahead = ahead[min(len(in)*d, len(ahead)):]
				}
			}
		}
	}
}

// ahead returns rows from…to−1 if they are in memory. Summing a block prefetches the next one in address order, which is twice as fast as
// reading its rows class by class.
func (f *firstPass[T]) ahead(from, to int) []T {
	if rows, views := f.s.src.(*Rows[T]); views {
		return rows.H[from*rows.D : to*rows.D]
	}
	return nil
}

// groups lists the rows of a block class by class, so that the sums of a class are read and written once per block.
type groups struct {
	order []int32
	end   []int32 // (K) end of each class in order
}

// sort lists the measured rows of a block.
func (g *groups) sort(class []int32) {
	clear(g.end)
	for _, c := range class {
		if c >= 0 {
			g.end[c]++
		}
	}
	at := int32(0)
	for c, n := range g.end {
		g.end[c] = at
		at += n
	}
	for i, c := range class {
		if c >= 0 {
			g.order[g.end[c]] = int32(i)
			g.end[c]++
		}
	}
}

// of returns the rows of a class, in the order of the block.
func (g *groups) of(c int) []int32 {
	from := int32(0)
	if c > 0 {
		from = g.end[c-1]
	}
	return g.order[from:g.end[c]]
}

// classTask is firstPass with groups of classes as parts.
type classTask[T kernel.Float] struct {
	*firstPass[T]
	sums []float64
}

// Sizes of a part in the class form.
const (
	partClasses = 16
	partRows    = 64 // rows summed at a time: they stay in a second-level cache while a sum walks over their columns
)

// byClasses fills sums (k×d).
func (f *firstPass[T]) byClasses(team *parallel.Team, sums []float64, class []int32) error {
	s := f.s
	clear(sums)
	block := wide.BlockRows(s.d)
	if _, views := s.src.(*Rows[T]); views {
		block = viewElements / s.d
	}
	block = max(1, min(block, s.rows))
	buf := f.bufs.take(bufferSize(s.src, block*s.d))
	defer f.bufs.give(buf)
	if len(f.groups) == 0 {
		f.groups = make([]groups, 1)
	}
	g := &f.groups[0]
	g.order, g.end = grow(g.order, block), grow(g.end, s.k)
	task := classTask[T]{f, sums}
	for at := 0; at < s.rows; at += block {
		end := min(at+block, s.rows)
		rows, err := s.src.Read(buf, at, end)
		if err != nil {
			return err
		}
		f.block = rows
		g.sort(class[at:end])
		team.Do((s.k+partClasses-1)/partClasses, task)
	}
	f.block = nil
	return nil
}

// Run adds rows of the block to the sums of a few classes; the rows of a class keep their order, so the bits do not
// depend on the block size.
func (t classTask[T]) Run(part int) {
	d := t.s.d
	for c := part * partClasses; c < min((part+1)*partClasses, t.s.k); c++ {
		for in := t.groups[0].of(c); len(in) > 0; in = in[min(partRows, len(in)):] {
			kernelrows.SumRows(t.sums[c*d:][:d], kernel.Dense(len(t.block)/d, d, t.block), in[:min(partRows, len(in))], nil)
		}
	}
}
