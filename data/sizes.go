package data

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"collapse.example/collapse/internal/classcounts"
)

// Sizes are the shape and the sample counts of a set, without its samples.
type Sizes struct {
	Shape  Shape
	Counts []int // samples of each true class
}

// N returns the number of samples.
func (s Sizes) N() (n int) {
	for _, c := range s.Counts {
		n += c
	}
	return n
}

// SizesOf returns the sizes of what Open returns when the files are the official ones. It reads no file. A folder of images has no
// official size: that is an error, and so is a subset larger than the set.
func SizesOf(src Source, split Split) (Sizes, error) {
	i := slices.IndexFunc(registry, func(i *Info) bool { return i.Name == src.Name })
	if i < 0 {
		return Sizes{}, &UnknownError{src.Name}
	}
	info := registry[i]
	perClass, inAll := src.TrainPerClass, src.TrainSamples
	if split == Test {
		perClass, inAll = src.TestPerClass, src.TestSamples
	}
	s := Sizes{Shape: info.Shape, Counts: info.official(split)}
	if info.BuiltIn() {
		defaults := [2]int{Train: DefaultTrainPerClass, Test: DefaultTestPerClass}
		size := cmp.Or(src.Size, info.Shape.H)
		s = Sizes{Shape: Shape{1, size, size}, Counts: balanced(cmp.Or(perClass, defaults[split])*cmp.Or(src.Classes, 10), cmp.Or(src.Classes, 10))}
		if src.Color {
			s.Shape.C = 3
		}
	}
	if len(s.Counts) == 0 {
		return Sizes{}, fmt.Errorf("data: %s has no official size; its files say how large it is", src.Name)
	}
	if src.Classes > len(s.Counts) {
		return Sizes{}, fmt.Errorf("data: %s has %d classes, %d were requested; lower the number of classes or use another set", src.Name, len(s.Counts), src.Classes)
	}
	s.Counts = s.Counts[:cmp.Or(src.Classes, len(s.Counts))]
	if inAll == 0 {
		inAll = perClass * len(s.Counts)
	}
	return s.some(inAll, src.Name, split)
}

// some are the sizes of a subset with the given number of samples; 0: all.
func (s Sizes) some(total int, name string, split Split) (Sizes, error) {
	if total == 0 {
		return s, nil
	}
	wanted := balanced(total, len(s.Counts))
	for k, n := range wanted {
		if n > s.Counts[k] {
			return Sizes{}, fmt.Errorf("data: %s %s: class %d has %d samples, %d per class were requested; lower the number of samples", name, split, k, s.Counts[k], n)
		}
	}
	return Sizes{s.Shape, wanted}, nil
}

// Imbalanced returns the sizes of what Set.Imbalanced leaves.
func (s Sizes) Imbalanced(p classcounts.Profile, name string, split Split) (Sizes, error) {
	counts, err := profiled(p, s.Counts, name, split)
	return Sizes{s.Shape, counts}, err
}

// HoldOut returns the sizes of the two sides that Set.HoldOut makes.
func (s Sizes) HoldOut(share float64) (kept, held Sizes) {
	kept, held = Sizes{Shape: s.Shape}, Sizes{Shape: s.Shape}
	for _, n := range s.Counts {
		out := heldOf(n, share)
		kept.Counts, held.Counts = append(kept.Counts, n-out), append(held.Counts, out)
	}
	return kept, held
}

// heldOf is how many of a class's samples are held out.
func heldOf(n int, share float64) int { return int(math.Round(share * float64(n))) }

// balanced spreads samples over classes; the first ones get one more if they do not divide evenly.
func balanced(samples, classes int) []int {
	counts := make([]int, classes)
	for k := range counts {
		if counts[k] = samples / classes; k < samples%classes {
			counts[k]++
		}
	}
	return counts
}

// official are the samples of each class in the official files; nil: not fixed.
func (i *Info) official(split Split) []int {
	if i.Official[split] == 0 {
		return nil
	}
	if counts := i.counts[split]; counts != nil {
		return counts
	}
	return balanced(i.Official[split], i.Classes)
}

// Sets whose classes differ in size.
var (
	mnistCounts = [2][]int{{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}, {980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009}}
	svhnCounts  = [2][]int{{4948, 13861, 10585, 8497, 7458, 6882, 5727, 5595, 5045, 4659}, {1744, 5099, 4149, 2882, 2523, 2384, 1977, 2019, 1660, 1595}}
)
