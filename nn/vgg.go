package nn

import (
	"fmt"

	"collapse/internal/kernel"
)

// vgg13 is configuration B of Simonyan and Zisserman 2015: outputs of 3×3 convolutions, 0 for a max pooling.
var vgg13 = []int{64, 64, 0, 128, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0}

// addVGG lays out VGG13 as torchvision's features: every convolution, batch norm, ReLU and pooling takes one index.
func (t *trunk[T]) addVGG(norm bool) {
	index := 0
	name := func() string { return fmt.Sprintf("features.%d", index) }
	for _, out := range vgg13 {
		if out == 0 {
			t.add(newMaxPool(t, 2, 2, 0), Tap{Name: name(), Stage: true})
			index++
			continue
		}
		in := t.last()
		spec := unitSpec{name: name(), bias: true, relu: true, law: lawKaiming,
			shape: kernel.ConvShape{In: in.channels, Out: out, H: in.height, W: in.width, KH: 3, KW: 3, Stride: 1, Pad: 1}}
		index++
		if norm {
			spec.normName = name()
			index++
		}
		t.add(newUnit(t, spec), Tap{Name: name()})
		index++
	}
}
