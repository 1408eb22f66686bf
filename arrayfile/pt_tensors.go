package arrayfile

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// eachChild visits the items of a container with their names.
func eachChild(v any, visit func(name string, child any) error) error {
	switch v := v.(type) {
	case *dict:
		for i, k := range v.keys {
			name := ""
			switch k := k.(type) {
			case string:
				name = k
			case int64:
				name = strconv.FormatInt(k, 10)
			default:
				return errors.New("a dict has a key that is neither text nor a number")
			}
			if err := visit(name, v.values[i]); err != nil {
				return err
			}
		}
	case *list:
		return eachChild(tuple(v.items), visit)
	case tuple:
		for i, child := range v {
			if err := visit(strconv.Itoa(i), child); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxName is the longest name of a tensor, including those of its containers.
const maxName = 1 << 12

// flatten lists the tensors of nested containers, with keys joined by dots, and lists of numbers as
// one-dimensional arrays. A lone tensor has the name "".
func flatten(root any, big bool, account *account, data stored) ([]entry, error) {
	f := flattener{big: big, account: account, data: data, seen: map[string]bool{}}
	if err := f.walk("", root, 0); err != nil {
		return nil, fmt.Errorf("arrayfile: pt: %w", err)
	}
	return f.entries, nil
}

type flattener struct {
	big     bool
	account *account
	data    stored
	entries []entry
	seen    map[string]bool
	visited int
}

func (f *flattener) walk(name string, v any, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("containers are nested more than %d deep", maxDepth)
	}
	if f.visited++; f.visited > maxStack {
		return fmt.Errorf("containers hold more than %d items in all", maxStack)
	}
	switch v := v.(type) {
	case tensor:
		return f.add(v.entry(name, f.big, f.account, f.data))
	case *list:
		return f.sequence(name, v.items, depth)
	case tuple:
		return f.sequence(name, v, depth)
	case *dict:
		return f.children(name, v, depth)
	}
	return nil
}

// sequence handles a list: of numbers, which is an array, or a container like others.
func (f *flattener) sequence(name string, items tuple, depth int) error {
	if a, ok := numbers(name, items); ok {
		f.visited += len(items)
		return f.add(loaded(a)[0])
	}
	return f.children(name, items, depth)
}

func (f *flattener) children(name string, v any, depth int) error {
	return eachChild(v, func(key string, child any) error {
		if depth > 0 {
			key = name + "." + key
		}
		if len(key) > maxName {
			return fmt.Errorf("the name %.40q… has %d bytes; at most %d are read", key, len(key), maxName)
		}
		return f.walk(key, child, depth+1)
	})
}

func (f *flattener) add(e entry) error {
	if f.seen[e.Name] {
		return fmt.Errorf("two tensors are called %.80q", e.Name)
	}
	if err := f.account.take(int64(len(e.Name)) + entryMemory); err != nil {
		return err
	}
	f.seen[e.Name] = true
	f.entries = append(f.entries, e)
	return nil
}

// numbers turns a list of numbers into an array.
func numbers(name string, items []any) (Array, bool) {
	ints, floats := make([]int64, 0, len(items)), make([]float64, 0, len(items))
	for _, x := range items {
		switch x := x.(type) {
		case int64:
			ints, floats = append(ints, x), append(floats, float64(x))
		case float64:
			floats = append(floats, x)
		default:
			return Array{}, false
		}
	}
	switch n := len(items); {
	case n == 0:
		return Array{}, false
	case len(ints) == n:
		return Of(name, []int{n}, ints), true
	default:
		return Of(name, []int{n}, floats), true
	}
}

// entry checks a tensor against its storage. Elements in row-major or column-major order stay in place; others are copied when
// loaded.
func (t tensor) entry(name string, big bool, account *account, data stored) entry {
	e := entry{Header: Header{Name: name, DType: t.dtype}}
	if !t.dtype.valid() {
		e.err = naturef("elements of %s are not read; convert to real numbers of at most 64 bits", t.class)
		return e
	}
	count, err := t.elementCount()
	if err != nil {
		return entry{Header: Header{Name: name}, err: err}
	}
	for _, n := range t.shape {
		e.Shape = append(e.Shape, int(n))
	}
	rows, columns := t.contiguous(false), t.contiguous(true)
	e.BigEndian, e.Fortran = big && t.dtype.Size() > 1, columns && !rows
	e.load = func() ([]byte, error) {
		b, err := data(t.storage)
		if err != nil {
			return nil, err
		}
		size := int64(t.dtype.Size())
		if t.count > int64(len(b))/size {
			return nil, fmt.Errorf("storage %q claims %d elements of %d bytes and has %d bytes", t.key, t.count, size, len(b))
		}
		switch {
		case count == 0:
			return nil, nil
		case rows || columns:
			return b[t.offset*size : (t.offset+count)*size], nil
		}
		if err := account.take(count * size); err != nil {
			return nil, err
		}
		return t.gather(b, count*size, size), nil
	}
	return e
}

// elementCount is the product of the shape; it is an error if the storage does not hold that many elements at the strides.
func (t tensor) elementCount() (int64, error) {
	last, count := t.offset, int64(1)
	for i, n := range t.shape {
		if n > 0 && count > math.MaxInt64/8/n || n > 1 && t.stride[i] > (math.MaxInt64-last)/(n-1) {
			last = math.MaxInt64 // too large for any storage
			break
		}
		count *= n
		last += max(n-1, 0) * t.stride[i]
	}
	switch {
	case last == math.MaxInt64, count > 0 && last >= t.count:
		return 0, fmt.Errorf("shape %v with strides %v from element %d does not fit a storage of %d elements", t.shape, t.stride, t.offset, t.count)
	case count > t.count:
		return 0, naturef("shape %v repeats the %d elements of its storage; save it with .clone()", t.shape, t.count)
	}
	return count, nil
}

// contiguous reports whether the elements have no gaps, with the last axis varying fastest or, for fortran, the first.
func (t tensor) contiguous(fortran bool) bool {
	want := int64(1)
	for i := range t.shape {
		axis := i
		if !fortran {
			axis = len(t.shape) - 1 - i
		}
		if t.shape[axis] != 1 && t.stride[axis] != want {
			return false
		}
		want *= t.shape[axis]
	}
	return true
}

// gather copies strided elements into row-major order.
func (t tensor) gather(b []byte, bytesOut, size int64) []byte {
	out := make([]byte, 0, bytesOut)
	index := make([]int64, len(t.shape))
	at := t.offset
	for int64(len(out)) < bytesOut {
		out = append(out, b[at*size:(at+1)*size]...)
		for axis := len(index) - 1; axis >= 0; axis-- {
			index[axis]++
			at += t.stride[axis]
			if index[axis] < t.shape[axis] {
				break
			}
			at -= index[axis] * t.stride[axis]
			index[axis] = 0
		}
	}
	return out
}
