package data

import (
	"fmt"
	"slices"
)

// Augment says how training images differ from epoch to epoch. It acts on pixels, after a resize and before they are normalised, as
// torchvision's RandomCrop(size, padding=Pad) and RandomHorizontalFlip do, in that order. The zero value changes nothing.
//
// What happens to an image depends only on (Seed, epoch, sample).
type Augment struct {
	Pad  int  // black pixels added on each side, of which a crop of the image's own size is cut at random; 0: no crop
	Flip bool // mirrored left to right with probability ½
	Seed uint64
}

// Presets of AugmentNamed.
const (
	AugmentNone = "none"
	// AugmentCropFlip is what the papers' codes do under --SOTA: crops after 4 pixels of padding, and flips.
	AugmentCropFlip = "crop_flip"
)

// AugmentKinds lists the presets, the default first.
var AugmentKinds = []string{AugmentNone, AugmentCropFlip}

// AugmentNamed returns a preset. An error names the known ones.
func AugmentNamed(name string, seed uint64) (Augment, error) {
	switch name {
	case AugmentNone:
		return Augment{}, nil
	case AugmentCropFlip:
		return Augment{Pad: 4, Flip: true, Seed: seed}, nil
	}
	return Augment{}, fmt.Errorf("data: augmentation %q is unknown; use one of %q", name, AugmentKinds)
}

// None says that images stay as they are.
func (a Augment) None() bool { return a.Pad == 0 && !a.Flip }

// view is the transformation of one image: pixel (y, x) comes from (y+dy, x+dx), black outside, and then rows are
// mirrored.
type view struct {
	dy, dx int
	mirror bool
}

// view draws for one sample of one epoch: torchvision's order, crop before flip.
func (a Augment) view(rng *stream, epoch int, sample int32) view {
	rng.reset(a.Seed, forPixels, uint64(epoch), uint64(sample))
	var v view
	if a.Pad > 0 {
		v.dy = rng.below(2*a.Pad+1) - a.Pad
		v.dx = rng.below(2*a.Pad+1) - a.Pad
	}
	if a.Flip {
		v.mirror = rng.below(2) == 1
	}
	return v
}

// FillAugmented is Fill for training in the given epoch (counted from 0): the images vary as a says. Any split of the samples over
// threads gives the same numbers. It allocates nothing. It panics if dst is shorter than the rows or a.Pad is negative.
func FillAugmented[T ~float32 | ~float64](dst []T, in *Inputs, samples []int32, a Augment, epoch int) {
	if a.None() {
		Fill(dst, in, samples)
		return
	}
	d := in.Dim()
	if len(dst) < len(samples)*d {
		panic("data: FillAugmented needs one row of dst for every sample")
	}
	if a.Pad < 0 {
		panic("data: FillAugmented with a negative padding")
	}
	var rng stream
	for r, i := range samples {
		fillView(dst[r*d:(r+1)*d], in, int(i), a.view(&rng, epoch, i))
	}
}

// fillView writes one input as v shows it. Black pixels are normalised like all others.
func fillView[T ~float32 | ~float64](row []T, in *Inputs, i int, v view) {
	h, w := in.Shape.H, in.Shape.W
	image := in.pixels[i*in.source.Dim() : (i+1)*in.source.Dim()]
	// Columns first…end−1 of the crop show the image, the others its padding.
	first, end := min(max(0, -v.dx), w), max(min(w, w-v.dx), 0)
	for c := range in.Shape.C {
		if in.repeats(c) {
			copy(row[c*h*w:(c+1)*h*w], row[:h*w])
			continue
		}
		plane, table := image[c%in.source.C*h*w:][:h*w], &in.table[c]
		black := T(table[0])
		for y := range h {
			out := row[(c*h+y)*w:][:w]
			if y+v.dy < 0 || y+v.dy >= h || first >= end {
				fillBlack(out, black)
				continue
			}
			fillBlack(out[:first], black)
			fillBlack(out[end:], black)
			lookUp(out[first:end], plane[(y+v.dy)*w+first+v.dx:][:end-first], table)
			if v.mirror {
				slices.Reverse(out)
			}
		}
	}
}

func fillBlack[T ~float32 | ~float64](out []T, black T) {
	for x := range out {
		out[x] = black
	}
}
