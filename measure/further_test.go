package measure

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/parallel"
)

// furtherInput is what the measures beside those of naive are compared on, as their papers write them.
type furtherInput struct {
	in           Input[float64]
	h, test, ood []float64
	yTest        []int32
	k, d         int
}

// drawFurther draws k classes with unequal counts, a classifier near the means, test samples and unknown ones.
func drawFurther(n, d, k int, seed uint64) furtherInput {
	rng := rand.New(rand.NewPCG(seed, 99))
	f := furtherInput{k: k, d: d}
	means := make([]float64, k*d)
	for i := range means {
		means[i] = 2 * rng.NormFloat64()
	}
	draw := func(n int) (h []float64, y []int32) {
		for i := range n {
			c := min(rng.IntN(k), rng.IntN(k))
			if i < k {
				c = i
			}
			y = append(y, int32(c))
			for j := range d {
				h = append(h, 3+means[c*d+j]+rng.NormFloat64()*(.5+float64(j%3)))
			}
		}
		return h, y
	}
	var y []int32
	f.h, y = draw(n)
	f.test, f.yTest = draw(n / 2)
	for range n / 3 * d {
		f.ood = append(f.ood, 2+2.5*rng.NormFloat64())
	}
	w, b := make([]float64, k*d), make([]float64, k)
	for i := range w {
		w[i] = means[i] + .3*rng.NormFloat64()
	}
	for i := range b {
		b[i] = rng.NormFloat64()
	}
	f.in = Input[float64]{Classes: k, W: w, B: b, Train: Memory(f.h, d, y), Test: Memory(f.test, d, f.yTest), OOD: &Rows[float64]{H: f.ood, D: d}}
	return f
}

func rowsOf(h []float64, d int) (rows [][]float64) {
	for i := 0; i < len(h); i += d {
		rows = append(rows, h[i:][:d])
	}
	return rows
}

func deviation(x []float64) float64 {
	mean, sum := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sum += (v - mean) * (v - mean) / float64(len(x))
	}
	return math.Sqrt(sum)
}

// pairCosines returns the cosines of all pairs of rows.
func pairCosines(rows [][]float64) (out []float64) {
	for i := range rows {
		for j := range i {
			out = append(out, cosine(rows[i], rows[j]))
		}
	}
	return out
}

func largestAbs(x []float64) float64 {
	most := 0.0
	for _, v := range x {
		most = max(most, math.Abs(v))
	}
	return most
}

// unitDifference is ‖U(a) − U(b)‖ of matrices given as rows.
func unitDifference(a, b *mat.Dense) float64 {
	var x, y mat.Dense
	x.Scale(1/mat.Norm(a, 2), a)
	y.Scale(1/mat.Norm(b, 2), b)
	x.Sub(&x, &y)
	return mat.Norm(&x, 2)
}

func (f *furtherInput) want(im Imbalance) map[string]float64 {
	n := newNaive(f.h, f.d, f.in.Train.Labels, f.k, im)
	out := map[string]float64{}
	var centred [][]float64
	variance := make([]float64, f.k)
	for c := range f.k {
		centred = append(centred, minus(n.mean[c], n.centre))
	}
	for i, c := range n.labels {
		r := minus(n.h[i], n.mean[c])
		variance[c] += plainDot(r, r) / n.count[c]
	}
	f.wantAngles(out, centred)
	var pairs []float64
	for i := range f.k {
		for j := range i {
			r := minus(n.mean[i], n.mean[j])
			pairs = append(pairs, (variance[i]+variance[j])/2/plainDot(r, r))
		}
	}
	out[KeyCDNVStd], out[KeyCDNVMax] = deviation(pairs), largestAbs(pairs)
	least := n.count[0]
	for _, c := range n.count {
		least = min(least, c)
	}
	out[KeyMinClassCount] = least
	f.wantTest(out, n)
	f.wantCloud(out, n)
	return out
}

