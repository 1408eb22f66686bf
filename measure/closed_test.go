package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"collapse.example/collapse/etf"
)

// minimiser is the global minimiser of the MSE unconstrained-features model (Zhou et al. 2022 Thm 3.1) with
// class scores xP + y11ᵀ/K: features and classifier of width d, n equal samples per class, turned at random.
func minimiser(k, n, d int, lw, lh, x, y, beta float64) Input[float64] {
	sd := math.Sqrt(lw / (float64(n) * lh))
	root := mat.NewDense(k, k, nil) // (xP + y11ᵀ/K)^½, columns are classes
	for i := range k {
		for j := range k {
			v := (math.Sqrt(y) - math.Sqrt(x)) / float64(k)
			if i == j {
				v += math.Sqrt(x)
			}
			root.Set(i, j, math.Sqrt(sd)*v)
		}
	}
	h := etf.Rotate(root, d, rand.New(rand.NewPCG(3, 4))) // d×K
	in := Input[float64]{Classes: k}
	var rows []float64
	var labels []int32
	for c := range k {
		for range n {
			rows = append(rows, mat.Col(nil, c, h)...)
			labels = append(labels, int32(c))
		}
		for j := range d {
			in.W = append(in.W, h.At(j, c)/sd)
		}
		in.B = append(in.B, beta)
	}
	in.Train = Memory(rows, d, labels)
	return in
}

func TestMinimisers(t *testing.T) {
	for _, c := range []struct {
		name        string
		k, n, d     int
		lw, lh, lb  float64
		x, y, beta  float64
		nc4, offDia float64 // ‖b + W h_G‖ and a Gram entry between classes
	}{
		{"simplex ETF", 4, 3, 6, .02, .01, .05, 0.90202041, 0, 0.23809524, 1 / (2 * 1.05), -0.18412415},
		{"full", 4, 3, 6, .02, .01, .5, 0.90202041, 0.70606123, 0.04898979, 0.90202041 / 2, -0.04},
		{"orthogonal frame", 3, 2, 5, .05, .02, math.Inf(1), 0.86583592, 0.86583592, 0, 0.86583592 / math.Sqrt(3), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := mustMeasure(t, minimiser(c.k, c.n, c.d, c.lw, c.lh, c.x, c.y, c.beta), Options{KeepMeans: true})
			k := float64(c.k)
			radius := math.Sqrt((k-1)*c.x*c.x + c.y*c.y)
			toETF := math.Sqrt(math.Max(0, 2-2*math.Sqrt(k-1)*c.x/radius))
			toFrame := math.Sqrt(math.Max(0, 2-2*((k-1)*c.x+c.y)/(math.Sqrt(k)*radius)))
			for key, want := range map[string]float64{
				KeyNC1Pinv: 0, KeyNC1TraceRatio: 0, KeyCDNV: 0, KeyNumericalRank: 1, KeyNC3Gram: 0, KeyNC3Direct: 0,
				KeyNC2W: toETF, KeyNC2MeansETF: toETF, KeyNC2MeansOF: toFrame, KeyNC2MeansCentred: 0, KeyNC2NormCV: 0,
				KeyNC2CosDeviation: 0, KeyNC2CosMax: 0, KeyGNC2Distance: 0, KeyGNC2Log: 0, KeyNC3Duality: 0, KeyNC4NCCMismatch: 0, KeyAccuracy: 1,
				KeyConfWeightAngle: math.Acos(math.Sqrt((k - 1) * c.x / ((k-1)*c.x + c.y))), KeyMeanNormRatio: 1,
				KeyMarginMin: k / (k - 1), KeyMarginMean: k / (k - 1), KeyMarginMax: k / (k - 1), KeyNC4Bias: c.nc4,
			} {
				tolerance := 1e-13
				switch key {
				case KeyNC4Bias:
					tolerance = 1e-8 // the table's x, y and β have eight decimals
				case KeyNumericalRank, KeyNC2W, KeyNC2MeansETF, KeyNC2MeansOF, KeyConfWeightAngle:
					tolerance = 3e-8 // the closed form is a root of a difference
				}
				if got, ok := r.Measures.of[key]; !ok || !(math.Abs(got-want) <= tolerance) {
					t.Errorf("%s: got %.12g (missing %q), want %.12g", key, got, r.Missing[key], want)
				}
			}
			if got := dot(r.ClassMeans[:c.d], r.ClassMeans[c.d:2*c.d]); !(math.Abs(got-c.offDia) <= 1e-8) {
				t.Errorf("inner product of two class means: got %.10g, want %.10g", got, c.offDia)
			}
		})
	}
}

