package optim

import (
	"errors"
	"fmt"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/internal/kernel/rows"
	"collapse.example/collapse/nn/param"
)

// DecayKind says what weight decay penalises, and how.
type DecayKind string

const (
	// DecayAll penalises every trained parameter, biases and batch norm included: (λ/2)‖p‖².
	DecayAll DecayKind = "all"
	// DecayPeeled penalises the last-layer features H, classifier W and bias b only, as in ZHU's
	// (Zhu et al. 2021) unconstrained-features objective:
	//
	//	(λ_W/2)‖W‖² + (λ_b/2)‖b‖² + (λ_H/2) Σ_all ‖h‖²,
	//
	// its last term estimated on a batch of B of the N samples by (N/B)(λ_H/2) Σ_batch ‖h‖².
	DecayPeeled DecayKind = "peeled"
	// DecayPeeledBatch is what the released code of the peeled experiments intends: as DecayPeeled,
	// but the feature term is (λ_H/2) Σ_batch ‖h‖² without N/B, so that λ_H here is B/N times λ_H
	// there.
	DecayPeeledBatch DecayKind = "peeled-batch"
	// DecayPeeledCode is what the released code actually does: (λ_W/2)(‖W‖² + ‖b‖²) + (λ_H/2) Σ_batch
	// ‖h/‖h‖‖². The features are normalised before they are squared, so the last term is the constant λ_H·B/2
	// and only W and b decay, both with λ_W.
	DecayPeeledCode DecayKind = "peeled-code"
)

// DecayKinds lists all kinds.
var DecayKinds = []DecayKind{DecayAll, DecayPeeled, DecayPeeledBatch, DecayPeeledCode}

// DecayConfig holds the strengths of the penalties.
type DecayConfig struct {
	Kind DecayKind // "" is DecayAll
	All  float64   // λ of DecayAll
	// λ_W, λ_b and λ_H of the peeled kinds; DecayPeeledCode wants Bias = Classifier.
	Classifier, Bias, Features float64
	// InLoss adds DecayAll's penalty to loss and gradients, as the released code does for L-BFGS (½·wd·‖p‖²
	// in the closure). Otherwise the optimiser adds λ·p to the gradients itself: give it Coupled.
	InLoss bool
}

// Coupled is the WeightDecay of an optimiser used with this configuration.
func (c DecayConfig) Coupled() float64 {
	if c.peeled() || c.InLoss {
		return 0
	}
	return c.All
}

func (c DecayConfig) peeled() bool { return c.Kind != "" && c.Kind != DecayAll }

// Validate returns all problems of the configuration at once, or nil.
func (c DecayConfig) Validate() error {
	var errs []error
	switch c.Kind {
	case "", DecayAll, DecayPeeled, DecayPeeledBatch:
	case DecayPeeledCode:
		if c.Bias != c.Classifier {
			errs = append(errs, fmt.Errorf("optim: %s has a single decay for classifier and bias, got %g and %g", c.Kind, c.Classifier, c.Bias))
		}
	default:
		errs = append(errs, fmt.Errorf("optim: decay of kind %q, wanted one of %v", c.Kind, DecayKinds))
	}
	for _, v := range []struct {
		name string
		λ    float64
	}{{"all parameters", c.All}, {"the classifier", c.Classifier}, {"its bias", c.Bias}, {"the features", c.Features}} {
		errs = append(errs, checkNotNegative("decay of "+v.name, v.λ))
	}
	return errors.Join(errs...)
}

// Decay is what weight decay adds to a step's loss and gradients before the optimiser runs: nothing
// for DecayAll unless InLoss. A step is
//
//	loss := …                                        // of the logits
//	penalty, dh := decay.Features(out.Features, batch)
//	net.BackwardFeatures(dlogits, dh)                // dh is nil where features have no decay
//	loss += penalty + decay.Params()                 // after Backward: adds to the parameters' Grad
//
// It allocates nothing after NewDecay.
type Decay[T kernel.Float] struct {
	cfg     DecayConfig
	samples int
	terms   []decayTerm[T]
	dh      []T
}

// decayTerm is (λ/2)‖p‖².
type decayTerm[T kernel.Float] struct {
	param *param.Param[T]
	λ     float64
}

// NewDecay returns the decay of a network trained on N samples, or Validate's error. w and b are its
// classifier, b nil if it has none; frozen parameters have no penalty.
func NewDecay[T kernel.Float](params []*param.Param[T], w, b *param.Param[T], samples int, cfg DecayConfig) (*Decay[T], error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if samples < 1 {
		panic("optim: NewDecay without samples")
	}
	d := &Decay[T]{cfg: cfg, samples: samples}
	switch {
	case cfg.peeled():
		d.add(w, cfg.Classifier)
		d.add(b, cfg.Bias)
	case cfg.InLoss:
		for _, p := range params {
			d.add(p, cfg.All)
		}
	}
	return d, nil
}

func (d *Decay[T]) add(p *param.Param[T], λ float64) {
	if p != nil && !p.Frozen && λ > 0 {
		d.terms = append(d.terms, decayTerm[T]{p, λ})
	}
}

// Features returns the penalty of the features h (batch×d) and its gradient (batch×d), which is
// valid until the next call; nil if it is zero everywhere.
func (d *Decay[T]) Features(h []T, batch int) (penalty float64, dh []T) {
	if !d.cfg.peeled() || d.cfg.Features == 0 {
		return 0, nil
	}
	λ := d.cfg.Features
	switch d.cfg.Kind {
	case DecayPeeledCode:
		return λ / 2 * float64(nonZeroRows(h, batch)), nil
	case DecayPeeled:
		λ *= float64(d.samples) / float64(batch)
	}
	if cap(d.dh) < len(h) {
		d.dh = memory.Alloc[T](len(h)) // the first batch of a run is its largest
	}
	dh = d.dh[:len(h)]
	for i, v := range h {
		dh[i] = T(λ) * v
	}
	return λ / 2 * rows.SumSquares(h), dh
}

// nonZeroRows counts the rows whose normalised square is 1; a zero row stays zero.
func nonZeroRows[T kernel.Float](h []T, batch int) int {
	width, n := len(h)/batch, 0
	for i := range batch {
		if rows.SumSquares(h[i*width:(i+1)*width]) > 0 {
			n++
		}
	}
	return n
}

// Params adds the gradients of the parameters' penalties to their Grad and returns the penalties' sum.
func (d *Decay[T]) Params() (penalty float64) {
	for _, t := range d.terms {
		λ := T(t.λ)
		grad := t.param.Grad[:len(t.param.Value)]
		for i, v := range t.param.Value {
			grad[i] += T(λ * v)
		}
		penalty += t.λ / 2 * rows.SumSquares(t.param.Value)
	}
	return penalty
}
