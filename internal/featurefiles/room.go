package featurefiles

import (
	"fmt"

	"collapse.example/collapse/arrayfile"
)

// Memory, at most and about, of what measuring makes beside the arrays of the files. Files that are not compressed have room for it within
// arrayfile.RatioMemory times their size; a few bytes that unpack to many samples, or a number of classes that no data justify, have not.
const (
	sampleMemory = 48 // a label as it is read and as a class, and what the engine keeps of a sample
	widthMemory  = 12 // float64 numbers for each coordinate, beside classMemory and probeMemory
	classMemory  = 4  // float64 numbers for each coordinate of a class
	probeMemory  = 3  // float64 numbers for each coordinate of the samples that are looked at more often
	probeRows    = 64 // of these, at most, where features are wide
)

// room takes the memory of the class means and what is made of them, before any of it is made.
func (f *finder) room(s *Set) error {
	most, rows := int64(0), 0
	for _, c := range s.Columns {
		most, rows = max(most, int64(c.D)), max(rows, min(c.N, probeRows))
	}
	need, ok := product(8*most, widthMemory+probeMemory*int64(rows)+classMemory*int64(s.K))
	err := fmt.Errorf("more memory than any machine has")
	if ok {
		err = f.req.Budget.Take(need)
	}
	if err == nil {
		return nil
	}
	from := names(s.labels.parts)
	switch {
	case f.req.Classes > 0:
		from = fmt.Sprintf("--classes %d", f.req.Classes)
	case s.head != nil:
		from = s.head.wPart.where()
	}
	return fmt.Errorf("%s: measuring %d classes of width %d: %w", from, s.K, most, err)
}

// product multiplies two positive numbers; false if they overflow.
func product(a, b int64) (int64, bool) {
	p := a * b
	return p, a == 0 || p/a == b && p >= 0 && b >= 0
}

// StreamMemory is what a stream and its moments may take by default: its size is not known before its end.
const StreamMemory = 4 << 30

// momentsRoom takes the memory of the moments of k classes of width d, and of the report on them.
func momentsRoom(budget *arrayfile.Budget, k, d int) error {
	need, ok := product(8*2*int64(d), int64(k)) // the d×d scatter of narrow features is small beside the rest
	if !ok {
		return fmt.Errorf("%d classes of width %d take more memory than any machine has", k, d)
	}
	if err := budget.Take(need); err != nil {
		return fmt.Errorf("%d classes of width %d: %w", k, d, err)
	}
	return nil
}