func (f *furtherInput) wantAngles(out map[string]float64, centred [][]float64) {
	w := rowsOf(f.in.W, f.d)
	norms := make([]float64, f.k)
	mean, sum := make([]float64, f.d), 0.0
	for i, row := range w {
		norms[i] = math.Sqrt(plainDot(row, row))
		sum += norms[i] / float64(f.k)
		for j, x := range row {
			mean[j] += x / float64(f.k)
		}
	}
	cw, cm := pairCosines(w), pairCosines(centred)
	away := 0.0
	for _, c := range cw {
		away += math.Abs(c+1/float64(f.k-1)) / float64(len(cw))
	}
	out[KeyNC2WNormCV], out[KeyNC2WCosDeviation], out[KeyNC2WCosStd], out[KeyNC2WCoherence] = deviation(norms)/sum, away, deviation(cw), largestAbs(cw)
	out[KeyNC2CosStd], out[KeyNC2Coherence] = deviation(cm), largestAbs(cm)
	wc, hc, wAll := mat.NewDense(f.k, f.d, nil), mat.NewDense(f.k, f.d, nil), mat.NewDense(f.k, f.d, f.in.W)
	etf := mat.NewDense(f.k, f.k, nil)
	for i := range f.k {
		wc.SetRow(i, minus(w[i], mean))
		hc.SetRow(i, centred[i])
		for j := range f.k {
			etf.Set(i, j, -1/float64(f.k))
		}
		etf.Set(i, i, 1-1/float64(f.k))
	}
	var gram mat.Dense
	gram.Mul(wc, wc.T())
	out[KeyNC2WCentred] = unitDifference(&gram, etf)
	out[KeyNC3Centred] = unitDifference(wAll, hc)
	// Principal angles by projections: the cosines' squares are the eigenvalues of P_W P_M.
	var product mat.Dense
	product.Mul(projector(wc), projector(hc))
	var svd mat.SVD
	svd.Factorize(&product, mat.SVDNone)
	for _, s := range svd.Values(nil)[:f.k-1] {
		out[KeyWMeanAlignment] += s / float64(f.k-1)
	}
}

// projector returns x⁺x, the projection on the row space of x (K×d) of rank K−1.
func projector(x *mat.Dense) *mat.Dense {
	var svd mat.SVD
	svd.Factorize(x, mat.SVDThin)
	var v, out mat.Dense
	svd.VTo(&v)
	k, d := x.Dims()
	out.Mul(v.Slice(0, d, 0, k-1), v.Slice(0, d, 0, k-1).T())
	return &out
}

// wantTest walks over test samples one by one.
func (f *furtherInput) wantTest(out map[string]float64, n *naive) {
	out[KeyTestNCCAccuracy], out[KeyTestNCCMismatch] = 0, 0
	count := make([]float64, f.k)
	for _, c := range f.yTest {
		count[c]++
	}
	for i, h := range rowsOf(f.test, f.d) {
		share := 1 / float64(len(f.yTest))
		if n.im == PerClass {
			share = 1 / count[f.yTest[i]] / float64(f.k)
		}
		distance := make([]float64, f.k)
		for c := range f.k {
			r := minus(h, n.mean[c])
			distance[c] = -plainDot(r, r)
		}
		near := argmax(distance)
		if near == int(f.yTest[i]) {
			out[KeyTestNCCAccuracy] += share
		}
		if near != argmax(n.logits(h, f.in.W, f.in.B)) {
			out[KeyTestNCCMismatch] += share
		}
	}
}

// pairShare is the AUROC over all pairs.
func pairShare(known, unknown []float64) float64 {
	sum := 0.0
	for _, a := range known {
		for _, b := range unknown {
			switch {
			case a > b:
				sum++
			case a == b:
				sum += .5
			}
		}
	}
	return sum / float64(len(known)*len(unknown))
}

