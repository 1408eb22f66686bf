package nn

import (
	"fmt"
	"slices"

	"collapse.example/collapse/internal/kinds"
)

// Kind describes one kind of network or loss; package optim describes optimisers alike.
type Kind = kinds.Kind

// Networks lists the kinds of networks.
func Networks() []Kind {
	var list []Kind
	for _, k := range netKinds {
		list = append(list, k.Kind)
	}
	return list
}

// Losses lists the kinds of losses.
func Losses() []Kind {
	var list []Kind
	for _, k := range lossKinds {
		list = append(list, k.Kind)
	}
	return list
}

// netKinds are the networks. To add one, write a file with its netKind and list it here.
var netKinds = []*netKind{&mlpKind, &resnet18Kind, &adaptKind, &vgg13Kind, &vgg13BNKind}

// netKind is a kind of network and how to build it: from dense blocks over rows, or from stages over images.
type netKind struct {
	Kind
	features  func(a Arch) int            // d if a does not set it
	check     func(a Arch, c *complaints) // checks settings specific to this kind; nil: none
	dense     func(a Arch) []denseBlock   // the blocks below fc, or nil
	images    func(s stack, a Arch)       // lays out the stages below fc, or nil
	deviation float64                     // of fc's initial weights, drawn from a normal law; 0: PyTorch's law
	sizes     []Size                      // of the papers' experiments
	widen     func(a *Arch, channels int) // changes the network's width; nil: the width is fixed
}

// Size is a network at the size of the papers' experiments.
type Size struct {
	Name  string // "resnet18-cifar"
	Batch int    // of their training, on which published times are taken
	Arch  Arch
}

// Sizes lists every kind of network at the sizes of the papers' experiments, as benchmarks time it.
func Sizes() []Size {
	var list []Size
	for _, k := range netKinds {
		for _, s := range k.sizes {
			s.Arch.Kind = k.Name
			list = append(list, s)
		}
	}
	return list
}

// Widened returns a with hidden layers, or a stem, of the given width. The error names the kinds of networks that have a width to choose.
func (a Arch) Widened(width int) (Arch, error) {
	if k := a.kind(); k != nil && k.widen != nil {
		k.widen(&a, width)
		return a, nil
	}
	var can []Kind
	for _, k := range netKinds {
		if k.widen != nil {
			can = append(can, k.Kind)
		}
	}
	return a, fmt.Errorf("nn: %s has a fixed width; choose one only for %s", a.Kind, kinds.InWords(can))
}

// kind returns the kind of a, or nil.
func (a Arch) kind() *netKind {
	at := slices.IndexFunc(netKinds, func(k *netKind) bool { return k.Name == a.Kind })
	if at < 0 {
		return nil
	}
	return netKinds[at]
}

// complaints collects the errors of a description.
type complaints struct{ errs []error }

// when adds an error if the condition holds.
func (c *complaints) when(wrong bool, format string, args ...any) {
	if wrong {
		c.errs = append(c.errs, fmt.Errorf("nn: "+format, args...))
	}
}

func (c *complaints) least(name string, v, least int) {
	c.when(v < least, "%s is %d, wanted at least %d", name, v, least)
}

func (c *complaints) oneOf(name, v string, allowed ...string) {
	c.when(!slices.Contains(allowed, v), "%s is %q, wanted one of %q", name, v, allowed)
}
