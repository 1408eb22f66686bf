package nn

import "math"

// lossKinds are the losses. To add one, write its lossKind below and list it here; its settings go into LossConfig.
var lossKinds = []lossKind{crossEntropyKind, labelSmoothingKind, labelRelaxationKind, mseKind, rescaledMSEKind}

// The losses of a softmax. Source of the last two: Nguyen et al. 2023.
const (
	CrossEntropy    = "ce" // −log softmax(z)_y
	LabelSmoothing  = "ls" // −Σ_j q_j log softmax(z)_j, q = (1−α)·e_y + α/K
	LabelRelaxation = "lr" // 0 if p_y > 1−α, else KL(q‖p) with q_y = 1−α, the rest ∝ p
)

var (
	crossEntropyKind = lossKind{
		Kind: Kind{Name: CrossEntropy, Title: "cross entropy", Doc: "-log p_y"},
		row:  func(LossConfig) rowLoss { return smoothed{0} },
	}
	labelSmoothingKind = lossKind{
		Kind: Kind{Name: LabelSmoothing, Title: "label smoothing", Doc: "-sum_j q_j log p_j with q = (1-α) e_y + α/K, α the smoothing", Uses: []string{"smoothing"}},
		check: func(c LossConfig, _ int, bad *complaints) {
			bad.when(!(c.Smoothing >= 0 && c.Smoothing <= 1), "loss ls: smoothing is %g, wanted 0 to 1 (the papers use 0.1)", c.Smoothing)
		},
		row: func(c LossConfig) rowLoss { return smoothed{c.Smoothing} },
	}
	labelRelaxationKind = lossKind{
		Kind: Kind{Name: LabelRelaxation, Title: "label relaxation", Doc: "0 if p_y > 1-α, else KL(q, p) with q_y = 1-α and the rest in proportion to p", Uses: []string{"smoothing"}},
		check: func(c LossConfig, classes int, bad *complaints) {
			bad.when(!(c.Smoothing > 0 && c.Smoothing < 1), "loss lr: smoothing is %g, wanted above 0 and below 1 (the papers use 0.1)", c.Smoothing)
			bad.when(classes < 2, "loss lr: %d class, wanted at least 2", classes)
		},
		row: func(c LossConfig) rowLoss { return relaxed{c.Smoothing} },
	}
)

// softmax holds what the softmax losses need of one row of logits z with true class y, formed
// without overflow: every exponent is at most 0.
type softmax struct {
	max   float64
	rest  float64 // Σ_{j≠y} e^{z_j − max}
	total float64 // rest + e^{z_y − max}, at least 1 for finite logits
	first float64 // −log p_y
}

func newSoftmax(z []float64, y int) softmax {
	s := softmax{max: math.Inf(-1)}
	for _, v := range z {
		s.max = max(s.max, v) // the built-in max keeps NaN
	}
	for j, v := range z {
		if j != y {
			s.rest += math.Exp(v - s.max)
		}
	}
	s.total = s.rest + math.Exp(z[y]-s.max)
	if z[y] == s.max {
		s.first = math.Log1p(s.rest) // exact even deep in the terminal phase, where p_y rounds to 1
	} else {
		s.first = math.Log(s.total) + (s.max - z[y])
	}
	return s
}

// excess writes p − q to dz for a target q with q_j = other(j) off the true class. 1 − q_y is
// passed instead of q_y: p_y − q_y = (1 − q_y) − (1 − p_y) does not cancel when p_y is near 1.
func (s softmax) excess(z []float64, y int, oneMinusQy, other float64, dz []float64) {
	for j, v := range z {
		dz[j] = math.Exp(v-s.max)/s.total - other
	}
	dz[y] = oneMinusQy - s.rest/s.total
}

// smoothed is −Σ_j q_j log p_j with q = (1−α)·e_y + α/K; α = 0 is cross-entropy.
type smoothed struct{ alpha float64 }

// Derivative: p − q. With L_j = −log p_j = L_y + (z_y − z_j) the loss is
// L_y + (α/K) Σ_j (z_y − z_j), which needs one logarithm.
func (s smoothed) eval(z []float64, y int, dz []float64) float64 {
	sm := newSoftmax(z, y)
	share := s.alpha / float64(len(z))
	loss := sm.first
	if s.alpha != 0 {
		loss = 0
		logTotal := math.Log(sm.total)
		for _, v := range z {
			loss += share * (logTotal + (sm.max - v))
		}
		loss += (1 - s.alpha) * sm.first
	}
	if dz != nil {
		sm.excess(z, y, s.alpha-share, share, dz)
	}
	return loss
}

// relaxed is label relaxation: 0 if p_y > 1−α, else
// (1−α)·log((1−α)/p_y) + α·log(α/(1−p_y)).
type relaxed struct{ alpha float64 }

// Derivative: p − q with q_y = 1−α and q_j = α·p_j/(1−p_y), that is
// dz_j = p_j·(1 − α/(1−p_y)), dz_y = α − (1−p_y). 1−p_y = rest/total never rounds to 0 here,
// because it is at least α.
func (r relaxed) eval(z []float64, y int, dz []float64) float64 {
	sm := newSoftmax(z, y)
	miss := sm.rest / sm.total // 1 − p_y
	if miss < r.alpha {
		clear(dz)
		return 0
	}
	if dz != nil {
		for j, v := range z {
			dz[j] = math.Exp(v-sm.max) / sm.total * (1 - r.alpha/miss)
		}
		dz[y] = r.alpha - miss
	}
	return (1-r.alpha)*(math.Log1p(-r.alpha)+sm.first) + r.alpha*math.Log(r.alpha/miss)
}

// The squared losses. Source of the second: Zhou et al. 2022.
const (
	MSE         = "mse"          // Σ_j (z_j − [j=y])²
	RescaledMSE = "rescaled_mse" // Σ_j w_j (z_j − M·[j=y])², w_y = Alpha, else 1
)

var (
	mseKind = lossKind{
		Kind:    Kind{Name: MSE, Title: "squared error", Doc: "sum_j (z_j - [j=y])²", Uses: []string{"reduction"}},
		squared: true,
		row:     func(LossConfig) rowLoss { return squared{weight: 1, target: 1} },
	}
	rescaledMSEKind = lossKind{
		Kind: Kind{Name: RescaledMSE, Title: "rescaled squared error", Doc: "sum_j w_j (z_j - m [j=y])² with w_y = alpha, else 1",
			Uses: []string{"alpha", "m", "reduction"}},
		squared: true,
		check: func(c LossConfig, _ int, bad *complaints) {
			bad.when(!(c.Alpha > 0) || math.IsInf(c.Alpha, 0), "loss rescaled_mse: alpha is %g, wanted above 0 (1 is the plain MSE)", c.Alpha)
			bad.when(!(c.M > 0) || math.IsInf(c.M, 0), "loss rescaled_mse: m is %g, wanted above 0 (1 is the plain MSE)", c.M)
		},
		row: func(c LossConfig) rowLoss { return squared{weight: c.Alpha, target: c.M} },
	}
)

// squared is Σ_j w_j (z_j − t_j)² with w_y = weight, t_y = target, elsewhere w = 1, t = 0.
// Derivative: 2 w_j (z_j − t_j).
type squared struct{ weight, target float64 }

func (s squared) eval(z []float64, y int, dz []float64) float64 {
	sum := 0.0
	for j, v := range z {
		w, r := 1.0, v
		if j == y {
			w, r = s.weight, v-s.target
		}
		sum += w * r * r
		if dz != nil {
			dz[j] = 2 * w * r
		}
	}
	return sum
}
