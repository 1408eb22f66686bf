package conv

import (
	"math/rand/v2"
	"slices"
	"testing"

	"collapse.example/collapse/parallel"

	"collapse.example/collapse/internal/kernel/kerneltest"
)

// TestImages: the layout by its definition, and back; means and their gradient by theirs. All sizes leave remainders.
func TestImages(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	two := parallel.NewTeam(2)
	defer two.Close()
	for _, batch := range []int{1, 15, 16, 37, 128} {
		for _, shape := range [][2]int{{3, 1}, {5, 7}, {64, 4}, {40, 300}} {
			channels, pixels, lanes := shape[0], shape[1], Lanes(batch)
			values := channels * pixels
			rows, image := make([]float32, batch*values), kerneltest.Guarded(values*lanes)
			for i := range rows {
				rows[i] = float32(rng.NormFloat64())
			}
			m := NewImages[float32]()
			m.FromRows(two, batch, values, rows, image)
			for i, v := range image {
				want := float32(0)
				if b := i % lanes; b < batch {
					want = rows[b*values+i/lanes]
				}
				if v != want {
					t.Fatalf("batch %d, %v: image[%d] = %g, want %g", batch, shape, i, v, want)
				}
			}
			back := kerneltest.Guarded(len(rows))
			m.ToRows(two, batch, values, image, back)
			if !slices.Equal(back, rows) {
				t.Errorf("batch %d, %v: rows did not come back", batch, shape)
			}
			means, want := kerneltest.Guarded(batch*channels), make([]float64, batch*channels)
			for i := range rows {
				b, c := i/values, i%values/pixels
				want[b*channels+c] += float64(rows[i]) / float64(pixels)
			}
			m.Mean(two, batch, channels, pixels, image, means)
			near(t, "mean", means, want, 1e-7)
			image = kerneltest.Guarded(len(image))
			m.Spread(two, batch, channels, pixels, means, image)
			for i, v := range image {
				want := float32(0)
				if b := i % lanes; b < batch {
					want = means[b*channels+i/lanes/pixels] / float32(pixels)
				}
				if v != want {
					t.Fatalf("batch %d, %v: spread[%d] = %g, want %g", batch, shape, i, v, want)
				}
			}
		}
	}
}

func TestImagesAllocateNothing(t *testing.T) {
	m, rows, image := NewImages[float32](), make([]float32, 20*8), make([]float32, 8*4*32)
	if got := testing.AllocsPerRun(5, func() {
		m.Spread(nil, 20, 8, 4, rows, image)
		m.Mean(nil, 20, 8, 4, image, rows)
	}); got != 0 {
		t.Errorf("%g allocations", got)
	}
}
