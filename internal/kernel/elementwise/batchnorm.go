package elementwise

import (
	"math"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/parallel"
)

// BatchNorm normalises the columns of matrices (rows×cols) over their rows, optionally with the
// ReLU that follows:
//
//	x̂ = (x − mean)·s,  s = 1/√(var + eps),  y = γ·x̂ + β  [, y = max(y, 0)]
//
// with mean and var (divisor rows) of the batch. Statistics are two passes in float64. The
// centred value is (x − hi) − lo with hi + lo = mean: columns that vary little around a large
// mean keep all their digits, where x·scale + shift would lose them.
//
// It owns statistics and scratch, so the passes allocate nothing; one goroutine uses it at a
// time.
type BatchNorm[T kernel.Float] struct {
	cols   int
	eps    float64
	relu   bool
	blocks []normBlock[T]
	job    normJob[T]
}

// normBlock is what a pass keeps per column, for one block of columns. It is one piece of memory on purpose: separate vectors would
// have the same addresses modulo 4 KiB as the rows of a matrix 2048 wide, and share a few sets of the first cache (20 % of the time,
// measured).
type normBlock[T kernel.Float] struct {
	hi, lo         [columnBlock]T       // mean of the last Forward or Eval, split
	f1, f2, f3     [columnBlock]T       // scale and shift of normalise, or k1, k2, k3 of gradientInput
	mean, variance [columnBlock]float64 // of the last Forward
	invStd         [columnBlock]float64
	sum, dot       [columnBlock]float64 // accumulators of Backward
}

// normJob is the current pass, run by the team block by block of columns.
type normJob[T kernel.Float] struct {
	norm            *BatchNorm[T]
	pass            normPass
	rows            int
	x, y, dy        []T
	gamma, beta     []T
	dGamma, dBeta   []T
	runMean, runVar []T
}

type normPass uint8

const (
	normForward normPass = iota
	normEval
	normBackward
)

// NewBatchNorm returns a BatchNorm of cols columns, fused with a ReLU if relu is set.
func NewBatchNorm[T kernel.Float](cols int, eps float64, relu bool) *BatchNorm[T] {
	n := &BatchNorm[T]{cols: cols, eps: eps, relu: relu, blocks: make([]normBlock[T], columnBlocks(cols))}
	n.job.norm = n
	return n
}

// Run works on one block of columns; the passes call it through the team.
func (j *normJob[T]) Run(part int) {
	from, to := columnRange(part, j.norm.cols)
	block := &j.norm.blocks[part]
	switch j.pass {
	case normForward:
		j.forward(block, from, to-from)
	case normEval:
		j.eval(block, from, to-from)
	case normBackward:
		j.backward(block, from, to-from)
	}
}

func (n *BatchNorm[T]) do(tm *parallel.Team, job normJob[T]) {
	n.job = job
	n.job.norm = n
	tm.Do(columnBlocks(n.cols), &n.job)
	n.job = normJob[T]{norm: n}
}

// Forward sets y from x (both rows×cols) by the statistics of the batch and keeps them for
// UpdateRunning and Backward. x and y must not overlap. It panics if a length is wrong or rows
// is below 1.
func (n *BatchNorm[T]) Forward(tm *parallel.Team, rows int, x, y, gamma, beta []T) {
	n.check(rows, x, y, gamma, beta)
	n.do(tm, normJob[T]{pass: normForward, rows: rows, x: x, y: y, gamma: gamma, beta: beta})
}

// Eval sets y from x as Forward does, but with the given running mean and variance. It overwrites what Backward needs, so a Backward
// must come before it or not at all.
func (n *BatchNorm[T]) Eval(tm *parallel.Team, rows int, x, y, gamma, beta, runningMean, runningVar []T) {
	n.check(rows, x, y, gamma, beta)
	if len(runningMean) != n.cols || len(runningVar) != n.cols {
		panic("elementwise: BatchNorm: running statistics are not cols long")
	}
	n.do(tm, normJob[T]{pass: normEval, rows: rows, x: x, y: y, gamma: gamma, beta: beta,
		runMean: runningMean, runVar: runningVar})
}

// Backward turns dy (rows×cols), the gradient with respect to y, into the gradient with respect to x, in place, and sets dGamma and
// dBeta unless they are nil. x and y are those of the last Forward, unchanged; y is read only for the ReLU's mask. It panics if a
// length is wrong.
func (n *BatchNorm[T]) Backward(tm *parallel.Team, rows int, dy, y, x, gamma, dGamma, dBeta []T) {
	n.check(rows, x, y, gamma, gamma)
	if len(dy) != len(x) || (dGamma != nil && len(dGamma) != n.cols) || (dBeta != nil && len(dBeta) != n.cols) {
		panic("elementwise: BatchNorm: dy is not rows×cols, or dGamma or dBeta not cols long")
	}
	n.do(tm, normJob[T]{pass: normBackward, rows: rows, x: x, y: y, dy: dy, gamma: gamma,
		dGamma: dGamma, dBeta: dBeta})
}

