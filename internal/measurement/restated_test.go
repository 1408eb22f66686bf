package measurement

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/measure"
)

// drawReport draws what a report may say: values near the limits of the headline, with and without shuffled labels, directions and rounding.
func drawReport(r *rand.Rand) *measure.Report {
	pick := func(v ...float64) float64 { return v[r.IntN(len(v))] * (1 + .1*r.NormFloat64()) }
	k := 2 + r.IntN(9)
	o := &measure.Report{K: k, D: []int{1, 3, 64}[r.IntN(3)], Null: map[string]measure.Null{}, Missing: map[string]string{}, Uncertainty: map[string]float64{}}
	values := map[string]float64{measure.KeyNC2MeansCentred: pick(.1, .3, 1), measure.KeyNC2MeansOF: pick(.1, .3, 1)}
	if r.IntN(5) > 0 {
		delete(values, measure.KeyNC2MeansOF)
		values[measure.KeyNC2MeansOF] = pick(.05, .2)
	}
	nc1 := pick(1e-7, 1e-3, .03, .05, .2, .3, 2)
	switch r.IntN(15) {
	case 0:
		o.Missing[measure.KeyNC1Pinv] = []string{"class means coincide", "too few samples", ""}[r.IntN(3)]
	default:
		values[measure.KeyNC1Pinv] = nc1
	}
	if r.IntN(9) == 0 {
		delete(values, measure.KeyNC2MeansCentred)
	}
	if r.IntN(3) > 0 {
		median := nc1 * pick(1, 1.5, 5, 12, 100)
		o.Null[measure.KeyNC1Pinv] = measure.Null{Low: .8 * median, Median: median, High: 1.2 * median}
		o.Null[measure.KeyNC2MeansCentred] = measure.Null{Low: pick(.2, .5, 1), Median: 1, High: 1.2}
	}
	if r.IntN(3) == 0 {
		o.Uncertainty[measure.KeyNC1Pinv] = nc1 * pick(.01, .3, 3)
	}
	o.Facts.Possible = min(o.D, k-1)
	o.Facts.Rank = o.Facts.Possible - map[bool]int{true: 1}[r.IntN(9) == 0]
	for range o.Facts.Rank {
		o.Directions = append(o.Directions, nc1*pick(.1, 1, 1, 3))
	}
	if r.IntN(4) == 0 {
		o.Directions = nil
	}
	each := []int{1, 2, 6, 40}[r.IntN(4)]
	o.Facts.Between = 1
	for c := range k {
		n := each
		if r.IntN(4) == 0 {
			n = 1 + r.IntN(50)
		}
		o.N, o.ClassCounts = o.N+n, append(o.ClassCounts, n)
		o.Facts.Lengths = append(o.Facts.Lengths, pick(1, 1, 1, .09))
		o.Facts.Spread, o.Facts.Apart = append(o.Facts.Spread, pick(.002, .01, .5)), append(o.Facts.Apart, pick(1, 10))
		_ = c
	}
	yes := []float64{1, .95, .9, .5}[r.IntN(4)]
	o.Facts.Nearest = measure.Share{Yes: yes, No: 1 - yes}
	if r.IntN(6) == 0 {
		o.Facts.Nearest = measure.Share{}
	}
	if r.IntN(5) == 0 && k > 3 {
		o.Facts.Coinciding = [][]int{{1, 2}}
		for c := range o.Facts.Spread {
			o.Facts.Spread[c] /= 100
		}
		if r.IntN(3) == 0 {
			o.Facts.Coinciding = append(o.Facts.Coinciding, []int{0, 3})
		}
	}
	o.Facts.Coordinate, o.Facts.CoordinateShare, o.Facts.Summed = r.IntN(3), pick(.2, .99, 1), r.IntN(9) == 0
	o.Measures = measure.NewValues(values)
	return o
}

// head is the headline of a report, decided in another order: first what stands in the way, then the tightest claim that all readings allow.
type head struct {
	*measure.Report
	nc1, open, per float64
	null           measure.Null
	shuffled       bool
}

