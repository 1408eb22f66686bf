package arrayfile

import (
	"errors"
	"fmt"
	"strings"
)

// Pickle is a value of a pickle that holds only numpy arrays, numbers, text, lists, tuples and dicts.
type Pickle struct{ v any }

// ParsePickle reads a pickle of protocol 2 to 5. Nothing in it is executed, and it stays within NewFileBudget: any class or function
// other than those in numpy's own pickles is an error that names it. The value shares b's memory.
func ParsePickle(b []byte) (Pickle, error) {
	v, n, err := unpickle(b, numpyDialect{}, newAccount(nil, len(b)))
	switch {
	case err != nil:
		return Pickle{}, fmt.Errorf("arrayfile: %w", err)
	case n != len(b):
		return Pickle{}, fmt.Errorf("arrayfile: pickle: %d bytes follow its end", len(b)-n)
	}
	return Pickle{v}, nil
}

// pickleFile is an opened pickle.
type pickleFile struct {
	Pickle
	memory *mapping
}

// openPickle is ParsePickle for a file, which is mapped into memory until Close; its arrays are not copied. If the file changes
// meanwhile, the same holds as for Open.
func openPickle(path string) (*pickleFile, error) {
	m, err := mapped(path, "a pickle")
	if err != nil {
		return nil, err
	}
	f := &pickleFile{memory: m}
	err = m.parse(func() (err error) { f.Pickle, err = ParsePickle(m.memory); return })
	if err != nil {
		return nil, err
	}
	return f, nil
}

// PickleItem is an entry of a dict.
type PickleItem struct {
	Key   string // numbers in decimal
	Value Pickle
}

// Items lists a dict in its order. It is an error if the value is not a dict, or if a key is neither text nor an integer.
func (p Pickle) Items() ([]PickleItem, error) {
	d, ok := p.v.(*dict)
	if !ok {
		return nil, fmt.Errorf("arrayfile: pickle: %s where a dict belongs", kindOf(p.v))
	}
	items := make([]PickleItem, len(d.keys))
	for i, k := range d.keys {
		switch k := k.(type) {
		case string:
			items[i].Key = strings.Clone(k)
		case int64:
			items[i].Key = fmt.Sprint(k)
		default:
			return nil, fmt.Errorf("arrayfile: pickle: the key of a dict is %s and neither text nor a whole number", kindOf(k))
		}
		items[i].Value = Pickle{d.values[i]}
	}
	return items, nil
}

// Get returns the value of a key of a dict; if a key occurs twice, the last value, as in Python. The error lists the existing keys.
func (p Pickle) Get(key string) (Pickle, error) {
	items, err := p.Items()
	if err != nil {
		return Pickle{}, err
	}
	var keys []string
	for i := len(items) - 1; i >= 0; i-- {
		if items[i].Key == key {
			return items[i].Value, nil
		}
		keys = append(keys, items[i].Key)
	}
	return Pickle{}, fmt.Errorf("arrayfile: pickle: there is no %q; found %.300q", key, keys)
}

// Array returns an array, which shares the pickle's memory. It is an error if the value is not an array.
func (p Pickle) Array() (Array, error) {
	a, ok := p.v.(*numpyArray)
	if !ok {
		return Array{}, fmt.Errorf("arrayfile: pickle: %s where an array belongs", kindOf(p.v))
	}
	if !a.DType.valid() {
		return Array{}, errors.New("arrayfile: pickle: an array was begun and never completed")
	}
	return a.Array, nil
}

// Ints returns the integers of a list, a tuple or an array (row-major).
func (p Pickle) Ints() ([]int64, error) {
	v, err := integersOf(p.v)
	if err != nil {
		return nil, fmt.Errorf("arrayfile: pickle: %w", err)
	}
	return v, nil
}
