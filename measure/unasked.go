package measure

import (
	"fmt"
	"slices"
)

// Some measures look at all pairs of classes, or at every sample beside every class. A file of a few megabytes can hold a hundred thousand
// classes of one number each, whose pairs take hours. So "default" leaves such measures out where their work is large both by
// itself and beside the numbers that were given: what a file holds has to justify what it costs. Asked for by name, or by "all", they are measured.
const (
	mostPairsWork  = 1e11 // operations (pairsWork) of one sweep over all pairs; uncertainties and nulls make about ten more
	mostChoiceWork = 4e11 // operations (choiceWork) of decisions
	mostFactorWork = 2e11 // operations (factorWork, singularWork) of NC1's operator, which uncertainties and nulls make about five times
	workScale      = 320  // m numbers justify m²/workScale operations: a sweep where N²·d/K² is at least some 4,000

	smallStored = 16 << 20 // bytes that hold no more numbers than bytes, whatever they unpack to
)

// pairKeys are the measures that need all pairs of class means or of rows of W: decisions for the nearest centre are pruned by the
// distances of pairs.
var pairKeys = []string{KeyCDNV, KeyCDNVStd, KeyCDNVMax, KeyNC2CosDeviation, KeyNC2CosMax, KeyNC2CosStd, KeyNC2Coherence,
	KeyGNC2Distance, KeyGNC2Log, KeyGNC2Riesz, KeyConfMaxCos, KeyNC2WCosDeviation, KeyNC2WCosStd, KeyNC2WCoherence, KeyNC4NCCMismatch, KeyNCCAccuracy}

// operatorKeys are the measures that need NC1's operator, of train or of test class means.
var operatorKeys = []string{KeyNC1Pinv, KeyRankBetween, KeyRankCut, KeyVCI, KeyDilation}

// choiceKeys are the measures that compare every sample with every class mean or every row of W.
var choiceKeys = []string{KeyNC4NCCMismatch, KeyNCCAccuracy, KeyAccuracy, KeyMarginMean, KeyMarginMin, KeyMarginMax,
	KeyTestAccuracy, KeyTestNCCAccuracy, KeyTestNCCMismatch, KeyOODMaxSoftmax, KeyOODMaxLogit, KeyOODEnergy, KeyOODMahalanobis}

// choiceWork estimates the operations of n decisions among so many rows of width d.
func choiceWork(n, rows, d int) float64 { return 2 * float64(n) * float64(rows) * (float64(d) + 4) }

// justified returns the work that is done unasked for so many given numbers.
func justified(most, numbers float64) float64 { return max(most, numbers*numbers/workScale) }

// leaveUnasked leaves out what is too much work for the given numbers: measures of pairs of k classes of width d, and n decisions among
// so many rows.
func (b *builder) leaveUnasked(n, rows, k, d int, numbers float64) {
	if pairsWork(k, d) > justified(mostPairsWork, numbers) {
		b.leave(fmt.Sprintf("%d classes make %.2g pairs", k, float64(k)*float64(k-1)/2), pairKeys)
	}
	if choiceWork(n, rows, d) > justified(mostChoiceWork, numbers) {
		b.leave(fmt.Sprintf("%d samples beside %d classes make %.2g comparisons", n, rows, float64(n)*float64(rows)), choiceKeys)
	}
}

// leave leaves out keys that nobody named, with the reason and how to ask for them.
func (b *builder) leave(why string, keys []string) {
	for _, key := range keys {
		if b.expensive || b.named[key] || !b.any(key) {
			continue
		}
		b.missUnasked(why, key)
		if b.left == nil {
			b.left = map[string]bool{}
		}
		b.left[key] = true
	}
}

// missUnasked says that keys are left out because of their work.
func (b *builder) missUnasked(why string, keys ...string) {
	for _, key := range keys {
		b.miss(key, fmt.Sprintf("not asked: %s, too many beside the numbers that were given; --measures %s", why, key))
	}
}

// allow says how much work NC1's operator may be.
func (e *Engine[T]) allow(b *builder, numbers float64) {
	e.opt.allowed = e.given
	named := func(key string) bool { return b.named[key] }
	if e.given == 0 && !b.expensive && !slices.ContainsFunc(operatorKeys, named) {
		e.opt.allowed = justified(mostFactorWork, numbers)
	}
}

// leaveUnasked is the builder's for an input that has been opened.
func (e *Engine[T]) leaveUnasked(b *builder, in *Input[T], h *head) {
	samples, numbers := 0, 0.0
	for _, src := range []Source[T]{in.Train.Features, in.Test.Features, in.OOD} {
		if src != nil {
			n, d := src.Size()
			samples, numbers = samples+n, numbers+float64(n)*float64(d)
		}
	}
	if stored := e.opt.Stored; stored > 0 && stored < smallStored {
		numbers = min(numbers, float64(stored))
	}
	e.allow(b, numbers)
	rows := e.train.k
	if h != nil {
		rows += len(in.W) / e.train.d
	}
	b.leaveUnasked(samples, rows, e.train.k, e.train.d, numbers)
}

// leaveUnaskedMeans is the builder's for moments: states of all shards leave out the same, whatever their samples.
func (e *Engine[T]) leaveUnaskedMeans(b *builder) {
	s := &e.train
	const bytes = 8 // of a number of a state
	numbers := bytes * float64(s.k) * float64(s.d)
	e.allow(b, numbers)
	b.leaveUnasked(0, 0, s.k, s.d, numbers)
}
