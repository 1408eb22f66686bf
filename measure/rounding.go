package measure

import "math"

// unseen is the error of a measure that evaluating it again does not show: a few roundings of its value and of its ingredients.
type unseen struct {
	form  form
	times float64
	parts bool // the value is put together from numbers of size 1, and may be 0 by structure
}

// form says what is rounded besides the value.
type form int

const (
	unstated   form = iota
	value           // nothing
	sizes           // numbers of size 1
	oneCosine       // a sum of d products, whose roundings nothing averages
	projection      // the entries of a projection over √d
	variance        // of numbers of size 1
	root            // of a difference of numbers of size 1
	powers          // of distances, whose variance over their squared mean multiplies roundings
)

// ofValue is so many times a few roundings of the value.
func ofValue(times float64) unseen { return unseen{form: value, times: times} }

// zeroable is the same of a value that may be 0 by the structure of its parts.
func zeroable(times float64) unseen { return unseen{form: value, times: times, parts: true} }

// sizeOne adds so many times a few roundings of numbers of size 1.
func sizeOne(times float64) unseen { return unseen{form: sizes, times: times, parts: true} }

// ofForm is that of one of the other forms.
func ofForm(f form) unseen { return unseen{form: f, times: 1, parts: true} }

// least returns the error in the value v of k classes of width d.
func (u *unseen) least(v float64, k, d int) float64 {
	const few = 4 * roundoff64
	own := few * math.Abs(v)
	switch u.form {
	case sizes:
		return own + u.times*few
	case oneCosine:
		return own + few + roundoff64*math.Sqrt(float64(d))
	case projection:
		return own + few/4/math.Sqrt(float64(d))
	case variance:
		return own + few/4*math.Sqrt(math.Abs(v)) + few*few
	case root:
		return own + min(math.Sqrt(few), few/v)
	case powers:
		if k > fewClasses { // kernels by logarithms (rieszSpread)
			return own * (4 + float64(d)/3)
		}
		// Where one pair dominates, the value is one less than the number of pairs, whatever the powers are.
		pairs := float64(k*(k-1)) / 2
		return own * (2 + float64(d)*max(0, 1-(v+1)/pairs))
	}
	return u.times * own
}
