package data

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawInputs draws a small set of any shape and pipeline.
func drawInputs(t *rapid.T) *Inputs {
	shape := Shape{rapid.SampledFrom([]int{1, 3}).Draw(t, "C"), rapid.IntRange(1, 7).Draw(t, "H"), rapid.IntRange(1, 19).Draw(t, "W")}
	n := rapid.IntRange(1, 6).Draw(t, "N")
	s := &Set{Classes: 1, Shape: shape, True: make([]int32, n), Pixels: rapid.SliceOfN(rapid.Byte(), n*shape.Dim(), n*shape.Dim()).Draw(t, "pixels")}
	p := Pipeline{Name: "drawn", Mean: []float32{.25}, Std: []float32{.5}}
	if shape.C == 1 && rapid.Bool().Draw(t, "to three channels") {
		p.Channels = 3
	}
	if (p.Channels == 3 || shape.C == 3) && rapid.Bool().Draw(t, "constants by channel") {
		p.Mean, p.Std = []float32{.1, .2, .3}, []float32{1, 2, 3}
	}
	in, err := p.Prepare(s.seal())
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// byDefinition is torchvision's RandomCrop with padding, then hflip, on the normalised image: pad with what a black pixel becomes,
// cut the window at (top, left), mirror.
func byDefinition(in *Inputs, i, pad, top, left int, mirror bool) []float32 {
	c0, h, w := in.Shape.C, in.Shape.H, in.Shape.W
	ph, pw := h+2*pad, w+2*pad
	out := make([]float32, 0, in.Dim())
	for c := range c0 {
		padded := slices.Repeat([]float32{in.table[c][0]}, ph*pw)
		for y := range h {
			for x := range w {
				v := in.pixels[(i*in.source.C+c%in.source.C)*h*w+y*w+x]
				padded[(y+pad)*pw+x+pad] = in.table[c][v]
			}
		}
		for y := range h {
			row := slices.Clone(padded[(top+y)*pw+left:][:w])
			if mirror {
				slices.Reverse(row)
			}
			out = append(out, row...)
		}
	}
	return out
}

// TestFillView: every crop and flip of any image is what torchvision's steps give, one after the other.
func TestFillView(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInputs(t)
		pad := rapid.IntRange(0, 9).Draw(t, "pad") // beyond the image's size, too
		v := view{dy: rapid.IntRange(-pad, pad).Draw(t, "dy"), dx: rapid.IntRange(-pad, pad).Draw(t, "dx"), mirror: rapid.Bool().Draw(t, "mirror")}
		i := rapid.IntRange(0, in.N()-1).Draw(t, "sample")
		got, wide := make([]float32, in.Dim()), make([]float64, in.Dim())
		fillView(got, in, i, v)
		fillView(wide, in, i, v)
		want := byDefinition(in, i, pad, pad+v.dy, pad+v.dx, v.mirror)
		for j := range want {
			if math.Float32bits(got[j]) != math.Float32bits(want[j]) || wide[j] != float64(want[j]) {
				t.Fatalf("%+v: value %d of %v is %g, want %g", v, j, in.Shape, got[j], want[j])
			}
		}
	})
}

// TestFillAugmented: rows depend on (seed, epoch, sample) alone, not on how a batch is split or ordered.
func TestFillAugmented(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInputs(t)
		a := Augment{Pad: rapid.IntRange(0, 4).Draw(t, "pad"), Flip: rapid.Bool().Draw(t, "flip"), Seed: rapid.Uint64().Draw(t, "seed")}
		epoch := rapid.IntRange(0, 500).Draw(t, "epoch")
		samples := rapid.SliceOfN(rapid.Int32Range(0, int32(in.N()-1)), 1, 9).Draw(t, "samples")
		d := in.Dim()
		whole, alone := make([]float32, len(samples)*d), make([]float32, d)
		FillAugmented(whole, in, samples, a, epoch)
		for r, i := range samples {
			FillAugmented(alone, in, []int32{i}, a, epoch)
			if !slices.Equal(alone, whole[r*d:(r+1)*d]) {
				t.Fatalf("sample %d is another image in a batch than alone", i)
			}
			if Fill(alone, in, []int32{i}); a.None() && !slices.Equal(alone, whole[r*d:(r+1)*d]) {
				t.Fatalf("no augmentation changed sample %d", i)
			}
		}
	})
}