// says is the sentence without what is unusual, and whether classes count as collapsed, on the way or partly so.
func (h head) says() (words string, tight, partly bool) {
	if words, ok := h.partly(); ok {
		return words, false, strings.Contains(words, "are collapsed")
	}
	nc1, ok := h.Value(measure.KeyNC1Pinv)
	switch reason := h.Missing[measure.KeyNC1Pinv]; {
	case ok:
	case strings.Contains(reason, "coincide"):
		return "The class means coincide: these features do not tell the classes apart", false, false
	case reason == "":
		return "NC1 was not measured", false, false
	default:
		return "NC1 is not defined: " + reason, false, false
	}
	if h.Facts.Rank == 0 {
		return "NC1 cannot be read: it is not known over how many directions it is a mean", false, false
	}
	if h.Facts.Rank < h.Facts.Possible {
		return fmt.Sprintf("These features cannot tell whether classes have shrunk: %d of %d directions between class means are within rounding or below the chosen cut, and NC1 leaves them out", h.Facts.Possible-h.Facts.Rank, h.Facts.Possible), false, false
	}
	h.nc1, h.open, h.per = nc1, h.Uncertainty[measure.KeyNC1Pinv], float64(h.K)/float64(h.Facts.Rank)
	h.null, h.shuffled = h.Null[measure.KeyNC1Pinv]
	least, most := math.Max(nc1-h.open, 0), nc1+h.open
	low, high := h.kind(least), h.kind(most)
	both := strings.HasPrefix(low, "collapsed") && strings.HasPrefix(high, "collapsed")
	if low != high && !both {
		return "Rounding hides how far classes have shrunk: NC1 lies between " + format.Digits(least) + " and " + format.Digits(most), false, false
	}
	if both && low != high {
		high = "collapsed"
	}
	words, tight = h.sentence(high)
	return words, tight, false
}

// kind is what an NC1 of this size says.
func (h head) kind(nc1 float64) string {
	ratio := nc1 * h.per
	typical := ratio
	if n := len(h.Directions); n > 0 {
		sorted := slices.Clone(h.Directions)
		sort.Float64s(sorted)
		middle := sorted[n/2]
		if n%2 == 0 {
			middle = (sorted[n/2-1] + sorted[n/2]) / 2
		}
		typical = math.Min(ratio, middle*nc1/h.nc1)
	}
	overlaps := 1-h.Facts.Nearest.No < .9
	separate := h.Facts.Nearest.Yes >= .9
	small := typical <= .3
	few := h.shuffled && nc1 > .1*h.null.Median
	switch {
	case few && nc1 >= .5*h.null.Low:
		return "chance"
	case overlaps && !separate && small:
		return "none"
	case !h.shuffled && small && ratio > .1*float64(h.N)/float64(h.K+h.D):
		return "unknown"
	case few || !small:
		return "none"
	case !separate:
		return "maybe"
	case ratio <= 1e-6:
		return "collapsed completely"
	case typical <= .05:
		return "collapsed"
	}
	return "way"
}

// tooFew says why so few samples tell nothing.
func (h head) tooFew(ratio float64) string {
	if h.N <= h.K {
		return "Too few samples to tell: with one sample per class there is no spread to see"
	}
	if chance := math.Pow(math.Min(ratio, 1), float64(h.N-h.K)/2); chance > .002 {
		return fmt.Sprintf("Too few samples to tell: with %d samples of %d classes, noise alone is this tight in %s\u00a0%% of cases", h.N, h.K, format.Short(100*chance, 2))
	}
	return ""
}

