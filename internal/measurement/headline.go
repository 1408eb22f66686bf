package measurement

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/measure"
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
	clearlyWider    = 4    // variance of classes that spread out, at least, over that of the tight ones
	luck            = 2e-3 // probability that noise of so few samples is this tight by luck
)

// state is what all readings together say about collapse.
type state int

const (
	unknown state = iota
	maybeOverlap
	noCollapse
	byChance
	partial // some classes are collapsed, and the others coincide
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
	nc1, ok := r.Value(measure.KeyNC1Pinv)
	if v, found := partly(r); found {
		return v
	}
	if !ok {
		return undefined(r)
	}
	f := &r.Facts
	if f.Rank == 0 {
		return verdict{unknown, "NC1 cannot be read: it is not known over how many directions it is a mean"}
	}
	if cut := f.Possible - f.Rank; cut > 0 {
		return verdict{unknown, fmt.Sprintf("These features cannot tell whether classes have shrunk: %d of %d directions between class means are within rounding or below the chosen cut, and NC1 leaves them out",
			cut, f.Possible)}
	}
	perDirection := float64(r.K) / float64(f.Rank)
	open, _ := r.Open(measure.KeyNC1Pinv)
	low, high := stateOf(r, nc1, max(0, nc1-open), perDirection), stateOf(r, nc1, nc1+open, perDirection)
	if low != high && !(low >= collapsed && high >= collapsed) {
		return verdict{unknown, fmt.Sprintf("Rounding hides how far classes have shrunk: NC1 lies between %s and %s", format.Digits(max(0, nc1-open)), format.Digits(nc1+open))}
	}
	if low != high {
		high = collapsed
	}
	return explainState(r, high, nc1, nc1*perDirection)
}

// undefined says why there is no NC1.
func undefined(r *measure.Report) verdict {
	reason := r.Missing[measure.KeyNC1Pinv]
	switch {
	case r.K < 2:
		return verdict{unknown, "One class: there is no other to separate from"}
	case coincide(r):
		return verdict{noCollapse, "The class means coincide: these features do not tell the classes apart"}
	case reason == "":
		return verdict{unknown, "NC1 was not measured"}
	}
	return verdict{unknown, "NC1 is not defined: " + reason}
}

// coincide reports whether all class means are one point up to rounding. Then every mean is the nearest, and NC4 says nothing.
func coincide(r *measure.Report) bool {
	return strings.Contains(r.Missing[measure.KeyNC1Pinv], "coincide")
}

