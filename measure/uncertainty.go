package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// The rounding error of a measure is found by repeating the rounding. Samples and coordinates are reordered, so that every sum
// and product rounds differently, class means are moved by their own rounding, and the same code evaluates the measures again. The
// uncertainty is the root mean square change of a value, times a factor that depends on the number of draws, and a few roundings of the value
// and its ingredients that no reordering shows (rounding.go).
//
// The rounding of the given numbers is treated the same way: each is moved within its precision.
//
// Sets of up to wholeElements are measured again completely (perturbwhole.go). For larger ones only the class means are
// moved, and sums over samples have known relative errors (perturbmeans.go).

const (
	wholeElements      = 1 << 18 // features of a set that is measured again completely
	mostPerturbations  = 16
	leastPerturbations = 8
	givenPerturbations = 4
	jogShare           = 0.5 // weight of a draw's squares: class means move by whole bits, more than their rounding
	perturbSeed        = 0x5eed
)

// certainty is the factor for the root mean square of m draws. Rounding errors are nearly normal; fewer draws say less
// about their size and need a larger factor.
func certainty(m int) float64 { return 6 * (1 + 6/float64(m)) }

// moved sums up how far values move.
type moved struct {
	values map[string]float64 // the values found
	sums   map[string]float64 // Σ of squared differences
	draws  int
}

func newMoved(values map[string]float64) *moved {
	return &moved{values: values, sums: make(map[string]float64, len(values))}
}

// add takes the values of a draw; share is the weight of its squares. A value that is undefined in a draw is completely
// uncertain.
func (m *moved) add(again map[string]float64, share float64) {
	m.draws++
	for key, v := range m.values {
		away := v
		if x, ok := again[key]; ok {
			away = x - v
		}
		m.sums[key] += share * away * away
	}
}

// size returns the root mean square of how far a value moved.
func (m *moved) size(key string) float64 { return math.Sqrt(m.sums[key] / float64(m.draws)) }

// uncertainties fills Report.Uncertainty, InputRounding and Reason.
func (e *Engine[T]) uncertainties(b *builder, in *Input[T], h *head) error {
	e.second.clock.enter(PhaseUncertainty)
	b.report.startUncertainty()
	random := rand.New(rand.NewPCG(perturbSeed, uint64(e.train.n)))
	if w, err := hold(e, in); err != nil {
		return err
	} else if w != nil {
		err = w.perturb(b.report, random)
		if err == nil {
			b.report.explain(&e.train.between, e.train.isFloat32)
		}
		return err
	}
	if err := e.perturbMeans(b.report, in, h, random); err != nil {
		return err
	}
	b.report.explain(&e.train.between, e.train.isFloat32)
	return nil
}

func (r *Report) startUncertainty() {
	r.Uncertainty, r.InputRounding, r.Reason = map[string]float64{}, map[string]float64{}, map[string]string{}
}

// state stores a value's errors from arithmetic and from the rounding of the given numbers; the former is at least the
// rounding that no reordering shows.
func (r *Report) state(key string, arithmetic, given float64) {
	v, least := r.Measures.of[key], 0.0
	if d, listed := Lookup(key); listed {
		least = d.rounding.least(v, r.K, r.D)
	}
	r.Uncertainty[key] = finiteOr(arithmetic+least+r.blurred[key], math.MaxFloat64)
	r.InputRounding[key] = finiteOr(given, math.MaxFloat64)
}

func finiteOr(x, other float64) float64 {
	if x-x != 0 {
		return other
	}
	return x
}

// shownDigits is the relative uncertainty from which a digit in the table is uncertain.
const shownDigits = 5e-6

// Open returns the total rounding error of a measure, as ± of its value. known is false if it was not estimated.
func (r *Report) Open(key string) (size float64, known bool) {
	size, known = r.Uncertainty[key]
	return size + r.InputRounding[key], known
}

// explain gives the reason for each measure with an uncertain digit, and for NC1 what was cut.
func (r *Report) explain(between *between, isFloat32 bool) {
	bits := 53
	if isFloat32 {
		bits = 24
	}
	r.SignificantBits = bits
	for key, value := range r.Measures.of {
		arithmetic, given := r.Uncertainty[key], r.InputRounding[key]
		switch size := shownDigits * math.Abs(value); {
		case arithmetic+given <= size:
		case arithmetic+given >= math.Abs(value)/2:
			r.Reason[key] = fmt.Sprintf("rounding alone gives a value of this size: the features have %d significant bits", bits)
		case given > arithmetic:
			r.Reason[key] = fmt.Sprintf("the features have %d significant bits, and rounding them moves this measure", bits)
		default:
			r.Reason[key] = "class means are so nearly dependent, or so close together for their size, that float64 sums lose digits"
		}
	}
	for _, key := range []string{KeyRankBetween, KeyRankCut} {
		if _, ok := r.Measures.of[key]; ok && !between.chosen { // what was cut may be real but smaller than rounding
			r.Uncertainty[key] = max(r.Uncertainty[key], float64(between.full-between.rank))
		}
	}
	if _, ok := r.Measures.of[KeyNC1Pinv]; ok && between.rank < between.full {
		words := fmt.Sprintf("%d of %d directions between class means are within the rounding of the features (%d significant bits) and are left out", between.full-between.rank, between.full, bits)
		if between.chosen {
			words = fmt.Sprintf("%d of %d directions between class means lie below the chosen rcond and are left out", between.full-between.rank, between.full)
		}
		if more := r.Reason[KeyNC1Pinv]; more != "" {
			words += "; " + more
		}
		r.Reason[KeyNC1Pinv] = words
	}
}