// Frames and distances of package etf are a second implementation of NC2.
func TestAgainstETF(t *testing.T) {
	for _, c := range []struct{ k, d int }{{2, 1}, {2, 2}, {5, 4}, {5, 9}, {10, 3}, {30, 4}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			in := gaussian[float64](4*c.k, c.d, c.k, .2, 11)
			r := mustMeasure(t, in, Options{KeepMeans: true})
			w, m, centred := mat.NewDense(c.k, c.d, in.W), mat.NewDense(c.k, c.d, r.ClassMeans), mat.NewDense(c.k, c.d, nil)
			centred.Apply(func(_, j int, x float64) float64 { return x - r.GlobalMean[j] }, m)
			gram := func(a, b *mat.Dense) *mat.Dense { var g mat.Dense; g.Mul(a, b.T()); return &g }
			want := map[string]float64{
				KeyNC2W: etf.DistanceSimplex(gram(w, w)), KeyNC2MeansETF: etf.DistanceSimplex(gram(m, m)), KeyNC2MeansCentred: etf.DistanceSimplex(gram(centred, centred)),
				KeyNC2MeansOF: etf.DistanceOrthogonal(gram(m, m)), KeyNC3Gram: etf.DistanceSimplex(gram(w, centred)),
			}
			if c.d < c.k-1 {
				want[KeyNC2RankD], want[KeyNC3RankD] = etf.DistanceRank(gram(w, w), c.d), etf.DistanceRank(gram(w, centred), c.d)
			}
			for key, v := range want {
				if got, ok := r.Measures.of[key]; !ok || !(math.Abs(got-v) <= 1e-11) {
					t.Errorf("%s: got %.14g (missing %q), want %.14g", key, got, r.Missing[key], v)
				}
			}
		})
	}
}

// Large Gram matrices are made in tiles, and those of rank below K−1 not at all.
func TestGramForms(t *testing.T) {
	const k = 300
	for _, d := range []int{310, 7} {
		in := gaussian[float64](2*k, d, k, .2, 5)
		other := gaussian[float64](2*k, d, k, .2, 6)
		var whole, tiled gram
		whole.of(nil, in.W, other.W, k, d)
		tiled.of(nil, in.W, other.W, k, d)
		tiled.rows = 7
		f, g := whole.frobenius(), tiled.frobenius()
		if !(math.Abs(f-g) <= 1e-12*f) || !(math.Abs(whole.toETF(f)-tiled.toETF(g)) <= 1e-12) || !(math.Abs(whole.toFrame(f)-tiled.toFrame(g)) <= 1e-12) {
			t.Fatalf("d=%d: whole %g %g %g, in tiles %g %g %g", d, f, whole.toETF(f), whole.toFrame(f), g, tiled.toETF(g), tiled.toFrame(g))
		}
		if whole.held != (d >= k-1) || tiled.held {
			t.Fatal("the whole matrix is kept between sweeps, tiles are not")
		}
		var full mat.Dense
		full.Mul(mat.NewDense(k, d, in.W), mat.NewDense(k, d, other.W).T())
		if want := etf.DistanceSimplex(&full); !(math.Abs(whole.toETF(f)-want) <= 1e-12) {
			t.Errorf("d=%d: distance to the ETF %.15g, want %.15g", d, whole.toETF(f), want)
		}
		if want := etf.DistanceOrthogonal(&full); !(math.Abs(whole.toFrame(f)-want) <= 1e-12) {
			t.Errorf("d=%d: distance to the frame %.15g, want %.15g", d, whole.toFrame(f), want)
		}
	}
}

// In one dimension every cosine is 1 or −1, however near a sample lies to the global mean.
func TestMarginNearGlobalMean(t *testing.T) {
	h := []float64{3, 1, 1e-5, -3, -1, -1e-5}
	in := Input[float64]{Train: Memory(h, 1, []int32{0, 0, 0, 1, 1, 1}), W: []float64{1, -1}}
	r := mustMeasure(t, in, Options{KeepMargins: true})
	for i, x := range r.Margins {
		if !(math.Abs(x-2) <= 1e-15) {
			t.Errorf("margin %d is %.17g, want 2", i, x)
		}
	}
	if len(r.Margins) != len(h) {
		t.Fatalf("%d margins", len(r.Margins))
	}
}
