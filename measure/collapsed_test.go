package measure

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// collapsed makes float32 features whose spread within classes is 1e-7 of the class means, the size of
// float32's own rounding.
func collapsed(k, n, d int, seed uint64) Input[float32] {
	rng := rand.New(rand.NewPCG(seed, 2))
	var h []float32
	var labels []int32
	for c := range k {
		mean := make([]float64, d)
		for j := range mean {
			mean[j] = 1 + .3*rng.NormFloat64()
		}
		for range n {
			for _, m := range mean {
				h = append(h, float32(m*(1+1e-7*rng.NormFloat64())))
			}
			labels = append(labels, int32(c))
		}
	}
	return Input[float32]{Classes: k, Train: Memory(h, d, labels)}
}

// nc1Float32 is what people copy: everything in float32, one outer product per sample, a pseudo-inverse
// with the given cut-off.
func nc1Float32(h []float32, labels []int32, k, d int, rcond float64) float64 {
	count, mean, centre := make([]float32, k), make([]float32, k*d), make([]float32, d)
	for i, c := range labels {
		count[c]++
		for j, x := range h[i*d:][:d] {
			mean[int(c)*d+j] += x
			centre[j] += x
		}
	}
	for i := range mean {
		mean[i] /= count[i/d]
	}
	for j := range centre {
		centre[j] /= float32(len(labels))
	}
	outer := func(to []float32, x, m []float32) {
		for i := range d {
			for j := range d {
				to[i*d+j] += (x[i] - m[i]) * (x[j] - m[j])
			}
		}
	}
	within, between := make([]float32, d*d), make([]float32, d*d)
	for i, c := range labels {
		outer(within, h[i*d:][:d], mean[int(c)*d:][:d])
	}
	for c := range k {
		outer(between, mean[c*d:][:d], centre)
	}
	dense := func(x []float32, by float32) *mat.Dense {
		m := mat.NewDense(d, d, nil)
		m.Apply(func(i, j int, _ float64) float64 { return float64(x[i*d+j] / by) }, m)
		return m
	}
	return nc1(dense(within, float32(len(labels))), dense(between, float32(k)), k, rcond)
}

func TestCollapsedFloat32(t *testing.T) {
	const k, n, d = 10, 40, 64
	for seed := range uint64(5) {
		in := collapsed(k, n, d, seed)
		rows := in.Train.Features.(*Rows[float32])
		// The same float32 numbers in float64: two passes lose 1e-16/1e-7 of the residuals, so this is exact to 1e-8.
		within, between := newNaive(widen(rows.H), d, in.Train.Labels, k, PerSample).covariances()
		want := nc1(within, between, k, 1e-11)
		got := mustMeasure(t, in, Options{}).Measures.of[KeyNC1Pinv]
		if !(math.Abs(got-want) <= 1e-6*want) {
			t.Errorf("seed %d: NC1 %g, want %g", seed, got, want)
		}
		// Negative controls: numpy's default cut-off 1e-15 and scipy's d·eps32.
		for _, rcond := range []float64{1e-15, d * 0x1p-23} {
			if bad := nc1Float32(rows.H, in.Train.Labels, k, d, rcond); math.Abs(bad-want) <= .01*want {
				t.Errorf("seed %d: the float32 pseudo-inverse with cut-off %g is right (%g, want %g): the control shows nothing", seed, rcond, bad, want)
			}
		}
	}
}

// Class means in a subspace, rounded to float32: directions that only rounding made are cut.
func TestRankDeficientFloat32(t *testing.T) {
	const k, n, d, rank = 8, 30, 40, 3
	rng := rand.New(rand.NewPCG(1, 2))
	basis, coefficients := make([]float64, rank*d), make([]float64, k*rank)
	for i := range basis {
		basis[i] = rng.NormFloat64()
	}
	for i := range coefficients {
		coefficients[i] = rng.NormFloat64()
	}
	var h []float32
	var labels []int32
	for c := range k {
		for range n / 2 {
			noise := make([]float64, d)
			for j := range noise {
				noise[j] = .1 * rng.NormFloat64()
			}
			for _, sign := range []float64{1, -1} { // means stay in the subspace
				for j := range d {
					x := sign * noise[j]
					for i := range rank {
						x += coefficients[c*rank+i] * basis[i*d+j]
					}
					h = append(h, float32(x))
				}
				labels = append(labels, int32(c))
			}
		}
	}
	in := Input[float32]{Train: Memory(h, d, labels)}
	r := mustMeasure(t, in, Options{KeepSpectrum: true})
	if got := r.Measures.of[KeyRankBetween]; got != rank {
		t.Fatalf("rank of Σ_B: got %g, want %d; eigenvalues %g", got, rank, r.Eigenvalues)
	}
	within, between := newNaive(widen(h), d, labels, k, PerSample).covariances()
	want := nc1(within, between, k, 1e-6)
	if got := r.Measures.of[KeyNC1Pinv]; !(math.Abs(got-want) <= 1e-5*want) {
		t.Fatalf("NC1 over the kept directions: got %g, want %g", got, want)
	}
	if uncut := nc1(within, between, k, 0); !(math.Abs(uncut) > 100*want) {
		t.Fatalf("without a cut-off NC1 is %g, near %g: the control shows nothing", uncut, want)
	}
}