func (f *furtherInput) wantCloud(out map[string]float64, n *naive) {
	within, between := n.covariances()
	var total, inverse, product mat.Dense
	total.Add(within, between)
	var svd mat.SVD
	svd.Factorize(&total, mat.SVDFull)
	values := svd.Values(nil)
	for _, v := range values {
		if v > 1e-3*values[0] {
			out[KeyFeatureRank]++
		}
	}
	out[KeyFeatureStableRank] = mat.Trace(&total) / values[0]
	if err := inverse.Inverse(&total); err != nil {
		panic(err)
	}
	product.Mul(&inverse, between)
	out[KeyVCI] = 1 - mat.Trace(&product)/float64(f.k-1)
	var precision mat.Dense
	if err := precision.Inverse(within); err != nil {
		panic(err)
	}
	var u mat.Dense
	svd.UTo(&u)
	score := func(h []float64) [oodCount]float64 {
		z := n.logits(h, f.in.W, f.in.B)
		others, best := 0.0, argmax(z)
		for j, x := range z {
			if j != best {
				others += math.Exp(x - z[best])
			}
		}
		offset := minus(h, n.centre)
		part := 0.0
		for j := range f.k - 1 {
			part += math.Pow(plainDot(mat.Col(nil, j, &u), offset), 2)
		}
		nearest := math.Inf(1)
		for c := range f.k {
			r := mat.NewVecDense(f.d, minus(h, n.mean[c]))
			nearest = min(nearest, mat.Inner(r, &precision, r))
		}
		return [oodCount]float64{-math.Log(others), z[best], z[best] + math.Log1p(others), math.Sqrt(part / plainDot(offset, offset)), -nearest}
	}
	var known, unknown [oodCount][]float64
	for _, h := range rowsOf(f.test, f.d) {
		for i, v := range score(h) {
			known[i] = append(known[i], v)
		}
	}
	for _, h := range rowsOf(f.ood, f.d) {
		for i, v := range score(h) {
			unknown[i] = append(unknown[i], v)
		}
	}
	for i, key := range oodKeys {
		out[key] = pairShare(known[i], unknown[i])
	}
}

func TestFurtherAgainstNaive(t *testing.T) {
	for _, c := range []struct{ n, d, k int }{{90, 7, 3}, {300, 12, 5}, {160, 30, 8}, {900, 80, 70}, {60, 9, 2}} {
		for seed := range longtest.Of[uint64](1, 3) {
			f := drawFurther(c.n, c.d, c.k, seed)
			for _, im := range []Imbalance{PerSample, PerClass} {
				r := mustMeasure(t, f.in, Options{Imbalance: im, Measures: []string{"all"}})
				want := f.want(im)
				if len(want) != 22 {
					t.Fatalf("%d measures compared", len(want))
				}
				for key, v := range want {
					if got, ok := r.Measures.of[key]; !ok || !(math.Abs(got-v) <= 1e-9*(1e-2+math.Abs(v))) {
						t.Errorf("%+v seed %d per %s, %s: %.15g (missing %q), want %.15g", c, seed, im, key, got, r.Missing[key], v)
					}
				}
			}
		}
	}
}

