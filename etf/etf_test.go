package etf

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// maxDiff returns max |a − b|, NaN if any entry is NaN.
func maxDiff(a, b mat.Matrix) float64 {
	rows, cols := a.Dims()
	worst := 0.0
	for i := range rows {
		for j := range cols {
			if diff := math.Abs(a.At(i, j) - b.At(i, j)); !(diff <= worst) {
				worst = diff
			}
		}
	}
	return worst
}

func scaled(f float64, a mat.Matrix) *mat.Dense {
	var out mat.Dense
	out.Scale(f, a)
	return &out
}

func TestSimplexGram(t *testing.T) {
	for _, K := range []int{2, 3, 4, 7, 10, 100} {
		want := scaled(float64(K)/float64(K-1), Centering(K))
		for _, d := range []int{K - 1, K, K + 1, 2*K + 3} {
			frame, err := Simplex(K, d)
			if err != nil {
				t.Fatal(err)
			}
			for name, f := range map[string]*mat.Dense{"plain": frame, "rotated": Rotate(frame, d, seeded(uint64(d))), "embedded": Rotate(frame, d+3, seeded(5))} {
				if diff := maxDiff(Gram(f), want); !(diff <= 1e-12) {
					t.Errorf("K=%d d=%d %s: Gram is off by %g", K, d, name, diff)
				}
				if dist := DistanceSimplex(Gram(f)); !(dist <= 1e-12) {
					t.Errorf("K=%d d=%d %s: distance %g", K, d, name, dist)
				}
			}
		}
		if _, err := Simplex(K, K-2); !errors.Is(err, ErrNoFrame) {
			t.Errorf("K=%d d=%d: error %v, wanted ErrNoFrame", K, K-2, err)
		}
	}
}

// Identity padding at d = K−1 would drop a row of P: a negative control for the Helmert case.
func TestTruncatedIdentityIsNoSimplex(t *testing.T) {
	K := 4
	cut := mat.DenseCopyOf(Centering(K).Slice(0, K-1, 0, K))
	if dist := DistanceSimplex(Gram(cut)); !(dist > 0.1) {
		t.Fatalf("truncated identity has distance %g to a simplex ETF, wanted a large one", dist)
	}
}

func TestOrthogonal(t *testing.T) {
	for _, K := range []int{1, 3, 8} {
		frame, err := Orthogonal(K, K+2)
		if err != nil {
			t.Fatal(err)
		}
		if dist := DistanceOrthogonal(Gram(Rotate(frame, K+4, seeded(3)))); !(dist <= 1e-12) {
			t.Errorf("K=%d: distance %g", K, dist)
		}
		if _, err := Orthogonal(K, K-1); !errors.Is(err, ErrNoFrame) {
			t.Errorf("K=%d d=%d: error %v, wanted ErrNoFrame", K, K-1, err)
		}
	}
	// The two frames are √(2−2√((K−1)/K)) apart (theory: 0.517638 at K = 4).
	frame, _ := Orthogonal(4, 4)
	if got := DistanceSimplex(Gram(frame)); !(math.Abs(got-0.5176380902050415) <= 1e-12) {
		t.Errorf("distance between the frames at K=4 is %v, wanted 0.51763809", got)
	}
}

func TestRankDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		K := rapid.IntRange(2, 9).Draw(t, "K")
		d := rapid.IntRange(1, K-1).Draw(t, "d")
		rng := seeded(rapid.Uint64().Draw(t, "seed"))
		q := CenteredProjection(K, d, rng)
		if dist := DistanceRank(scaled(3.7, q), d); !(dist <= 1e-12) {
			t.Fatalf("a rank-%d projection has distance %g", d, dist)
		}
		// Any other projection is at least as far from a random matrix as the best one, and the
		// closed form of the distance agrees.
		a := mat.NewDense(K, K, nil)
		for i := range K {
			for j := range K {
				a.Set(i, j, rng.NormFloat64())
			}
		}
		best := DistanceRank(a, d)
		if other := distance(a, q); !(best <= other+1e-12) {
			t.Fatalf("best %g exceeds that of a random projection %g", best, other)
		}
		_, values := centeredEigen(a)
		sum := 0.0
		for _, v := range values[K-1-d:] {
			sum += v / mat.Norm(a, 2)
		}
		if want := math.Sqrt(2 - 2/math.Sqrt(float64(d))*sum); !(math.Abs(best-want) <= 1e-12) {
			t.Fatalf("distance %g, closed form %g", best, want)
		}
	})
}

func TestTight(t *testing.T) {
	for K := 2; K <= 9; K++ {
		for d := 1; d < K; d++ {
			u, err := Tight(K, d, seeded(uint64(10*K+d)))
			if K%2 == 1 && (d == 1 || d == K-2) {
				if !errors.Is(err, ErrNoFrame) {
					t.Errorf("K=%d d=%d: error %v, wanted ErrNoFrame", K, d, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("K=%d d=%d: %v", K, d, err)
				continue
			}
			q := projectionOn(u)
			if dist := DistanceRank(q, d); !(dist <= 1e-12) {
				t.Errorf("K=%d d=%d: distance to projections %g", K, d, dist)
			}
			for k := range K {
				if diff := q.At(k, k) - float64(d)/float64(K); !(math.Abs(diff) <= 1e-12) {
					t.Errorf("K=%d d=%d: diagonal %d is off by %g", K, d, k, diff)
				}
			}
		}
	}
}

func TestDistanceOfNothingIsUndefined(t *testing.T) {
	zero := mat.NewDense(3, 3, nil)
	for _, got := range []float64{DistanceSimplex(zero), DistanceOrthogonal(zero), DistanceRank(zero, 1)} {
		if !math.IsNaN(got) {
			t.Errorf("distance of a zero Gram matrix is %g, wanted NaN", got)
		}
	}
}

func TestRandomOrthonormal(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {5, 5}, {40, 7}} {
		q := RandomOrthonormal(size[0], size[1], seeded(9))
		eye, _ := Orthogonal(size[1], size[1])
		if diff := maxDiff(Gram(q), eye); !(diff <= 1e-13) {
			t.Errorf("%v: QᵀQ − I is %g", size, diff)
		}
	}
	// Haar: without the signs of R every first entry would be negative.
	positive := 0
	for seed := range uint64(200) {
		if RandomOrthonormal(3, 2, seeded(seed)).At(0, 0) > 0 {
			positive++
		}
	}
	if positive < 70 || positive > 130 {
		t.Errorf("%d of 200 first entries are positive, wanted about half", positive)
	}
}
