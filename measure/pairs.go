package measure

import (
	"math"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
	"collapse.example/collapse/internal/kernel/rows"
	"collapse.example/collapse/parallel"
)

// pairs holds results over all pairs of class means, found in one sweep over the lower triangle of the Gram
// matrix of the centred means c_k, a stripe of rows at a time, so that memory stays O(K·d).
type pairs struct {
	inverse []float64 // (K) Σ_{j≠k} 1/‖μ_k − μ_j‖²
	nearest []float64 // (K) min_{j≠k} ‖μ_k − μ_j‖²; during the sweep, max of the inverses
	closest []float64 // (K) min over j<i of ‖ĉ_i − ĉ_j‖
	pairSums

	k, d     int
	means    []float64 // (K×d)
	centred  []float64 // (K×d)
	square   []float64 // (K) ‖c_k‖²
	length   []float64 // (K) ‖c_k‖
	unit     []float64 // (K) 1/‖c_k‖
	shift    []float64 // (K) c_k·h_G + ‖h_G‖²/2: μ_i·μ_j = c_i·c_j + shift_i + shift_j
	whole    []float64 // (K) ‖μ_k‖
	wholeOne []float64 // (K) 1/‖μ_k‖
	tile     []float64 // rows [from, to) of the Gram matrix, then of inverse squared distances
	from, to int
	rows     []pairSums // of the stripe
	scratch  []float64  // two rows of K for each part
	apart    []float64  // (K(K−1)/2) ‖ĉ_i − ĉ_j‖², of up to fewClasses classes

	swept   bool // the results below are of these means
	sampled bool // only a sample of the pairs is used (pairsample.go)
	sample  pairSample
}

// pairSums are sums over pairs of classes.
type pairSums struct {
	deviation float64 // Σ |cos(c_i, c_j) + 1/(K−1)|
	largest   float64 // max of the same
	maxCos    float64 // max |cos(μ_i, μ_j)|
	distance  spread  // of δ_ij = ‖ĉ_i − ĉ_j‖, the unit vectors' distance
	log       spread  // of log δ_ij
	riesz     spread  // of δ_ij^−(d−2), scaled; for more than fewClasses classes
	angles    angleSums
}

// spread is a number of values with their mean and Σ (x − mean)², all scaled by e^−top and its square.
type spread struct{ n, mean, m2, top float64 }

// merge adds the values of o (Chan, Golub & LeVeque 1979).
func (s *spread) merge(o spread) {
	if o.n == 0 {
		return
	}
	if s.n == 0 {
		*s = o
		return
	}
	top := max(s.top, o.top)
	s.scale(top)
	o.scale(top)
	n, delta := s.n+o.n, o.mean-s.mean
	s.m2 += o.m2 + delta*delta*s.n*o.n/n
	s.mean += delta * o.n / n
	s.n = n
}

// scale changes the scale to e^−top.
func (s *spread) scale(top float64) {
	if s.top != top {
		f := rows.Exp(s.top - top)
		s.mean, s.m2, s.top = s.mean*f, s.m2*f*f, top
	}
}

// spreadOf returns the spread of x.
func spreadOf(x []float64) spread {
	if len(x) == 0 {
		return spread{}
	}
	s := spread{n: float64(len(x)), mean: x[0]}
	sum, _ := rows.SumsAbout(x, s.mean)
	s.mean += sum / s.n
	_, s.m2 = rows.SumsAbout(x, s.mean)
	return s
}

const (
	pairRows = 4 // of a part
	// fewClasses is the number of classes up to which distances come from differences of vectors; beyond it they
	// come from the Gram matrix, unless that would lose digits.
	fewClasses = 64
	cancelled  = 1e-3
)

