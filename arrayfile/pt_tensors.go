package arrayfile

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unsafe"
)

// maxName is the longest name of a tensor, including those of its containers.
const maxName = 1 << 12

// flatten lists the tensors and arrays of nested containers, with keys joined by dots behind a prefix, and lists of numbers or of words
// as one-dimensional arrays. A lone tensor has the prefix as its name.
func flatten(prefix string, root any, big bool, account *account, data stored) ([]entry, error) {
	f := flattener{big: big, account: account, data: data, seen: map[string]bool{}}
	if err := f.walk(prefix, root, 0); err != nil {
		return nil, err
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
	case *numpyArray:
		return f.array(name, v, depth)
	case *foreign:
		if v == plain {
			return nil
		}
		return f.add(entry{Header: Header{Name: name}, err: v.reason()})
	case global:
		if strings.HasPrefix(string(v), "torch ") || strings.HasPrefix(string(v), "numpy ") {
			return nil // mostly the type of elements
		}
		return f.add(entry{Header: Header{Name: name}, err: (&foreign{g: v}).reason()})
	case *list:
		return f.sequence(name, v.items, depth)
	case tuple:
		return f.sequence(name, v, depth)
	case *dict:
		for i, k := range v.keys {
			if err := f.child(name, keyName(k, i), v.values[i], depth); err != nil {
				return err
			}
		}
	}
	return nil
}

// keyName is what the i-th key of a dict is called.
func keyName(k any, i int) string {
	switch k := k.(type) {
	case string:
		return k
	case int64:
		return strconv.FormatInt(k, 10)
	}
	return fmt.Sprintf("(%s, item %d)", kindOf(k), i)
}

// array handles an array of numpy: of numbers, of text, or of objects, which is a container like others.
func (f *flattener) array(name string, a *numpyArray, depth int) error {
	u := a.unread
	switch {
	case u == nil && !a.DType.valid():
		return f.add(entry{Header: Header{Name: name}, err: errors.New("an array was begun and never completed")})
	case u == nil:
		h := a.Header
		h.Name = name
		return f.add(loaded(Array{h, a.Data})[0])
	case u.text != nil:
		e, err := u.text.entry(int64(len(u.data)), f.account, func() ([]byte, error) { return unsafe.Slice(unsafe.StringData(u.data), len(u.data)), nil })
		if e.Name = name; err != nil {
			e = entry{Header: Header{Name: name}, err: err}
		}
		return f.add(e)
	case u.err != nil:
		return f.add(entry{Header: Header{Name: name}, err: natureError{u.err}})
	case len(u.shape) == 0: // one object
		return f.walk(name, u.items[0], depth+1)
	}
	if are, whole := areNumbers(u.items); are && len(u.shape) > 1 {
		f.visited += len(u.items)
		if err := f.account.take(8 * int64(len(u.items))); err != nil {
			return err
		}
		a := numbers(name, u.items, whole)
		a.Shape = u.shape
		return f.add(loaded(a)[0])
	}
	return f.sequence(name, u.items, depth)
}

// sequence handles a list: of numbers or words, which is an array, or a container like others.
func (f *flattener) sequence(name string, items tuple, depth int) error {
	if are, whole := areNumbers(items); are {
		f.visited += len(items)
		if err := f.account.take(8 * int64(len(items))); err != nil {
			return err
		}
		return f.add(loaded(numbers(name, items, whole))[0])
	}
	a, ok, err := words(name, items, f.account)
	if err != nil {
		return f.add(entry{Header: Header{Name: name}, err: err})
	}
	if ok {
		f.visited += len(items)
		return f.add(loaded(a)[0])
	}
	for i, child := range items {
		if err := f.child(name, strconv.Itoa(i), child, depth); err != nil {
			return err
		}
	}
	return f.fields(name, items, depth)
}

func (f *flattener) child(name, key string, v any, depth int) error {
	if name != "" {
		key = name + "." + key
	}
	if len(key) > maxName {
		return fmt.Errorf("the name %.40q… has %d bytes; at most %d are read", key, len(key), maxName)
	}
	return f.walk(key, v, depth+1)
}

func (f *flattener) add(e entry) error {
	if f.seen[e.Name] {
		return fmt.Errorf("two tensors are called %.80q", e.Name)
	}
	if err := f.account.take(int64(len(e.Name)) + entryMemory); err != nil {
		return err
	}
	e.Name = strings.Clone(e.Name) // outlives the file
	f.seen[e.Name] = true
	f.entries = append(f.entries, e)
	return nil
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
		b := t.data
		if b == nil {
			var err error
			if b, err = data(t.storage); err != nil {
				return nil, err
			}
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
