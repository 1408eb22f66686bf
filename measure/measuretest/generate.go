package measuretest

import (
	"math"
	"math/rand/v2"
)

// Limits of random sets.
const (
	mostClasses = 60
	mostWidth   = 200
	mostWork    = 3e7 // double-double operations of an evaluation, about
)

// Random returns the set with the given index: log-uniform sizes, classes of one sample or more, and in some of the sets heavy
// coordinates, offsets, scales, rotations, dependent means and collapsed classes. The same index gives the same set.
func Random(index int) *Set {
	g := &generator{Rand: rand.New(rand.NewPCG(uint64(index), 0x0c0117a95e))}
	k, d := g.whole(2, mostClasses), g.whole(1, mostWidth)
	return g.set(k, d, mostWork)
}

// Small is like Random with fewer classes, coordinates and samples: two dozen are evaluated in the time of one of the larger ones.
func Small(index int) *Set {
	g := &generator{Rand: rand.New(rand.NewPCG(uint64(index), 0x5a11))}
	k, d := g.whole(2, mostClasses/3), g.whole(1, mostWidth/5)
	return g.set(k, d, mostWork/50)
}

// Wide returns a set with about 200 classes of width 200, for which large products are used; otherwise it is like Random. Its
// evaluation takes seconds.
func Wide(index int) *Set {
	g := &generator{Rand: rand.New(rand.NewPCG(uint64(index), 0x31de))}
	return g.set(180+g.IntN(40), 200, 20*mostWork)
}

// Long is like Wide with about 60 classes of width 600 and fewer samples: large products too, evaluated in a tenth of the time.
func Long(index int) *Set {
	g := &generator{Rand: rand.New(rand.NewPCG(uint64(index), 0x10f6))}
	return g.set(56+g.IntN(8), 600, 2*mostWork)
}

// set draws a set whose evaluation takes at most the given work.
func (g *generator) set(k, d int, work float64) *Set {
	g.k, g.d = k, d
	g.traits = Traits{Heavy: 1, Dependence: 1, Scale: 1, Spread: g.power(-6, 1)}
	g.drawMeans()
	g.drawCoordinates()
	s := &Set{D: d, PerClass: g.chance(.3), Float32: g.chance(.4)}
	s.Train = g.split(g.counts(work), k)
	if g.chance(.4) {
		g.addTest(s, work/4)
	}
	if g.chance(.4) {
		s.OOD = g.outside(1 + g.IntN(20))
	}
	g.finish(s)
	if g.chance(.75) {
		g.classifier(s)
	}
	s.Traits = g.traits
	return s
}

type generator struct {
	*rand.Rand
	k, d    int
	means   []float64 // (K×d)
	factor  []float64 // (d) of each coordinate
	noise   []float64 // (d) of each coordinate's spread
	offset  []float64 // (d)
	mirrors [][]float64
	traits  Traits
}

func (g *generator) chance(p float64) bool { return g.Float64() < p }

// power is 10^u, u uniform in [from, to).
func (g *generator) power(from, to float64) float64 {
	return math.Pow(10, from+(to-from)*g.Float64())
}

// whole is log-uniform in [from, to].
func (g *generator) whole(from, to int) int {
	x := math.Exp(math.Log(float64(from)) + g.Float64()*math.Log(float64(to+1)/float64(from)))
	return min(to, max(from, int(x)))
}

func (g *generator) normal(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = g.NormFloat64()
	}
	return x
}

// drawMeans draws class means about √2 apart.
func (g *generator) drawMeans() {
	k, d, full := g.k, g.d, min(g.d, g.k-1)
	g.means = g.normal(k * d)
	unit := 1 / math.Sqrt(float64(d))
	for i := range g.means {
		g.means[i] *= unit
	}
	g.traits.Kind = "normal"
	switch u := g.Float64(); {
	case u < .3 && full > 1: // nearly dependent: a subspace and a small part outside it
		g.traits.Kind, g.traits.Dependence = "dependent", g.power(-14, -1)
		rank := 1 + g.IntN(full-1)
		basis, part := g.normal(rank*d), g.normal(k*rank)
		for i := range g.means {
			x := 0.0
			for j := range rank {
				x += part[i/d*rank+j] * basis[j*d+i%d]
			}
			g.means[i] = x*unit/math.Sqrt(float64(rank)) + g.traits.Dependence*g.means[i]
		}
	case u < .5 && d >= k: // near a simplex ETF
		g.traits.Kind = "simplex"
		away := g.power(-6, -.5)
		for i := range g.means {
			g.means[i] *= away
			if i/d == i%d {
				g.means[i]++
			}
		}
	case u < .6: // non-negative
		g.traits.Kind = "non-negative"
		for i, x := range g.means {
			g.means[i] = max(x, 0)
		}
	case u < .7 && full > 2: // two classes close together
		g.traits.Kind = "close pair"
		away := g.power(-8, -1)
		for j := range d {
			g.means[j] = g.means[d+j] + away*g.means[j]
		}
	}
}

