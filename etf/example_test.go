package etf_test

import (
	"fmt"
	"math/rand/v2"

	"collapse.example/collapse/etf"
)

// How far a frame is from the simplex ETF, the orthogonal frame and the best frames of rank d, by its Gram matrix.
func ExampleDistanceSimplex() {
	simplex, err := etf.Simplex(4, 5)
	if err != nil {
		panic(err)
	}
	gram := etf.Gram(simplex)
	fmt.Printf("simplex ETF %.3f, orthogonal frame %.3f, rank 2 %.3f\n", etf.DistanceSimplex(gram), etf.DistanceOrthogonal(gram), etf.DistanceRank(gram, 2))

	// With d < K−1 no simplex ETF exists; the best frames of rank d are projections.
	flat := etf.CenteredProjection(4, 2, rand.New(rand.NewPCG(1, 2)))
	fmt.Printf("simplex ETF %.3f, rank 2 %.3f\n", etf.DistanceSimplex(flat), etf.DistanceRank(flat, 2))
	// Output:
	// simplex ETF 0.000, orthogonal frame 0.518, rank 2 0.606
	// simplex ETF 0.606, rank 2 0.000
}
