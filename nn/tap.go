package nn

import (
	"fmt"
	"strings"
)

// Tap is a layer whose outputs can be kept as well as the features, for layer-by-layer measures.
type Tap struct {
	Name                    string // PyTorch's name of the module whose output it is, such as "layer1" or "features.4"
	Channels, Height, Width int    // Height and Width are 1 in an MLP
	Stage                   bool   // a residual stage, a pooling of VGG13, a block of an MLP: what the figures show
}

// Dim returns the width of a tapped row: a mean per channel, or with flatten all values in PyTorch's order.
func (t Tap) Dim(flatten bool) int {
	if flatten {
		return t.Channels * t.Height * t.Width
	}
	return t.Channels
}

// tapped is a tap in use.
type tapped[T any] struct {
	at      int // index in Taps
	flatten bool
	rows    []T
}

// Taps lists the layers that can be tapped, from the input to the features.
func (n *Network[T]) Taps() []Tap { return n.taps }

// Tap makes every later Forward keep the outputs of the named layers, averaged over each channel's map or, with flatten,
// whole. Names replace those of an earlier call; none switches tapping off. The error names the existing layers.
func (n *Network[T]) Tap(flatten bool, names ...string) error {
	n.tapped = n.tapped[:0]
	for _, name := range names {
		at := n.findTap(name)
		if at < 0 {
			var all []string
			for _, t := range n.taps {
				all = append(all, t.Name)
			}
			n.tapped = nil
			return fmt.Errorf("nn: no layer %q to tap; wanted one of %s", name, strings.Join(all, ", "))
		}
		n.tapped = append(n.tapped, tapped[T]{at: at, flatten: flatten, rows: make([]T, n.maxBatch*n.taps[at].Dim(flatten))})
	}
	return nil
}

func (n *Network[T]) findTap(name string) int {
	for i, t := range n.taps {
		if t.Name == name {
			return i
		}
	}
	return -1
}

// Tapped returns what the last Forward kept of the i-th layer named in Tap: batch rows of Dim values, which hold until
// the next Forward.
func (n *Network[T]) Tapped(i int) []T {
	t := &n.tapped[i]
	return t.rows[:n.lastBatch*n.taps[t.at].Dim(t.flatten)]
}

// keepRows copies the output of a layer of rows to the taps that want it.
func (n *Network[T]) keepRows(layer int, h []T) {
	if n.trunk != nil {
		return // it has kept its own outputs
	}
	for i := range n.tapped {
		if n.tapLayers[n.tapped[i].at] == layer {
			copy(n.tapped[i].rows, h)
		}
	}
}
