package featurefiles

import (
	"fmt"
	"slices"
	"strings"

	"collapse.example/collapse/arrayfile"
)

// What to do where a file holds no array for a role, by what it does hold.

// unknown says that a file holds no array for a role.
func (f *finder) unknown(s *shard, r Role) error {
	if refused := s.file.Refused(); len(s.file.Headers()) == 0 && len(refused) == 1 {
		return misnamed("%s has no %s; it has %s", s.path, r, s.unread(refused))
	}
	hint := ""
	if r.HasKeyFlag() {
		hint = "; say which with " + r.keyFlag() + " NAME"
	}
	switch r {
	case Features:
		hint = f.featuresHint(s, hint)
	case Labels:
		hint = f.labelsHint(s, hint)
	case Weights:
		hint += f.weightsHint([]*shard{s})
	}
	return misnamed("%s: no array is named as %s usually are (%s); it has %s%s",
		s.path, r, strings.Join(roles[r].usual[:min(4, len(roles[r].usual))], ", "), s.contents(), hint)
}

// featuresHint says how several layers of one file are measured, what classes in a dict become, and that weights are no features.
func (f *finder) featuresHint(s *shard, hint string) string {
	headers := s.file.Headers()
	if isModel(headers) {
		return "; this is a model, and features are what its last layer but one gives for each sample: collect them first, for instance with collapse.Tap in Python"
	}
	if perClass(headers) {
		return `; if each array is one class, in Python: numpy.savez("x.npz", features=numpy.concatenate(list(d.values())), labels=numpy.repeat(list(d), [len(h) for h in d.values()]))`
	}
	if samples(headers) {
		return `; if each array is one sample, in Python: numpy.savez("x.npz", features=numpy.stack(hs), labels=ys), with the arrays in hs and the labels in ys`
	}
	if of, pattern := layers(headers); of != "" {
		hint += fmt.Sprintf("; %s are measured one by one with --layers '%s'", of, pattern)
	}
	return hint
}

// labelsHint says what to do where nothing can be the labels.
func (f *finder) labelsHint(s *shard, hint string) string {
	headers := s.file.Headers()
	if slices.ContainsFunc(headers, func(h arrayfile.Header) bool {
		return axes(h) == 1 && !f.taken[[2]string{s.path, h.Name}] && !otherRole(Labels, s.label(h))
	}) {
		return hint
	}
	files := f.common
	if len(f.own[Features]) > 0 {
		files = f.own[Features]
	}
	if len(headers) == 1 && len(files) == 1 && s.lastColumn(headers[0]) {
		return `; if its last column holds them, in Python: numpy.savez("x.npz", features=A[:, :-1], labels=A[:, -1])`
	}
	return "; give them with --labels FILE" + f.perClass(Labels, files)
}

// perClass says what to do with several files of features and none of labels.
func (f *finder) perClass(r Role, files []*shard) string {
	if r != Labels || len(files) < 2 {
		return ""
	}
	for _, s := range files {
		if !slices.ContainsFunc(s.file.Headers(), func(h arrayfile.Header) bool { return len(h.Shape) == 2 }) {
			return ""
		}
	}
	return `; if each file is one class, in Python: numpy.savez("x.npz", features=numpy.concatenate(hs), labels=numpy.repeat(range(len(hs)), [len(h) for h in hs])), with their arrays in hs`
}

// isModel reports whether arrays are the parameters of a model and what an optimiser keeps of them: each weight or kernel has its name.
func isModel(headers []arrayfile.Header) bool {
	weights := 0
	for _, h := range headers {
		switch last := h.Name[strings.LastIndexAny(h.Name, "./")+1:]; {
		case last == "weight" || last == "kernel" || strings.Contains(h.Name, ".vars."):
			weights++
		case axes(h) > 1 && last != "running_mean" && !strings.Contains(h.Name, "optimizer"):
			return false
		}
	}
	return weights > 1
}

// perClass reports whether a file holds matrices of equal width and different heights alone.
func perClass(headers []arrayfile.Header) bool {
	if len(headers) < 2 {
		return false
	}
	heights := map[int]bool{}
	for _, h := range headers {
		if len(h.Shape) != 2 || h.Shape[1] != headers[0].Shape[1] || !h.DType.IsFloat() {
			return false
		}
		heights[h.Shape[0]] = true
	}
	return len(heights) > 1
}