// stateOf returns the state if NC1, which was found to be found, is nc1.
func stateOf(r *measure.Report, found, nc1, perDirection float64) state {
	ratio := nc1 * perDirection
	null, known := r.Null[measure.KeyNC1Pinv]
	if known && nc1 >= asByChance*null.Low && nc1 > belowChance*null.Median { // few samples: a shuffle may restore the labels
		return byChance
	}
	most := ratio
	if typical, ok := median(r.Directions); ok { // a few directions in which means hardly differ must not decide
		if found > 0 {
			typical *= nc1 / found // directions are as uncertain as NC1
		}
		most = min(most, typical)
	}
	apart := r.Facts.Nearest.AtLeast(separate)
	if apart == measure.False && most <= partRatio {
		return noCollapse
	}
	// Even isotropic noise has a ratio of N/(K+d), and there are no shuffled labels to compare with.
	if noise := float64(r.N) / float64(r.K+r.D); !known && most <= partRatio && ratio > belowChance*noise {
		return unknown
	}
	switch {
	case known && nc1 > belowChance*null.Median || most > partRatio:
		return noCollapse
	case apart == measure.Unknown:
		return maybeOverlap
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
func explainState(r *measure.Report, s state, nc1, ratio float64) verdict {
	spread := spreadWords(ratio) + " along the directions of the class means"
	if s >= onTheWay {
		if words := tooFew(r, ratio); words != "" {
			return verdict{unknown, words}
		}
	}
	switch s {
	case unknown:
		if r.Facts.Summed {
			return verdict{s, fmt.Sprintf("It cannot be told whether classes have shrunk: %s in %s may look like this by chance, and means and scatters leave no labels to shuffle", format.Count(r.N, "sample"), format.Count(r.D, "coordinate"))}
		}
		return verdict{s, fmt.Sprintf("Without shuffled labels (--null %d) it cannot be told whether classes have shrunk: %s in %s may look like this by chance", measure.DefaultNull,
			format.Count(r.N, "sample"), format.Count(r.D, "coordinate"))}
	case maybeOverlap:
		return verdict{s, "It is not known whether classes overlap: NC1 is small (" + spread + "), but no sample was compared with all class means"}
	case complete:
		return verdict{s, "samples lie on their class means"}
	case collapsed:
		return verdict{s, mostDirections(r, CollapsedRatio, ratio, spread)}
	case onTheWay:
		return verdict{s, mostDirections(r, partRatio, ratio, spread)}
	case byChance:
		return verdict{s, chance(r)}
	}
	return verdict{s, notCollapsed(r, spread, nc1, ratio)}
}

// tooFew says that noise of so few samples may be as tight as the ratio; "" if it hardly is.
func tooFew(r *measure.Report, ratio float64) string {
	if r.N <= r.K {
		return "Too few samples to tell: with one sample per class there is no spread to see"
	}
	chance := byLuck(r, ratio)
	if chance <= luck {
		return ""
	}
	return fmt.Sprintf("Too few samples to tell: with %s of %d classes, noise alone is this tight in %s\u00a0%% of cases", format.Count(r.N, "sample"), r.K, format.Short(100*chance, 2))
}

// spreadWords compares the spread within classes with that between their means, from the ratio of variances.
func spreadWords(ratio float64) string {
	return "within-class spread is " + ratioOf(math.Sqrt(ratio), "between-class spread")
}

// notCollapsed says why classes have not collapsed even if a single reading suggests that they have.
func notCollapsed(r *measure.Report, spread string, nc1, ratio float64) string {
	null, known := r.Null[measure.KeyNC1Pinv]
	near := r.Facts.Nearest
	tight := tightClasses(r)
	switch {
	case near.AtLeast(separate) == measure.False && ratio <= partRatio:
		return fmt.Sprintf("No collapse: NC1 is small, but only %s of samples are nearest to their own class mean: classes overlap", format.Percent(1-near.No))
	case tight > 0 && tight < r.K:
		return fmt.Sprintf("No collapse of all classes: %d of %d are tight, the others spread out", tight, r.K)
	case known && nc1 > belowChance*null.Median && ratio <= partRatio:
		return fmt.Sprintf("No clear collapse: NC1 is small, but still %s of its value for shuffled labels", ratioWords(nc1/null.Median))
	}
	words := "No collapse: " + spread
	if few := directionsBelow(r, CollapsedRatio); few > 0 {
		words += fmt.Sprintf("; only %d of %s is tight", few, format.Count(len(r.Directions), "direction"))
		if few > 1 {
			words = strings.TrimSuffix(words, "is tight") + "are tight"
		}
	}
	return words
}

// mostDirections are the words for a state that the median over directions decided where the mean over them is above its limit, as a few
// directions in which class means hardly differ can make it.
func mostDirections(r *measure.Report, limit, ratio float64, spread string) string {
	if ratio <= limit {
		return spread
	}
	return fmt.Sprintf("this holds in %d of %s between class means; over all, %s", directionsBelow(r, limit), format.Count(len(r.Directions), "direction"), spread)
}

// directionsBelow counts the directions between class means in which the ratio of variances is at most limit.
func directionsBelow(r *measure.Report, limit float64) (n int) {
	for _, v := range r.Directions {
		if v <= limit {
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

// tightClasses counts classes with several samples whose variance is below a hundredth of that between class means; 0 if the others do
// not clearly spread wider, since then no limit divides them.
func tightClasses(r *measure.Report) (n int) {
	most, least := 0.0, math.Inf(1) // variance of tight classes, and of the others
	for c, v := range r.Facts.Spread {
		switch {
		case r.ClassCounts[c] <= 4:
		case v <= r.Facts.Between/100:
			n++
			most = max(most, v)
		default:
			least = min(least, v)
		}
	}
	if least < clearlyWider*most {
		return 0
	}
	return n
}

// simplexWords says how close class means are to a simplex once classes have shrunk.
func simplexWords(r *measure.Report) string {
	switch _, ok := r.Value(measure.KeyNC2MeansCentred); {
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
	v, ok := r.Value(key)
	open, _ := r.Open(key)
	null, known := r.Null[key]
	return ok && v+open <= simplexDistance && !(known && v+open > asByChance*null.Low)
}

// naming names class k of a report.
type naming func(k int) string

// HeadlineOf is the headline: what all readings together say, in one or two sentences. Classes have their numbers.
func HeadlineOf(r *measure.Report) string {
	return headlineNamed(r, func(k int) string { return strconv.Itoa(r.Class(k)) })
}

func headlineNamed(r *measure.Report, name naming) string {
	words, state := usualHeadline(r)
	return words + unusual(r, state, name)
}

// usualHeadline is the headline without what is unusual, and the state it tells of.
func usualHeadline(r *measure.Report) (words string, s state) {
	v := judgeCollapse(r)
	if v.state < onTheWay {
		return v.words, v.state
	}
	words = stateNames[v.state]
	if degenerate, known := r.Degenerate(); known && degenerate {
		f := &r.Facts
		words += fmt.Sprintf(", but degenerate: one class mean lies near the origin (its length is %s of the longest)", format.Percent(slices.Min(f.Lengths)/slices.Max(f.Lengths))) + "; " + v.words
	} else {
		words += ": " + v.words
	}
	if more := simplexWords(r); more != "" {
		words += "; " + more
	}
	return words, v.state
}