// TestAugmentLaw: shifts are uniform over (2·pad+1)², flips have probability ½, and both change with epoch, sample and seed. Six
// deviations are a chance below 1e-8 for each count, and seeds are fixed.
func TestAugmentLaw(t *testing.T) {
	const pad, n = 2, 20000
	a := Augment{Pad: pad, Flip: true, Seed: 3}
	var rng stream
	shifts, flips := map[[2]int]int{}, 0
	for i := range n {
		v := a.view(&rng, i/100, int32(i%100))
		shifts[[2]int{v.dy, v.dx}]++
		if v.mirror {
			flips++
		}
	}
	within := func(what string, got int, p float64) {
		t.Helper()
		if d := math.Abs(float64(got) - n*p); !(d <= 6*math.Sqrt(n*p*(1-p))) {
			t.Errorf("%s: %d of %d, expected %g", what, got, n, n*p)
		}
	}
	within("flips", flips, .5)
	for dy := -pad; dy <= pad; dy++ {
		for dx := -pad; dx <= pad; dx++ {
			within("a shift", shifts[[2]int{dy, dx}], 1./25)
		}
	}
	same := 0
	b := Augment{Pad: pad, Flip: true, Seed: 4}
	var other stream
	for i := range int32(1000) {
		v := a.view(&rng, 0, i)
		for _, w := range []view{a.view(&other, 1, i), b.view(&other, 0, i), a.view(&other, 0, i+1000)} {
			if v == w {
				same++
			}
		}
	}
	if p := 3000. / 50; !(math.Abs(float64(same)-p) <= 6*math.Sqrt(p)) {
		t.Errorf("%d of 3000 views are the same in another epoch, seed or sample; expected %g", same, p)
	}
}

// TestAugmentGolden pins the streams: a resumed run of another version must not see other images.
func TestAugmentGolden(t *testing.T) {
	a, err := AugmentNamed(AugmentCropFlip, 7)
	if err != nil {
		t.Fatal(err)
	}
	var rng stream
	var got []view
	for i := range int32(4) {
		got = append(got, a.view(&rng, 11, i))
	}
	want := []view{{1, 1, true}, {-2, 4, true}, {-1, -2, false}, {0, -4, true}} // port
	if !slices.Equal(got, want) {
		t.Errorf("views %+v, want %+v", got, want)
	}
}

