package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"collapse/measure"
)

// Limits of the verdict; they are ours. Ratios are variances within classes to variances between their means, direction by
// direction between class means: K/rank·NC1 is their mean.
const (
	collapsedRatio  = 0.05 // at most: collapsed
	completeRatio   = 1e-6
	partRatio       = 0.3 // at most: on the way
	belowChance     = 0.1 // NC1 of collapsed classes, beside the median of shuffled labels
	asByChance      = 0.5 // beside the smallest of shuffled labels: not told from chance
	separate        = 0.9 // nearest-centre accuracy of classes that are called collapsed
	simplexDistance = 0.3
	luck            = 2e-3 // probability that noise of so few samples is as tight by luck
)

// state is what the readings together say about collapse.
type state int

const (
	unknown state = iota
	noCollapse
	byChance
	onTheWay
	collapsed
	complete
)

// verdict is the state, and a sentence for it.
type verdict struct {
	state state
	words string
}

// judgeCollapse puts NC1, its null, its uncertainty, nearest centres and the number of samples together. No state is given that rounding could
// turn, and none from one number.
func judgeCollapse(r *measure.Report) verdict {
	nc1, ok := r.Measures[measure.KeyNC1Pinv]
	if !ok {
		return undefined(r)
	}
	rank, full := r.Measures[measure.KeyRankBetween], float64(min(r.D, r.K-1))
	if cut := full - rank; rank > 0 && cut > 0 {
		return verdict{unknown, fmt.Sprintf("Whether classes have shrunk cannot be told: %d of %d directions between class means are no larger than rounding or lie below the chosen cut, and NC1 leaves them out",
			int(cut), int(full))}
	}
	perDirection := float64(r.K) / rank
	open, _ := r.Open(measure.KeyNC1Pinv)
	low, high := stateOf(r, max(0, nc1-open), perDirection), stateOf(r, nc1+open, perDirection)
	if low != high && !(low >= collapsed && high >= collapsed) {
		return verdict{unknown, fmt.Sprintf("Rounding hides how far classes have shrunk: NC1 lies between %s and %s", digits(max(0, nc1-open)), digits(nc1+open))}
	}
	if low != high {
		high = collapsed
	}
	return explainState(r, high, nc1*perDirection)
}

// undefined says why there is no NC1.
func undefined(r *measure.Report) verdict {
	reason := r.Missing[measure.KeyNC1Pinv]
	switch {
	case r.K < 2:
		return verdict{unknown, "One class: there is no other to be apart from"}
	case strings.Contains(reason, "coincide"):
		return verdict{noCollapse, "The class means coincide: these features do not tell the classes apart"}
	case reason == "":
		return verdict{unknown, "NC1 was not measured"}
	}
	return verdict{unknown, "NC1 is not defined: " + reason}
}

// stateOf returns the state for a value of NC1.
func stateOf(r *measure.Report, nc1, perDirection float64) state {
	ratio := nc1 * perDirection
	null, known := r.Null[measure.KeyNC1Pinv]
	if known && nc1 >= asByChance*null.Low && nc1 > belowChance*null.Median { // few samples: a shuffle may give the labels back
		return byChance
	}
	most := ratio
	if typical, ok := median(r.Directions); ok { // a few directions in which means hardly differ do not decide
		if found := r.Measures[measure.KeyNC1Pinv]; found > 0 {
			typical *= nc1 / found // directions are as open as NC1 is
		}
		most = min(most, typical)
	}
	if accuracy, measured := r.Measures[measure.KeyNCCAccuracy]; measured && accuracy < separate && most <= partRatio {
		return noCollapse
	}
	switch {
	case known && nc1 > belowChance*null.Median || most > partRatio:
		return noCollapse
	case ratio <= completeRatio:
		return complete
	case most <= collapsedRatio:
		return collapsed
	}
	return onTheWay
}

