package data

import (
	"fmt"
	"runtime"
	"sync"
)

// Pipeline says how 8-bit pixels become network inputs, in torchvision's order: grey to channels,
// resize, scale to [0, 1], normalise.
type Pipeline struct {
	Name     string
	Channels int       // copies of a grey channel; 0: as many as the set has. Colour sets keep theirs
	Size     int       // height and width after Pillow's bilinear resize; 0: as the set has
	Mean     []float32 // one for every channel, or a single one for all
	Std      []float32 // likewise, above 0
}

// The presets of PipelineNamed. MNIST's mean and deviation are those of every code base the papers
// released; Nguyen et al. 2023 and Zhu et al. 2021 use them after grey → 3 channels and 28 → 32.
const (
	PipelineMD    = "md"
	PipelinePlain = "plain"
)

// PipelineNamed returns a preset: "md", the input of the memorization–dilation experiments on grey
// sets (3×32×32), or "plain", the pixels of the set normalised and otherwise as they are.
func PipelineNamed(name string) (Pipeline, error) {
	mean, std := []float32{0.1307}, []float32{0.3081}
	switch name {
	case PipelineMD:
		return Pipeline{Name: name, Channels: 3, Size: 32, Mean: mean, Std: std}, nil
	case PipelinePlain:
		return Pipeline{Name: name, Mean: mean, Std: std}, nil
	}
	return Pipeline{}, fmt.Errorf("data: input pipeline %q is unknown; use %q or %q", name, PipelineMD, PipelinePlain)
}

// OutShape returns the shape of one input made from an image of shape in. It returns an error if
// the pipeline cannot take such an image: a resize of one that is not square, a number of channels
// that is neither kept nor made from grey, constants for another number of channels.
func (p Pipeline) OutShape(in Shape) (Shape, error) {
	out := in
	if p.Channels != 0 && p.Channels != in.C {
		if in.C != 1 {
			return Shape{}, fmt.Errorf("data: pipeline %s makes %d channels from grey, the images have %d", p.Name, p.Channels, in.C)
		}
		out.C = p.Channels
	}
	if p.Size != 0 {
		if in.H != in.W {
			return Shape{}, fmt.Errorf("data: pipeline %s resizes square images, these are %d×%d", p.Name, in.H, in.W)
		}
		out.H, out.W = p.Size, p.Size
	}
	for name, v := range map[string][]float32{"means": p.Mean, "deviations": p.Std} {
		if len(v) != 1 && len(v) != out.C {
			return Shape{}, fmt.Errorf("data: pipeline %s has %d %s for %d channels", p.Name, len(v), name, out.C)
		}
	}
	for _, sd := range p.Std {
		if !(sd > 0) {
			return Shape{}, fmt.Errorf("data: pipeline %s has deviation %v; above 0 is needed", p.Name, sd)
		}
	}
	return out, nil
}

// Inputs are the prepared inputs of a whole set. They are kept as resized 8-bit pixels, an eighth to
// a twelfth of their size as floats, and become floats by table when a batch is filled.
type Inputs struct {
	Shape  Shape
	n      int
	source Shape   // of one stored image: channels not copied yet
	pixels []uint8 // n×source
	table  [][256]float32
}

// Prepare resizes all images of the set, on all cores.
func (p Pipeline) Prepare(s *Set) (*Inputs, error) {
	out, err := p.OutShape(s.Shape)
	if err != nil {
		return nil, err
	}
	in := &Inputs{Shape: out, n: s.N(), source: Shape{s.Shape.C, out.H, out.W}, pixels: s.Pixels, table: p.table(out.C)}
	if in.source != s.Shape {
		in.pixels = make([]uint8, s.N()*in.source.Dim())
		plan := newResize(s.Shape.W, out.W)
		from, to := s.Shape.H*s.Shape.W, out.H*out.W
		parallel(s.N()*s.Shape.C, func(first, end int) {
			scratch := make([]uint8, s.Shape.H*out.W)
			for i := first; i < end; i++ {
				plan.square(in.pixels[i*to:(i+1)*to], s.Pixels[i*from:(i+1)*from], scratch)
			}
		})
	}
	return in, nil
}

// table returns (v/255 − mean)/std for v = 0…255 and each channel, rounded to float32 after every
// operation as torchvision's ToTensor and Normalize round.
func (p Pipeline) table(channels int) [][256]float32 {
	t := make([][256]float32, channels)
	for c := range t {
		mean, std := p.Mean[c%len(p.Mean)], p.Std[c%len(p.Std)]
		for v := range t[c] {
			t[c][v] = (float32(float32(v)/255) - mean) / std
		}
	}
	return t
}

// N returns the number of samples.
func (in *Inputs) N() int { return in.n }

// Dim returns the number of values of one input.
func (in *Inputs) Dim() int { return in.Shape.Dim() }

// Fill writes the inputs of the given samples to dst, one row of Dim values each (C×H×W order). It
// allocates nothing. It panics if dst is shorter than the rows. For float64 the float32 values are
// widened, so both precisions train on the same numbers.
func Fill[T ~float32 | ~float64](dst []T, in *Inputs, samples []int32) {
	d := in.Dim()
	if len(dst) < len(samples)*d {
		panic("data: Fill needs one row of dst for every sample")
	}
	for r, i := range samples {
		fillRow(dst[r*d:(r+1)*d], in, int(i))
	}
}

// FillRange is Fill for the samples first, first+1, …, end−1.
func FillRange[T ~float32 | ~float64](dst []T, in *Inputs, first, end int) {
	d := in.Dim()
	if len(dst) < (end-first)*d {
		panic("data: FillRange needs one row of dst for every sample")
	}
	for i := first; i < end; i++ {
		fillRow(dst[(i-first)*d:(i-first+1)*d], in, i)
	}
}

func fillRow[T ~float32 | ~float64](row []T, in *Inputs, i int) {
	image := in.pixels[i*in.source.Dim() : (i+1)*in.source.Dim()]
	plane := in.Shape.H * in.Shape.W
	for c := range in.Shape.C {
		src := image[c%in.source.C*plane:][:plane]
		dst, table := row[c*plane:][:plane], &in.table[c]
		for j, v := range src {
			dst[j] = T(table[v])
		}
	}
}

// Rows returns the inputs of the whole set, N×Dim.
func (in *Inputs) Rows() []float32 {
	rows := make([]float32, in.n*in.Dim())
	parallel(in.n, func(first, end int) {
		FillRange(rows[first*in.Dim():], in, first, end)
	})
	return rows
}

// parallel runs work on consecutive parts of 0…n−1, one for each core, and waits for all. Parts
// write to separate memory and draw from streams keyed by sample, so their number shows nowhere.
func parallel(n int, work func(first, end int)) {
	parts := min(runtime.GOMAXPROCS(0), n)
	var wg sync.WaitGroup
	for p := range parts {
		wg.Go(func() { work(p*n/parts, (p+1)*n/parts) })
	}
	wg.Wait()
}
