package featurefiles

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"collapse.example/collapse/arrayfile"
)

// records returns what a list of batches holds, [(features, labels), …] or [{"features": …, "labels": …}, …], if that is all there is in a
// file: for each name that all batches have, its arrays in their order.
func (s *shard) records() (out []family) {
	at, batches := map[string]int{}, 0
	var columns []arrayfile.Header // of numbers or words that each batch has one of
	headers := slices.Clone(s.file.Headers())
	sort.Slice(headers, func(i, j int) bool { a, b := &headers[i], &headers[j]; return natural(a.Name, b.Name) < 0 })
	for _, h := range headers {
		batch, name, dotted := strings.Cut(h.Name, ".")
		i, err := strconv.Atoi(batch)
		if !dotted && len(h.Shape) == 1 {
			columns = append(columns, h)
			continue
		}
		if !dotted || err != nil || i > batches {
			return nil
		}
		batches = max(batches, i+1)
		if _, known := at[name]; !known {
			at[name] = len(out)
			out = append(out, family{prefix: name})
		}
		f := &out[at[name]]
		f.of = append(f.of, h)
		if len(h.Shape) != len(f.of[0].Shape) {
			return nil
		}
	}
	if slices.ContainsFunc(out, func(f family) bool { return len(f.of) != batches }) || slices.ContainsFunc(columns, func(h arrayfile.Header) bool { return h.Len() != batches }) {
		return nil
	}
	for _, h := range columns {
		out = append(out, family{prefix: h.Name, of: []arrayfile.Header{h}})
	}
	return out
}

// inRecords returns the arrays of a list of batches that have a name of the role, rows below each other.
func (s *shard) inRecords(r Role, named func(string) bool) choice {
	return onlyOne(s.records(), func(f family) bool { return fitsBatches(f, r) && named(f.prefix) })
}

// onlyOne returns the one family that a condition leaves.
func onlyOne(all []family, is func(family) bool) choice {
	all = slices.DeleteFunc(all, func(f family) bool { return !is(f) })
	if len(all) != 1 {
		return choice{}
	}
	return choice{names: all[0].names(), title: all[0].title()}
}

// fitsBatches reports whether arrays can be features or labels of batches, or of single samples.
func fitsBatches(f family, r Role) bool {
	h := f.of[0]
	switch r {
	case Features, TestFeatures:
		return (len(h.Shape) == 2 || len(h.Shape) == 1) && h.DType.IsFloat()
	case Labels, TestLabels:
		return len(h.Shape) <= 1 && (h.Text || !h.DType.IsFloat())
	}
	return false
}
