package conv

import (
	"math"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/parallel"
)

// Norm2D normalises the channels of image tensors over batch and pixels (PyTorch's BatchNorm2d), fused with what
// follows it in a residual network:
//
//	y = γ·(x − mean)/√(var + eps) + β  [+ residual]  [, y = max(y, 0)]
//
// A channel is a contiguous run that one thread works on from its statistics to its output, so that all passes but
// the first find it in the cache; no sum is shared between threads. Statistics count the real lanes only, in float64;
// mean and variance come from one pass around the channel's first value a. Since (mean − a)² is at most N times the
// variance of the N values, the subtraction E[(x−a)²] − E[x−a]² costs at most log₂ N of the 53 bits. The centred
// value is (x − hi) − lo with hi + lo = mean, as in BatchNorm.
//
// It owns its statistics, so the passes allocate nothing; one goroutine uses it at a time.
type Norm2D[T kernel.Float] struct {
	eps   float64
	stats []normStats
	job   norm2dJob[T]
}

// normStats is what Forward leaves for UpdateRunning and Backward, and the sums of the current pass.
type normStats struct {
	mean, variance, invStd float64
	sums                   runSums
}

// norm2dJob is the current pass.
type norm2dJob[T kernel.Float] struct {
	norm          *Norm2D[T]
	backward      bool
	perPart       int // channels per part
	batch, pixels int
	relu          bool
	x, y          []T
	residual      []T
	dy, dx        []T
	gamma, beta   []T
	dGamma, dBeta []T
}

// NewNorm2D returns a Norm2D of the given channels.
func NewNorm2D[T kernel.Float](channels int, eps float64) *Norm2D[T] {
	return &Norm2D[T]{eps: eps, stats: make([]normStats, channels)}
}

// Forward sets y from x (both channels×pixels×Lanes(batch)) by the statistics of the batch. residual may be nil; y may
// be x or residual. It panics if a length is wrong.
func (n *Norm2D[T]) Forward(tm *parallel.Team, batch, pixels int, x, residual, y, gamma, beta []T, relu bool) {
	n.check(batch, pixels, x, y, gamma)
	if len(beta) != len(gamma) || (residual != nil && len(residual) != len(x)) {
		panic("conv: Norm2D: beta is not one per channel or residual has another shape")
	}
	n.do(tm, norm2dJob[T]{batch: batch, pixels: pixels, x: x, residual: residual, y: y, gamma: gamma, beta: beta, relu: relu})
}

// Backward differentiates the last Forward, whose x, gamma and beta must be unchanged: dy, the gradient with respect to y, becomes
// dx, and dGamma and dBeta are set unless nil. If y is nil, there was no residual, and the ReLU, if relu, is derived from x; dx may
// be dy. Otherwise the ReLU is read from y, and dy becomes the gradient with respect to the residual; dx must be separate memory.
// Padding lanes of dy must be 0; those of dx will be.
func (n *Norm2D[T]) Backward(tm *parallel.Team, batch, pixels int, dy, y, x, dx, gamma, beta, dGamma, dBeta []T, relu bool) {
	n.check(batch, pixels, x, dy, gamma)
	if len(dx) != len(x) || (y != nil && len(y) != len(x)) || len(beta) != len(gamma) {
		panic("conv: Norm2D: dx or y has another shape than x, or beta than gamma")
	}
	if (dGamma != nil && len(dGamma) != len(gamma)) || (dBeta != nil && len(dBeta) != len(gamma)) {
		panic("conv: Norm2D: dGamma or dBeta is not one per channel")
	}
	n.do(tm, norm2dJob[T]{backward: true, batch: batch, pixels: pixels, dy: dy, y: y, x: x, dx: dx, gamma: gamma, beta: beta,
		dGamma: dGamma, dBeta: dBeta, relu: relu})
}

// UpdateRunning moves running statistics towards those of the last Forward, which saw count values per channel:
// r = (1 − momentum)·r + momentum·batch, with the unbiased variance (divisor count − 1), as PyTorch. Computed in
// float64, rounded once. count must be at least 2.
func (n *Norm2D[T]) UpdateRunning(count int, momentum float64, mean, variance []T) {
	if count < 2 || len(mean) != len(n.stats) || len(variance) != len(n.stats) {
		panic("conv: Norm2D: UpdateRunning with fewer than 2 values or wrong lengths")
	}
	unbias := float64(count) / float64(count-1)
	for c, s := range n.stats {
		mean[c] = T(float64((1-momentum)*float64(mean[c])) + float64(momentum*s.mean))
		variance[c] = T(float64((1-momentum)*float64(variance[c])) + float64(momentum*unbias*s.variance))
	}
}

