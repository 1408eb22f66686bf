package data

import (
	"fmt"
)

// Generators of label noise.
const (
	// GeneratorCollapse draws sample i from its own stream keyed by (seed, i). For one seed, the
	// samples redrawn at a rate are among those redrawn at any higher rate, with the same labels.
	GeneratorCollapse = "collapse"
	// GeneratorTorch repeats, bit for bit, what the released code of Nguyen et al. 2023 draws:
	// torch.where(torch.rand(N) < rate, torch.randint(0, K, (N,)), labels) after
	// torch.manual_seed(seed) on a CPU.
	GeneratorTorch = "torch"
)

// Noise is uniform label noise as Nguyen et al. 2023 (memorization–dilation) define it: each
// sample independently, with probability Rate, gets a label drawn uniformly from all K classes,
// the true one included. The expected share of labels that differ is therefore Rate·(K−1)/K.
type Noise struct {
	Rate      float64 // η in [0, 1]; 0: none
	Generator string  // GeneratorCollapse (also if empty) or GeneratorTorch
	Seed      uint64  // torch's generator uses the low 32 bits only
}

// Check returns an error if the rate is outside [0, 1] (or NaN) or the generator unknown.
func (n Noise) Check() error {
	if !(n.Rate >= 0 && n.Rate <= 1) {
		return fmt.Errorf("data: label noise rate is %v; a probability between 0 and 1 is needed", n.Rate)
	}
	switch n.Generator {
	case "", GeneratorCollapse, GeneratorTorch:
		return nil
	}
	return fmt.Errorf("data: label noise generator %q is unknown; use %q or %q", n.Generator, GeneratorCollapse, GeneratorTorch)
}

// WithNoise returns the set with observed labels and the redrawn mask drawn anew from the true
// labels. Pixels, true labels and digest are shared: noise is part of a run, not of its data.
func (s *Set) WithNoise(n Noise) (*Set, error) {
	if err := n.Check(); err != nil {
		return nil, err
	}
	out := *s
	out.Observed = append([]int32(nil), s.True...)
	out.Redrawn = make([]bool, s.N())
	if n.Generator == GeneratorTorch {
		n.drawTorch(out.Observed, out.Redrawn, s.Classes)
	} else {
		n.draw(out.Observed, out.Redrawn, s.Classes)
	}
	return &out, nil
}

func (n Noise) draw(labels []int32, redrawn []bool, classes int) {
	var rng stream
	for i := range labels {
		rng.reset(n.Seed, forNoise, uint64(i))
		if rng.unit() < n.Rate {
			redrawn[i] = true
			labels[i] = int32(rng.below(classes))
		}
	}
}

// drawTorch draws N float32 uniforms, then N integers for every sample, redrawn or not. The rate
// is rounded to float32 before the comparison, as torch does with a Python number.
func (n Noise) drawTorch(labels []int32, redrawn []bool, classes int) {
	var mt mt19937
	mt.seed(uint32(n.Seed))
	rate := float32(n.Rate)
	for i := range redrawn {
		redrawn[i] = mt.float32() < rate
	}
	for i := range labels {
		label := mt.next() % uint32(classes)
		if redrawn[i] {
			labels[i] = int32(label)
		}
	}
}
