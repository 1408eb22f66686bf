package nn

// MACs counts the multiply-adds of one sample's forward pass in convolutions and linear layers, with every tap of a filter, those
// that see only padding included, as papers count them.
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

// MACsOf is MACs of a's network, without building it.
func MACsOf(a Arch) (int64, error) {
	n, err := design[float32](a, nil, 1)
	if err != nil {
		return 0, err
	}
	return n.MACs(), nil
}
