package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// keptSplit is the split of values computed from what a run saved at its last epoch.
const keptSplit = "kept"

// keptValues are those values by name.
var keptValues = map[string]func(*subject) (float64, error){
	"degenerate":    (*subject).degenerateShare,
	"memorized_way": (*subject).memorizedWay,
	"test_spread":   (*subject).testSpread,
}

func keptNames() string {
	var names []string
	for name := range keptValues {
		names = append(names, keptSplit+"."+name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// keptValue is a value of keptValues, computed once; NaN stands for one that does not exist.
func (s *subject) keptValue(name string, fraction float64) (float64, error) {
	if fraction != 1 {
		return 0, fmt.Errorf("%s.%s exists at the last epoch only", keptSplit, name)
	}
	of, ok := keptValues[name]
	if !ok {
		return 0, fmt.Errorf("there is no %s.%s; there are %s", keptSplit, name, keptNames())
	}
	key := seriesKey{keptSplit, "", name}
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

// degenerateShare is 1 for a run in the degenerate configuration of M-D Fig. 4(a), else 0: the
// mean over runs is their share.
func (s *subject) degenerateShare() (float64, error) {
	switch {
	case !s.degenerateKnown:
		return 0, fmt.Errorf("run %.12s measured no norms of class means and saved no features", s.Hash)
	case s.degenerate:
		return 1, nil
	}
	return 0, nil
}

// memorizedWay is how far mislabelled training samples lie on the way from the test centroid h* of
// their true class (0) to that of their label (1): the mean over them of
// ⟨h − h*_true, h*_label − h*_true⟩ / ‖h*_label − h*_true‖². For two classes it is the place of the
// memorized centroid u of M-D Fig. 3 along h₁ − h₂.
func (s *subject) memorizedWay() (float64, error) {
	f := s.Features
	if f == nil {
		return 0, fmt.Errorf("run %.12s saved no features", s.Hash)
	}
	centre, count := f.means(f.TestH, f.TestTrue, nil)
	sum, n := 0.0, 0
	for i := range f.True {
		if !f.Corrupted(i) {
			continue
		}
		from, to := f.True[i], f.Observed[i]
		if count[from] == 0 || count[to] == 0 {
			return 0, fmt.Errorf("run %.12s has no test samples of class %d or %d", s.Hash, from, to)
		}
		way := minusVec(centre[to], centre[from])
		sum += dot(minusVec(f.TrainH[i*f.D:(i+1)*f.D], centre[from]), way) / dot(way, way)
		n++
	}
	if n == 0 || math.IsNaN(sum) {
		return 0, fmt.Errorf("run %.12s saved no mislabelled sample, or its class means are equal", s.Hash)
	}
	return sum / float64(n), nil
}

// testSpread is the mean over classes of the mean distance of a class's test features to their mean.
func (s *subject) testSpread() (float64, error) {
	f := s.Features
	if f == nil {
		return 0, fmt.Errorf("run %.12s saved no features", s.Hash)
	}
	centre, count := f.means(f.TestH, f.TestTrue, nil)
	sum, classes := 0.0, 0
	for k := range centre {
		if count[k] > 0 {
			sum += f.spread(f.TestH, f.TestTrue, k, centre[k], nil)
			classes++
		}
	}
	if classes == 0 {
		return 0, fmt.Errorf("run %.12s saved no test features", s.Hash)
	}
	return sum / float64(classes), nil
}

// configuration checks the word of a panel or a claim for which runs it takes: all, or those in
// one configuration of M-D Fig. 4.
func configuration(runs string) error {
	if runs != "" && runs != "regular" && runs != "degenerate" {
		return fmt.Errorf("runs is %q, wanted regular or degenerate", runs)
	}
	return nil
}

// in reports whether a run is in the configuration that such a word asks for.
func (s *subject) in(runs string) bool {
	return runs == "" || s.degenerate == (runs == "degenerate")
}
