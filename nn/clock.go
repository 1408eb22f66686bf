package nn

import (
	"strings"
	"time"
)

// Clock times every operation of every layer; see Network.Watch. A nil Clock does nothing.
type Clock struct {
	last  time.Time
	laps  map[Operation][]time.Duration
	order []Operation // in order of first use
}

// Operation is one kind of work of one layer.
type Operation struct {
	Layer string // name of its module
	Op    string // one of the Op constants, or a caller's own
}

// What a layer does.
const (
	OpForward    = "forward" // of a convolution or Linear, with what is fused to it
	OpInputGrad  = "input gradient"
	OpWeightGrad = "weight gradient"
	OpNorm       = "norm" // batch norm, its activation and the residual sum; rows divided by their norms
	OpNormGrad   = "norm gradient"
	OpBiasGrad   = "bias gradient"
	OpPool       = "pool"
	OpPoolGrad   = "pool gradient"
	OpActivation = "activation"
	OpLayout     = "layout" // rows to images, images to features, and back; folding of batch norms
)

// Start begins a step: the next lap counts from here.
func (c *Clock) Start() { c.last = time.Now() }

// Lap records the time since Start or the last lap for an operation. A name may end in ".weight".
func (c *Clock) Lap(layer, op string) {
	if c == nil {
		return
	}
	now := time.Now()
	key := Operation{strings.TrimSuffix(layer, ".weight"), op}
	if c.laps == nil {
		c.laps = map[Operation][]time.Duration{}
	}
	if _, known := c.laps[key]; !known {
		c.order = append(c.order, key)
	}
	c.laps[key] = append(c.laps[key], now.Sub(c.last))
	c.last = now
}

// Operations lists the timed operations, in the order of a step.
func (c *Clock) Operations() []Operation { return c.order }

// Laps returns the times of an operation, one per step.
func (c *Clock) Laps(o Operation) []time.Duration { return c.laps[o] }

// Reset forgets all times.
func (c *Clock) Reset() { c.laps, c.order = nil, nil }

// Watch makes every layer report to c from now on; nil stops it.
func (n *Network[T]) Watch(c *Clock) {
	for _, l := range n.layers {
		l.watch(c)
	}
	n.fc.watch(c)
}
