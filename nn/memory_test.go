package nn

import "testing"

// TestEstimate: what a network says it will hold is what it has allocated after a step and an evaluation.
func TestEstimate(t *testing.T) {
	for _, a := range []Arch{adapt(2), {Kind: KindMLP, Channels: 1, Height: 4, Width: 5, Classes: 3, HiddenWidth: 9, HiddenLayers: 2, BatchNorm: true},
		{Kind: KindAdapt, Channels: 3, Height: 8, Width: 8, Classes: 4, StemWidth: 3, FeatureDim: 5}} {
		for _, mode := range []Mode{Eval, Train} {
			n, err := NewArch[float32](a, nil, 5, 1)
			if err != nil {
				t.Fatal(err)
			}
			want, err := EstimateBytes[float32](a, 5, mode)
			if err != nil {
				t.Fatal(err)
			}
			x := make([]float32, 5*a.Inputs())
			n.Forward(x, 5, Eval)
			if mode == Train {
				n.Forward(x, 5, Train)
				n.Backward(make([]float32, 5*a.Classes))
			}
			if got := held(n); got != want.Activations {
				t.Errorf("%s, mode %d: holds %d bytes of activations, estimated %d", a.Kind, mode, got, want.Activations)
			}
			params := 0
			for _, p := range n.Params() {
				params += 2 * 4 * len(p.Value)
			}
			for _, b := range n.Buffers() {
				params += 4 * len(b.Value)
			}
			if int64(params) != want.Params {
				t.Errorf("%s: holds %d bytes of parameters, estimated %d", a.Kind, params, want.Params)
			}
		}
	}
	if _, err := EstimateBytes[float32](Arch{}, 5, Train); err == nil {
		t.Error("an empty description has an estimate")
	}
}

// held counts the activations a network has allocated.
func held(n *Network[float32]) int64 {
	count := len(n.fc.y) + len(n.gradPing) + len(n.gradPong)
	for _, l := range n.layers {
		switch l := l.(type) {
		case *linear[float32]:
			count += len(l.y)
		case *batchNorm[float32]:
			count += len(l.y)
		case *trunk[float32]:
			count += len(l.features) + len(l.input) + l.work.allocated*l.work.perSample*l.work.lanes
			for _, s := range l.stages {
				if p, ok := s.(*maxPool[float32]); ok {
					count += len(p.y)
				}
				for _, u := range s.parts() {
					count += len(u.own) + len(u.z)
					if u.folded != nil {
						count += len(u.folded.weight) + len(u.folded.bias) + len(u.folded.arranged)
					}
				}
			}
		}
	}
	return sizeOf[float32](count)
}
