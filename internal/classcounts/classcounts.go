// Package classcounts says how many samples imbalanced classes have.
package classcounts

import (
	"fmt"
	"math"
)

// Kinds of profiles.
const (
	Balanced = "none"      // all classes alike
	Step     = "step"      // the last classes have fewer
	LongTail = "long-tail" // numbers fall exponentially from the first class to the last
)

// Kinds lists them.
var Kinds = []string{Balanced, Step, LongTail}

// Bounds of classes, and of the samples of one.
const (
	MaxClasses = 1_000_000
	MaxCount   = 1 << 40
)

// Profile is how samples fall over classes.
type Profile struct {
	Kind     string
	Ratio    float64 // samples of the largest class to those of the smallest, at least 1
	Minority int     // of Step: how many classes have fewer
}

// Check says what is wrong with a profile of K classes.
func (p Profile) Check(K int) error {
	switch {
	case K < 2 || K > MaxClasses:
		return fmt.Errorf("the number of classes K is %d, wanted 2 to %d", K, MaxClasses)
	case p.Kind != Balanced && (!(p.Ratio >= 1) || math.IsInf(p.Ratio, 0)):
		return fmt.Errorf("the ratio is %g, wanted 1 or more: samples of the largest class to those of the smallest", p.Ratio)
	case p.Kind == Step && (p.Minority < 0 || p.Minority > K):
		return fmt.Errorf("%d of %d classes in the minority, wanted 0 to %d", p.Minority, K, K)
	}
	return nil
}

// Of are the samples of K classes, the largest of which have n: n·ratio^(−x), rounded and at least 1, x being 0 or 1 for Step and
// k/(K−1) for class k of LongTail.
func (p Profile) Of(K, n int) ([]int, error) {
	if err := p.Check(K); err != nil {
		return nil, err
	}
	if n < 1 || n > MaxCount {
		return nil, fmt.Errorf("n is %d, wanted 1 to %d", n, MaxCount)
	}
	out := make([]int, K)
	for k := range out {
		out[k] = max(1, int(math.Round(float64(n)*math.Pow(p.Ratio, -p.exponent(k, K)))))
	}
	return out, nil
}

func (p Profile) exponent(k, K int) float64 {
	switch {
	case p.Kind == LongTail:
		return float64(k) / float64(K-1)
	case p.Kind == Step && k >= K-p.Minority:
		return 1
	}
	return 0
}
