package rows

import (
	"math"
	"slices"
)

// useSearchesAVX512 puts the searches into the table: they exist for AVX-512 alone.
func useSearchesAVX512(f *functions) {
	f.float32.mostSum = func(x []float32, y []float64) (most float64, done int) {
		lanes, n := lowest(), whole(len(x))
		if n > 0 {
			largestSum32AVX512(n, &x[0], &y[0], &lanes[0])
		}
		return slices.Max(lanes[:]), n
	}
	f.float64.mostSum = func(x, y []float64) (most float64, done int) {
		lanes, n := lowest(), whole(len(x))
		if n > 0 {
			largestSum64AVX512(n, &x[0], &y[0], &lanes[0])
		}
		return slices.Max(lanes[:]), n
	}
	f.float32.mostProduct = func(x []float32, y []float64) (most float64, done int) {
		lanes, n := lowest(), whole(len(x))
		if n > 0 {
			largestProduct32AVX512(n, &x[0], &y[0], &lanes[0])
		}
		return slices.Max(lanes[:]), n
	}
	f.float64.mostProduct = func(x, y []float64) (most float64, done int) {
		lanes, n := lowest(), whole(len(x))
		if n > 0 {
			largestProduct64AVX512(n, &x[0], &y[0], &lanes[0])
		}
		return slices.Max(lanes[:]), n
	}
	f.float32.selectProducts = func(found selection, x []float32, y []float64, least float64, first int32) (selection, int) {
		n := whole(len(x))
		if n == 0 {
			return found, 0
		}
		list, values, at := found.room(n)
		count := selectProducts32AVX512(n, &list[at], &values[at], &x[0], &y[0], &least)
		return selection{list[:at+count], values[:at+count]}.shifted(at, first), n
	}
	f.float64.selectProducts = func(found selection, x, y []float64, least float64, first int32) (selection, int) {
		n := whole(len(x))
		if n == 0 {
			return found, 0
		}
		list, values, at := found.room(n)
		count := selectProducts64AVX512(n, &list[at], &values[at], &x[0], &y[0], &least)
		return selection{list[:at+count], values[:at+count]}.shifted(at, first), n
	}
	f.float32.leastGap = func(x []float32, base, other []float64, own gapOwn) (float64, int) {
		lanes, n := highest(), whole(len(x))
		if n > 0 && leastGap32AVX512(n, &x[0], &base[0], &other[0], &own.most, &lanes[0]) != 0 {
			return math.NaN(), n
		}
		return slices.Min(lanes[:]), n
	}
	f.float64.leastGap = func(x, base, other []float64, own gapOwn) (float64, int) {
		lanes, n := highest(), whole(len(x))
		if n > 0 && leastGap64AVX512(n, &x[0], &base[0], &other[0], &own.most, &lanes[0]) != 0 {
			return math.NaN(), n
		}
		return slices.Min(lanes[:]), n
	}
}

// lowest returns eight maxima of nothing, highest eight minima.
func lowest() (lanes [8]float64) {
	for i := range lanes {
		lanes[i] = math.Inf(-1)
	}
	return lanes
}

func highest() (lanes [8]float64) {
	for i := range lanes {
		lanes[i] = math.Inf(1)
	}
	return lanes
}

// room returns a selection with n more elements and as many as the assembly writes beyond them, and where those begin.
func (s selection) room(n int) (list []int32, values []float64, at int) {
	const beyond = 8
	at = len(s.list)
	return slices.Grow(s.list, n+beyond)[:at+n], slices.Grow(s.values, n+beyond)[:at+n], at
}

// shifted adds first to the list from at on.
func (s selection) shifted(at int, first int32) selection {
	if first != 0 {
		for i := range s.list[at:] {
			s.list[at+i] += first
		}
	}
	return s
}
