package nn

import (
	"fmt"

	"collapse.example/collapse/internal/kernel/conv"
)

// The networks of Simonyan and Zisserman 2015, configuration B without the 4096-wide head (Nguyen et al. 2023).
const (
	KindVGG13   = "vgg13"
	KindVGG13BN = "vgg13-bn"
)

var (
	vgg13Kind = netKind{
		Kind:     Kind{Name: KindVGG13, Title: "VGG13", Doc: "ten 3x3 convolutions and five poolings, then one linear layer (Nguyen et al. 2023)"},
		features: vggFeatures, check: checkVGG, images: func(s stack, _ Arch) { layVGG(s, false) }, deviation: 0.01,
		sizes: []Size{{"vgg13", 128, tenClasses(Arch{})}},
	}
	vgg13BNKind = netKind{
		Kind:     Kind{Name: KindVGG13BN, Title: "VGG13 with batch norm", Doc: "vgg13 with batch norm after every convolution"},
		features: vggFeatures, check: checkVGG, images: func(s stack, _ Arch) { layVGG(s, true) }, deviation: 0.01,
		sizes: []Size{{"vgg13-bn", 128, tenClasses(Arch{})}},
	}
)

func vggFeatures(Arch) int { return 512 }

func checkVGG(a Arch, c *complaints) {
	c.when(a.FeatureDim != 0 && a.FeatureDim != 512, "feature dimension is %d, but %s has 512", a.FeatureDim, a.Kind)
	c.when(a.Height < 32 || a.Width < 32, "images of %d×%d are too small for the five poolings of %s; wanted at least 32×32", a.Height, a.Width, a.Kind)
}

// vgg13 is configuration B: outputs of 3×3 convolutions, 0 for a max pooling.
var vgg13 = []int{64, 64, 0, 128, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0}

// layVGG names parts as torchvision's features: every convolution, batch norm, ReLU and pooling takes one index.
func layVGG(s stack, norm bool) {
	index := 0
	name := func() string { return fmt.Sprintf("features.%d", index) }
	for _, out := range vgg13 {
		if out == 0 {
			s.maxPool(2, 2, 0, Tap{Name: name(), Stage: true})
			index++
			continue
		}
		in := s.last()
		spec := unitSpec{name: name(), bias: true, relu: true, law: lawKaiming,
			shape: conv.Shape{In: in.channels, Out: out, H: in.height, W: in.width, KH: 3, KW: 3, Stride: 1, Pad: 1}}
		index++
		if norm {
			spec.normName = name()
			index++
		}
		s.conv(spec, Tap{Name: name()})
		index++
	}
}
