package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// What rounding leaves open in a measure is found by letting it act again. Samples and coordinates are put into another order, in
// which every sum and product rounds anew, class means are moved by a rounding of their own, and the same code evaluates the
// measures again. No measure has a bound of its own that could be forgotten or wrong. The root mean square of how far a value
// moves, times a factor that the number of draws asks for, is its uncertainty.
//
// The rounding of the given numbers is treated alike: each of them is moved within the precision that the numbers have.
//
// Sets of up to wholeElements are measured again as a whole (perturbwhole.go). Of larger ones the class means are moved, and
// sums over samples have relative errors that are known (perturbmeans.go).

const (
	wholeElements      = 1 << 18 // of all features of a set that is measured again as a whole
	mostPerturbations  = 16
	leastPerturbations = 8
	givenPerturbations = 4
	jogShare           = 0.5 // of the squares of what a draw moves: class means move by whole digits, more than their rounding
	perturbSeed        = 0x5eed
)

// certainty is the factor of the root mean square of m draws. Rounding errors are near normal; fewer draws tell less about
// their size and need more room.
func certainty(m int) float64 { return 6 * (1 + 6/float64(m)) }

// moved sums up how far values move.
type moved struct {
	values map[string]float64 // that were found
	sums   map[string]float64 // Σ of squared differences
	draws  int
}

func newMoved(values map[string]float64) *moved {
	return &moved{values: values, sums: make(map[string]float64, len(values))}
}

// add takes the values of a draw; share is the weight of its squares. A value that is undefined there is not known at all.
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
	if err := e.perturbMeans(b.report, h, random); err != nil {
		return err
	}
	b.report.explain(&e.train.between, e.train.isFloat32)
	return nil
}

func (r *Report) startUncertainty() {
	r.Uncertainty, r.InputRounding, r.Reason = map[string]float64{}, map[string]float64{}, map[string]string{}
}

// state stores what arithmetic and the rounding of the given numbers leave open in a value; the former is at least what is
// rounded alike in whatever order.
func (r *Report) state(key string, arithmetic, given float64) {
	r.Uncertainty[key] = finiteOr(arithmetic+leastRounding(key, r.Measures[key], r.K, r.D)+r.blurred[key], math.MaxFloat64)
	r.InputRounding[key] = finiteOr(given, math.MaxFloat64)
}

// leastRounding is a few roundings of a value and of what it is put together from: numbers of size 1, squares of small
// differences of such, roots of differences of such, or powers.
func leastRounding(key string, v float64, k, d int) float64 {
	const few = 4 * roundoff64
	own := few * math.Abs(v)
	switch key {
	case KeyNC2W, KeyNC2MeansETF, KeyNC2MeansCentred, KeyNC2MeansOF, KeyNC2NormCV, KeyNC2CosDeviation, KeyNC2CosMax, KeyNC3Gram, KeyNC3Direct,
		KeyNC2WNormCV, KeyNC2WCosDeviation, KeyNC2WCosStd, KeyNC2WCoherence, KeyNC2CosStd, KeyNC2Coherence,
		KeyWMeanAlignment, KeyVCI, KeyMarginMin, KeyMarginMax, KeyConfMaxCos:
		return own + few
	case KeyNC2WCentred:
		return own + 2*few
	case KeyNC5OOD, KeyMarginMean:
		return own + few/2
	case KeyNC2RankD: // the entries of a projection over √d
		return own + few/4/math.Sqrt(float64(d))
	case KeyGNC2Distance, KeyGNC2Log:
		return own + few/4*math.Sqrt(math.Abs(v)) + few*few
	case KeyGNC2Riesz:
		if k > fewClasses { // kernels by logarithms (rieszSpread)
			return own * (4 + float64(d)/3)
		}
		return 2 * own // of variance over mean, close to its largest value where one pair outweighs all
	case KeyNC3RankD:
		return own + min(math.Sqrt(few), few/v)
	case KeyNC3Duality:
		return 3 * own
	case KeyNumericalRank:
		return 20 * own
	case KeyMemRedrawn, KeyMemFlipped, KeyMemMean, KeyMemNormalised:
		return 3 * own
	case KeyTraceWithin, KeyNC1TraceRatio, KeyTestNC1Ratio:
		return 2 * own
	}
	return own
}

func finiteOr(x, other float64) float64 {
	if x-x != 0 {
		return other
	}
	return x
}

// shownDigits is the relative uncertainty from which on a digit of the table is not known.
const shownDigits = 5e-6

// Open returns what rounding leaves open in a measure altogether: ± of its value. known is false where nothing was found out.
func (r *Report) Open(key string) (size float64, known bool) {
	size, known = r.Uncertainty[key]
	return size + r.InputRounding[key], known
}

// explain says of each measure with an unknown digit where that comes from, and of NC1 what was cut.
func (r *Report) explain(between *between, isFloat32 bool) {
	bits := 53
	if isFloat32 {
		bits = 24
	}
	r.SignificantBits = bits
	for key, value := range r.Measures {
		arithmetic, given := r.Uncertainty[key], r.InputRounding[key]
		switch size := shownDigits * math.Abs(value); {
		case arithmetic+given <= size:
		case arithmetic+given >= math.Abs(value)/2:
			r.Reason[key] = fmt.Sprintf("rounding alone makes a value of this size: the features have %d significant bits", bits)
		case given > arithmetic:
			r.Reason[key] = fmt.Sprintf("the features have %d significant bits, and rounding them moves this measure", bits)
		default:
			r.Reason[key] = "class means are so nearly dependent, or so close for their size, that sums of float64 lose digits"
		}
	}
	for _, key := range []string{KeyRankBetween, KeyRankCut} {
		if _, ok := r.Measures[key]; ok && !between.chosen { // what was cut may be there, smaller than rounding
			r.Uncertainty[key] = max(r.Uncertainty[key], float64(between.full-between.rank))
		}
	}
	if _, ok := r.Measures[KeyNC1Pinv]; ok && between.rank < between.full {
		words := fmt.Sprintf("%d of %d directions between class means are no larger than the rounding of the features (%d significant bits) and are left out", between.full-between.rank, between.full, bits)
		if between.chosen {
			words = fmt.Sprintf("%d of %d directions between class means lie below the chosen rcond and are left out", between.full-between.rank, between.full)
		}
		if more := r.Reason[KeyNC1Pinv]; more != "" {
			words += "; " + more
		}
		r.Reason[KeyNC1Pinv] = words
	}
}
