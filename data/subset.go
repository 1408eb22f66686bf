package data

import (
	"fmt"
	"slices"

	"collapse.example/collapse/internal/classcounts"
)

// FirstClasses returns the samples whose true label is below k, in their order, as the papers'
// K-class subsets do. It returns an error if k is below 2 or above the classes the set has, or if
// one of the kept classes is empty. It panics on a set with label noise: noise comes after subsets.
func (s *Set) FirstClasses(k int) (*Set, error) {
	sub, err := s.firstClasses(k)
	if err != nil {
		return nil, err
	}
	return sub.seal(), nil
}

// PerClass returns n samples of every class, in their order. Which ones depends on (seed, class)
// alone, and the samples kept for n are among those kept for any larger n. It returns an error if
// n is below 1 or a class has fewer than n samples. It panics on a set with label noise.
func (s *Set) PerClass(n int, seed uint64) (*Set, error) {
	sub, err := s.perClass(n, seed)
	if err != nil {
		return nil, err
	}
	return sub.seal(), nil
}

// Samples returns total samples, as many of every class (of the first classes one more if total is not a multiple of K), chosen as
// PerClass chooses them. It returns an error if total is below K or a class has too few. It panics on a set with label noise.
func (s *Set) Samples(total int, seed uint64) (*Set, error) {
	sub, err := s.inAll(total, seed)
	if err != nil {
		return nil, err
	}
	return sub.seal(), nil
}

// FirstPerClass returns the first n samples of every class, as `sample_size` of Zhu et al. 2021's released code does. Errors and
// panics are those of PerClass.
func (s *Set) FirstPerClass(n int) (*Set, error) {
	sub, err := s.firstPerClass(n)
	if err != nil {
		return nil, err
	}
	return sub.seal(), nil
}

// Imbalanced returns the samples that a profile leaves of classes that all have as many: a class of more samples than that keeps its first
// ones in the order in which PerClass draws them, so that a steeper profile keeps some of those of a flatter one. It returns an error if
// classes differ in size, or the profile does not suit them. It panics on a set with label noise.
func (s *Set) Imbalanced(p classcounts.Profile, seed uint64) (*Set, error) {
	counts, err := profiled(p, s.Counts(), s.Name, s.Split)
	if err != nil {
		return nil, err
	}
	sub, err := s.counted(counts, seed)
	if err != nil {
		return nil, err
	}
	return sub.seal(), nil
}

// profiled are the samples that a profile leaves of classes of equal size.
func profiled(p classcounts.Profile, counts []int, name string, split Split) ([]int, error) {
	if least, most := slices.Min(counts), slices.Max(counts); least != most {
		return nil, fmt.Errorf("data: %s %s: classes have %d to %d samples, and an imbalance profile starts from classes of one size; set data.samples_per_class to at most %d", name, split, least, most, least)
	}
	out, err := p.Of(len(counts), counts[0])
	if err != nil {
		return nil, fmt.Errorf("data: %s %s: imbalance: %w", name, split, err)
	}
	return out, nil
}

func (s *Set) inAll(total int, seed uint64) (*Set, error) {
	if total < s.Classes {
		return nil, fmt.Errorf("data: %s %s: %d samples asked in all; at least one for each of %d classes is needed", s.Name, s.Split, total, s.Classes)
	}
	return s.some(total, seed)
}

func (s *Set) firstClasses(k int) (*Set, error) {
	if k < 2 {
		return nil, fmt.Errorf("data: %s: %d classes asked; a collapse experiment needs at least 2", s.Name, k)
	}
	if k > s.Classes {
		return nil, fmt.Errorf("data: %s has %d classes, %d were requested; lower the number of classes or use another set", s.Name, s.Classes, k)
	}
	var keep []int
	for i, l := range s.True {
		if int(l) < k {
			keep = append(keep, i)
		}
	}
	sub := s.take(keep)
	sub.Classes = k
	return sub, sub.empty()
}

func (s *Set) perClass(n int, seed uint64) (*Set, error) {
	if n < 1 {
		return nil, fmt.Errorf("data: %s %s: %d samples per class asked; at least 1 is needed", s.Name, s.Split, n)
	}
	return s.some(n*s.Classes, seed)
}

// some keeps total samples, as many of each class; the first classes have one more if that does not come out even.
func (s *Set) some(total int, seed uint64) (*Set, error) {
	return s.counted(balanced(total, s.Classes), seed)
}

// counted keeps so many samples of each class.
func (s *Set) counted(counts []int, seed uint64) (*Set, error) {
	var keep []int
	var rng stream
	for k, m := range s.members() {
		n := counts[k]
		if len(m) < n {
			return nil, fmt.Errorf("data: %s %s: class %d has %d samples, %d per class were requested; lower the number of samples", s.Name, s.Split, k, len(m), n)
		}
		rng.reset(seed, forSubset, uint64(k))
		// Fisher–Yates from the front: the first n places do not depend on n, so subsets nest.
		for i := range n {
			j := rng.within(i, len(m)-1)
			m[i], m[j] = m[j], m[i]
		}
		keep = append(keep, m[:n]...)
	}
	slices.Sort(keep)
	return s.take(keep), nil
}

// firstPerClass keeps the first n samples of each class.
func (s *Set) firstPerClass(n int) (*Set, error) {
	if n < 1 {
		return nil, fmt.Errorf("data: %s %s: %d samples per class asked; at least 1 is needed", s.Name, s.Split, n)
	}
	var keep []int
	for k, m := range s.members() {
		if len(m) < n {
			return nil, fmt.Errorf("data: %s %s: class %d has %d samples, %d per class were requested; lower the number of samples", s.Name, s.Split, k, len(m), n)
		}
		keep = append(keep, m[:n]...)
	}
	slices.Sort(keep)
	return s.take(keep), nil
}

// members lists the samples of each true class, in their order.
func (s *Set) members() [][]int {
	members := make([][]int, s.Classes)
	for i, l := range s.True {
		members[l] = append(members[l], i)
	}
	return members
}

// take copies the samples of the given numbers into a set that is not sealed yet.
func (s *Set) take(keep []int) *Set {
	if slices.Contains(s.Redrawn, true) {
		panic("data: subset of a set that already has label noise")
	}
	return s.pick(keep)
}

// pick copies pixels and true labels of the given samples.
func (s *Set) pick(keep []int) *Set {
	d := s.Shape.Dim()
	sub := &Set{Name: s.Name, Split: s.Split, Classes: s.Classes, Latent: s.Latent, Shape: s.Shape, Norm: s.Norm,
		Pixels: make([]uint8, 0, len(keep)*d), True: make([]int32, 0, len(keep))}
	for _, i := range keep {
		sub.Pixels = append(sub.Pixels, s.Image(i)...)
		sub.True = append(sub.True, s.True[i])
	}
	return sub
}
