package featurefiles

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"collapse.example/collapse/arrayfile"
)

// What a file holds, in words, and what of it could be meant.

// mostListed is how many arrays an error lists.
const mostListed = 12

// contents lists the arrays of a file for an error message. Those that a number alone tells apart are listed together.
func (s *shard) contents() string {
	var words []string
	headers := s.file.Headers()
	groups := alike(headers)
	for i := 0; i < len(headers); i++ {
		if len(words) == mostListed {
			words = append(words, fmt.Sprintf("%d more", len(headers)-i))
			break
		}
		h := headers[i]
		f, grouped := groups[h.Name]
		switch {
		case grouped && f.of[0].Name == h.Name:
			words = append(words, fmt.Sprintf("%q … %q each %s", h.Name, f.of[len(f.of)-1].Name, describe(h)))
		case !grouped:
			words = append(words, fmt.Sprintf("%q %s", s.label(h), describe(h)))
		}
	}
	if refused := s.file.Refused(); len(refused) > 0 {
		words = append(words, s.unread(refused))
	}
	if len(words) == 0 {
		return "no array"
	}
	return strings.Join(words, ", ")
}

// unread says which arrays of a file cannot be read, and why the first cannot.
func (s *shard) unread(refused []arrayfile.Refused) string {
	first := refused[0]
	switch {
	case first.Name == "" && len(refused) == 1:
		return "nothing that can be read: " + first.Err.Error()
	case len(refused) == 1:
		return fmt.Sprintf("%q, which cannot be read: %v", first.Name, first.Err)
	}
	return fmt.Sprintf("%d that cannot be read, the first %q: %v", len(refused), first.Name, first.Err)
}

// alike finds, for the names of arrays of one type and shape that a number alone tells apart, all of them.
func alike(headers []arrayfile.Header) map[string]family {
	const few = 3 // are listed one by one
	out := map[string]family{}
	for _, f := range families(headers) {
		first := f.of[0]
		if len(f.of) <= few || slices.ContainsFunc(f.of, func(h arrayfile.Header) bool { return describe(h) != describe(first) }) {
			continue
		}
		for _, h := range f.of {
			out[h.Name] = f
		}
	}
	return out
}

// describe is type and shape, such as "F32 100×8".
func describe(h arrayfile.Header) string {
	if h.Text {
		return "words " + size(h.Shape)
	}
	return h.DType.String() + " " + size(h.Shape)
}

func size(shape []int) string {
	if len(shape) == 0 {
		return "single number"
	}
	words := make([]string, len(shape))
	for i, n := range shape {
		words[i] = fmt.Sprint(n)
	}
	return strings.Join(words, "×")
}

// mostLookedInto is how many arrays are read to learn how many values they have.
const mostLookedInto = 32

// repeating returns those of some arrays that can be labels by their values: more than one, and not a value of its own for each sample, as
// numbers of samples and names of files have. It returns none if they are too many to be looked into.
func (f *finder) repeating(s *shard, names []string) (out []string) {
	if len(names) > mostLookedInto {
		return nil
	}
	for _, name := range names {
		if different, all := f.distinct(s, name); different > 1 && different < all {
			out = append(out, name)
		}
	}
	return out
}

// distinct counts the different values of an array, and all; none if it holds no whole numbers or words, or cannot be read.
func (f *finder) distinct(s *shard, name string) (different, all int) {
	p, err := s.load(name)
	if err != nil {
		return 0, 0
	}
	room := f.lib.budget.Part(math.MaxInt64)
	defer room.Release()
	if room.Take(8*int64(p.Len())) != nil {
		return 0, 0
	}
	values, err := p.Int64s()
	if err != nil {
		return 0, 0
	}
	slices.Sort(values)
	return len(slices.Compact(values)), p.Len()
}
