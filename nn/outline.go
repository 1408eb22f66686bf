package nn

// Outline is what a description says about its network before it is built.
type Outline struct {
	Parameters int   // numbers to train or keep fixed
	MACs       int64 // multiply-adds of one sample's forward pass; see Network.MACs
	Taps       []Tap
	// LoneNorm says that a batch norm sees one value per channel and sample, so that a training batch of one sample is refused
	// and one of few samples is noisy.
	LoneNorm bool
}

// Outlined returns the outline of a's network without building it.
func Outlined(a Arch) (Outline, error) {
	n, err := design[float32](a, nil, 1)
	if err != nil {
		return Outline{}, err
	}
	o := Outline{MACs: n.MACs(), Taps: n.taps, LoneNorm: n.loneNorm}
	for _, p := range n.params {
		o.Parameters += p.Size()
	}
	return o, nil
}

// MACs counts the multiply-adds of one sample's forward pass in convolutions and linear layers, with every tap of a filter,
// including those that see only padding, as papers count them.
func (n *Network[T]) MACs() int64 {
	var sum int64
	for _, c := range n.Convs() {
		sum += c.Shape.MACs(1)
	}
	for _, p := range n.params {
		if len(p.Shape) == 2 { // the weight of a Linear
			sum += int64(p.Shape[0]) * int64(p.Shape[1])
		}
	}
	return sum
}
