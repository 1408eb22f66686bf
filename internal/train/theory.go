package train

import (
	"context"
	"fmt"
	"math"
	"slices"

	"collapse.example/collapse/imbalance"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/optim"
	"collapse.example/collapse/ufm"
)

// Rows of what theory says of a run, for as long as its objective is that of an unconstrained-features model, and of classes by their
// size, which that speaks of. The ones under splitTheory are constants.
const (
	SplitTheory = "theory"
	KeyOptimum  = "optimum" // f*, the least objective over free features
	KeyExcess   = "excess"  // of the run's objective over f*
)

// sizeKeys are what rows say of the classes with the most and the fewest samples.
var sizeKeys = [2][]string{
	{"w_norm_most", "mean_norm_most", "w_cos_most", "mean_cos_most", "margin_most"},
	{"w_norm_fewest", "mean_norm_fewest", "w_cos_fewest", "mean_cos_fewest", "margin_fewest"},
}

// SizeKeys lists the measures of classes by their size: of those with the most samples, then of those with the fewest.
func SizeKeys() []string { return slices.Concat(sizeKeys[0], sizeKeys[1]) }

// side is what the classes of one size have in common, in the order of sizeKeys: the lengths of classifier and mean, the cosines between
// two classifiers and two means, and by how much the right logit leads at the mean. NaN: undefined.
type side [5]float64

func (s side) rows(split string, keys []string, why string) (out []row) {
	for i, v := range s {
		if math.IsNaN(v) {
			out = append(out, row{Split: split, Measure: keys[i], Missing: why})
			continue
		}
		out = append(out, number(split, keys[i], v))
	}
	return out
}

// optimum is the least value of a run's objective over free features.
type optimum struct {
	least float64
	sides [2]side // most samples, fewest samples
	vague string  // why the sides are not known; "" if they are
}

// problem is the model whose objective a run minimises; scale times its optimum is the run's.
type problem struct {
	balanced   ufm.Config
	imbalanced *imbalance.Config // of classes with different numbers of samples; nil: balanced
	scale      float64
	range01    bool // features lie between 0 and 1
	positive   bool // features are not negative
}

// problem says which model has this run's objective, or why none does. counts are the samples of each class by the labels trained on;
// batch is what feature penalties of single batches sum over.
func (c Plan) problem(counts []int, d, batch int) (p problem, why string) {
	N, K := sum(counts), len(counts)
	lw, lh, lb := c.Decay.Classifier, c.Decay.Features, c.Decay.Bias
	switch {
	case c.Net.Classifier != nn.ClassifierLearned:
		return p, "the classifier is fixed or normalised, and theory's is free"
	case c.Decay.Kind == optim.DecayPeeledBatch:
		lh *= float64(min(batch, N)) / float64(N)
	case c.Decay.Kind == optim.DecayPeeledCode:
		return p, "this weight decay does not hold the features, so no point is optimal"
	case c.Decay.Kind != optim.DecayPeeled:
		return p, "weight decay is on all weights, and theory's is on the features (optim.decay = peeled)"
	}
	if !c.Net.Bias {
		lb = ufm.NoBias
	}
	p.scale = 1
	squared := c.Loss.Kind == nn.MSE || c.Loss.Kind == nn.RescaledMSE
	if squared && c.Loss.Reduction != nn.ReducePaper {
		p.scale = 2 / float64(K)
	}
	p.positive = !(c.Net.Kind == nn.KindMLP && c.Net.LinearFeatures)
	p.range01 = p.positive && c.Net.Kind == nn.KindMLP && c.Net.Activation == string(nn.Sigmoid)
	model, known := map[string]ufm.Model{nn.CrossEntropy: ufm.CE, nn.LabelSmoothing: ufm.LS, nn.MSE: ufm.MSE, nn.RescaledMSE: ufm.RescaledMSE}[c.Loss.Kind]
	if !known {
		return p, "no solver has this loss"
	}
	p.balanced = ufm.Config{Model: model, K: K, N: slices.Max(counts), D: d, LW: lw / p.scale, LH: lh / p.scale, LB: lb / p.scale}
	switch model {
	case ufm.LS:
		p.balanced.Smoothing = c.Loss.Smoothing
	case ufm.RescaledMSE:
		p.balanced.Alpha, p.balanced.M = c.Loss.Alpha, c.Loss.M
	}
	if slices.Max(counts) == slices.Min(counts) {
		return p, ""
	}
	return p.withSizes(counts)
}

// withSizes is the problem of classes with different numbers of samples.
func (p problem) withSizes(counts []int) (problem, string) {
	c := p.balanced
	switch {
	case slices.Min(counts) == 0:
		return p, "a class has no samples"
	case c.HasBias():
		return p, "classes differ in size, and no solver of these has a bias (net.bias = false)"
	case c.Model == ufm.RescaledMSE:
		return p, "classes differ in size, and no solver of these has this loss"
	}
	losses := map[ufm.Model]imbalance.Loss{ufm.CE: imbalance.CE, ufm.LS: imbalance.LS, ufm.MSE: imbalance.MSE}
	p.imbalanced = &imbalance.Config{Loss: losses[c.Model], Smoothing: c.Smoothing, Counts: counts, D: c.D, LW: c.LW, LH: c.LH}
	return p, ""
}