func TestAugmentNamed(t *testing.T) {
	if a, err := AugmentNamed(AugmentNone, 5); err != nil || !a.None() {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err := AugmentNamed(AugmentCropFlip, 5); err != nil || a != (Augment{4, true, 5}) || a.None() {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := AugmentNamed("mixup", 5); err == nil || !strings.Contains(err.Error(), `["none" "crop_flip"]`) {
		t.Error(err)
	}
}

func TestFillAugmentedAllocatesNothing(t *testing.T) {
	s := &Set{Classes: 1, Shape: Shape{3, 32, 32}, True: make([]int32, 4), Pixels: make([]uint8, 4*3072), Norm: NormCIFAR}
	in := prepared(t, PipelinePlain, s.seal())
	dst, samples := make([]float32, 4*3072), []int32{0, 1, 2, 3}
	if n := testing.AllocsPerRun(10, func() { FillAugmented(dst, in, samples, Augment{4, true, 1}, 2) }); n != 0 {
		t.Errorf("FillAugmented allocates %v times", n)
	}
	for what, f := range map[string]func(){
		"short":    func() { FillAugmented(dst[1:], in, samples, Augment{Pad: 1}, 0) },
		"negative": func() { FillAugmented(dst, in, samples, Augment{Pad: -1}, 0) },
	} {
		func() {
			defer func() {
				if v, _ := recover().(string); !strings.HasPrefix(v, "data: FillAugmented") {
					t.Errorf("%s: panic %q", what, v)
				}
			}()
			f()
		}()
	}
}

// TestNorms: constants follow the set unless the pipeline names its own, and equal (v/255 − mean)/std of the channel.
func TestNorms(t *testing.T) {
	for _, c := range []struct {
		pipeline, norm string
		mean, std      []float64
	}{
		{PipelinePlain, NormCIFAR, []float64{.4914, .4822, .4465}, []float64{.2023, .1994, .2010}},
		{PipelineZHU, NormCIFAR, []float64{.4914, .4822, .4465}, []float64{.2023, .1994, .2010}},
		{PipelineMD, NormImageNet, []float64{.485, .456, .406}, []float64{.229, .224, .225}},
		{PipelineImageNet, NormCIFAR, []float64{.485, .456, .406}, []float64{.229, .224, .225}},
		{PipelineMD, "", []float64{.1307, .1307, .1307}, []float64{.3081, .3081, .3081}},
	} {
		s := &Set{Classes: 1, Shape: Shape{3, 32, 32}, True: make([]int32, 1), Pixels: make([]uint8, 3072), Norm: c.norm}
		for j := range s.Pixels {
			s.Pixels[j] = uint8(j % 251)
		}
		in := prepared(t, c.pipeline, s.seal())
		for j, v := range in.Rows() {
			k := j / 1024
			if want := (float64(j%251)/255 - c.mean[k]) / c.std[k]; !(math.Abs(float64(v)-want) <= 3e-6) {
				t.Fatalf("%s on %q: value %d is %g, want %g", c.pipeline, c.norm, j, v, want)
			}
		}
	}
	grey := labelled(4, 2)
	p, err := PipelineNamed(PipelineImageNet)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Prepare(grey); err == nil || !strings.Contains(err.Error(), "3 means for 1 channels") && !strings.Contains(err.Error(), "3 deviations for 1 channels") {
		t.Error(err)
	}
	grey.Norm = "paper"
	if _, err := (Pipeline{}).Prepare(grey); err == nil || !strings.Contains(err.Error(), `"paper"`) {
		t.Error(err)
	}
}

func BenchmarkFill(b *testing.B) {
	const n = 256
	for _, c := range []struct {
		name, pipeline string
		shape          Shape
		augment        Augment
	}{
		{"md", PipelineMD, Shape{1, 28, 28}, Augment{}},
		{"cifar", PipelinePlain, Shape{3, 32, 32}, Augment{}},
		{"cifar-crop-flip", PipelinePlain, Shape{3, 32, 32}, Augment{4, true, 1}},
		{"mini-crop-flip", PipelinePlain, Shape{3, 84, 84}, Augment{4, true, 1}},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := &Set{Classes: 1, Shape: c.shape, True: make([]int32, n), Pixels: make([]uint8, n*c.shape.Dim())}
			for i := range s.Pixels {
				s.Pixels[i] = uint8(i * i >> 5)
			}
			p, err := PipelineNamed(c.pipeline)
			if err != nil {
				b.Fatal(err)
			}
			in, err := p.Prepare(s.seal())
			if err != nil {
				b.Fatal(err)
			}
			dst, samples := make([]float32, 16*in.Dim()), make([]int32, 16)
			b.SetBytes(int64(len(dst) * 4))
			for i := 0; b.Loop(); i++ {
				for j := range samples {
					samples[j] = int32((i*16 + j*37) % n)
				}
				FillAugmented(dst, in, samples, c.augment, i)
			}
		})
	}
}
