package data

// What another program needs to train on the same numbers: pixels and a table of their values, the order of an epoch, and the view of
// each image in it.

// Stored returns the pixels that inputs are made from, one image of the given shape after another, as a view. They are resized but not
// normalised; an image of one channel stands for all channels of Shape.
func (in *Inputs) Stored() (pixels []uint8, image Shape) { return in.pixels, in.source }

// Table returns the value of each pixel: Shape.C rows of 256 numbers, one per channel of an input.
func (in *Inputs) Table() []float32 {
	flat := make([]float32, 0, len(in.table)*256)
	for c := range in.table {
		flat = append(flat, in.table[c][:]...)
	}
	return flat
}

// Order returns the sample numbers of the epoch that was started, in the order in which Next deals them. The slice is valid until the
// next Start and must not be changed.
func (b *Batches) Order() []int32 { return b.order }

// Views appends to dst how FillAugmented shows the given samples in an epoch: three numbers per sample, (dy, dx, mirror). Pixel (y, x)
// of the view is pixel (y+dy, x+dx) of the image, black outside of it; with mirror 1 each row is then reversed. It panics if a.Pad is
// negative or above 127.
func (a Augment) Views(dst []int8, samples []int32, epoch int) []int8 {
	if a.Pad < 0 || a.Pad > 127 {
		panic("data: Views with a padding that no view has")
	}
	var rng stream
	for _, i := range samples {
		v := a.view(&rng, epoch, i)
		mirror := int8(0)
		if v.mirror {
			mirror = 1
		}
		dst = append(dst, int8(v.dy), int8(v.dx), mirror)
	}
	return dst
}