// drawCoordinates draws what is done to all samples.
func (g *generator) drawCoordinates() {
	g.factor, g.noise, g.offset = make([]float64, g.d), make([]float64, g.d), make([]float64, g.d)
	silent := g.chance(.2) // most coordinates have a tenth of the spread
	for j := range g.factor {
		g.factor[j], g.noise[j] = 1, g.traits.Spread/math.Sqrt(float64(g.d))
		if silent && j%4 > 0 {
			g.noise[j] /= 10
		}
	}
	if g.chance(.4) {
		for range g.whole(1, max(1, g.d/4)) {
			f := g.power(0, 6)
			g.factor[g.IntN(g.d)] = f
			g.traits.Heavy = max(g.traits.Heavy, f)
		}
	}
	if g.chance(.45) {
		g.traits.Offset = g.power(-2, 6)
		for j, x := range g.normal(g.d) {
			g.offset[j] = g.traits.Offset * x / math.Sqrt(float64(g.d))
		}
	}
	if g.chance(.5) {
		g.traits.Rotated = true
		for range 3 {
			g.mirrors = append(g.mirrors, g.normal(g.d))
		}
	}
	if g.chance(.5) {
		g.traits.Scale = g.power(-12, 12)
	}
}

// counts draws samples per class, as many as work allows.
func (g *generator) counts(work float64) []int {
	base, uneven := g.power(0, 2.7), 0.0
	if g.chance(.5) {
		uneven = 1.2 * g.Float64()
	}
	count := make([]int, g.k)
	for {
		for c := range count {
			count[c] = max(1, int(base*math.Exp(uneven*g.NormFloat64())))
		}
		if base < 1 || g.work(count) < work {
			return count
		}
		base *= .7
	}
}

// work estimates the operations of an evaluation.
func (g *generator) work(count []int) float64 {
	n, d, k := 0.0, float64(g.d), float64(g.k)
	sum := 20 * min(d, k) * min(d, k) * max(d, k) / 2
	for _, m := range count {
		n += float64(m)
		small, large := min(float64(m), d), max(float64(m), d)
		sum += 20 * small * small * large / 2
	}
	return sum + n*d*(4*k+min(k, d))
}

// split draws samples of classes, in random order.
func (g *generator) split(count []int, k int) Split {
	s := Split{K: k}
	for c, n := range count[:k] {
		for range n {
			s.Labels = append(s.Labels, int32(c))
		}
	}
	g.Shuffle(len(s.Labels), func(i, j int) { s.Labels[i], s.Labels[j] = s.Labels[j], s.Labels[i] })
	for _, c := range s.Labels {
		s.H = append(s.H, g.sample(g.means[int(c)*g.d:][:g.d])...)
	}
	return s
}

// sample draws a feature row around a mean.
func (g *generator) sample(mean []float64) []float64 {
	h := g.normal(g.d)
	for j, x := range h {
		h[j] = (mean[j]+g.noise[j]*x)*g.factor[j] + g.offset[j]
	}
	for _, v := range g.mirrors {
		reflect(h, v)
	}
	for j := range h {
		h[j] *= g.traits.Scale
	}
	return h
}

// reflect replaces h by (I − 2vvᵀ/‖v‖²)h.
func reflect(h, v []float64) {
	product, square := 0.0, 0.0
	for j, x := range v {
		product, square = product+x*h[j], square+x*x
	}
	for j, x := range v {
		h[j] -= 2 * product / square * x
	}
}

// addTest adds test samples, true labels and, in half of the sets, a mask of redrawn samples.
func (g *generator) addTest(s *Set, work float64) {
	k := g.k
	if g.chance(.2) {
		k = 1 + g.IntN(g.k) // the other classes are latent
	}
	test := g.split(g.counts(work), k)
	s.Test = &test
	s.True = make([]int32, len(s.Train.Labels))
	masked, rate := g.chance(.5), .3*g.Float64()
	if masked {
		s.Redrawn = make([]bool, len(s.True))
	}
	for i, c := range s.Train.Labels {
		s.True[i] = c
		if redrawn := g.chance(rate); redrawn || int(c) >= k {
			s.True[i] = int32(g.IntN(k))
			if masked {
				s.Redrawn[i] = redrawn
			}
		}
	}
}

// outside draws out-of-distribution features.
func (g *generator) outside(n int) []float64 {
	var h []float64
	mean := g.normal(g.d)
	for j := range mean {
		mean[j] /= math.Sqrt(float64(g.d))
	}
	for range n {
		h = append(h, g.sample(mean)...)
	}
	return h
}

// finish rounds the features to the type they are measured in.
func (g *generator) finish(s *Set) {
	if !s.Float32 {
		return
	}
	round := func(h []float64) {
		for i, x := range h {
			h[i] = float64(float32(x))
		}
	}
	round(s.Train.H)
	round(s.OOD)
	if s.Test != nil {
		round(s.Test.H)
	}
}