// In a simplex ETF that the classifier mirrors, everything has its limit.
func TestFurtherOfSimplex(t *testing.T) {
	const k, d = 5, 9
	var h []float64
	var y []int32
	rng := rand.New(rand.NewPCG(3, 3))
	w := make([]float64, k*d)
	for c := range k {
		for j := range k {
			w[c*d+j] = -1. / k
		}
		w[c*d+c]++
	}
	for i := range 400 {
		y = append(y, int32(i%k))
		for j := range d {
			h = append(h, 7+3*w[i%k*d+j]+1e-8*rng.NormFloat64())
		}
	}
	in := Input[float64]{W: w, Train: Memory(h, d, y), Test: Memory(h, d, y), OOD: &Rows[float64]{H: make([]float64, 2*d), D: d}}
	r := mustMeasure(t, in, Options{Measures: []string{"all"}})
	for key, want := range map[string]float64{
		KeyNC3Centred: 0, KeyWMeanAlignment: 1, KeyNC2WNormCV: 0, KeyNC2WCosDeviation: 0, KeyNC2WCosStd: 0, KeyNC2CosStd: 0, KeyNC2WCoherence: 1. / (k - 1),
		KeyNC2Coherence: 1. / (k - 1), KeyNC2WCentred: 0, KeyCDNVStd: 0, KeyCDNVMax: 0, KeyVCI: 0, KeyFeatureRank: k - 1, KeyFeatureStableRank: k - 1, KeyParticipation: k - 1,
		KeyTestNCCAccuracy: 1, KeyTestNCCMismatch: 0, KeyMinClassCount: 80,
	} {
		if got, ok := r.Measures.of[key]; !ok || !(math.Abs(got-want) <= 1e-7) {
			t.Errorf("%s: %g (%q), want %g", key, got, r.Missing[key], want)
		}
	}
	if v := r.Measures.of[KeyNC3Direct]; !(v > .1) {
		t.Errorf("the uncentred form sees the offset: %g", v)
	}
}

// VCI does not change under invertible maps, even of condition 1e6, and is small for collapsed and near 1 for noise.
func TestVCIInvariant(t *testing.T) {
	f := drawFurther(300, 8, 4, 5)
	want := mustMeasure(t, f.in, Options{Measures: []string{"all"}}).Measures.of[KeyVCI]
	rng := rand.New(rand.NewPCG(8, 8))
	by := mat.NewDense(8, 8, nil)
	for i := range 8 {
		for j := range 8 {
			by.Set(i, j, rng.NormFloat64()*math.Pow(10, float64(i-4)*.75))
		}
	}
	f.in.Train = Memory(times(f.h, 300, 8, by), 8, f.in.Train.Labels)
	f.in.Test, f.in.OOD = Split[float64]{}, nil
	if got := mustMeasure(t, f.in, Options{Measures: []string{"all"}}).Measures.of[KeyVCI]; !(math.Abs(got-want) <= 1e-8) || !(want > .01 && want < .99) {
		t.Errorf("VCI %g, before the map %g", got, want)
	}
	noise := gaussian[float64](4000, 6, 3, 1, 4)
	x := make([]float64, 4000*6)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	noise.Train = Memory(x, 6, noise.Train.Labels)
	if got := mustMeasure(t, noise, Options{Measures: []string{"all"}}).Measures.of[KeyVCI]; !(got > .99 && got <= 1) {
		t.Errorf("VCI of noise: %g", got)
	}
}

// Coordinates that never move and are copies of others make Σ_T singular: the directions that are there count.
func TestVCISingular(t *testing.T) {
	f := drawFurther(200, 5, 3, 1)
	want := mustMeasure(t, f.in, Options{Measures: []string{"all"}}).Measures.of[KeyVCI]
	var h []float64
	for _, row := range rowsOf(f.h, 5) {
		h = append(append(h, row...), 4, row[0]+row[1], 2*row[2])
	}
	r := mustMeasure(t, Input[float64]{Train: Memory(h, 8, f.in.Train.Labels)}, Options{Measures: []string{"all"}})
	if got, ok := r.Measures.of[KeyVCI]; !ok || !(math.Abs(got-want) <= 1e-9) {
		t.Errorf("VCI %g (%q), without the copies %g", got, r.Missing[KeyVCI], want)
	}
}

func TestAUROC(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		a, b := make([]float64, 1+rng.IntN(20)), make([]float64, 1+rng.IntN(20))
		for i := range a {
			a[i] = float64(rng.IntN(6))
		}
		for i := range b {
			b[i] = float64(rng.IntN(6) - 1)
		}
		want := pairShare(a, b)
		if got := auroc(a, b); !(math.Abs(got-want) <= 1e-14) {
			t.Fatalf("%g and %g: %g, want %g", a, b, got, want)
		}
	}
	for _, c := range []struct {
		known, unknown []float64
		want           float64
	}{{[]float64{2, 3}, []float64{0, 1}, 1}, {[]float64{0}, []float64{1, 2}, 0}, {[]float64{1, 1}, []float64{1, 1, 1}, .5}} {
		if got := auroc(c.known, c.unknown); got != c.want {
			t.Errorf("%g over %g: %g, want %g", c.known, c.unknown, got, c.want)
		}
	}
}

