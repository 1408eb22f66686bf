package measurement

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"collapse/internal/format"
	"collapse/measure"
)

// Limits of the verdict; we chose them. A ratio is the variance within classes over the variance between their means, in
// one direction between class means; the mean of the ratios is K/rank·NC1.
const (
	CollapsedRatio  = 0.05 // at most: collapsed
	completeRatio   = 1e-6
	partRatio       = 0.3 // at most: on the way
	belowChance     = 0.1 // NC1 of collapsed classes, over the median of shuffled labels
	asByChance      = 0.5 // over the smallest of shuffled labels: not distinguishable from chance
	separate        = 0.9 // least nearest-centre accuracy of collapsed classes
	simplexDistance = 0.3
	luck            = 2e-3 // probability that noise of so few samples is this tight by luck
)

// state is what all readings together say about collapse.
type state int

const (
	unknown state = iota
	noCollapse
	byChance
	onTheWay
	collapsed
	complete
)

// stateNames are the words for states that get further explanation.
var stateNames = map[state]string{onTheWay: "On the way to collapse", collapsed: "Collapsed", complete: "Collapsed completely"}

// verdict is the state and a sentence, which follows the state's name if it has one.
type verdict struct {
	state state
	words string
}

// judgeCollapse combines NC1, its null, its uncertainty, nearest centres and the number of samples. It gives no state that rounding could
// change, and none based on a single number.
func judgeCollapse(r *measure.Report) verdict {
	nc1, ok := r.Measures[measure.KeyNC1Pinv]
	if !ok {
		return undefined(r)
	}
	rank, full := r.Measures[measure.KeyRankBetween], float64(min(r.D, r.K-1))
	if cut := full - rank; rank > 0 && cut > 0 {
		return verdict{unknown, fmt.Sprintf("These features cannot tell whether classes have shrunk: %d of %d directions between class means are within rounding or below the chosen cut, and NC1 leaves them out",
			int(cut), int(full))}
	}
	perDirection := float64(r.K) / rank
	open, _ := r.Open(measure.KeyNC1Pinv)
	low, high := stateOf(r, max(0, nc1-open), perDirection), stateOf(r, nc1+open, perDirection)
	if low != high && !(low >= collapsed && high >= collapsed) {
		return verdict{unknown, fmt.Sprintf("Rounding hides how far classes have shrunk: NC1 lies between %s and %s", format.Digits(max(0, nc1-open)), format.Digits(nc1+open))}
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
		return verdict{unknown, "One class: there is no other to separate from"}
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
	if known && nc1 >= asByChance*null.Low && nc1 > belowChance*null.Median { // few samples: a shuffle may restore the labels
		return byChance
	}
	most := ratio
	if typical, ok := median(r.Directions); ok { // a few directions in which means hardly differ must not decide
		if found := r.Measures[measure.KeyNC1Pinv]; found > 0 {
			typical *= nc1 / found // directions are as uncertain as NC1
		}
		most = min(most, typical)
	}
	if accuracy, measured := r.Measures[measure.KeyNCCAccuracy]; measured && accuracy < separate && most <= partRatio {
		return noCollapse
	}
	// Even isotropic noise has a ratio of N/(K+d), and there are no shuffled labels to compare with.
	if noise := float64(r.N) / float64(r.K+r.D); !known && most <= partRatio && ratio > belowChance*noise {
		return unknown
	}
	switch {
	case known && nc1 > belowChance*null.Median || most > partRatio:
		return noCollapse
	case ratio <= completeRatio:
		return complete
	case most <= CollapsedRatio:
		return collapsed
	}
	return onTheWay
}

// median returns the median of x; false if x is empty.
func median(x []float64) (float64, bool) {
	if len(x) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(x))
	return (sorted[(len(x)-1)/2] + sorted[len(x)/2]) / 2, true
}

// byLuck is about how often noise of so many samples is as tight as the ratio: the lower tail of a variance with N − K degrees of
// freedom.
func byLuck(r *measure.Report, ratio float64) float64 {
	return math.Pow(min(1, ratio), float64(r.N-r.K)/2)
}

// explainState is a sentence for a state.
func explainState(r *measure.Report, s state, ratio float64) verdict {
	spread := "in the directions that tell classes apart, samples spread " + spreadWords(ratio)
	if s >= onTheWay && r.N <= r.K {
		return verdict{unknown, "Too few samples to tell: with one sample per class there is no spread to see"}
	}
	if s >= onTheWay && byLuck(r, ratio) > luck {
		return verdict{unknown, fmt.Sprintf("Too few samples to tell: with %s of %d classes, noise is this tight about once in %.0f times", format.Count(r.N, "sample"), r.K, 1/byLuck(r, ratio))}
	}
	switch s {
	case unknown:
		return verdict{s, fmt.Sprintf("Without shuffled labels (--null %d) it cannot be told whether classes have shrunk: %s in %s may look like this by chance", measure.DefaultNull,
			format.Count(r.N, "sample"), format.Count(r.D, "coordinate"))}
	case complete:
		return verdict{s, "samples sit on their class means"}
	case collapsed, onTheWay:
		return verdict{s, spread}
	case byChance:
		return verdict{s, chance(r)}
	}
	return verdict{s, notCollapsed(r, spread, ratio)}
}

