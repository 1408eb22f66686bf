package optim

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Schedule gives the learning rate of an epoch as a pure function, so a resumed run needs no
// state. Epochs count from 0.
type Schedule interface {
	Rate(epoch int) float64
}

// Constant is the same rate in every epoch.
type Constant float64

// Rate returns the constant.
func (c Constant) Rate(int) float64 { return float64(c) }

// StepLR is Base·Gamma^⌊epoch/Every⌋, torch.optim.lr_scheduler.StepLR stepped once per epoch.
type StepLR struct {
	Base  float64
	Every int // epochs per step, at least 1; 40 in the papers
	Gamma float64
}

// Rate returns the learning rate of the epoch.
func (s StepLR) Rate(epoch int) float64 {
	return s.Base * math.Pow(s.Gamma, float64(epoch/s.Every))
}

// Validate returns all problems of the schedule at once, or nil.
func (s StepLR) Validate() error {
	var errs []error
	if s.Every < 1 {
		errs = append(errs, fmt.Errorf("optim: schedule steps every %d epochs, wanted at least 1", s.Every))
	}
	return errors.Join(append(errs, checkRates(s.Base, s.Gamma)...)...)
}

// MultiStep is Base·Gamma^(milestones reached), torch's MultiStepLR. A milestone m is reached
// in epoch m.
type MultiStep struct {
	Base       float64
	Milestones []int // increasing epochs
	Gamma      float64
}

// Rate returns the learning rate of the epoch.
func (s MultiStep) Rate(epoch int) float64 {
	reached, found := slices.BinarySearch(s.Milestones, epoch)
	if found {
		reached++
	}
	return s.Base * math.Pow(s.Gamma, float64(reached))
}

// Validate returns all problems of the schedule at once, or nil.
func (s MultiStep) Validate() error {
	errs := checkRates(s.Base, s.Gamma)
	for i, m := range s.Milestones {
		if m < 0 || (i > 0 && m <= s.Milestones[i-1]) {
			errs = append(errs, fmt.Errorf("optim: milestones %v are not increasing epochs from 0", s.Milestones))
			break
		}
	}
	return errors.Join(errs...)
}

// checkNotNegative is the problem of a number that must be finite and not below 0, or nil.
func checkNotNegative(what string, v float64) error {
	if !(v >= 0) || math.IsInf(v, 0) {
		return fmt.Errorf("optim: %s is %g, wanted at least 0", what, v)
	}
	return nil
}

func checkBase(base float64) []error {
	if !(base > 0) || math.IsInf(base, 0) {
		return []error{fmt.Errorf("optim: learning rate is %g, wanted above 0", base)}
	}
	return nil
}

func checkRates(base, gamma float64) []error {
	errs := checkBase(base)
	if !(gamma > 0) || math.IsInf(gamma, 0) {
		errs = append(errs, fmt.Errorf("optim: gamma is %g, wanted above 0 (0.1 in the papers)", gamma))
	}
	return errs
}
