package bench

import (
	"fmt"
	"strings"

	"collapse/nn"
)

// netSpec is a network that can be timed by name.
type netSpec struct {
	name  string
	batch int // of the published figures
	arch  nn.Arch
}

// image is a description of 3×32×32 inputs in ten classes.
func image(a nn.Arch) nn.Arch {
	a.Channels, a.Height, a.Width, a.Classes = 3, 32, 32, 10
	return a
}

// nets are the networks of the papers at the sizes of their experiments; the MLP as Nguyen et al. 2023 have it on two classes of MNIST.
var nets = []netSpec{
	{"mlp", 512, nn.Arch{Kind: nn.KindMLP, Channels: 1, Height: 28, Width: 28, Classes: 2, FeatureDim: 2, HiddenWidth: 2048, HiddenLayers: 9, BatchNorm: true}},
	{"resnet18", 128, image(nn.Arch{Kind: nn.KindResNet18})},
	{"resnet18-cifar", 64, image(nn.Arch{Kind: nn.KindResNet18, Stem: nn.StemCIFAR})},
	{"vgg13", 128, image(nn.Arch{Kind: nn.KindVGG13})},
	{"vgg13-bn", 128, image(nn.Arch{Kind: nn.KindVGG13BN})},
	{"resnet18-adapt", 64, image(nn.Arch{Kind: nn.KindAdapt, StemWidth: 8})},
}

// Nets lists the names that Net knows.
func Nets() (names []string) {
	for _, n := range nets {
		names = append(names, n.name)
	}
	return names
}

// Net returns a network by name, and the batch size it is usually timed at. width, if not 0, replaces the units of an MLP's hidden
// layers or the channels of resnet18-adapt's stem; other networks have one width, and an error says so.
func Net(name string, width int) (arch nn.Arch, batch int, err error) {
	for _, n := range nets {
		if n.name != name {
			continue
		}
		switch {
		case width == 0:
		case n.arch.Kind == nn.KindMLP:
			n.arch.HiddenWidth = width
		case n.arch.Kind == nn.KindAdapt:
			n.arch.StemWidth = width
		default:
			return nn.Arch{}, 0, fmt.Errorf("bench: %s has one width; choose one for mlp or resnet18-adapt only", name)
		}
		return n.arch, n.batch, nil
	}
	return nn.Arch{}, 0, fmt.Errorf("bench: no network is called %q; there are %s", name, strings.Join(Nets(), ", "))
}

// product is the matrix product or convolution of a layer: multiply-adds of one forward pass over a sample, with every tap of a filter
// and with those only that see a pixel.
type product struct {
	layer       string
	algorithm   string // of a convolution
	all, useful float64
}

// listProducts lists the products of a network from the input to the classifier.
func listProducts(net *nn.Network[float32]) []product {
	var list []product
	for _, c := range net.Convs() {
		list = append(list, product{c.Name, c.Algorithm, float64(c.Shape.MACs(1)), float64(c.Shape.UsefulMACs(1))})
	}
	for _, p := range net.Params() {
		if len(p.Shape) == 2 { // of a Linear
			size := float64(p.Shape[0] * p.Shape[1])
			list = append(list, product{layer: strings.TrimSuffix(p.Name, ".weight"), all: size, useful: size})
		}
	}
	return list
}

// flops is the operations of one step over batch samples: 6 for each multiply-add of the forward pass, 4 in the first layer, whose input
// gradient nobody forms; 2 in evaluation.
func flops(list []product, batch int, eval bool) (all, useful float64) {
	for i, p := range list {
		each := 6.0
		switch {
		case eval:
			each = 2
		case i == 0:
			each = 4
		}
		all += each * p.all * float64(batch)
		useful += each * p.useful * float64(batch)
	}
	return all, useful
}