// mostSizes bounds the sizes of classes of a problem that is solved beside a run: a hundred take half a second.
const mostSizes = 100

// solve gives the optimum, or says why none is known.
func (p problem) solve() (optimum, string) {
	if c := p.imbalanced; c != nil {
		if n := len(c.Groups()); n > mostSizes {
			return optimum{}, fmt.Sprintf("classes have %d different sizes, and at most %d are solved beside a run", n, mostSizes)
		}
		best, err := c.Solve(context.Background())
		if err != nil {
			return optimum{}, err.Error()
		}
		return p.ofSizes(best), ""
	}
	c := p.balanced
	if p.positive && !p.range01 && c.CrossEntropy() && c.D >= c.K { // MD's penalties have no half, and divide λ_H by n
		c.Model, c.LW, c.LH, c.LB = ufm.LSNonneg, c.LW/2, float64(c.N)*c.LH/2, c.LB/2
	}
	best, err := c.Exact()
	switch {
	case err != nil:
		return optimum{}, err.Error()
	case !best.Available:
		return optimum{}, best.Reason
	case best.Status != ufm.Proved:
		return optimum{}, "only the best known value, which is not proved"
	}
	return p.ofEqual(c, best), ""
}

const (
	unreachable  = "this network’s features are never negative, and the optimum’s are: it is a lower bound"
	undetermined = "theory leaves it open at this width"
)

// ofEqual is the optimum of classes of one size.
func (p problem) ofEqual(c ufm.Config, e ufm.Exact) optimum {
	o := optimum{least: p.scale * float64(e.Objective)}
	cos := float64(e.GramOffdiag) / float64(e.GramDiag)
	cosW := cos
	if c.Model == ufm.LSNonneg {
		cosW = -1 / float64(c.K-1)
	}
	zero := e.Regime == "zero"
	if zero {
		cos, cosW = math.NaN(), math.NaN()
	}
	s := side{math.Sqrt(float64(e.WNorm2) / float64(c.K)), math.Sqrt(float64(e.ClassMeanNorm2)), cosW, cos, float64(e.Margin)}
	o.sides = [2]side{s, s}
	switch reached := zero || !p.range01 && cos >= 0 || c.Model == ufm.LSNonneg; {
	case p.positive && !reached:
		o.vague = unreachable
	case !e.GramDiag.Known():
		o.vague = undetermined
	}
	return o
}

// ofSizes is the optimum of classes with different numbers of samples.
func (p problem) ofSizes(best imbalance.Optimum) optimum {
	o := optimum{least: p.scale * best.Objective}
	for i, j := range []int{0, len(best.Groups) - 1} {
		g := best.Groups[j]
		o.sides[i] = side{g.Classifier, g.Mean, orNaN(best.CosW[j][j]), orNaN(best.CosMeans[j][j]), g.Margin}
		if g.Kept > 0 && g.Kept < g.Classes || !best.Reached {
			o.vague = undetermined
		}
	}
	if squared := p.balanced.Model == ufm.MSE; p.positive && best.Rank > 0 && (p.range01 || !squared || p.balanced.D < p.balanced.K) {
		o.vague = unreachable
	}
	return o
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// besideTheory are the rows of an epoch about classes by their size and about the optimum. There are none for runs that theory does not
// speak of: of equal classes, with weight decay on all weights.
func (s *session[T]) besideTheory(objective float64, means, W, b []float64) (out []row) {
	counts := s.in.train.ObservedCounts()
	if !s.cfg.Data.imbalanced() && s.cfg.Decay.Kind == optim.DecayAll {
		return nil
	}
	for i, classes := range bySize(counts) {
		out = append(out, sideOf(classes, s.dim, means, W, b).rows(splitTrain, sizeKeys[i], "one class alone, or a vector of length 0")...)
	}
	if !s.solved {
		p, why := s.cfg.problem(counts, s.dim, s.cfg.batch(s.in.sizes()))
		if why == "" {
			s.optimum, why = p.solve()
		}
		s.solved, s.noOptimum = true, why
	}
	if s.noOptimum != "" {
		return append(out, row{Split: splitTrain, Measure: KeyExcess, Missing: s.noOptimum})
	}
	out = append(out, number(splitTrain, KeyExcess, objective-s.optimum.least), number(SplitTheory, KeyOptimum, s.optimum.least))
	for i, of := range s.optimum.sides {
		why := "classes of this size have no angle"
		if s.optimum.vague != "" {
			why = s.optimum.vague
			of = side{math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()}
		}
		out = append(out, of.rows(SplitTheory, sizeKeys[i], why)...)
	}
	return out
}
