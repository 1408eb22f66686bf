package chart

import (
	"math"
	"strconv"

	"collapse.example/collapse/internal/format"
)

// span is an axis ready for drawing: finite limits, lo < hi, and both positive when log.
type span struct {
	lo, hi float64
	log    bool
}

// at maps a value to [0,1] along the axis; values outside give results outside. Values are halved before they are subtracted, so
// that limits near ±MaxFloat64 do not overflow.
func (s span) at(v float64) float64 {
	if s.log {
		a := math.Log10(s.lo)
		return (math.Log10(v) - a) / (math.Log10(s.hi) - a)
	}
	return (v/2 - s.lo/2) / (s.hi/2 - s.lo/2)
}

// value is the inverse of at.
func (s span) value(t float64) float64 {
	if s.log {
		a, b := math.Log10(s.lo), math.Log10(s.hi)
		return math.Pow(10, a+t*(b-a))
	}
	return 2 * (s.lo/2 + t*(s.hi/2-s.lo/2))
}

// leastLog is the smallest value that a log axis shows: logarithms of subnormal numbers are not exact everywhere, and a measure
// below it is zero for every purpose.
const leastLog = 1e-300

// drawable reports whether the axis can show v at all.
func (s span) drawable(v float64) bool { return finite(v) && (!s.log || v >= leastLog) }

// extent collects the values that an automatic range must include.
type extent struct {
	lo, hi float64
	log    bool
	any    bool
}

func (e *extent) add(values ...float64) {
	for _, v := range values {
		if !finite(v) || (e.log && v < leastLog) {
			continue
		}
		if !e.any {
			e.lo, e.hi, e.any = v, v, true
		}
		e.lo, e.hi = math.Min(e.lo, v), math.Max(e.hi, v)
	}
}

// constant is the relative spread up to which values count as equal: drawn from edge to edge, rounding and noise would look like a
// trend.
const constant = 1e-4

// span widens the collected range by 5 % so that no mark is on the frame. A single value, or none, still gives an axis; that of a
// constant is a fifth of its size long.
func (e *extent) span() span {
	if e.log {
		return e.logSpan()
	}
	if !e.any {
		return span{lo: 0, hi: 1}
	}
	pad := (e.hi/2 - e.lo/2) / 10
	size := math.Max(math.Abs(e.lo), math.Abs(e.hi))
	if pad <= size*constant/20 {
		pad = size / 10
	}
	if pad == 0 {
		pad = 0.5
	}
	return span{lo: math.Max(e.lo-pad, -math.MaxFloat64), hi: math.Min(e.hi+pad, math.MaxFloat64)}
}

func (e *extent) logSpan() span {
	if !e.any {
		return span{lo: 0.1, hi: 1, log: true}
	}
	a, b := math.Log10(e.lo), math.Log10(e.hi)
	pad := math.Max((b-a)/20, 0.02)
	lo, hi := math.Pow(10, a-pad), math.Pow(10, b+pad)
	return span{lo: math.Max(lo, leastLog/2), hi: math.Min(hi, math.MaxFloat64), log: true}
}

// explicit turns a caller's range into a span.
func explicit(a Axis) span {
	s := span{lo: a.Range[0], hi: a.Range[1], log: a.Scale == Log}
	if !s.drawable(s.lo) || !s.drawable(s.hi) || !(s.lo < s.hi) {
		panic("chart: axis range is empty, not finite, or not positive on a log axis")
	}
	return s
}

// fewestTicks is the least number of labels on an axis: two show neither the middle nor the scale.
const fewestTicks = 3

// ticks chooses about want round values inside the span, and at least fewestTicks if numbers are dense enough.
func (s span) ticks(want int) []Tick {
	want = max(want, fewestTicks)
	if s.log {
		return s.logTicks(want)
	}
	step := niceStep((s.hi/2 - s.lo/2) / float64(want) * 2)
	out := s.multiples(step, want)
	for range 2 { // rounding up has made a step at most five times as long as requested
		if len(out) >= fewestTicks {
			break
		}
		step = niceStep(step / 2.5)
		out = s.multiples(step, want)
	}
	return out
}

// multiples returns the multiples of step inside the span.
func (s span) multiples(step float64, want int) []Tick {
	var values []float64
	first := math.Ceil(s.lo/step - 1e-9)
	for i := range 3 * want {
		v := (first + float64(i)) * step
		if v > s.hi+step*1e-9 {
			break
		}
		if finite(v) {
			values = append(values, v)
		}
	}
	out := make([]Tick, len(values))
	for i, words := range format.Axis(values, step) {
		out[i] = Tick{values[i], words}
	}
	return out
}

// niceStep rounds up to 1, 2 or 5 times a power of ten.
func niceStep(raw float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(raw)))
	if p == 0 || math.IsInf(p, 0) {
		return raw
	}
	for _, m := range []float64{1, 2, 5, 10} {
		if nice := m * p; raw <= nice*(1+1e-9) && finite(nice) {
			return nice
		}
	}
	return raw // its next round number is beyond the largest
}

// logTicks returns powers of ten, every k-th if there are many, with steps 1-3 if there are too few powers, and 1-2-5 below two decades.
func (s span) logTicks(want int) []Tick {
	decades := math.Log10(s.hi) - math.Log10(s.lo)
	if decades < 0.5 { // less than half a decade: round values on the linear scale read better
		return span{lo: s.lo, hi: s.hi}.ticks(want)
	}
	if decades >= 2 {
		for every := max(1, int(math.Ceil(decades/float64(want)))); every > 0; every-- {
			if out := s.powers(every, 1); len(out) >= fewestTicks {
				return out
			}
		}
		return s.powers(1, 1, 3)
	}
	if out := s.powers(1, 1, 2, 5); len(out) >= fewestTicks {
		return out
	}
	return span{lo: s.lo, hi: s.hi}.ticks(want)
}

// powers returns the given multiples of every k-th power of ten inside the span, for k = every.
func (s span) powers(every int, multiples ...float64) []Tick {
	a, b := math.Log10(s.lo), math.Log10(s.hi)
	plain := math.Floor(a) >= -2 && math.Ceil(b) <= 3 // otherwise all are powers: no mix of 0.01 and 10⁻³
	var out []Tick
	for e := int(math.Floor(a)); e <= int(math.Ceil(b)); e++ {
		if e%every != 0 {
			continue
		}
		for _, m := range multiples {
			v := m * math.Pow(10, float64(e))
			if finite(v) && v >= s.lo*(1-1e-9) && v <= s.hi*(1+1e-9) {
				out = append(out, Tick{v, powerLabel(m, e, plain)})
			}
		}
	}
	return out
}

func powerLabel(m float64, e int, plain bool) string {
	if plain {
		return format.Decimals(m*math.Pow(10, float64(e)), max(0, -e))
	}
	return format.Scaled(strconv.Itoa(int(m)), e)
}
