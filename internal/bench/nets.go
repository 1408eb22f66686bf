package bench

import (
	"fmt"
	"strings"

	"collapse.example/collapse/nn"
)

// Nets lists the names that Net knows.
func Nets() (names []string) {
	for _, n := range nn.Sizes() {
		names = append(names, n.Name)
	}
	return names
}

// Net returns a network of the papers by name, at the size of their experiments (for the MLP, that of Nguyen et al. 2023 for two
// classes of MNIST), and the batch size it is usually timed at. width, if not 0, replaces the units of an MLP's hidden layers or the
// channels of resnet18-adapt's stem; other networks have one width, and changing it is an error.
func Net(name string, width int) (arch nn.Arch, batch int, err error) {
	for _, n := range nn.Sizes() {
		if n.Name != name {
			continue
		}
		if width != 0 {
			n.Arch, err = n.Arch.Widened(width)
		}
		return n.Arch, n.Batch, err
	}
	return nn.Arch{}, 0, fmt.Errorf("bench: no network is called %q; there are %s", name, strings.Join(Nets(), ", "))
}

// product is the matrix product or convolution of a layer: multiply-adds of one forward pass over a sample, counting every filter
// tap and counting only those that see a pixel.
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

// flops is the number of operations of one step over batch samples: 6 per multiply-add of the forward pass, 4 in the first layer,
// whose input gradient is not computed; 2 in evaluation.
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
