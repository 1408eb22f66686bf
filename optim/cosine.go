package optim

import (
	"errors"
	"fmt"
	"math"
)

// CosineRestarts is cosine annealing with warm restarts (Loshchilov & Hutter 2017, SGDR, eq. 5),
// torch.optim.lr_scheduler.CosineAnnealingWarmRestarts stepped once per epoch:
//
//	Min + (Base − Min)·(1 + cos(π·t/T))/2
//
// for t epochs since the last restart. The first period T is Period epochs long, each later one
// Factor times as long as the one before.
type CosineRestarts struct {
	Base   float64
	Period int // T_0, at least 1; 200 in ZHOU's experiments
	Factor int // T_mult, at least 1; 1: all periods are as long as the first
	Min    float64
}

// Rate returns the learning rate of the epoch.
func (c CosineRestarts) Rate(epoch int) float64 {
	t, period := epoch, c.Period
	if c.Factor == 1 {
		t %= period
	} else {
		for t >= period {
			t -= period
			period *= c.Factor
		}
	}
	return c.Min + (c.Base-c.Min)*(1+math.Cos(math.Pi*float64(t)/float64(period)))/2
}

// Validate returns all problems of the schedule at once, or nil.
func (c CosineRestarts) Validate() error {
	errs := checkBase(c.Base)
	if c.Period < 1 {
		errs = append(errs, fmt.Errorf("optim: cosine schedule restarts after %d epochs, wanted at least 1", c.Period))
	}
	if c.Factor < 1 {
		errs = append(errs, fmt.Errorf("optim: cosine schedule multiplies its period by %d, wanted at least 1", c.Factor))
	}
	if !(c.Min >= 0 && c.Min <= c.Base) {
		errs = append(errs, fmt.Errorf("optim: cosine schedule ends at %g, wanted 0 to the learning rate (%g)", c.Min, c.Base))
	}
	return errors.Join(errs...)
}

// Warmup puts Epochs epochs of linearly rising rates in front of Then: epoch e < Epochs has
// (e+1)/(Epochs+1) of Then's first rate, epoch Epochs is Then's first. It is torch's SequentialLR of
// LinearLR(start_factor = 1/(Epochs+1), total_iters = Epochs) and Then. Epochs = 0 is Then itself.
type Warmup struct {
	Epochs int
	Then   Schedule
}

// Rate returns the learning rate of the epoch.
func (w Warmup) Rate(epoch int) float64 {
	if epoch < w.Epochs {
		return w.Then.Rate(0) * float64(epoch+1) / float64(w.Epochs+1)
	}
	return w.Then.Rate(epoch - w.Epochs)
}

// Validate returns an error for a negative number of epochs.
func (w Warmup) Validate() error {
	if w.Epochs < 0 {
		return fmt.Errorf("optim: warm-up of %d epochs, wanted at least 0", w.Epochs)
	}
	return nil
}
