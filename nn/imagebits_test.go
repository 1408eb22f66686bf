package nn

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/parallel"
)

// TestImageNetworkBits: threads change nothing, batches of any size share the arenas, a step allocates nothing once warm.
func TestImageNetworkBits(t *testing.T) {
	two := parallel.NewTeam(2)
	defer two.Close()
	builds := map[string]func(*trunk[float32]){
		"adapt": func(t *trunk[float32]) {
			adaptKind.images(t, Arch{StemWidth: 4})
		},
		"vgg": vggLike[float32],
	}
	for name, build := range builds {
		const classes, maxBatch = 4, 20
		in := mapShape{3, 16, 12}
		nets := []*Network[float32]{tiny(t, in, classes, maxBatch, nil, build), tiny(t, in, classes, maxBatch, two, build)}
		rng := rand.New(rand.NewPCG(9, 9))
		loss, _ := NewLoss[float32](LossConfig{Kind: CrossEntropy}, classes)
		for _, batch := range []int{maxBatch, 7} {
			x64, labels := sample(rng, batch, in.size(), classes)
			x := to32(x64)
			for _, n := range nets {
				step(t, n, loss, x, labels)
				n.Forward(x, batch, Eval)
			}
			for i, p := range nets[0].Params() {
				for j, g := range p.Grad {
					if g != nets[1].Params()[i].Grad[j] {
						t.Fatalf("%s batch %d: %s[%d] differs between teams", name, batch, p.Name, j)
					}
				}
			}
			dlogits := make([]float32, batch*classes)
			// Alone: a second thread that joins late makes the kernels' pools grow then.
			if allocs := testing.AllocsPerRun(2, func() {
				nets[0].Forward(x, batch, Eval)
				loss.Gradient(nets[0].Forward(x, batch, Train).Logits, labels, dlogits)
				nets[0].Backward(dlogits)
			}); allocs != 0 {
				t.Errorf("%s batch %d: %g allocations in a step", name, batch, allocs)
			}
		}
	}
}

// TestImageFloat32AgreesWithFloat64: every kernel's step in float32 is the one in float64 up to rounding.
func TestImageFloat32AgreesWithFloat64(t *testing.T) {
	const classes, batch = 4, 20
	in := mapShape{3, 8, 12}
	a := Arch{StemWidth: 5, FeatureDim: 6}
	nets := []*Network[float64]{tiny(t, in, classes, batch, nil, func(t *trunk[float64]) { adaptKind.images(t, a) }), tiny(t, in, classes, batch, nil, vggLike[float64])}
	for _, name := range isa.Available() {
		useKernel(t, name)
		for i, single := range []*Network[float32]{tiny(t, in, classes, batch, nil, func(t *trunk[float32]) { adaptKind.images(t, a) }), tiny(t, in, classes, batch, nil, vggLike[float32])} {
			x, labels := sample(rand.New(rand.NewPCG(3, 4)), batch, in.size(), classes)
			loss64, _ := NewLoss[float64](LossConfig{Kind: CrossEntropy}, classes)
			loss32, _ := NewLoss[float32](LossConfig{Kind: CrossEntropy}, classes)
			step(t, nets[i], loss64, x, labels)
			step(t, single, loss32, to32(x), labels)
			for j, p := range nets[i].Params() {
				compare(t, fmt.Sprintf("%s, net %d, %s", name, i, p.Name), single.Params()[j].Grad, p.Grad, 1e-4)
			}
		}
	}
}