func (n *Norm2D[T]) check(batch, pixels int, x, y, gamma []T) {
	if batch < 1 || pixels < 1 || len(x) != len(n.stats)*pixels*Lanes(batch) || len(y) != len(x) {
		panic("conv: Norm2D: a tensor does not have channels×pixels×lanes elements")
	}
	if len(gamma) != len(n.stats) {
		panic("conv: Norm2D: gamma is not one per channel")
	}
}

// runBlock is the minimum number of elements in a part of a pass over channels: a hand-over costs as much as a few thousand.
const runBlock = 4 << 10

// channelsPerPart returns how many channels of the given length make a part.
func channelsPerPart(run int) int { return max(1, runBlock/run) }

func (n *Norm2D[T]) do(tm *parallel.Team, job norm2dJob[T]) {
	job.norm, job.perPart = n, channelsPerPart(job.pixels*Lanes(job.batch))
	n.job = job
	tm.Do(kernel.CeilDiv(len(n.stats), job.perPart), &n.job)
	n.job = norm2dJob[T]{}
}

// Run works on the channels of one part; the passes call it through the team.
func (j *norm2dJob[T]) Run(part int) {
	for c := part * j.perPart; c < min((part+1)*j.perPart, len(j.norm.stats)); c++ {
		if j.backward {
			j.gradient(c)
		} else {
			j.forward(c)
		}
	}
}

// rows returns the shape of a run: see norm2d_loops.go.
func (j *norm2dJob[T]) rows() (rows, n, real int) {
	lanes := Lanes(j.batch)
	if lanes == j.batch {
		return 1, j.pixels * lanes, LaneBlock
	}
	return j.pixels, lanes, LaneBlock - (lanes - j.batch)
}

// channel returns the run of channel c of t, nil if t is.
func (j *norm2dJob[T]) channel(t []T, c int) []T {
	if t == nil {
		return nil
	}
	run := j.pixels * Lanes(j.batch)
	return t[c*run : (c+1)*run]
}

func (j *norm2dJob[T]) forward(c int) {
	x := j.channel(j.x, c)
	rows, n, real := j.rows()
	s := &j.norm.stats[c]
	s.sums = runSums{}
	around := float64(x[0])
	runMoments(rows, n, real, x, around, &s.sums)
	count := float64(j.batch * j.pixels)
	first, second := s.sums.total()
	first, second = first/count, second/count
	s.mean, s.variance = around+first, max(0, second-float64(first*first))
	s.invStd = 1 / math.Sqrt(s.variance+j.norm.eps)
	k := j.constants(c)
	runNormalise(x, j.channel(j.residual, c), j.channel(j.y, c), &k, j.relu)
}

// constants returns the factors of y = ((x − hi) − lo)·(γ·s) + β.
func (j *norm2dJob[T]) constants(c int) normConstants[T] {
	s := &j.norm.stats[c]
	k := normConstants[T]{hi: T(s.mean), scale: T(float64(j.gamma[c]) * s.invStd), shift: j.beta[c]}
	k.lo = T(s.mean - float64(k.hi))
	return k
}

// gradient differentiates y = γ·x̂ + β through mean and var as BatchNorm's backward does. With g = dy where y was not
// cut by the ReLU, d = x − mean, N values and s = 1/√(var + eps):
//
//	dβ = Σ g,  dγ = s·Σ g·d,  dx = γ·s·(g − Σg/N − d·s²·Σ(g·d)/N)
func (j *norm2dJob[T]) gradient(c int) {
	dy, x := j.channel(j.dy, c), j.channel(j.x, c)
	rows, n, real := j.rows()
	k, s := j.constants(c), &j.norm.stats[c]
	mask := maskNone
	switch {
	case j.y != nil && j.relu:
		mask = maskCut
	case j.relu:
		mask = maskOwn
	}
	s.sums = runSums{}
	runGradientSums(mask, dy, j.channel(j.y, c), x, &k, &s.sums)
	sum, dot := s.sums.total()
	count := float64(j.batch * j.pixels)
	k.k1, k.k2, k.k3 = T(sum/count), T(s.invStd*s.invStd*dot/count), k.scale
	if j.dBeta != nil {
		j.dBeta[c] = T(sum)
	}
	if j.dGamma != nil {
		j.dGamma[c] = T(s.invStd * dot)
	}
	if mask == maskCut {
		mask = maskNone // dy has been cut
	}
	runGradientInput(mask, rows, n, real, dy, x, j.channel(j.dx, c), &k)
}
