package featurefiles

import (
	"fmt"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"collapse.example/collapse/arrayfile"
)

// Arrays without a usual name: what a user named (also columns of a table), batches in a list, and what alone has the shape of a role.

// keyed returns the arrays that a user named. A pattern, or several with commas, names columns of a table.
func (f *finder) keyed(s *shard, r Role, key string) (choice, error) {
	headers := s.file.Headers()
	if i := slices.IndexFunc(headers, func(h arrayfile.Header) bool { return s.label(h) == key }); i >= 0 {
		return choice{names: []string{headers[i].Name}}, nil
	}
	if c := s.batches(r, false, func(name string) bool { return name == key }); c.names != nil {
		return c, nil
	}
	if err := s.refusedKey(r, key); err != nil || r != Features || !strings.ContainsAny(key, "*?[,") {
		return choice{}, err
	}
	c := choice{title: key, columns: true}
	for _, pattern := range strings.Split(key, ",") {
		var some []string
		for _, h := range headers {
			ok, err := path.Match(pattern, h.Name)
			if err != nil {
				return choice{}, misnamed("%s %q: %w", r.keyFlag(), key, err)
			}
			if ok && column(h) && !otherRole(r, h.Name) && !slices.Contains(c.names, h.Name) {
				some = append(some, h.Name)
			}
		}
		slices.SortFunc(some, natural)
		c.names = append(c.names, some...)
	}
	return c, nil
}

// column reports whether an array can be a column of features.
func column(h arrayfile.Header) bool { return len(h.Shape) == 1 && !h.Text }

// otherRole reports whether a name says that an array has another role.
func otherRole(r Role, name string) bool {
	for other := range roleCount {
		if other != r && other.recognises(name, false) {
			return true
		}
	}
	return false
}

// family is arrays whose names differ in the number at their end.
type family struct {
	prefix string
	of     []arrayfile.Header // by number
}

// families groups arrays; those of one member are left out.
func families(headers []arrayfile.Header) (out []family) {
	at := map[string]int{}
	for _, h := range headers {
		prefix := strings.TrimRight(h.Name, "0123456789")
		if prefix == h.Name {
			continue
		}
		if _, known := at[prefix]; !known {
			at[prefix] = len(out)
			out = append(out, family{prefix: prefix})
		}
		out[at[prefix]].of = append(out[at[prefix]].of, h)
	}
	for _, f := range out {
		sort.Slice(f.of, func(i, j int) bool { a, b := &f.of[i], &f.of[j]; return natural(a.Name, b.Name) < 0 })
	}
	return slices.DeleteFunc(out, func(f family) bool { return len(f.of) < 2 })
}

// title is what a family is called.
func (f family) title() string { return f.of[0].Name + " … " + f.of[len(f.of)-1].Name }

func (f family) names() (names []string) {
	for _, h := range f.of {
		names = append(names, h.Name)
	}
	return names
}

// batches returns the items of a list that has a name of the role, which are numbered from 0: rows below each other. If the role's own flag
// names the file, the list may be all there is.
func (s *shard) batches(r Role, mine bool, named func(string) bool) choice {
	if r != Features && r != Labels && r != TestFeatures && r != TestLabels {
		return choice{}
	}
	axes := 2
	if r == Labels || r == TestLabels {
		axes = 1
	}
	headers := s.file.Headers()
	list := func(f family) bool {
		for i, h := range f.of {
			if h.Name != f.prefix+strconv.Itoa(i) || len(h.Shape) != axes && len(h.Shape) != axes-1 || len(h.Shape) != len(f.of[0].Shape) {
				return false
			}
		}
		return true
	}
	if mine && len(headers) == 1 {
		return choice{}
	}
	var hits []family
	for _, f := range families(headers) {
		name, dotted := strings.CutSuffix(f.prefix, ".")
		if (dotted && named(name) || mine && f.prefix == "" && len(f.of) == len(headers)) && list(f) {
			hits = append(hits, f)
		}
	}
	if len(hits) != 1 {
		return choice{}
	}
	return choice{names: hits[0].names(), title: strings.TrimSuffix(hits[0].prefix, ".")}
}