// The histogram holds every pair, in the bin of its value, over several stripes and parts.
func TestHistogramOfPairs(t *testing.T) {
	f := drawFurther(400, 6, 40, 2)
	r := mustMeasure(t, f.in, Options{KeepMeans: true})
	h := r.Histograms[KeyCDNV]
	variance := r.PerClass["within_trace"]
	for c, n := range r.ClassCounts {
		if n == 1 {
			variance[c] = 0
		}
	}
	counts := make([]int, len(h.Counts))
	for i := range 40 {
		for j := range i {
			v := minus(r.ClassMeans[i*6:][:6], r.ClassMeans[j*6:][:6])
			x := (variance[i] + variance[j]) / 2 / plainDot(v, v)
			for bin := range counts {
				if h.Edges[bin] <= x && x < h.Edges[bin+1] {
					counts[bin]++
				}
			}
		}
	}
	total := h.Zero
	for bin, n := range h.Counts {
		if total += n; n != counts[bin] {
			t.Errorf("bin %d from %g to %g: %d pairs, want %d", bin, h.Edges[bin], h.Edges[bin+1], n, counts[bin])
		}
	}
	if total != 780 || len(h.Edges) != len(h.Counts)+1 || len(h.Counts) < 3 {
		t.Errorf("%d of 780 pairs in %d bins", total, len(h.Counts))
	}
}

// Where neither side of a decision leads by more than rounding, vectors decide, and ties go to the lower class.
func TestTestCentresTies(t *testing.T) {
	const offset = 1e8
	train := []float64{offset - 1, 0, offset + 1, 0, offset, 1}
	in := Input[float64]{
		W: []float64{1, 0, 1, 0, 0, 0}, Train: Memory(train, 2, []int32{0, 1, 2}),
		Test: Memory([]float64{offset, 0, offset + 0x1p-26, -5, offset - 0x1p-26, -5}, 2, []int32{0, 1, 0}),
	}
	r := mustMeasure(t, in, Options{})
	if got := r.Measures.of[KeyTestNCCAccuracy]; got != 1 {
		t.Errorf("accuracy %g (%q), want 1", got, r.Missing[KeyTestNCCAccuracy])
	}
	if got, want := r.Measures.of[KeyTestNCCMismatch], 1./3; got != want { // rows 0 and 1 tie in W: class 0
		t.Errorf("mismatch %g (%q), want %g", got, r.Missing[KeyTestNCCMismatch], want)
	}
}

// Neither threads nor a source in pieces change a bit, and a short source (N + K < d) measures like a long one.
func TestFurtherSameBits(t *testing.T) {
	f := drawFurther(700, 40, 6, 9)
	keep := Options{Measures: []string{"all"}, KeepMargins: true, KeepMeans: true, KeepSpectrum: true}
	want := mustMeasure(t, f.in, keep)
	team := parallel.NewTeam(3)
	defer team.Close()
	f.in.Train.Features = &chunked[float64]{Rows[float64]{H: f.h, D: 40}}
	f.in.Test.Features = &chunked[float64]{Rows[float64]{H: f.test, D: 40}}
	keep.Team = team
	equalBits(t, want, mustMeasure(t, f.in, keep))
}

