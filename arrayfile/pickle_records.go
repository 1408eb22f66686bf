package arrayfile

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// sameKey compares keys of text and whole numbers; others, such as tuples, are never the same.
func sameKey(a, b any) bool {
	switch a.(type) {
	case string, int64:
		return a == b
	}
	return false
}

// mostFields is how many values a record has at most whose numbers and words are read as columns.
const mostFields = 64

// fields makes columns of the numbers and words that all items of a list hold at one key: [{"features": tensor, "label": 3}, …] has a column
// "label". The same holds for pairs, whose keys are their places.
func (f *flattener) fields(name string, items tuple, depth int) error {
	record := func(v any) (keys, values []any) {
		switch v := v.(type) {
		case *dict:
			return v.keys, v.values
		case tuple:
			return nil, v
		}
		return nil, nil
	}
	if len(items) < 2 {
		return nil
	}
	keys, values := record(items[0])
	if len(values) > mostFields {
		return nil
	}
	for k, first := range values {
		if kind := kindOf(first); kind != "a number" && kind != "text" {
			continue
		}
		column := make(tuple, 0, len(items))
		for _, item := range items {
			own, of := record(item)
			if k >= len(of) || len(own) != len(keys) || keys != nil && !sameKey(own[k], keys[k]) || kindOf(of[k]) != kindOf(first) {
				break
			}
			column = append(column, of[k])
		}
		key := strconv.Itoa(k)
		if keys != nil {
			key = keyName(keys[k], k)
		}
		if err := f.account.take(itemMemory * int64(len(column))); err != nil {
			return err
		}
		if len(column) < len(items) {
			continue
		}
		if err := f.child(name, key, column, depth); err != nil {
			return err
		}
	}
	return nil
}

// areNumbers reports whether a list has numbers alone, and whether they are integers.
func areNumbers(items []any) (numbers, whole bool) {
	whole = true
	for _, x := range items {
		switch x.(type) {
		case int64, bool:
		case float64:
			whole = false
		default:
			return false, false
		}
	}
	return len(items) > 0, whole
}

// numbers turns a list of numbers into an array; true is 1.
func numbers(name string, items []any, whole bool) Array {
	ints, floats := []int64(nil), []float64(nil)
	if whole {
		ints = make([]int64, len(items))
	} else {
		floats = make([]float64, len(items))
	}
	for i, x := range items {
		n, isFloat := int64(0), false
		switch x := x.(type) {
		case int64:
			n = x
		case bool:
			n = map[bool]int64{true: 1}[x]
		case float64:
			floats[i], isFloat = x, true
		}
		switch {
		case whole:
			ints[i] = n
		case !isFloat:
			floats[i] = float64(n)
		}
	}
	if whole {
		return Of(name, []int{len(ints)}, ints)
	}
	return Of(name, []int{len(floats)}, floats)
}

// words turns a list of words into a column of categories.
func words(name string, items []any, account *account) (Array, bool, error) {
	notWord := func(x any) bool { word, ok := x.(string); return !ok || !utf8.ValidString(word) }
	if len(items) == 0 || slices.ContainsFunc(items, notWord) {
		return Array{}, false, nil
	}
	if err := account.take(8 * int64(len(items))); err != nil {
		return Array{}, false, err
	}
	codes, seen := make([]int64, 0, len(items)), map[string]int64{}
	h := Header{Name: name, DType: I64, Shape: []int{len(items)}}
	for _, x := range items {
		word := x.(string)
		code, known := seen[word]
		if !known {
			if err := account.take(int64(len(word)) + wordMemory); err != nil {
				return Array{}, false, err
			}
			word, code = strings.Clone(word), int64(len(seen))
			seen[word] = code
			h.Categories = append(h.Categories, word)
		}
		codes = append(codes, code)
	}
	a := Of(name, h.Shape, codes)
	a.Categories = h.Categories
	return a, true, nil
}
