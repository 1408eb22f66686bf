package optim

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/parallel"
)

// torchAdam transcribes the algorithm of torch.optim.Adam's documentation for one parameter.
func torchAdam(theta, g, m, v []float64, t int, gamma float64, c AdamConfig) {
	for i := range theta {
		gt := g[i] + c.WeightDecay*theta[i]
		m[i] = c.Beta1*m[i] + (1-c.Beta1)*gt
		v[i] = c.Beta2*v[i] + (1-c.Beta2)*gt*gt
		mHat := m[i] / (1 - math.Pow(c.Beta1, float64(t)))
		vHat := v[i] / (1 - math.Pow(c.Beta2, float64(t)))
		theta[i] -= gamma * mHat / (math.Sqrt(vHat) + c.Eps)
	}
}

func TestAdamFollowsTorch(t *testing.T) {
	for _, cfg := range []AdamConfig{DefaultAdam(), {Beta1: 0.5, Beta2: 0.9, Eps: 1e-3, WeightDecay: 0.1}, {Eps: 1e-2}} {
		ps, ps32 := params[float64](1), params[float32](1)
		adam, err := NewAdam(ps, cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		adam32, err := NewAdam(ps32, cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		var theta, m, v [][]float64
		for _, p := range ps {
			n := len(p.Value)
			theta, m, v = append(theta, slices.Clone(p.Value)), append(m, make([]float64, n)), append(v, make([]float64, n))
		}
		rng, rng32 := rand.New(rand.NewPCG(2, 2)), rand.New(rand.NewPCG(2, 2))
		for step := 1; step <= 5; step++ {
			rate := 0.1 / float64(step)
			randomGradients(rng, ps)
			randomGradients(rng32, ps32)
			for i, p := range ps {
				torchAdam(theta[i], p.Grad, m[i], v[i], step, rate, cfg)
			}
			adam.Step(rate, 0)
			adam32.Step(rate, 0)
			for i, p := range ps {
				for j, want := range theta[i] {
					if !(math.Abs(p.Value[j]-want) <= 1e-13*math.Max(1, math.Abs(want))) {
						t.Fatalf("%+v step %d: %s[%d] = %g, want %g", cfg, step, p.Name, j, p.Value[j], want)
					}
					if got := float64(ps32[i].Value[j]); !(math.Abs(got-want) <= 4e-6*math.Max(1, math.Abs(want))) {
						t.Fatalf("%+v step %d: float32 %s[%d] = %g, want %g", cfg, step, p.Name, j, got, want)
					}
				}
			}
		}
	}
}

func TestAdamSameBitsForAnyTeamAndNoAllocation(t *testing.T) {
	sameBitsForAnyTeam(t, func(ps []*nn.Param[float32], team *parallel.Team) (Optimizer[float32], error) {
		return NewAdam(ps, DefaultAdam(), team)
	})
}

// TestAdamResume: saving and loading in the middle changes no bit; frozen parameters stay and have no state.
func TestAdamResume(t *testing.T) {
	run := func(interrupt bool) []float32 {
		ps, rng := params[float32](7), rand.New(rand.NewPCG(1, 1))
		ps[0].Frozen = true
		frozen := slices.Clone(ps[0].Value)
		adam, err := NewAdam(ps, DefaultAdam(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for step := range 6 {
			if interrupt && step == 3 {
				saved := copied(adam.State())
				if adam, err = NewAdam(ps, DefaultAdam(), nil); err != nil {
					t.Fatal(err)
				}
				if err := adam.Load(saved); err != nil {
					t.Fatal(err)
				}
			}
			randomGradients(rng, ps)
			adam.Step(0.1, 0)
		}
		if state := adam.State(); state.Steps != 6 || len(state.Tensors) != 2 || state.Tensors[1].Name != "layers.1.weight.exp_avg_sq" {
			t.Errorf("state of %d steps and %d tensors", state.Steps, len(state.Tensors))
		}
		if !slices.Equal(ps[0].Value, frozen) {
			t.Error("a frozen parameter moved")
		}
		return ps[1].Value
	}
	if !slices.Equal(run(false), run(true)) {
		t.Error("a resumed run differs from an unbroken one")
	}
}

// copied is what a file would hold.
func copied[T kernel.Float](s State[T]) State[T] {
	for i := range s.Tensors {
		s.Tensors[i].Value = slices.Clone(s.Tensors[i].Value)
	}
	return s
}

func TestAdamRefusals(t *testing.T) {
	for _, cfg := range []AdamConfig{{Beta1: 1}, {Beta2: -0.1}, {Beta1: math.NaN()}, {Eps: -1}, {WeightDecay: math.Inf(1)}} {
		if _, err := NewAdam(params[float32](1), cfg, nil); err == nil {
			t.Errorf("%+v accepted", cfg)
		}
	}
	adam, err := NewAdam(params[float32](1), DefaultAdam(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if adam.Load(State[float32]{Steps: 1}) == nil || adam.Load(State[float32]{Steps: -1, Tensors: adam.tensors()}) == nil {
		t.Error("a state without moments, or of −1 steps, accepted")
	}
}
