package measure

import (
	"fmt"
	"slices"
)

// Some measures need all pairs of classes, or compare every sample with every class. A file of a few megabytes can hold a hundred thousand
// classes of one number each, whose pairs take hours. So "default" leaves such measures out if their work is large both in itself and
// compared with the amount of input. If named, or with "all", they are measured.
const (
	mostPairsWork  = 1e11 // operations (pairsWork) of one sweep over all pairs; uncertainties and nulls make about ten more
	cheapPairsWork = 1e10 // the same that is done for the facts of a report alone
	mostChoiceWork = 4e11 // operations (choiceWork) of decisions
	mostFactorWork = 2e11 // operations (factorWork, singularWork) of NC1's operator, which uncertainties and nulls make about five times
	workScale      = 320  // m numbers justify m²/workScale operations: a sweep where N²·d/K² is at least some 4,000

	smallStored = 16 << 20 // bytes that count as at most one number each, whatever they unpack to
)

// pairKeys are the measures that need all pairs of class means or of rows of W: decisions for the nearest centre are pruned by the
// distances of pairs.
var pairKeys = keysOf(func(d *Definition) bool { return d.pairs != noPairs })

// meanPairKeys are those of class means.
var meanPairKeys = keysOf(func(d *Definition) bool { return d.pairs != noPairs && !d.needs.any(needNoFeatures) })

// operatorKeys are the measures that need NC1's operator, of train or of test class means.
var operatorKeys = keysOf(func(d *Definition) bool { return d.needs.any(needOperator) })

// choiceKeys are the measures that compare every sample with every class mean or every row of W.
var choiceKeys = keysOf(func(d *Definition) bool { return d.needs.any(needChoices) })

// choiceWork estimates the operations of n decisions among so many rows of width d.
func choiceWork(n, rows, d int) float64 { return 2 * float64(n) * float64(rows) * (float64(d) + 4) }

// justified returns the work that the given amount of input justifies without a request.
func justified(most, numbers float64) float64 { return max(most, numbers*numbers/workScale) }

// leaveUnasked leaves out what is too much work for the amount of input: measures of pairs of k classes of width d, and n decisions
// among so many rows.
func (b *builder) leaveUnasked(n, rows, k, d int, numbers float64) {
	if pairsWork(k, d) > justified(mostPairsWork, numbers) {
		b.leavePairs(k, pairKeys)
	}
	if choiceWork(n, rows, d) > justified(mostChoiceWork, numbers) {
		b.leave(fmt.Sprintf("%d samples and %d classes make %.2g comparisons", n, rows, float64(n)*float64(rows)), choiceKeys)
	}
}

// leavePairs leaves out measures that need all pairs of k classes.
func (b *builder) leavePairs(k int, keys []string) {
	b.leave(fmt.Sprintf("%d classes make %.2g pairs", k, float64(k)*float64(k-1)/2), keys)
}

// leave leaves out keys that were not named, with the reason and how to request them.
func (b *builder) leave(why string, keys []string) {
	for _, key := range keys {
		if b.expensive || b.named[key] || !b.any(key) {
			continue
		}
		b.missUnasked(why, key)
		b.leaveKey(key)
	}
}

func (b *builder) leaveKey(key string) {
	if b.left == nil {
		b.left = map[string]bool{}
	}
	b.left[key] = true
}

// missUnasked says that keys are left out because of their work.
func (b *builder) missUnasked(why string, keys ...string) {
	for _, key := range keys {
		b.miss(key, fmt.Sprintf("not requested: %s, too many for the amount of input; --measures %s", why, key))
	}
}

// allow sets how much work NC1's operator may take.
func (e *Engine[T]) allow(b *builder, numbers float64) {
	e.opt.allowed = e.given
	named := func(key string) bool { return b.named[key] }
	if e.given == 0 && !b.expensive && !slices.ContainsFunc(operatorKeys, named) {
		e.opt.allowed = justified(mostFactorWork, numbers)
	}
}

// leaveUnasked applies the builder's leaveUnasked to an opened input.
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

// leaveUnaskedMeans does the same for second passes: all shards leave out the same, whatever their samples.
func (e *Engine[T]) leaveUnaskedMeans(b *builder) {
	numbers := e.stateNumbers()
	e.allow(b, numbers)
	b.leaveUnasked(0, 0, e.train.k, e.train.d, numbers)
}

// leaveUnaskedReport does the same for reports of moments: it leaves out what second passes leave out and, of the pairs, only what a sample
// cannot give.
func (e *Engine[T]) leaveUnaskedReport(b *builder) {
	numbers := e.stateNumbers()
	e.allow(b, numbers)
	most := justified(mostPairsWork, numbers)
	if pairsWork(e.train.k, e.train.d) > most {
		b.leavePairs(e.train.k, keysOf(func(d *Definition) bool { return d.pairs == pairDecision }))
	}
	e.samplePairs(b, most)
}

// stateNumbers is the amount of input that moments are assumed to come from.
func (e *Engine[T]) stateNumbers() float64 {
	const bytes = 8 // per number in a state
	return bytes * float64(e.train.k) * float64(e.train.d)
}
