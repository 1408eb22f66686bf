package sphere_test

import (
	"context"
	"fmt"
	"math"

	"collapse.example/collapse/sphere"
)

// Five classes in the plane become a regular pentagon: each corner is 72° from its neighbours and 1 − cos 72° from the line through both.
func Example() {
	config := sphere.Config{K: 5, D: 2, Temperature: .05}
	found, err := config.Random(context.Background(), 4, 1) // without a start from the known code
	if err != nil {
		panic(err)
	}
	cosine := math.Cos(2 * math.Pi / 5)
	fmt.Printf("cosine of neighbours %.6f, cos 72° = %.6f\n", found.Shape.Cosine, cosine)
	fmt.Printf("one-vs-rest margin %.6f, 1 − cos 72° = %.6f\n", found.Shape.Margin, 1-cosine)
	// Output:
	// cosine of neighbours 0.309017, cos 72° = 0.309017
	// one-vs-rest margin 0.690983, 1 − cos 72° = 0.690983
}
