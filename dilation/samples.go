package dilation

import (
	"errors"
	"fmt"
	"math"
)

// Samples are the saved features of one trained classifier, from which Pairs computes the quantities of the model.
type Samples struct {
	D              int       // width of a feature
	TrainH, TestH  []float64 // N×d, row-major
	Observed, True []int     // training labels with and without noise
	TestTrue       []int
}

// ClassPair is what one class of a run contributes to a fit.
type ClassPair struct {
	Class     int `json:"class"`
	Clean     int `json:"clean"`     // training samples with their true label
	Corrupted int `json:"corrupted"` // training samples with another label
	Measured
}

// Pairs measures every true class that has corrupted and clean training samples and at least two test
// samples. Its centre h* is the mean of its test features; the distance ‖h1 − h2‖ is the mean distance
// from its centre to the others', which for two classes is the model's.
// It returns an error if the arrays disagree or no class qualifies.
func (s *Samples) Pairs(group string) ([]ClassPair, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	classes := 0
	for _, label := range s.TestTrue {
		classes = max(classes, label+1)
	}
	centres := make([]centre, classes)
	for k := range centres {
		centres[k] = s.centre(k)
	}
	var out []ClassPair
	for k, c := range centres {
		distance := c.distance(centres, k)
		pair := ClassPair{Class: k, Measured: Measured{Group: group}}
		sum := 0.0
		for i, truth := range s.True {
			switch {
			case truth != k || c.count < 2:
			case s.Observed[i] == truth:
				pair.Clean++
			default:
				pair.Corrupted++
				sum += math.Sqrt(squaredDistance(s.TrainH[i*s.D:][:s.D], c.mean))
			}
		}
		if pair.Clean == 0 || pair.Corrupted == 0 || !(distance > 0) {
			continue
		}
		pair.Memorization = sum / float64(pair.Clean)
		pair.Dilation = math.Sqrt(c.variance) / distance
		out = append(out, pair)
	}
	if len(out) == 0 {
		return nil, errors.New("dilation: no class has corrupted and clean training samples and two test samples apart from another class: train with label noise (data.noise)")
	}
	return out, nil
}

func (s *Samples) check() error {
	if s.D < 1 || len(s.True) != len(s.Observed) || len(s.TrainH) != len(s.True)*s.D || len(s.TestH) != len(s.TestTrue)*s.D {
		return fmt.Errorf("dilation: %d and %d features of width %d do not fit %d observed, %d true and %d test labels",
			len(s.TrainH), len(s.TestH), s.D, len(s.Observed), len(s.True), len(s.TestTrue))
	}
	for _, h := range [][]float64{s.TrainH, s.TestH} {
		for i, v := range h {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("dilation: the feature of sample %d is %g", i/s.D, v)
			}
		}
	}
	return nil
}

// centre is the mean of a class's test features and r² = tr Σ_W, their mean squared distance to it.
type centre struct {
	mean     []float64
	variance float64
	count    int
}

func (s *Samples) centre(class int) centre {
	c := centre{mean: make([]float64, s.D)}
	for i, label := range s.TestTrue {
		if label == class {
			c.count++
			for j, v := range s.TestH[i*s.D:][:s.D] {
				c.mean[j] += v
			}
		}
	}
	for j := range c.mean {
		c.mean[j] /= float64(max(1, c.count))
	}
	for i, label := range s.TestTrue {
		if label == class {
			c.variance += squaredDistance(s.TestH[i*s.D:][:s.D], c.mean) / float64(c.count)
		}
	}
	return c
}

// distance is the mean distance to the centres of other classes that have test samples.
func (c centre) distance(all []centre, own int) float64 {
	sum, others := 0.0, 0
	for k, o := range all {
		if k != own && o.count > 0 {
			sum += math.Sqrt(squaredDistance(c.mean, o.mean))
			others++
		}
	}
	return sum / float64(max(1, others))
}

func squaredDistance(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += (v - b[i]) * (v - b[i])
	}
	return sum
}