// UpdateRunning moves running statistics towards those of the last Forward, which had the given
// rows: r = (1 − momentum)·r + momentum·batch, with the unbiased variance (divisor rows − 1), as
// PyTorch. Computed in float64, rounded once. rows must be at least 2.
func (n *BatchNorm[T]) UpdateRunning(rows int, momentum float64, mean, variance []T) {
	if rows < 2 || len(mean) != n.cols || len(variance) != n.cols {
		panic("elementwise: BatchNorm: UpdateRunning with fewer than 2 rows or wrong lengths")
	}
	unbias := float64(rows) / float64(rows-1)
	for j := range mean {
		b, i := &n.blocks[j/columnBlock], j%columnBlock
		mean[j] = T(float64((1-momentum)*float64(mean[j])) + float64(momentum*b.mean[i]))
		variance[j] = T(float64((1-momentum)*float64(variance[j])) + float64(momentum*unbias*b.variance[i]))
	}
}

func (n *BatchNorm[T]) check(rows int, x, y, gamma, beta []T) {
	if rows < 1 || len(x) != rows*n.cols || len(y) != len(x) {
		panic("elementwise: BatchNorm: x or y is not rows×cols")
	}
	if len(gamma) != n.cols || len(beta) != n.cols {
		panic("elementwise: BatchNorm: gamma or beta is not cols long")
	}
}

// block returns the columns of a block of a matrix.
func (j *normJob[T]) block(x []T, from, cols int) kernel.Matrix[T] {
	return kernel.Strided(j.rows, cols, j.norm.cols, x[from:])
}

func (j *normJob[T]) forward(b *normBlock[T], from, cols int) {
	x := j.block(j.x, from, cols)
	mean, variance := b.mean[:cols], b.variance[:cols]
	clear(mean)
	AddRows(x, mean)
	for i := range mean {
		mean[i] /= float64(j.rows)
	}
	clear(variance)
	addSquares(x, mean, variance)
	for i := range variance {
		variance[i] /= float64(j.rows)
	}
	for i := range mean {
		j.factors(b, i, from, mean[i], variance[i])
	}
	j.apply(b, from, cols)
}

func (j *normJob[T]) eval(b *normBlock[T], from, cols int) {
	for i := range cols {
		j.factors(b, i, from, float64(j.runMean[from+i]), float64(j.runVar[from+i]))
	}
	j.apply(b, from, cols)
}

// factors prepares column from+i for apply and Backward.
func (j *normJob[T]) factors(b *normBlock[T], i, from int, mean, variance float64) {
	b.invStd[i] = 1 / math.Sqrt(variance+j.norm.eps)
	b.hi[i] = T(mean)
	b.lo[i] = T(mean - float64(b.hi[i]))
	b.f1[i] = T(float64(j.gamma[from+i]) * b.invStd[i])
	b.f2[i] = j.beta[from+i]
}

// apply writes y = ((x − hi) − lo)·(γ·s) + β.
func (j *normJob[T]) apply(b *normBlock[T], from, cols int) {
	normalise(j.norm.relu, j.block(j.x, from, cols), j.block(j.y, from, cols), b.hi[:], b.lo[:], b.f1[:], b.f2[:])
}

// backward differentiates y = γ·x̂ + β through mean and var. With g = dy where y was not cut by
// the ReLU, and c = x − mean:
//
//	dβ = Σ g,  dγ = s·Σ g·c,  dx = γ·s·(g − Σg/rows − c·s²·Σ(g·c)/rows)
func (j *normJob[T]) backward(b *normBlock[T], from, cols int) {
	relu := j.norm.relu
	dy, y, x := j.block(j.dy, from, cols), j.block(j.y, from, cols), j.block(j.x, from, cols)
	sum, dot := b.sum[:cols], b.dot[:cols]
	clear(sum)
	clear(dot)
	gradientSums(relu, dy, y, x, b.hi[:], b.lo[:], sum, dot)
	for i := range sum {
		s := b.invStd[i]
		b.f1[i] = T(sum[i] / float64(j.rows))
		b.f2[i] = T(s * s * dot[i] / float64(j.rows))
		b.f3[i] = T(float64(j.gamma[from+i]) * s)
		if j.dBeta != nil {
			j.dBeta[from+i] = T(sum[i])
		}
		if j.dGamma != nil {
			j.dGamma[from+i] = T(s * dot[i])
		}
	}
	gradientInput(relu, dy, y, x, b.hi[:], b.lo[:], b.f1[:], b.f2[:], b.f3[:])
}