// sweep fills p from the class means (K×d), uncentred and centred.
func (p *pairs) sweep(team *parallel.Team, means, centred, centre []float64, k, d int) {
	p.k, p.d, p.means, p.centred, p.swept = k, d, means, centred, true
	p.prepare(centre)
	if p.sampled {
		p.look(team)
		return
	}
	stripe := max(1, min(k, tileElements/k))
	p.tile, p.rows = grow(p.tile, stripe*k), grow(p.rows, stripe)
	p.scratch = grow(p.scratch, (stripe+pairRows-1)/pairRows*2*k)
	for p.from = 0; p.from < k; p.from = p.to {
		p.to = min(p.from+stripe, k)
		gemm.Multiply(team, gemm.NT, kernel.Dense(p.to-p.from, d, centred[p.from*d:]), kernel.Dense(p.to, d, centred), kernel.Strided(p.to-p.from, p.to, k, p.tile), gemm.Epilogue[float64]{})
		team.Do((p.to-p.from+pairRows-1)/pairRows, pairRowTask{p})
		team.Do((p.to+stripColumns-1)/stripColumns, pairColumnTask{p})
		for i := range p.to - p.from {
			p.add(&p.rows[i])
		}
	}
	for c, most := range p.nearest {
		p.nearest[c] = 1 / most
	}
}

// prepare fills the vectors over classes.
func (p *pairs) prepare(centre []float64) {
	k, d := p.k, p.d
	for _, x := range []*[]float64{&p.inverse, &p.nearest, &p.closest, &p.square, &p.length, &p.unit, &p.shift, &p.whole, &p.wholeOne} {
		*x = grow(*x, k)
	}
	if k <= fewClasses {
		p.apart = grow(p.apart, at(k))
	}
	p.pairSums = pairSums{}
	half := dot(centre, centre) / 2
	for i := range k {
		c := p.centred[i*d:][:d]
		p.inverse[i], p.nearest[i] = 0, 0
		p.square[i] = dot(c, c)
		p.length[i] = math.Sqrt(p.square[i])
		p.shift[i] = dot(c, centre) + half
		p.whole[i] = math.Sqrt(dot(p.means[i*d:][:d], p.means[i*d:][:d]))
		p.unit[i], p.wholeOne[i] = 1/p.length[i], 1/p.whole[i]
	}
}

// add adds the sums of a row.
func (p *pairs) add(o *pairSums) {
	p.deviation += o.deviation
	p.largest = max(p.largest, o.largest)
	p.maxCos = max(p.maxCos, o.maxCos)
	p.distance.merge(o.distance)
	p.log.merge(o.log)
	p.riesz.merge(o.riesz)
	p.angles.merge(o.angles)
}

// pairRowTask handles rows of the stripe: pairs (i, j < i).
type pairRowTask struct{ *pairs }

func (t pairRowTask) Run(part int) {
	scratch := t.scratch[part*2*t.k:]
	for i := t.from + part*pairRows; i < min(t.from+(part+1)*pairRows, t.to); i++ {
		t.row(i, scratch[:i], scratch[t.k:][:i])
	}
}

// row sums over j < i and turns the tile's row into inverse squared distances; distances and logs are scratch memory.
func (p *pairs) row(i int, distances, logs []float64) {
	tile := p.tile[(i-p.from)*p.k:][:i]
	w := rows.GramRow{Unit: p.unit, Whole: p.wholeOne, Shift: p.shift, Square: p.square, Distance: distances, Inverse: logs}
	own := rows.GramVector{Unit: p.unit[i], Whole: p.wholeOne[i], Shift: p.shift[i], Square: p.square[i]}
	if p.k <= fewClasses || !w.Walk(tile, own, 1/float64(p.k-1), cancelled) {
		p.one(&w, i, tile)
	}
	copy(tile, w.Inverse)
	p.inverse[i], p.nearest[i] = w.InverseSum, w.MostInverse
	rows.Logs(logs, distances)
	sums := pairSums{deviation: w.Away, largest: w.MostAway, maxCos: w.MostCosine, distance: spreadOf(distances), log: spreadOf(logs)}
	if p.k > fewClasses {
		sums.riesz = rieszSpread(logs, p.d)
	}
	sums.angles, p.closest[i] = anglesOf(distances, logs)
	p.rows[i-p.from] = sums
}