func times2(ratio float64, of string) string {
	if ratio >= 2 {
		return format.Digits(ratio) + " times " + of
	}
	return format.Digits(100*ratio) + "\u00a0% of " + of
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (h head) sentence(kind string) (string, bool) {
	ratio := h.nc1 * h.per
	spread := "within-class spread is " + times2(math.Sqrt(ratio), "between-class spread") + " along the directions of the class means"
	below := func(limit float64) (n int) {
		for _, v := range h.Directions {
			if v <= limit {
				n++
			}
		}
		return n
	}
	if kind == "way" || strings.HasPrefix(kind, "collapsed") {
		if words := h.tooFew(ratio); words != "" {
			return words, false
		}
	}
	in := func(limit float64) string {
		if ratio <= limit {
			return spread
		}
		return fmt.Sprintf("this holds in %d of %s between class means; over all, %s", below(limit), plural(len(h.Directions), "direction"), spread)
	}
	switch kind {
	case "chance":
		words := "No collapse: shuffled labels give the same NC1"
		if few := slices.Min(h.ClassCounts); few < h.D {
			words += fmt.Sprintf(" (with %s per class in %d coordinates, class means are far apart by chance)", plural(few, "sample"), h.D)
		}
		return words, false
	case "unknown":
		if h.Facts.Summed {
			return fmt.Sprintf("It cannot be told whether classes have shrunk: %s in %s may look like this by chance, and means and scatters leave no labels to shuffle", plural(h.N, "sample"), plural(h.D, "coordinate")), false
		}
		return fmt.Sprintf("Without shuffled labels (--null %d) it cannot be told whether classes have shrunk: %s in %s may look like this by chance", measure.DefaultNull, plural(h.N, "sample"), plural(h.D, "coordinate")), false
	case "maybe":
		return "It is not known whether classes overlap: NC1 is small (" + spread + "), but no sample was compared with all class means", false
	case "none":
		return h.none(spread, ratio, below(.05)), false
	case "way":
		return "On the way to collapse" + h.degenerate() + in(.3) + h.simplex(), true
	case "collapsed":
		return "Collapsed" + h.degenerate() + in(.05) + h.simplex(), true
	}
	return "Collapsed completely" + h.degenerate() + "samples lie on their class means" + h.simplex(), true
}

func (h head) none(spread string, ratio float64, few int) string {
	tight, widest, narrowest := 0, 0.0, math.Inf(1)
	for c, v := range h.Facts.Spread {
		if h.ClassCounts[c] < 5 {
			continue
		}
		if v <= h.Facts.Between/100 {
			tight, widest = tight+1, math.Max(widest, v)
		} else {
			narrowest = math.Min(narrowest, v)
		}
	}
	if narrowest < 4*widest {
		tight = 0
	}
	switch {
	case h.Facts.Nearest.Yes < .9 && 1-h.Facts.Nearest.No < .9 && ratio <= .3:
		return "No collapse: NC1 is small, but only " + format.Percent(1-h.Facts.Nearest.No) + " of samples are nearest to their own class mean: classes overlap"
	case tight > 0 && tight < h.K:
		return fmt.Sprintf("No collapse of all classes: %d of %d are tight, the others spread out", tight, h.K)
	case h.shuffled && h.nc1 > .1*h.null.Median && ratio <= .3:
		of := h.nc1 / h.null.Median
		return "No clear collapse: NC1 is small, but still " + strings.TrimSuffix(strings.TrimSuffix(times2(of, "its"), " of its"), " its") + " of its value for shuffled labels"
	}
	words := "No collapse: " + spread
	if few == 1 {
		words += fmt.Sprintf("; only 1 of %s is tight", plural(len(h.Directions), "direction"))
	} else if few > 1 {
		words += fmt.Sprintf("; only %d of %s are tight", few, plural(len(h.Directions), "direction"))
	}
	return words
}

func (h head) degenerate() string {
	short, long := slices.Min(h.Facts.Lengths), slices.Max(h.Facts.Lengths)
	if short < .1*long {
		return ", but degenerate: one class mean lies near the origin (its length is " + format.Percent(short/long) + " of the longest); "
	}
	return ": "
}

func (h head) simplex() string {
	near := func(key string) bool {
		v, ok := h.Value(key)
		null, known := h.Null[key]
		return ok && v <= .3 && (!known || v <= .5*null.Low)
	}
	_, known := h.Value(measure.KeyNC2MeansCentred)
	frame := "; class means are near an orthogonal frame, but not near a simplex ETF"
	switch {
	case !known:
		return ""
	case h.K == 2:
		return "; two class means are opposite around their centre whatever the model, so their angles say nothing"
	case h.D < h.K-1:
		return fmt.Sprintf("; %d class means cannot be a simplex ETF in %s", h.K, plural(h.D, "coordinate"))
	case near(measure.KeyNC2MeansCentred):
		return "; class means are near a simplex ETF"
	case !near(measure.KeyNC2MeansOF):
		return "; class means are not near a simplex ETF"
	case slices.Min(h.ClassCounts) != slices.Max(h.ClassCounts):
		return frame + " around the centre of all samples, which large classes shift"
	}
	return frame
}

// partly is the sentence of classes that are tight where some coincide.
func (h head) partly() (string, bool) {
	in := map[int]bool{}
	points := h.K
	for _, members := range h.Facts.Coinciding {
		points -= len(members) - 1
		for _, c := range members {
			in[c] = true
		}
	}
	worst := 0.0
	for c := range h.Facts.Spread {
		worst = math.Max(worst, h.Facts.Spread[c]/h.Facts.Apart[c])
	}
	if len(in) == 0 || points < 2 || worst > .05 {
		return "", false
	}
	if words := h.tooFew(worst); words != "" {
		return words, true
	}
	return fmt.Sprintf("%d of %d classes are collapsed", h.K-len(in), h.K), true
}

// odd is what is unusual.
func (h head) odd(tight, partly, known bool) (words string) {
	if tight || partly {
		for _, members := range h.Facts.Coinciding {
			largest, least := 0, math.MaxInt
			for c, n := range h.ClassCounts {
				if slices.Contains(members, c) {
					largest = max(largest, n)
				} else {
					least = min(least, n)
				}
			}
			if largest < least {
				words += fmt.Sprintf("; the %d smallest classes are one point", len(members))
			} else {
				words += fmt.Sprintf("; classes %d and %d coincide", members[0], members[1])
			}
		}
	}
	if known && h.Facts.CoordinateShare >= .99 && h.Facts.Possible > 1 {
		words += fmt.Sprintf("; coordinate %d carries %s of the variance between class means", h.Facts.Coordinate, format.Percent(h.Facts.CoordinateShare))
	}
	return words
}

// TestHeadlinesAreRestated compares the headlines of drawn reports with the same, decided and said a second time. Every kind of headline occurs.
func TestHeadlinesAreRestated(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 46))
	seen := map[string]int{}
	for range longtest.Of(4000, 40000) {
		o := drawReport(r)
		words, tight, partly := head{Report: o}.says()
		unknown := slices.ContainsFunc([]string{"Too few", "NC1 ", "These features", "Rounding", "Without", "It cannot"}, func(p string) bool { return strings.HasPrefix(words, p) })
		want := words + head{Report: o}.odd(tight, partly, !unknown)
		if got := HeadlineOf(o); got != want {
			t.Fatalf("%+v\n%s\nwant %s", o, got, want)
		}
		degenerate := strings.Contains(words, "degenerate")
		if got := Collapsed(o); got != (strings.HasPrefix(words, "Collapsed") && !degenerate) {
			t.Fatalf("%s: %v", words, got)
		}
		list := ""
		for _, one := range Unusual(o) {
			list += "; " + one
		}
		if list != strings.TrimPrefix(want, words) {
			t.Fatalf("unusual %q of %q", list, want)
		}
		for _, begin := range []string{"Too few samples to tell: with one", "Too few samples to tell: with", "No collapse: NC1", "No collapse of all", "No clear", "No collapse: within", "No collapse: shuffled", "Without", "It cannot", "It is not known", "On the way to collapse: ", "Collapsed: ",
			"Collapsed completely", "Rounding", "These features", "The class means coincide", "NC1 was", "NC1 is not"} {
			if strings.HasPrefix(words, begin) {
				seen[begin]++
			}
		}
		for _, part := range []string{"are collapsed", "degenerate", "this holds in", "smallest classes", "coincide", "coordinate ", "is tight", "are tight", "near a simplex", "not near a simplex", "which large classes", "cannot be a simplex", "opposite"} {
			if strings.Contains(want, part) {
				seen[part]++
			}
		}
	}
	if len(seen) != 31 {
		t.Errorf("%d kinds: %v", len(seen), seen)
	}
}
