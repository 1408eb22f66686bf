package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"collapse.example/collapse/measure"
)

// derivedSplit is the split name of values computed from what a run saved or measured at its last epoch.
const derivedSplit = "kept"

// derivedValues are these values by name.
var derivedValues = map[string]func(*JudgedRun) (float64, error){
	"degenerate":    (*JudgedRun).degenerateShare,
	"memorized_way": (*JudgedRun).memorizedWay,
	"test_spread":   (*JudgedRun).testSpread,

	"dilation_trace":    (*JudgedRun).dilationTrace,
	"test_conditioning": (*JudgedRun).testConditioning,

	"memorization_scale_free": (*JudgedRun).memorizationScaleFree,
	"flipped_scale_free":      (*JudgedRun).flippedScaleFree,
}

func derivedNames() string {
	var names []string
	for name := range derivedValues {
		names = append(names, derivedSplit+"."+name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// derived is a value of derivedValues, computed once; NaN if it does not exist.
func (s *JudgedRun) derived(name string, fraction float64) (float64, error) {
	if fraction != 1 {
		return 0, fmt.Errorf("%s.%s exists only at the last epoch", derivedSplit, name)
	}
	of, ok := derivedValues[name]
	if !ok {
		return 0, fmt.Errorf("there is no %s.%s; wanted one of %s", derivedSplit, name, derivedNames())
	}
	key := SeriesKey{derivedSplit, "", name}
	if v, known := s.finals[key]; known && !math.IsNaN(v) {
		return v, nil
	}
	v, err := of(s)
	if err != nil {
		v = math.NaN()
	}
	s.finals[key] = v
	return v, err
}

// degenerateShare is 1 for a run in the degenerate configuration of M-D Fig. 4(a), else 0; its mean
// over runs is their share.
func (s *JudgedRun) degenerateShare() (float64, error) {
	switch {
	case !s.DegenerateKnown:
		return 0, fmt.Errorf("run %.12s measured no norms of class means and saved no features", s.Hash)
	case s.Degenerate:
		return 1, nil
	}
	return 0, nil
}

// memorizedWay is where mislabelled training samples lie between the test centroid h* of their true
// class (0) and that of their label (1): the mean over them of ⟨h − h*_true, h*_label − h*_true⟩ /
// ‖h*_label − h*_true‖². For two classes it is the position of the memorized centroid u of M-D Fig.
// 3 along h₁ − h₂.
func (s *JudgedRun) memorizedWay() (float64, error) {
	f := s.Features()
	if f == nil {
		return 0, fmt.Errorf("run %.12s saved no features", s.Hash)
	}
	centre, count := f.Means(f.TestH, f.TestTrue, nil)
	sum, n := 0.0, 0
	for i := range f.True {
		if !f.Corrupted(i) {
			continue
		}
		from, to := f.True[i], f.Observed[i]
		if count[from] == 0 || count[to] == 0 {
			return 0, fmt.Errorf("run %.12s has no test samples of class %d or %d", s.Hash, from, to)
		}
		way := floats.SubTo(make([]float64, f.D), centre[to], centre[from])
		gone := floats.SubTo(make([]float64, f.D), f.TrainH[i*f.D:(i+1)*f.D], centre[from])
		sum += floats.Dot(gone, way) / floats.Dot(way, way)
		n++
	}
	if n == 0 || math.IsNaN(sum) {
		return 0, fmt.Errorf("run %.12s saved no mislabelled sample, or its class means are equal", s.Hash)
	}
	return sum / float64(n), nil
}

// memorizationScaleFree is the sum of M-D (3) over redrawn samples (over flipped ones if no label was redrawn), in units of the mean
// distance between the class means of test features.
func (s *JudgedRun) memorizationScaleFree() (float64, error) {
	if sum, ok := s.Memory("memorization_redrawn"); ok {
		return s.inDistances(sum)
	}
	return s.flippedScaleFree()
}

// flippedScaleFree is the same over flipped samples alone, for comparisons of kinds of noise: not every kind redraws labels.
func (s *JudgedRun) flippedScaleFree() (float64, error) {
	sum, ok := s.Memory("memorization_flipped")
	if !ok {
		return 0, fmt.Errorf("run %.12s measured no memorization of flipped samples", s.Hash)
	}
	return s.inDistances(sum)
}

// inDistances is a sum of distances in units of the mean distance between the class means of test features.
func (s *JudgedRun) inDistances(sum float64) (float64, error) {
	each, ok1 := s.Memory("memorization_mean")
	scaled, ok2 := s.Memory("memorization_normalised")
	if !ok1 || !ok2 || each == 0 {
		return 0, fmt.Errorf("run %.12s measured no memorization in units of the distance between class means", s.Hash)
	}
	return sum * scaled / each, nil
}

// testSpread is the mean distance of test features to their class mean, averaged over classes.
func (s *JudgedRun) testSpread() (float64, error) {
	f := s.Features()
	if f == nil {
		return 0, fmt.Errorf("run %.12s saved no features", s.Hash)
	}
	centre, count := f.Means(f.TestH, f.TestTrue, nil)
	sum, classes := 0.0, 0
	for k := range centre {
		if count[k] > 0 {
			sum += f.Spread(f.TestH, f.TestTrue, k, centre[k], nil)
			classes++
		}
	}
	if classes == 0 {
		return 0, fmt.Errorf("run %.12s saved no test features", s.Hash)
	}
	return sum / float64(classes), nil
}

// dilationTrace is √(tr Σ_W / tr Σ_B) of the test features: dilation without a pseudo-inverse.
func (s *JudgedRun) dilationTrace() (float64, error) {
	ratio, ok := s.Last("test", measure.KeyNC1TraceRatio)
	if !ok {
		return 0, fmt.Errorf("run %.12s measured no trace ratio of test features", s.Hash)
	}
	return math.Sqrt(ratio), nil
}

// testConditioning is the ratio of the smallest to the largest of the min(K−1, d) singular values of the centred class means of test
// features: 1 for a simplex ETF. Near 0 one direction of the means is almost lost, and dominates NC1 by pseudo-inverse, which divides
// by its square.
func (s *JudgedRun) testConditioning() (float64, error) {
	f := s.Features()
	if f == nil {
		return 0, fmt.Errorf("run %.12s saved no features", s.Hash)
	}
	mean, count := f.Means(f.TestH, f.TestTrue, nil)
	if slices.Contains(count, 0) || f.K < 2 {
		return 0, fmt.Errorf("run %.12s saved no test features of some class, or has only one class", s.Hash)
	}
	centred := mat.NewDense(f.K, f.D, slices.Concat(mean...))
	for j := range f.D {
		column := mat.Col(nil, j, centred)
		floats.AddConst(-floats.Sum(column)/float64(f.K), column)
		centred.SetCol(j, column)
	}
	var svd mat.SVD
	if !svd.Factorize(centred, mat.SVDNone) {
		return 0, fmt.Errorf("the class means of run %.12s have no singular values", s.Hash)
	}
	values := svd.Values(nil)
	if values[0] == 0 {
		return 0, fmt.Errorf("the class means of run %.12s coincide", s.Hash)
	}
	return values[min(f.K-1, f.D)-1] / values[0], nil
}

// CheckConfiguration checks the word with which a panel or a claim selects runs: all, or those in
// one configuration of M-D Fig. 4.
func CheckConfiguration(runs string) error {
	if runs != "" && runs != "regular" && runs != "degenerate" {
		return fmt.Errorf("runs is %q, wanted regular or degenerate", runs)
	}
	return nil
}

// In reports whether a run is in the configuration that such a word selects.
func (s *JudgedRun) In(runs string) bool {
	return runs == "" || s.Degenerate == (runs == "degenerate")
}
