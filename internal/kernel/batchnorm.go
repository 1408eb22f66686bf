package kernel

import "math"

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
type BatchNorm[T Float] struct {
	cols int
	eps  float64
	relu bool

	mean, variance, invStd []float64 // of the last Forward
	hi, lo                 []T       // its mean, split
	sum, dot               []float64 // accumulators of Backward

	// Per column factors of the pass under way: f1 = γ·s, or k1, k2 and k3 of gradientInput.
	f1, f2, f3 []T

	job normJob[T]
}

// normJob is the pass under way, run by the team column block by column block.
type normJob[T Float] struct {
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
func NewBatchNorm[T Float](cols int, eps float64, relu bool) *BatchNorm[T] {
	n := &BatchNorm[T]{
		cols: cols, eps: eps, relu: relu,
		mean: make([]float64, cols), variance: make([]float64, cols), invStd: make([]float64, cols),
		hi: make([]T, cols), lo: make([]T, cols),
		sum: make([]float64, cols), dot: make([]float64, cols),
		f1: make([]T, cols), f2: make([]T, cols), f3: make([]T, cols),
	}
	n.job.norm = n
	return n
}

// Run works on one block of columns; the passes call it through the team.
func (j *normJob[T]) Run(part int) {
	from, to := columnRange(part, j.norm.cols)
	switch j.pass {
	case normForward:
		j.norm.forward(from, to)
	case normEval:
		j.norm.eval(from, to)
	case normBackward:
		j.norm.backward(from, to)
	}
}

func (n *BatchNorm[T]) do(tm *Team, job normJob[T]) {
	n.job = job
	n.job.norm = n
	tm.Do(columnBlocks(n.cols), &n.job)
	n.job = normJob[T]{norm: n}
}

// Forward sets y from x (both rows×cols) by the statistics of the batch and keeps them for
// UpdateRunning and Backward. x and y must not overlap. It panics if a length is wrong or rows
// is below 1.
func (n *BatchNorm[T]) Forward(tm *Team, rows int, x, y, gamma, beta []T) {
	n.check(rows, x, y, gamma, beta)
	n.do(tm, normJob[T]{pass: normForward, rows: rows, x: x, y: y, gamma: gamma, beta: beta})
}

// Eval sets y from x as Forward does, but by the given running mean and variance. It replaces what
// Backward needs, so a Backward must come before it or not at all.
func (n *BatchNorm[T]) Eval(tm *Team, rows int, x, y, gamma, beta, runningMean, runningVar []T) {
	n.check(rows, x, y, gamma, beta)
	if len(runningMean) != n.cols || len(runningVar) != n.cols {
		panic("kernel: BatchNorm: running statistics are not cols long")
	}
	n.do(tm, normJob[T]{pass: normEval, rows: rows, x: x, y: y, gamma: gamma, beta: beta,
		runMean: runningMean, runVar: runningVar})
}

// Backward turns dy (rows×cols), the gradient with respect to y, into the gradient with respect
// to x, in place, and sets dGamma and dBeta; a nil one is not wanted. x and y are those of the
// last Forward, unchanged; y is read only for the ReLU's mask. It panics if a length is wrong.
func (n *BatchNorm[T]) Backward(tm *Team, rows int, dy, y, x, gamma, dGamma, dBeta []T) {
	n.check(rows, x, y, gamma, gamma)
	if len(dy) != len(x) || (dGamma != nil && len(dGamma) != n.cols) || (dBeta != nil && len(dBeta) != n.cols) {
		panic("kernel: BatchNorm: dy is not rows×cols, or dGamma or dBeta not cols long")
	}
	n.do(tm, normJob[T]{pass: normBackward, rows: rows, x: x, y: y, dy: dy, gamma: gamma,
		dGamma: dGamma, dBeta: dBeta})
}

// UpdateRunning moves running statistics towards those of the last Forward, which had the given
// rows: r = (1 − momentum)·r + momentum·batch, with the unbiased variance (divisor rows − 1), as
// PyTorch. Computed in float64, rounded once. rows must be at least 2.
func (n *BatchNorm[T]) UpdateRunning(rows int, momentum float64, mean, variance []T) {
	if rows < 2 || len(mean) != n.cols || len(variance) != n.cols {
		panic("kernel: BatchNorm: UpdateRunning with fewer than 2 rows or wrong lengths")
	}
	unbias := float64(rows) / float64(rows-1)
	for j := range mean {
		mean[j] = T(float64((1-momentum)*float64(mean[j])) + momentum*n.mean[j])
		variance[j] = T(float64((1-momentum)*float64(variance[j])) + float64(momentum*unbias)*n.variance[j])
	}
}

func (n *BatchNorm[T]) check(rows int, x, y, gamma, beta []T) {
	if rows < 1 || len(x) != rows*n.cols || len(y) != len(x) {
		panic("kernel: BatchNorm: x or y is not rows×cols")
	}
	if len(gamma) != n.cols || len(beta) != n.cols {
		panic("kernel: BatchNorm: gamma or beta is not cols long")
	}
}

func (n *BatchNorm[T]) forward(from, to int) {
	j, cols := &n.job, to-from
	x := j.x[from:]
	mean, variance := n.mean[from:to], n.variance[from:to]

	clear(mean)
	addRows(j.rows, cols, n.cols, x, mean)
	for i := range mean {
		mean[i] /= float64(j.rows)
	}
	clear(variance)
	addSquares(j.rows, cols, n.cols, x, mean, variance)
	for i := range variance {
		variance[i] /= float64(j.rows)
	}
	for i := from; i < to; i++ {
		n.factors(i, n.mean[i], n.variance[i])
	}
	n.apply(from, to)
}

func (n *BatchNorm[T]) eval(from, to int) {
	j := &n.job
	for i := from; i < to; i++ {
		n.factors(i, float64(j.runMean[i]), float64(j.runVar[i]))
	}
	n.apply(from, to)
}

// factors prepares column i for apply and Backward.
func (n *BatchNorm[T]) factors(i int, mean, variance float64) {
	n.invStd[i] = 1 / math.Sqrt(variance+n.eps)
	n.hi[i] = T(mean)
	n.lo[i] = T(mean - float64(n.hi[i]))
	n.f1[i] = T(float64(n.job.gamma[i]) * n.invStd[i])
}

// apply writes y = ((x − hi) − lo)·(γ·s) + β.
func (n *BatchNorm[T]) apply(from, to int) {
	j := &n.job
	normalise(j.rows, to-from, n.cols, n.relu, j.x[from:], j.y[from:], n.hi[from:], n.lo[from:], n.f1[from:], j.beta[from:])
}

// backward differentiates y = γ·x̂ + β through mean and var. With g = dy where y was not cut by
// the ReLU, and c = x − mean:
//
//	dβ = Σ g,  dγ = s·Σ g·c,  dx = γ·s·(g − Σg/rows − c·s²·Σ(g·c)/rows)
func (n *BatchNorm[T]) backward(from, to int) {
	j, cols := &n.job, to-from
	dy, y, x := j.dy[from:], j.y[from:], j.x[from:]
	hi, lo := n.hi[from:], n.lo[from:]
	sum, dot := n.sum[from:to], n.dot[from:to]

	clear(sum)
	clear(dot)
	gradientSums(j.rows, cols, n.cols, n.relu, dy, y, x, hi, lo, sum, dot)
	for i := range sum {
		s := n.invStd[from+i]
		n.f1[from+i] = T(sum[i] / float64(j.rows))
		n.f2[from+i] = T(s * s * dot[i] / float64(j.rows))
		n.f3[from+i] = T(float64(j.gamma[from+i]) * s)
		if j.dBeta != nil {
			j.dBeta[from+i] = T(sum[i])
		}
		if j.dGamma != nil {
			j.dGamma[from+i] = T(s * dot[i])
		}
	}
	gradientInput(j.rows, cols, n.cols, n.relu, dy, y, x, hi, lo, n.f1[from:], n.f2[from:], n.f3[from:])
}
