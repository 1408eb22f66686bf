package data

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"

	"collapse.example/collapse/arrayfile"
)

// Pipeline says how 8-bit pixels become network inputs, in torchvision's order: grey to channels,
// resize, scale to [0, 1], normalise.
type Pipeline struct {
	Name     string
	Channels int       // copies of a grey channel; 0: as many as the set has. Colour sets keep theirs
	Size     int       // height and width after Pillow's bilinear resize; 0: as the set has
	Mean     []float32 // one for every channel, or a single one for all; nil, with Std: what the set is normalised with (Set.Norm)
	Std      []float32 // likewise, above 0
}

// The presets of PipelineNamed.
const (
	PipelineMD       = "md"
	PipelineZHU      = "zhu"
	PipelinePlain    = "plain"
	PipelineImageNet = "imagenet"
)

// PipelineKinds lists the presets.
var PipelineKinds = []string{PipelineMD, PipelineZHU, PipelinePlain, PipelineImageNet}

// PipelineNamed returns a preset:
//   - "md", the input of the memorization–dilation experiments (Nguyen et al. 2023), and "zhu" (Zhu et al. 2021): 3×32×32, grey
//     sets copied to three channels;
//   - "plain": the pixels of the set, only normalised (Zhou et al. 2022 on CIFAR-10 and miniImageNet);
//   - "imagenet": plain with ImageNet's constants instead of the set's, as Zhu et al. 2021 train on random labels of CIFAR-10.
func PipelineNamed(name string) (Pipeline, error) {
	switch name {
	case PipelineMD, PipelineZHU:
		return Pipeline{Name: name, Channels: 3, Size: 32}, nil
	case PipelinePlain:
		return Pipeline{Name: name}, nil
	case PipelineImageNet:
		norm := norms[NormImageNet]
		return Pipeline{Name: name, Mean: norm.Mean, Std: norm.Std}, nil
	}
	return Pipeline{}, fmt.Errorf("data: input pipeline %q is unknown; use one of %q", name, PipelineKinds)
}

// Names of constants for normalising pixels in [0, 1].
const (
	NormMNIST    = "mnist"    // used by every released code for MNIST and Fashion-MNIST, and here for glyphs
	NormCIFAR    = "cifar"    // CIFAR-10's, used for CIFAR-100 and SVHN as well
	NormImageNet = "imagenet" // used for miniImageNet, and here for folders of images
)

// Norm holds means and deviations by channel; a single one stands for all channels.
type Norm struct{ Mean, Std []float32 }

var norms = map[string]Norm{
	NormMNIST:    {[]float32{0.1307}, []float32{0.3081}},
	NormCIFAR:    {[]float32{0.4914, 0.4822, 0.4465}, []float32{0.2023, 0.1994, 0.2010}},
	NormImageNet: {[]float32{0.485, 0.456, 0.406}, []float32{0.229, 0.224, 0.225}},
}

// NormNamed returns the constants of that name.
func NormNamed(name string) (Norm, error) {
	if n, ok := norms[name]; ok {
		return n, nil
	}
	return Norm{}, fmt.Errorf("data: constants %q for normalising are unknown; use %q, %q or %q", name, NormMNIST, NormCIFAR, NormImageNet)
}

// ofSet reports whether the constants are the set's.
func (p Pipeline) ofSet() bool { return p.Mean == nil && p.Std == nil }

// of fills in the set's constants.
func (p Pipeline) of(s *Set) (Pipeline, error) {
	if !p.ofSet() {
		return p, nil
	}
	norm, err := NormNamed(cmp.Or(s.Norm, NormMNIST))
	p.Mean, p.Std = norm.Mean, norm.Std
	return p, err
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
		if !p.ofSet() && len(v) != 1 && len(v) != out.C {
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
	same   bool // all channels have the same table
}

// Prepare resizes all images of the set, on all cores.
func (p Pipeline) Prepare(s *Set) (*Inputs, error) {
	p, err := p.of(s)
	if err != nil {
		return nil, err
	}
	out, err := p.OutShape(s.Shape)
	if err != nil {
		return nil, err
	}
	in := &Inputs{Shape: out, n: s.N(), source: Shape{s.Shape.C, out.H, out.W}, pixels: s.Pixels, table: p.table(out.C),
		same: len(p.Mean) == 1 && len(p.Std) == 1}
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
		if in.repeats(c) {
			copy(row[c*plane:(c+1)*plane], row[:plane])
			continue
		}
		lookUp(row[c*plane:][:plane], image[c%in.source.C*plane:][:plane], &in.table[c])
	}
}

// repeats says that channel c holds the same numbers as channel 0: a copy of grey under the same constants.
func (in *Inputs) repeats(c int) bool { return c > 0 && in.source.C == 1 && in.same }

// lookUp writes table[v] for every pixel v, eight pixels per iteration: one load for the eight and no bounds checks.
func lookUp[T ~float32 | ~float64](dst []T, src []uint8, table *[256]float32) {
	dst = dst[:len(src)]
	for len(src) >= 8 {
		v, out := binary.LittleEndian.Uint64(src), (*[8]T)(dst)
		out[0], out[1], out[2], out[3] = T(table[uint8(v)]), T(table[uint8(v>>8)]), T(table[uint8(v>>16)]), T(table[uint8(v>>24)])
		out[4], out[5], out[6], out[7] = T(table[uint8(v>>32)]), T(table[uint8(v>>40)]), T(table[uint8(v>>48)]), T(table[uint8(v>>56)])
		src, dst = src[8:], dst[8:]
	}
	for i, v := range src {
		dst[i] = T(table[v])
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
// write to separate memory and draw from streams keyed by sample, so results do not depend on their
// number.
func parallel(n int, work func(first, end int)) {
	parts := min(runtime.GOMAXPROCS(0), n)
	var wg sync.WaitGroup
	for p := range parts {
		wg.Go(func() { work(p*n/parts, (p+1)*n/parts) })
	}
	wg.Wait()
}

// parallelRead is parallel for work that reads from an opened file's memory.
func parallelRead(n int, work func(first, end int)) error {
	var mu sync.Mutex
	var failed error
	parallel(n, func(first, end int) {
		if err := arrayfile.Guard(func() error { work(first, end); return nil }); err != nil {
			mu.Lock()
			defer mu.Unlock()
			failed = err
		}
	})
	return failed
}