// one is Walk pair by pair, with differences of vectors if squares would cancel.
func (p *pairs) one(w *rows.GramRow, i int, tile []float64) {
	w.Away, w.MostAway, w.MostCosine, w.InverseSum, w.MostInverse = 0, 0, 0, 0, 0
	for j, g := range tile {
		cos := g * (p.unit[i] * p.unit[j])
		away := math.Abs(cos + 1/float64(p.k-1))
		w.Away += away
		w.MostAway = max(w.MostAway, away)
		whole := g + p.shift[i] + p.shift[j]
		if p.k <= fewClasses { // if the centre is far larger than the mean, the sum cancels
			whole = dot(p.means[i*p.d:][:p.d], p.means[j*p.d:][:p.d])
		}
		w.MostCosine = max(w.MostCosine, math.Abs(whole)*(p.wholeOne[i]*p.wholeOne[j]))
		square := p.apart2(i, j, cos)
		if p.k <= fewClasses {
			p.apart[at(i)+j] = square
		}
		w.Distance[j] = math.Sqrt(square)
		w.Inverse[j] = 1 / p.distance2(i, j, g)
		w.InverseSum += w.Inverse[j]
		w.MostInverse = max(w.MostInverse, w.Inverse[j])
	}
}

// distance2 returns ‖μ_i − μ_j‖², g = c_i·c_j.
func (p *pairs) distance2(i, j int, g float64) float64 {
	both := p.square[i] + p.square[j]
	square := both - 2*g
	if p.k <= fewClasses || !(square > cancelled*both) {
		return distance2(p.means[i*p.d:][:p.d], p.means[j*p.d:][:p.d]) // not from centred means, which have one more rounding
	}
	return square
}

// apart2 returns ‖ĉ_i − ĉ_j‖².
func (p *pairs) apart2(i, j int, cos float64) float64 {
	square := 2 - 2*cos
	if p.k <= fewClasses || !(square > cancelled) {
		square = 0
		a, b := p.centred[i*p.d:][:p.d], p.centred[j*p.d:][:p.d]
		u, v := p.unit[i], p.unit[j]
		for q, x := range a {
			x = float64(x*u) - float64(b[q]*v)
			square += x * x
		}
	}
	return square
}

// rieszVariance returns the variance of the kernel δ^−(d−2) over its squared mean.
func (p *pairs) rieszVariance() float64 {
	if p.k <= fewClasses {
		return p.rieszFew()
	}
	return p.riesz.m2 / p.riesz.n / (p.riesz.mean * p.riesz.mean)
}

// rieszSpread returns the spread of δ^−(d−2) over the logs of δ, which it overwrites.
func rieszSpread(logs []float64, d int) spread {
	if len(logs) == 0 {
		return spread{}
	}
	least, power := math.Inf(1), float64(d-2)
	for _, x := range logs {
		if x < least {
			least = x
		}
	}
	for j, x := range logs {
		logs[j] = power * (least - x)
	}
	rows.Exps(logs, logs)
	sum, _ := rows.SumsAbout(logs, 0) // not about the first, which may be 1 when the mean is 1/n
	s := spread{n: float64(len(logs)), mean: sum / float64(len(logs)), top: -power * least}
	_, s.m2 = rows.SumsAbout(logs, s.mean)
	return s
}

// pairColumnTask adds the stripe's pairs to their lower class, one strip of columns per task.
type pairColumnTask struct{ *pairs }

func (t pairColumnTask) Run(strip int) {
	from, to := strip*stripColumns, min((strip+1)*stripColumns, t.to)
	for i := max(t.from, from+1); i < t.to; i++ {
		for j, inverse := range t.tile[(i-t.from)*t.k:][from:min(to, i)] {
			t.inverse[from+j] += inverse
			t.nearest[from+j] = max(t.nearest[from+j], inverse)
		}
	}
}

// classPairs sweeps over the pairs of train classes if a measure or the pruning of products needs it, or if it is cheap: facts use it.
func (e *Engine[T]) classPairs() {
	s := &e.train
	e.pairs.swept = false
	if s.k < 2 {
		return
	}
	cheap := !e.opt.again && pairsWork(s.k, s.d) <= cheapPairsWork
	if cheap || e.want.any(meanPairKeys...) {
		e.pairs.sweep(e.opt.Team, s.means, s.centred, s.centre, s.k, s.d)
	}
}