// spreadWords says how far samples spread around their class's mean, from the ratio of variances.
func spreadWords(ratio float64) string {
	return ratioWords(math.Sqrt(ratio)) + " as far as class means do"
}

// notCollapsed says why classes have not collapsed even if a single reading suggests that they have.
func notCollapsed(r *measure.Report, spread string, ratio float64) string {
	accuracy, measured := r.Measures[measure.KeyNCCAccuracy]
	null, known := r.Null[measure.KeyNC1Pinv]
	tight, nc1 := tightClasses(r), r.Measures[measure.KeyNC1Pinv]
	switch {
	case tight > 0 && tight < r.K:
		return fmt.Sprintf("No collapse of all classes: %d of %d are tight, the others spread out", tight, r.K)
	case measured && accuracy < separate && ratio <= partRatio:
		return fmt.Sprintf("No collapse: NC1 is small, but only %s of samples are nearest to their own class mean: classes overlap", format.Percent(accuracy))
	case known && nc1 > belowChance*null.Median && ratio <= partRatio:
		return fmt.Sprintf("No clear collapse: NC1 is small, but still %s of its value for shuffled labels", ratioWords(nc1/null.Median))
	}
	words := "No collapse: " + spread
	if few := tightDirections(r); few > 0 {
		words += fmt.Sprintf("; only %d of %s is tight", few, format.Count(len(r.Directions), "direction"))
		if few > 1 {
			words = strings.TrimSuffix(words, "is tight") + "are tight"
		}
	}
	return words
}

// tightDirections counts the directions between class means in which classes are as tight as collapsed ones.
func tightDirections(r *measure.Report) (n int) {
	for _, v := range r.Directions {
		if v <= CollapsedRatio {
			n++
		}
	}
	return n
}

// chance says that shuffled labels give the same.
func chance(r *measure.Report) string {
	words := "No collapse: shuffled labels give the same NC1"
	if few := slices.Min(r.ClassCounts); few < r.D {
		words += fmt.Sprintf(" (with %s per class in %d coordinates, class means are far apart by chance)", format.Count(few, "sample"), r.D)
	}
	return words
}

// tightClasses counts classes with several samples whose variance is below a hundredth of that between class means.
func tightClasses(r *measure.Report) int {
	between, n := r.Measures[measure.KeyTraceBetween], 0
	for c, v := range r.PerClass["within_trace"] {
		if c < len(r.ClassCounts) && r.ClassCounts[c] > 4 && v <= between/100 {
			n++
		}
	}
	return n
}

// simplexWords says how close class means are to a simplex once classes have shrunk.
func simplexWords(r *measure.Report) string {
	switch _, ok := r.Measures[measure.KeyNC2MeansCentred]; {
	case !ok:
		return ""
	case r.K == 2:
		return "two class means are opposite around their centre whatever the model, so their angles say nothing"
	case r.D < r.K-1:
		return fmt.Sprintf("%d class means cannot be a simplex ETF in %s", r.K, format.Count(r.D, "coordinate"))
	}
	if isNear(r, measure.KeyNC2MeansCentred) {
		return "class means are near a simplex ETF"
	}
	switch frame := isNear(r, measure.KeyNC2MeansOF); {
	case frame && slices.Min(r.ClassCounts) < slices.Max(r.ClassCounts):
		return "class means are near an orthogonal frame, but not near a simplex ETF around the centre of all samples, which large classes shift"
	case frame:
		return "class means are near an orthogonal frame, but not near a simplex ETF"
	}
	return "class means are not near a simplex ETF"
}

// isNear reports whether a distance to a frame is small, whatever its rounding error, and smaller than with shuffled labels.
func isNear(r *measure.Report, key string) bool {
	v, ok := r.Measures[key]
	open, _ := r.Open(key)
	null, known := r.Null[key]
	return ok && v+open <= simplexDistance && !(known && v+open > asByChance*null.Low)
}

// Finding is the headline: what all readings together say, in one or two sentences.
func Finding(r *measure.Report) string {
	v := judgeCollapse(r)
	if v.state < onTheWay {
		return v.words
	}
	words := stateNames[v.state]
	if degenerate, known := r.Degenerate(); known && degenerate {
		words += fmt.Sprintf(", but degenerate: one class mean lies near the origin (its length is %s of the longest)", format.Percent(r.Measures[measure.KeyMeanNormRatio])) + "; " + v.words
	} else {
		words += ": " + v.words
	}
	if more := simplexWords(r); more != "" {
		words += "; " + more
	}
	return words
}