// fitting returns the only array of a file whose shape is that of the role and whose name says nothing else, and notes it.
func (f *finder) fitting(s *shard, r Role, mine bool) choice {
	var fits func(arrayfile.Header) bool
	switch {
	case r == Features && f.req.Layers != "" && len(f.common) > 1 && s.bare():
		return choice{} // each of several .npy is a layer
	case r == Features:
		fits = func(h arrayfile.Header) bool { return axes(h) == 2 && !h.Text && h.Len() > 0 }
	case r == Labels:
		fits = func(h arrayfile.Header) bool { return axes(h) == 1 && f.labelsOf(s, h, mine) }
	case r == Weights && mine:
		fits = func(h arrayfile.Header) bool { return axes(h) == 2 && h.DType.IsFloat() }
	case r == Bias && (mine || slices.Contains(f.own[Weights], s)):
		fits = func(h arrayfile.Header) bool { return axes(h) == 1 && h.DType.IsFloat() }
	default:
		return choice{}
	}
	hits := f.hits(s, false, func(h arrayfile.Header) bool { return fits(h) && !otherRole(r, s.label(h)) })
	why := "the only array of that shape"
	if r == Labels && len(hits) > 1 { // whole numbers or words rather than other numbers
		hits = f.hits(s, false, func(h arrayfile.Header) bool {
			return fits(h) && !otherRole(r, s.label(h)) && !h.DType.IsFloat()
		})
		if len(hits) > 1 {
			hits, why = f.repeating(s, hits), "the only array of that shape whose values repeat"
		}
	}
	if len(hits) == 1 {
		f.note(s, r, fmt.Sprintf("%q", s.label(arrayfile.Header{Name: hits[0]})), why)
		return choice{names: hits}
	}
	if c := onlyOne(s.records(), func(of family) bool { return fitsBatches(of, r) }); c.names != nil && (r == Features || r == Labels) {
		f.note(s, r, c.title, "what the batches of a list hold")
		return c
	}
	if r == Features && len(hits) == 0 {
		return f.numbered(s)
	}
	return choice{}
}

// numbered returns the columns of a table that are numbered, if there is one such group of them.
func (f *finder) numbered(s *shard) choice {
	headers := slices.DeleteFunc(s.file.Headers(), func(h arrayfile.Header) bool { return !column(h) || otherRole(Features, h.Name) })
	groups := families(headers)
	if len(groups) != 1 {
		return choice{}
	}
	f.note(s, Features, groups[0].title(), fmt.Sprintf("%d numbered columns", len(groups[0].of)))
	return choice{names: groups[0].names(), title: groups[0].title(), columns: true}
}

func (f *finder) note(s *shard, r Role, what, why string) {
	f.notes = append(f.notes, fmt.Sprintf("%s: %s is taken as the %s, %s; another one is named with %s", s.path, what, r, why, r.keyFlag()))
}

// axes counts those that are not 1, at least one: a row or a column of numbers has one axis.
func axes(h arrayfile.Header) int {
	n := 0
	for _, size := range h.Shape {
		if size != 1 {
			n++
		}
	}
	if n == 0 {
		return min(1, len(h.Shape))
	}
	return n
}

// labelsOf reports whether an array has as many elements as the features in the same file have rows, or, stored the other way, columns. In a
// file of labels alone there are none.
func (f *finder) labelsOf(s *shard, h arrayfile.Header, alone bool) bool {
	n, known := h.Len(), false
	for _, of := range s.file.Headers() {
		if !f.taken[[2]string{s.path, of.Name}] || axes(of) > 2 || len(of.Shape) == 0 {
			continue
		}
		if known = true; of.Shape[0] == n || len(of.Shape) == 2 && of.Shape[1] == n {
			return true
		}
	}
	return alone && !known
}

// chosen loads the arrays of a choice.
func (f *finder) chosen(s *shard, r Role, c choice) (parts []part, err error) {
	for _, name := range c.names {
		p, err := s.load(name)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	if c.title == "" {
		return parts, nil
	}
	if c.columns {
		p, err := f.joined(parts, c.title)
		return []part{p}, err
	}
	for i := range parts {
		p := &parts[i]
		p.list = c.title
		if short := len(p.Shape) == 0 || r == Features && len(p.Shape) == 1 || r == TestFeatures && len(p.Shape) == 1; short { // a single sample
			p.Shape = append([]int{1}, p.Shape...)
		}
	}
	return parts, nil
}

// joined puts columns beside each other, in their own type if it is one and in float64 otherwise.
func (f *finder) joined(columns []part, title string) (part, error) {
	first := columns[0]
	n, size, as64 := first.Len(), first.DType.Size(), false
	for _, c := range columns {
		if c.Len() != n {
			return part{}, fmt.Errorf("%s: the column %q has %d values, and %q has %d; want columns of one table", c.path, first.name, n, c.name, c.Len())
		}
		as64 = as64 || c.DType != first.DType
	}
	if as64 {
		size = 8
	}
	if err := f.lib.budget.Take(int64(n) * int64(size) * int64(len(columns))); err != nil {
		return part{}, fmt.Errorf("%s: %d columns of %d values: %w", first.path, len(columns), n, err)
	}
	out := part{path: first.path, name: title, label: title}
	out.Header = arrayfile.Header{Name: title, DType: first.DType, Shape: []int{n, len(columns)}, Fortran: true}
	out.Data = make([]byte, 0, n*size*len(columns))
	for _, c := range columns {
		a := c.Array.Canonical()
		if as64 {
			values, err := a.Float64s()
			if err != nil {
				return part{}, fmt.Errorf("%s: %w", c.where(), err)
			}
			a = arrayfile.Of("", []int{n}, values).Canonical()
			out.DType = arrayfile.F64
		}
		out.Data = append(out.Data, a.Data...)
	}
	return out, nil
}
