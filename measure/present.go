package measure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Measures are computed over the classes that are present. Before the engine runs, the classes of a split that have no sample,
// fewer than Options.MinCount, or a label of Options.IgnoreLabels are left out, and the others are numbered 0 … P−1 in their order.
// Class means and rows of W go together, by class number. The other rows of W come after the first P. Only argmax uses them
// (classifying a sample as an absent class is an error).

// LeftOut says which classes are left out of a split, and why.
type LeftOut struct {
	Split  string `json:"split"`  // "train" or "test"
	Reason string `json:"reason"` // one of the texts below
	Count  int    `json:"count"`  // number of classes
	// Classes are the class numbers or, of ignored ones, the labels, ascending: the first MostLeftOut of them.
	Classes []int `json:"-"`
	// Labels spells Classes; the engine knows only numbers, but a caller can put names here.
	Labels  []string `json:"classes"`
	Samples int      `json:"samples"` // of these classes
}

// MostLeftOut is how many classes a LeftOut names: a vocabulary may lack many.
const MostLeftOut = 1000

// Reasons of LeftOut.
const (
	LeftIgnored  = "ignored label"
	LeftEmpty    = "no sample"
	LeftOfTrain  = "left out of the train split"
	leftRareText = "fewer than %d samples"
)

// present chooses the classes of a split.
type present struct {
	least  int     // samples that a class needs
	ignore []int32 // labels
	out    []int   // classes that another split left out, ascending
}

func (e *Engine[T]) trainPresent() present {
	return present{least: max(1, e.opt.MinCount), ignore: e.opt.IgnoreLabels}
}

// testPresent leaves out what the train split leaves out as rare; a class without train samples stays, since the test split
// does not need them.
func (e *Engine[T]) testPresent() present {
	p := present{least: 1, ignore: e.opt.IgnoreLabels}
	for c, n := range e.train.before {
		if n > 0 && n < e.opt.MinCount {
			p.out = append(p.out, c)
		}
	}
	return p
}

// reason says why a class with n samples is left out; "" if it is kept.
func (p *present) reason(class, n int) string {
	_, out := slices.BinarySearch(p.out, class)
	switch {
	case p.ignored(int32(class)):
		return LeftIgnored
	case n == 0:
		return LeftEmpty
	case out:
		return LeftOfTrain
	case n < p.least:
		return fmt.Sprintf(leftRareText, p.least)
	}
	return ""
}

// ignored reports whether a label is ignored.
func (p *present) ignored(label int32) bool { return slices.Contains(p.ignore, label) }

// number returns the class number of class c of the split.
func (s *samples[T]) number(c int) int {
	if s.classes == nil {
		return c
	}
	return s.classes[c]
}

// place returns the index of a class number among the classes of the split.
func (s *samples[T]) place(class int) (int, bool) {
	if s.classes == nil {
		return class, class >= 0 && class < s.k
	}
	return slices.BinarySearch(s.classes, class)
}

// restrict renumbers the samples' classes by their index among the given classes, ascending; other samples are not
// measured.
func (s *samples[T]) restrict(classes []int) {
	if len(classes) == s.k {
		return
	}
	to := make([]int32, s.k)
	for c := range to {
		to[c] = -1
	}
	for c, class := range classes {
		to[class] = int32(c)
	}
	s.copyClasses()
	for i, c := range s.class {
		if c >= 0 {
			s.class[i] = to[c]
		}
	}
	s.classes, s.k = classes, len(classes)
	s.countClasses()
}

// choose leaves out the classes that p leaves out, and renumbers the others. It may be called again after rows were
// dropped.
func (s *samples[T]) choose(p *present) {
	if !s.leaves(p) {
		return
	}
	kept, classes := make([]int, 0, s.k), make([]int, 0, s.k)
	for c, n := range s.count {
		if reason := p.reason(s.number(c), n); reason != "" {
			s.leaveOut(reason, s.number(c), n)
			continue
		}
		kept, classes = append(kept, c), append(classes, s.number(c))
	}
	s.restrict(kept)
	s.classes = classes
}

// leaves reports whether a class is left out.
func (s *samples[T]) leaves(p *present) bool {
	for c, n := range s.count {
		if p.reason(s.number(c), n) != "" {
			return true
		}
	}
	return false
}

// leaveOut records a left-out class of n samples.
func (s *samples[T]) leaveOut(reason string, class, n int) {
	i := slices.IndexFunc(s.left, func(l LeftOut) bool { return l.Reason == reason })
	if i < 0 {
		i = len(s.left)
		s.left = append(s.left, LeftOut{Split: s.name, Reason: reason})
	}
	l := &s.left[i]
	l.Samples += n
	at, known := slices.BinarySearch(l.Classes, class)
	if known {
		return
	}
	l.Count++
	if l.Classes = slices.Insert(l.Classes, at, class); len(l.Classes) > MostLeftOut {
		l.Classes = l.Classes[:MostLeftOut]
	}
}

// leftOut returns copies of the splits' LeftOut, with class numbers as labels.
func leftOut(splits ...[]LeftOut) []LeftOut {
	var out []LeftOut
	for _, left := range splits {
		for _, l := range left {
			l.Classes = slices.Clone(l.Classes)
			for _, c := range l.Classes {
				l.Labels = append(l.Labels, strconv.Itoa(c))
			}
			out = append(out, l)
		}
	}
	slices.SortStableFunc(out, func(a, b LeftOut) int {
		return cmp.Or(cmp.Compare(b.Split, a.Split), cmp.Compare(a.Reason, b.Reason))
	})
	return out
}

// aligned converts a vector over test classes (width numbers each) to one over the train classes; classes missing from the test split are
// NaN, and those it alone has are left out. If both splits have all their classes it returns the vector itself.
func (e *Engine[T]) aligned(x []float64, width int) []float64 {
	if e.train.classes == nil && e.test.classes == nil {
		return x
	}
	out := make([]float64, 0, e.train.k*width)
	for c := range e.train.k {
		at, there := e.test.place(e.train.number(c))
		for j := range width {
			if !there {
				out = append(out, math.NaN())
				continue
			}
			out = append(out, x[at*width+j])
		}
	}
	return out
}

// Class returns the class number of class k of the report's vectors.
func (r *Report) Class(k int) int {
	if r.Classes == nil {
		return k
	}
	return r.Classes[k]
}

// Padded returns a copy of r with an entry for each of the given number of classes: left-out classes have count 0, and NaN in vectors and
// class means.
func (r *Report) Padded(classes int) *Report {
	out := *r
	if r.Classes == nil {
		return &out
	}
	pad := func(x []float64, width int) []float64 {
		if x == nil {
			return nil
		}
		padded := make([]float64, classes*width)
		for i := range padded {
			padded[i] = math.NaN()
		}
		for k, c := range r.Classes[:min(len(r.Classes), len(x)/width)] {
			copy(padded[c*width:][:width], x[k*width:])
		}
		return padded
	}
	out.Classes, out.K, out.ClassCounts, out.PerClass = nil, classes, make([]int, classes), make(map[string]Vector, len(r.PerClass))
	for k, c := range r.Classes {
		out.ClassCounts[c] = r.ClassCounts[k]
	}
	for key, x := range r.PerClass {
		out.PerClass[key] = pad(x, 1)
	}
	out.ClassMeans, out.TestClassMeans = pad(r.ClassMeans, r.D), pad(r.TestClassMeans, r.D)
	return &out
}
