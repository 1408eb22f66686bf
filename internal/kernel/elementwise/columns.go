package elementwise

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/parallel"
)

// Column passes work on a row-major matrix (rows×cols) whose rows are samples. They are divided into blocks of columns, so every
// column is summed by one thread in row order: the result cannot depend on the team, and no partial sums have to be combined.

// columnBlock is the columns of one part: 8 cache lines of a float32 row, enough for the
// prefetcher, and 16 parts in a layer of 2048.
const columnBlock = 128

// columnBlocks returns how many parts cols make.
func columnBlocks(cols int) int { return (cols + columnBlock - 1) / columnBlock }

// columnRange returns the columns of a part.
func columnRange(part, cols int) (from, to int) {
	return part * columnBlock, min((part+1)*columnBlock, cols)
}

// AddRows adds every row of x to acc: acc_j += Σ_i x_ij, rows in order, in float64.
func AddRows[T kernel.Float](x kernel.Matrix[T], acc []float64) {
	done := wholeColumns(x)
	if done > 0 {
		table.addRows(x.Rows, done, x.Stride, kernel.First32(x.Data), &acc[0])
	}
	if done < x.Cols {
		addRowsGeneric(x.From(done), acc[done:])
	}
}

func addRowsGeneric[T kernel.Float](x kernel.Matrix[T], acc []float64) {
	acc = acc[:x.Cols]
	for i := range x.Rows {
		row := x.Row(i)[:len(acc)]
		for j := range acc {
			acc[j] += float64(row[j])
		}
	}
}

// ColSums adds up the columns of matrices of a fixed width: the gradient of a bias. It owns the
// accumulators, so that Sum allocates nothing; one goroutine uses it at a time.
type ColSums[T kernel.Float] struct {
	cols, rows int
	x, out     []T
	acc        []float64
}

// NewColSums returns a ColSums for matrices of cols columns.
func NewColSums[T kernel.Float](cols int) *ColSums[T] {
	return &ColSums[T]{cols: cols, acc: make([]float64, cols)}
}

// Sum sets out_j = Σ_i x_ij for x (rows×cols), accumulated in float64 and rounded once. It
// panics if a length is wrong.
func (c *ColSums[T]) Sum(tm *parallel.Team, rows int, x, out []T) {
	if len(x) != rows*c.cols || len(out) != c.cols {
		panic("elementwise: ColSums: x is not rows×cols or out not cols")
	}
	c.rows, c.x, c.out = rows, x, out
	tm.Do(columnBlocks(c.cols), c)
	c.x, c.out = nil, nil
}

// Run sums the columns of one part; Sum calls it through the team.
func (c *ColSums[T]) Run(part int) {
	from, to := columnRange(part, c.cols)
	acc := c.acc[from:to]
	clear(acc)
	AddRows(kernel.Strided(c.rows, to-from, c.cols, c.x[from:]), acc)
	for j, sum := range acc {
		c.out[from+j] = T(sum)
	}
}
