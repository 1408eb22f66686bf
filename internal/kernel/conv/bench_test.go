package conv

import (
	"fmt"
	"testing"

	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/parallel"
)

// convLayer is a convolution of one of the papers' networks on 32×32 images; count is how often it occurs.
type convLayer struct {
	net   string
	batch int
	count int
	shape Shape
}

// convLayers lists the distinct convolutions of ResNet18 (both stems), VGG13 and ResNet18-adapt.
func convLayers() []convLayer {
	var layers []convLayer
	add := func(net string, batch, count int, in, out, side, size, stride, pad int) {
		layers = append(layers, convLayer{net, batch, count, Shape{in, out, side, side, size, size, stride, pad}})
	}
	resnet := func(net string, batch, width, side int) {
		add(net, batch, 4, width, width, side, 3, 1, 1)
		for range 3 {
			add(net, batch, 1, width, 2*width, side, 3, 2, 1)
			add(net, batch, 1, width, 2*width, side, 1, 2, 0)
			width, side = 2*width, side/2
			add(net, batch, 3, width, width, side, 3, 1, 1)
		}
	}
	add("resnet18", 128, 1, 3, 64, 32, 7, 2, 3)
	resnet("resnet18", 128, 64, 8)
	add("resnet18-cifar", 64, 1, 3, 64, 32, 3, 1, 1)
	resnet("resnet18-cifar", 64, 64, 32)
	in, side := 3, 32
	for _, out := range []int{64, 128, 256, 512, 512} {
		add("vgg13", 128, 1, in, out, side, 3, 1, 1)
		add("vgg13", 128, 1, out, out, side, 3, 1, 1)
		in, side = out, side/2
	}
	for _, k := range []int{8, 16} {
		net := fmt.Sprint("adapt", k)
		add(net, 64, 1, 3, k, 32, 3, 1, 1)
		resnet(net, 64, k, 32)
	}
	return layers
}

// BenchmarkConv times the three operations of every layer. GFLOP/s count every tap, those that only see
// padding too, as papers do: a convolution that skips them, or Winograd's algorithm, can exceed the peak
// of the machine.
func BenchmarkConv(b *testing.B) {
	for _, threads := range []int{1, 2} {
		tm := parallel.NewTeam(threads)
		for _, l := range convLayers() {
			s := l.shape
			name := fmt.Sprintf("%s-%dx%d-%dto%d-k%ds%d", l.net, s.H, s.W, s.In, s.Out, s.KH, s.Stride)
			b.Run(fmt.Sprintf("threads=%d/%s", threads, name), func(b *testing.B) { benchConv(b, tm, l) })
		}
		tm.Close()
	}
}

func benchConv(b *testing.B, tm *parallel.Team, l convLayer) {
	s, lanes := l.shape, Lanes(l.batch)
	image := func(n int) []float32 {
		v := memory.Alloc[float32](n * lanes)
		for i := range v {
			v[i] = float32(i%7) - 3
		}
		return v
	}
	x, y := image(s.In*s.H*s.W), image(s.Out*s.OutH()*s.OutW())
	w, dw, dx := memory.Alloc[float32](s.Out*s.In*s.KH*s.KW), memory.Alloc[float32](s.Out*s.In*s.KH*s.KW), image(s.In*s.H*s.W)
	for i := range w {
		w[i] = float32(i%5) - 2
	}
	dy := image(s.Out * s.OutH() * s.OutW())
	conv := New[float32](s, l.batch)
	for _, op := range []struct {
		name string
		run  func()
	}{
		{"forward", func() { conv.Forward(tm, l.batch, x, w, y, Epilogue[float32]{}) }},
		{"input", func() { conv.InputGrad(tm, l.batch, dy, w, dx, false) }},
		{"weight", func() { conv.WeightGrad(tm, l.batch, x, dy, dw) }},
	} {
		b.Run(op.name, func(b *testing.B) {
			op.run()
			for b.Loop() {
				op.run()
			}
			seconds := b.Elapsed().Seconds() / float64(b.N)
			b.ReportMetric(2*float64(s.MACs(l.batch))/seconds/1e9, "GFLOP/s")
		})
	}
}
