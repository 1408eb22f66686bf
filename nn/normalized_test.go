package nn

import (
	"math"
	"math/rand/v2"
	"testing"
)

// onSphere is a small network with unit features in the plane.
func onSphere(t *testing.T, kind Arch) *Network[float64] {
	t.Helper()
	kind.Classifier, kind.Temperature, kind.NoClassifierBias = ClassifierNormalized, 3, true
	return mustMLP[float64](t, kind, nil, 8, 1)
}

var planeMLP = Arch{Kind: KindMLP, Channels: 1, Height: 1, Width: 5, HiddenWidth: 6, HiddenLayers: 2, FeatureDim: 2, Classes: 4, BatchNorm: true, LinearFeatures: true}

func TestGradientsOfNormalizedClassifiers(t *testing.T) {
	withReLU := planeMLP
	withReLU.LinearFeatures, withReLU.FeatureDim = false, 5
	for _, arch := range []Arch{planeMLP, withReLU} {
		for _, cfg := range []LossConfig{{Kind: CrossEntropy}, {Kind: MSE}} {
			checkNetwork(t, onSphere(t, arch), cfg)
		}
	}
}

// TestNormalizedLogitsAreCosines: features have length 1, rows as used length τ, and logits are their products; the parameter is as it was.
func TestNormalizedLogitsAreCosines(t *testing.T) {
	for _, arch := range []Arch{planeMLP, {Kind: KindAdapt, Channels: 1, Height: 8, Width: 8, StemWidth: 2, Classes: 3}} {
		net := onSphere(t, arch)
		rng := rand.New(rand.NewPCG(3, 5))
		spread(rng, net)
		weight, bias := net.Classifier()
		before := append([]float64(nil), weight.Value...)
		x, _ := sample(rng, 6, net.Inputs(), net.Classes())
		for _, mode := range []Mode{Train, Eval} {
			out := net.Forward(x, 6, mode)
			rows, d := net.ClassifierRows(), net.FeatureDim()
			for i := range 6 {
				h := out.Features[i*d : (i+1)*d]
				if !(math.Abs(dot(h, h)-1) < 1e-14) {
					t.Errorf("feature %d has squared length %g", i, dot(h, h))
				}
				for k := range net.Classes() {
					w, raw := rows[k*d:(k+1)*d], weight.Value[k*d:(k+1)*d]
					cosine := dot(raw, h) / math.Sqrt(dot(raw, raw))
					if !(math.Abs(dot(w, w)-9) < 1e-13 && math.Abs(out.Logits[i*net.Classes()+k]-3*cosine) < 1e-13) {
						t.Errorf("logit %d of sample %d is %g; wanted 3·%g; row of squared length %g", k, i, out.Logits[i*net.Classes()+k], cosine, dot(w, w))
					}
				}
			}
		}
		if bias != nil || maxDiff(weight.Value, before) != 0 {
			t.Error("there is a bias, or Forward changed the weight")
		}
	}
}

// TestRowsOfZeros: they have no direction, and stay where they are.
func TestRowsOfZeros(t *testing.T) {
	u := &unitRows[float32]{width: 2, maxRows: 2, scale: 5}
	y := u.forward([]float32{0, 0, 3, 4}, 2, Train)
	if y[0] != 0 || y[1] != 0 || y[2] != 3 || y[3] != 4 {
		t.Errorf("rows of length 5: %v", y)
	}
	if dx := u.backward([]float32{1, 1, 3, 4}, nil, 2, true); dx[0] != 0 || dx[1] != 0 || math.Abs(float64(dx[2])) > 1e-6 || math.Abs(float64(dx[3])) > 1e-6 {
		t.Errorf("gradients %v: of a row of zeros 0, along the row 0", dx)
	}
}
