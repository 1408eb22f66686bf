// Package sampling chooses the samples that pictures show. It knows labels and nothing else.
package sampling

import (
	"math/rand/v2"
	"slices"
)

// PerClass returns, ascending, the places of at most n samples: of every class as many as there are or as its equal share of n allows,
// drawn without replacement. A negative label is of no class and never drawn. The same labels and n give the same places.
//
// Every n-th sample would not do: where classes come in turn it shows a few of them and leaves out the rest.
func PerClass(labels []int32, n int) []int {
	byClass := map[int32][]int{}
	for i, k := range labels {
		if k >= 0 {
			byClass[k] = append(byClass[k], i)
		}
	}
	classes := make([]int32, 0, len(byClass))
	for k := range byClass {
		classes = append(classes, k)
	}
	// The smallest class first: what it cannot use of its share is left to the others.
	slices.SortFunc(classes, func(a, b int32) int {
		if d := len(byClass[a]) - len(byClass[b]); d != 0 {
			return d
		}
		return int(a) - int(b)
	})
	var out []int
	for i, k := range classes {
		share := (n - len(out)) / (len(classes) - i)
		out = append(out, draw(byClass[k], share, uint64(k))...)
	}
	slices.Sort(out)
	return out
}

// draw takes n of some places, or all, by the first steps of a Fisher–Yates shuffle.
func draw(places []int, n int, seed uint64) []int {
	r := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	n = min(n, len(places))
	for i := range n {
		j := i + r.IntN(len(places)-i)
		places[i], places[j] = places[j], places[i]
	}
	return places[:n]
}
