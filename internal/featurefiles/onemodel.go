package featurefiles

import (
	"bytes"
	"fmt"
	"math"
	"slices"
)

// Several files that are named without a role are shards of one set. Whether they are can be told in part: shards of one layer have one
// width, one array name and one classifier, and different samples. Files of several models measured on the same samples have the same labels
// in the same order; where that order cannot be chance, they are refused. Models that were given different samples cannot be told from shards.

// beyondChance is how many orders of the labels make it impossible that two shards agree in theirs by chance: 2⁴⁰.
const beyondChance = 40

// oneModel refuses files that are not shards of one set, and notes that several were taken for such.
func (f *finder) oneModel(s *Set) error {
	if len(f.own[Features]) > 0 || len(f.common) < 2 {
		return nil
	}
	for i := range s.Columns {
		parts := s.Columns[i].train.parts
		for _, p := range parts[1:] {
			if p.name != parts[0].name && (p.list == "" || p.list != parts[0].list) {
				return fmt.Errorf("the features are called %q in %s and %q in %s: shards of one set name their arrays alike; measure different models one by one, or name the array with --features-key",
					parts[0].name, parts[0].path, p.name, p.path)
			}
		}
		if err := s.sameSamples(s.Columns[i].train); err != nil {
			return err
		}
	}
	lone := len(f.req.Files) == 1 && isFolder(f.req.Files[0]) // a dataset says itself which files belong together
	if parts := s.Columns[len(s.Columns)-1].train.parts; len(parts) > 1 && !lone {
		s.Notes = append(s.Notes, fmt.Sprintf("%d files are measured together, as shards of one set (%s … %s); different models or layers are measured one by one", len(parts), parts[0].path, parts[len(parts)-1].path))
	}
	return nil
}

// sameSamples refuses two files with the same samples.
func (s *Set) sameSamples(m *matrix) error {
	if len(m.parts) < 2 || len(s.labels.parts) != len(m.parts) {
		return nil
	}
	seen := map[uint64][]int{}
	for i := range m.parts {
		labels := s.labels.values[s.labels.first[i]:s.labels.first[i+1]]
		key := digest(labels)
		for _, j := range seen[key] {
			if !slices.Equal(labels, s.labels.values[s.labels.first[j]:s.labels.first[j+1]]) {
				continue
			}
			p, q := m.parts[j], m.parts[i]
			if len(labels) > 0 && p.DType == q.DType && bytes.Equal(p.Data, q.Data) {
				return fmt.Errorf("%s and %s hold the same features and labels: their samples would count twice; name one of them", p.where(), q.where())
			}
			if orders(labels) > beyondChance && !regular(labels) {
				return fmt.Errorf("%s and %s have the same %d labels in the same order, and other features: they are several models or layers on the same samples, not shards of one set; measure them one by one, or put layers into one file and give --layers; if they are shards all the same, name them with --features 'PATTERN' --labels 'PATTERN'",
					p.where(), q.where(), len(labels))
			}
		}
		seen[key] = append(seen[key], i)
	}
	return nil
}

// digest is FNV-1a of labels.
func digest(labels []int64) uint64 {
	h := uint64(14695981039346656037)
	for _, v := range labels {
		h = (h ^ uint64(v)) * 1099511628211
	}
	return h
}

// orders is log2 of the number of orders that labels with these counts can have: N!/Π n_k!.
func orders(labels []int64) float64 {
	logFactorial := func(n int) float64 {
		v, _ := math.Lgamma(float64(n) + 1)
		return v
	}
	count := map[int64]int{}
	for _, v := range labels {
		count[v]++
	}
	sorted := make([]int, 0, len(count))
	for _, n := range count {
		sorted = append(sorted, n)
	}
	slices.Sort(sorted)
	total := logFactorial(len(labels))
	for _, n := range sorted {
		total -= logFactorial(n)
	}
	return total / math.Ln2
}

// regular reports whether labels are in an order that balanced shards share: class by class, or a block repeated.
func regular(labels []int64) bool {
	runs, classes := 1, map[int64]bool{}
	for i, v := range labels {
		classes[v] = true
		if i > 0 && v != labels[i-1] {
			runs++
		}
	}
	if runs == len(classes) {
		return true
	}
	border := make([]int, len(labels)) // of Knuth, Morris & Pratt: the period is N less the longest border
	for i, n := 1, 0; i < len(labels); i++ {
		for n > 0 && labels[i] != labels[n] {
			n = border[n-1]
		}
		if labels[i] == labels[n] {
			n++
		}
		border[i] = n
	}
	return 2*(len(labels)-border[len(labels)-1]) <= len(labels)
}