func TestShortCloud(t *testing.T) {
	f := drawFurther(30, 20, 4, 3)
	wide := func(h []float64) (out []float64) { // an isometry to 90 coordinates
		for _, row := range rowsOf(h, 20) {
			for _, x := range row {
				out = append(out, x*.6, 0, -.8*x)
			}
			out = append(out, make([]float64, 30)...)
		}
		return out
	}
	want := mustMeasure(t, f.in, Options{Measures: []string{"all"}})
	in := f.in
	in.W, in.Train, in.Test = wide(f.in.W), Memory(wide(f.h), 90, f.in.Train.Labels), Memory(wide(f.test), 90, f.yTest)
	in.OOD = &Rows[float64]{H: wide(f.ood), D: 90}
	got := mustMeasure(t, in, Options{Measures: []string{"all"}})
	for _, key := range []string{KeyFeatureRank, KeyFeatureStableRank, KeyOODNECO} {
		if g, w := got.Measures.of[key], want.Measures.of[key]; !(math.Abs(g-w) <= 1e-10*w) || w == 0 {
			t.Errorf("%s: %g (%q), in 20 coordinates %g", key, g, got.Missing[key], w)
		}
	}
	if reason := got.Missing[KeyVCI]; !strings.Contains(reason, "d + K") {
		t.Errorf("%s: %g, reason %q", KeyVCI, got.Measures.of[KeyVCI], reason)
	}
	if reason := got.Missing[KeyOODMahalanobis]; !strings.Contains(reason, "d + K") {
		t.Errorf("%s: %g, reason %q", KeyOODMahalanobis, got.Measures.of[KeyOODMahalanobis], reason)
	}
}

// Inputs that move the logits by less than the rounding of the logits themselves are told apart by the largest
// and by the energy all the same, and those whose probability rounds to 1 by all scores.
func TestScoresKeepDigits(t *testing.T) {
	h := []float64{-1, 1, -2, 2}
	in := Input[float64]{
		W: []float64{-1e-18, 1e-18}, B: []float64{3, 5}, Train: Memory(h, 1, []int32{0, 1, 0, 1}), Test: Memory([]float64{4, 5}, 1, []int32{1, 1}),
		OOD: &Rows[float64]{H: []float64{1, 2, 3}, D: 1},
	}
	far := in
	far.W = []float64{-1e4, 1e4}
	for _, c := range []struct {
		in   Input[float64]
		keys []string
	}{{in, oodKeys[1:3]}, {far, oodKeys[:3]}} {
		r := mustMeasure(t, c.in, Options{})
		for _, key := range c.keys {
			if got := r.Measures.of[key]; got != 1 {
				t.Errorf("weights of %g: %s: %g (%q), want 1", c.in.W[1], key, got, r.Missing[key])
			}
		}
	}
}

// Whole numbers have exact ties in plenty, and a centre between them rounds every product.
func TestTestCentresOfWholeNumbers(t *testing.T) {
	const k, d, n = 7, 5, 60
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 4))
		whole := func(n int) []float64 {
			x := make([]float64, n)
			for i := range x {
				x[i] = float64(rng.IntN(7) - 3)
			}
			return x
		}
		means, w, h := whole(k*d), whole(k*d), whole(n*d)
		var y []int32
		mismatch := 0.0
		for _, row := range rowsOf(h, d) {
			near, logits := make([]float64, k), make([]float64, k)
			for c := range k {
				r := minus(row, means[c*d:][:d])
				near[c], logits[c] = -plainDot(r, r), plainDot(row, w[c*d:][:d])
			}
			y = append(y, int32(argmax(near)))
			if argmax(near) != argmax(logits) {
				mismatch += 1. / n
			}
		}
		r := mustMeasure(t, Input[float64]{W: w, Train: Memory(means, d, []int32{0, 1, 2, 3, 4, 5, 6}), Test: Memory(h, d, y)}, Options{Measures: []string{KeyTestNCCAccuracy, KeyTestNCCMismatch}})
		if got := r.Measures.of[KeyTestNCCAccuracy]; got != 1 {
			t.Errorf("seed %d: accuracy %g, want 1", seed, got)
		}
		if got := r.Measures.of[KeyTestNCCMismatch]; !(math.Abs(got-mismatch) <= 1e-12) {
			t.Errorf("seed %d: mismatch %g, want %g", seed, got, mismatch)
		}
	}
}