// median returns the middle of x; false if there is none.
func median(x []float64) (float64, bool) {
	if len(x) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(x))
	return (sorted[(len(x)-1)/2] + sorted[len(x)/2]) / 2, true
}

// byLuck is about how often noise of so many samples is as tight as the ratio: the lower tail of a variance of N − K degrees of freedom.
func byLuck(r *measure.Report, ratio float64) float64 {
	return math.Pow(min(1, ratio), float64(r.N-r.K)/2)
}

// explainState is a sentence for a state.
func explainState(r *measure.Report, s state, ratio float64) verdict {
	spread := fmt.Sprintf("in the directions between class means, classes spread %s times as far as the means do", digits(math.Sqrt(ratio)))
	accuracy, measured := r.Measures[measure.KeyNCCAccuracy]
	if s >= onTheWay && byLuck(r, ratio) > luck {
		return verdict{unknown, fmt.Sprintf("Too few samples to tell: %d samples of %d classes are as tight by chance once in %s times", r.N, r.K, digits(1/byLuck(r, ratio)))}
	}
	switch s {
	case complete:
		return verdict{s, "Collapsed completely: samples sit on their class means"}
	case collapsed:
		return verdict{s, "Collapsed: " + spread}
	case onTheWay:
		return verdict{s, "On the way to collapse: " + spread}
	case byChance:
		return verdict{s, chance(r)}
	}
	if tight := tightClasses(r); tight > 0 && tight < r.K {
		return verdict{s, fmt.Sprintf("No collapse of all classes: %d of %d are tight, the others spread out", tight, r.K)}
	}
	if measured && accuracy < separate && ratio <= partRatio {
		return verdict{s, fmt.Sprintf("No collapse: NC1 is small, but only %s of samples are nearest to their own class mean: classes overlap", percent(accuracy))}
	}
	return verdict{s, "No collapse: " + spread}
}

// chance says that shuffled labels give the same.
func chance(r *measure.Report) string {
	words := "No collapse: NC1 is what shuffled labels give"
	if few := slices.Min(r.ClassCounts); few < r.D {
		words += fmt.Sprintf(" (with %s of a class in %d coordinates, class means are far apart by chance)", count(few, "sample"), r.D)
	}
	return words
}

// tightClasses counts classes of some samples whose variance is below a hundredth of that between class means.
func tightClasses(r *measure.Report) int {
	between, n := r.Measures[measure.KeyTraceBetween], 0
	for c, v := range r.PerClass["within_trace"] {
		if c < len(r.ClassCounts) && r.ClassCounts[c] > 4 && v <= between/100 {
			n++
		}
	}
	return n
}

// simplexWords says how near class means are to a simplex, once classes have shrunk.
func simplexWords(r *measure.Report) string {
	v, ok := r.Measures[measure.KeyNC2MeansCentred]
	switch {
	case !ok:
		return ""
	case r.K == 2:
		return "two class means are opposite around their centre whatever the model, so their angles say nothing"
	case r.D < r.K-1:
		return fmt.Sprintf("%d class means cannot be a simplex in %s", r.K, count(r.D, "coordinate"))
	}
	open, _ := r.Open(measure.KeyNC2MeansCentred)
	null, known := r.Null[measure.KeyNC2MeansCentred]
	if v+open <= simplexDistance && !(known && v+open > asByChance*null.Low) {
		return "class means are near a simplex ETF"
	}
	return "class means are not near a simplex ETF"
}

// Finding is the headline: what all readings together say, in a sentence or two.
func Finding(r *measure.Report) string {
	v := judgeCollapse(r)
	words := v.words
	if v.state >= onTheWay {
		if more := simplexWords(r); more != "" {
			words += "; " + more
		}
	}
	if degenerate, known := r.Degenerate(); v.state >= onTheWay && known && degenerate {
		words += fmt.Sprintf("; degenerate: one class mean lies near the origin (%s of the longest)", percent(r.Measures[measure.KeyMeanNormRatio]))
	}
	return words
}
