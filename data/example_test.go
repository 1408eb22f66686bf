package data_test

import (
	"bytes"
	"fmt"

	"collapse.example/collapse/data"
)

// The built-in set needs no files. Sample i has class i mod Classes, and a larger set of the same seed has the samples of a smaller one.
func ExampleGlyphs() {
	set, err := data.Glyphs(data.GlyphConfig{Classes: 3, PerClass: 2, Size: 28, Seed: 1})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d images of %d×%d pixels, labels %v\n", set.N(), set.Shape.H, set.Shape.W, set.True)
	more, err := data.Glyphs(data.GlyphConfig{Classes: 10, PerClass: 5, Size: 28, Seed: 1})
	if err != nil {
		panic(err)
	}
	fmt.Println("image 5 is image 12 of a larger set:", bytes.Equal(set.Image(5), more.Image(12)))
	// Output:
	// 6 images of 28×28 pixels, labels [0 1 2 0 1 2]
	// image 5 is image 12 of a larger set: true
}
