package measure

import "math"

// unseen is the error of a measure that evaluating it again does not show: a few roundings of its value and of its ingredients.
type unseen struct {
	least func(v float64, k, d int) float64
	parts bool // the value is put together from numbers of size 1, and may be 0 by structure
}

const few = 4 * roundoff64

// ofValue is so many times a few roundings of the value.
func ofValue(times float64) unseen {
	return unseen{least: func(v float64, _, _ int) float64 { return times * (few * math.Abs(v)) }}
}

// ofParts says that such a value may be 0 by the structure of its parts.
func (r unseen) ofParts() unseen { r.parts = true; return r }

// sizeOne adds so many times a few roundings of numbers of size 1.
func sizeOne(times float64) unseen {
	return unseen{parts: true, least: func(v float64, _, _ int) float64 { return few*math.Abs(v) + times*few }}
}

var (
	// oneCosine is a sum of d products, whose roundings nothing averages.
	oneCosine = unseen{parts: true, least: func(v float64, _, d int) float64 { return few*math.Abs(v) + few + roundoff64*math.Sqrt(float64(d)) }}
	// ofProjection has the entries of a projection over √d.
	ofProjection = unseen{parts: true, least: func(v float64, _, d int) float64 { return few*math.Abs(v) + few/4/math.Sqrt(float64(d)) }}
	// ofVariance is one of numbers of size 1.
	ofVariance = unseen{parts: true, least: func(v float64, _, _ int) float64 { return few*math.Abs(v) + few/4*math.Sqrt(math.Abs(v)) + few*few }}
	// ofRoot is the root of a difference of numbers of size 1.
	ofRoot = unseen{parts: true, least: func(v float64, _, _ int) float64 { return few*math.Abs(v) + min(math.Sqrt(few), few/v) }}
	// ofPowers is a variance over a squared mean of powers of distances that multiply roundings.
	ofPowers = unseen{parts: true, least: powersRounding}
)

func powersRounding(v float64, k, d int) float64 {
	own := few * math.Abs(v)
	if k > fewClasses { // kernels by logarithms (rieszSpread)
		return own * (4 + float64(d)/3)
	}
	// Where one pair dominates, the value is one less than the number of pairs, whatever the powers are.
	pairs := float64(k*(k-1)) / 2
	return own * (2 + float64(d)*max(0, 1-(v+1)/pairs))
}