// samples reports whether a file holds many vectors of one length alone.
func samples(headers []arrayfile.Header) bool {
	const many = 20
	return len(headers) > many && len(headers[0].Shape) == 1 && headers[0].DType.IsFloat() && !slices.ContainsFunc(headers, func(h arrayfile.Header) bool {
		return describe(h) != describe(headers[0])
	})
}

// layers finds matrices of equally many rows whose names differ in the number at their end, or lie in one group, and the pattern that
// matches them alone.
func layers(headers []arrayfile.Header) (of, pattern string) {
	const many = 1000 // arrays are no layers
	groups := families(headers)
	if len(headers) > many {
		headers = nil
	}
	for _, h := range headers {
		group, _, dotted := cutLast(h.Name)
		if i := slices.IndexFunc(groups, func(f family) bool { return f.prefix == group+"." }); dotted && i < 0 {
			in := slices.DeleteFunc(slices.Clone(headers), func(h arrayfile.Header) bool { return !strings.HasPrefix(h.Name, group+".") })
			groups = append([]family{{prefix: group + ".", of: in}}, groups...)
		}
	}
	for _, f := range groups {
		if len(f.of) > 1 && !slices.ContainsFunc(f.of, func(h arrayfile.Header) bool {
			return axes(h) != 2 || !h.DType.IsFloat() || h.Shape[0] != f.of[0].Shape[0]
		}) {
			return f.title(), f.prefix + "*"
		}
	}
	return "", ""
}

// cutLast cuts a name at its last dot.
func cutLast(name string) (before, after string, found bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return name, "", false
	}
	return name[:i], name[i+1:], true
}

// lastColumn reports whether the last column of a matrix can be labels: whole numbers that repeat, in its first rows.
func (s *shard) lastColumn(h arrayfile.Header) bool {
	const looked = 1000
	if len(h.Shape) != 2 || h.Shape[1] < 2 || !h.DType.IsFloat() {
		return false
	}
	p, err := s.load(h.Name)
	if err != nil {
		return false
	}
	n, value, seen := min(looked, h.Shape[0]), []int64{0}, map[int64]bool{}
	for i := range n {
		if arrayfile.Convert(p.Array, (i+1)*h.Shape[1]-1, value) != nil {
			return false
		}
		seen[value[0]] = true
	}
	return len(seen) > 1 && len(seen) < n
}

// weightsHint names the arrays of files that can be the classifier's weight by their shape: with a row for each label, if there are such.
func (f *finder) weightsHint(files []*shard) string {
	var fit, rows []string
	classes := -1
	if f.labels != nil {
		classes = len(distinctValues([]*labelled{f.labels}))
	}
	for _, s := range files {
		for _, h := range s.file.Headers() {
			if len(h.Shape) != 2 || !h.DType.IsFloat() || f.taken[[2]string{s.path, h.Name}] {
				continue
			}
			name, k := fmt.Sprintf("%q", s.label(h)), h.Shape[0]
			switch f.width {
			case h.Shape[1]:
			case h.Shape[0]:
				name, k = name+" with --transpose-weights", h.Shape[1]
			default:
				continue
			}
			if fit = append(fit, name); k == classes {
				rows = append(rows, name)
			}
		}
	}
	if len(rows) > 0 {
		fit = rows
	}
	if len(fit) == 0 {
		return ""
	}
	return fmt.Sprintf(" (of features %d wide: %s)", f.width, shorten(fit))
}

// unused returns the files given for everything of which nothing was taken.
func (f *finder) unused() []*shard {
	return slices.DeleteFunc(slices.Clone(f.common), func(s *shard) bool {
		return slices.ContainsFunc(s.file.Headers(), func(h arrayfile.Header) bool { return f.taken[[2]string{s.path, h.Name}] })
	})
}

// withoutClassifier notes files of which nothing was taken and that seem to hold a classifier.
func (f *finder) withoutClassifier() {
	for _, s := range f.unused() {
		if hint := f.weightsHint([]*shard{s}); hint != "" {
			f.notes = append(f.notes, fmt.Sprintf("%s: no classifier is taken, since no array is named as its weight usually is; say which with --weights-key NAME%s", s.path, hint))
		}
	}
}
