package arrayfile

import (
	"bytes"
	"errors"
	"fmt"
)

// object handles what in Python would import, call or change an object: here names and tuples are
// looked at, and nothing else happens.
func (m *machine) object(op byte) error {
	switch op {
	case 'c', 0x93: // GLOBAL, STACK_GLOBAL
		g, err := m.globalName(op)
		if err != nil {
			return err
		}
		if _, ok := storageTypes[g]; !ok && g != rebuildTensor && g != rebuildParameter && g != orderedDict {
			return fmt.Errorf("%q is not read, since a pickle may run code through it: save tensors in lists and dicts only, such as a state_dict", string(g))
		}
		return m.push(g)
	case 'Q': // BINPERSID
		v, err := m.pop()
		if err != nil {
			return err
		}
		s, err := newStorage(v)
		if err != nil {
			return err
		}
		return m.push(s)
	case 'b': // BUILD: attributes of an OrderedDict, such as a state_dict's _metadata, which say nothing about tensors
		if _, err := m.pop(); err != nil {
			return err
		}
		if n := len(m.stack); n > 0 {
			if _, ok := m.stack[n-1].(*dict); ok {
				return nil
			}
		}
		return errors.New("attributes are set on a value that is no dict")
	}
	arguments, err := m.pop() // REDUCE
	if err != nil {
		return err
	}
	callee, err := m.pop()
	if err != nil {
		return err
	}
	args, ok := arguments.(tuple)
	if !ok {
		return errors.New("the arguments of a call are no tuple")
	}
	v, err := reduce(callee, args)
	if err != nil {
		return err
	}
	return m.push(v)
}

func (m *machine) globalName(op byte) (global, error) {
	if op == 'c' {
		module, err := m.line()
		if err != nil {
			return "", err
		}
		name, err := m.line()
		return global(module + " " + name), err
	}
	name, err := m.pop()
	if err != nil {
		return "", err
	}
	module, err := m.pop()
	if err != nil {
		return "", err
	}
	a, ok1 := module.(string)
	b, ok2 := name.(string)
	if !ok1 || !ok2 {
		return "", errors.New("the name of a global is no text")
	}
	return global(a + " " + b), nil
}

func (m *machine) line() (string, error) {
	n := bytes.IndexByte(m.b[m.at:], '\n')
	if n < 0 {
		return "", errors.New("a line does not end")
	}
	s := string(m.b[m.at : m.at+n])
	m.at += n + 1
	return s, nil
}

// reduce recognises the three calls of PyTorch's own files.
func reduce(callee any, args tuple) (any, error) {
	switch callee {
	case orderedDict:
		return newDict(args)
	case rebuildTensor:
		if len(args) != 6 && len(args) != 7 {
			return nil, fmt.Errorf("a tensor of %d arguments; want 6", len(args))
		}
		s, ok1 := args[0].(storage)
		offset, ok2 := args[1].(int64)
		shape, ok3 := integers64(args[2])
		stride, ok4 := integers64(args[3])
		if !ok1 || !ok2 || offset < 0 || !ok3 || !ok4 || len(shape) != len(stride) {
			return nil, errors.New("a tensor without storage, offset, shape and strides")
		}
		return tensor{s, offset, shape, stride}, nil
	case rebuildParameter:
		if len(args) == 3 {
			if t, ok := args[0].(tensor); ok {
				return t, nil
			}
		}
		return nil, errors.New("a parameter that is no tensor")
	}
	return nil, errors.New("something is called that is neither a tensor nor an OrderedDict")
}

// newDict is OrderedDict() or OrderedDict([(key, value), …]).
func newDict(args tuple) (*dict, error) {
	d := &dict{}
	if len(args) == 0 {
		return d, nil
	}
	pairs, ok := args[0].(*list)
	if !ok || len(args) > 1 {
		return nil, errors.New("an OrderedDict that is made of no list")
	}
	for _, p := range pairs.items {
		var kv []any
		switch p := p.(type) {
		case tuple:
			kv = p
		case *list:
			kv = p.items
		}
		if len(kv) != 2 {
			return nil, errors.New("an OrderedDict whose items are no pairs")
		}
		d.keys, d.values = append(d.keys, kv[0]), append(d.values, kv[1])
	}
	return d, nil
}

// newStorage reads ("storage", class, key, device, elements) and the view that older files add.
func newStorage(v any) (storage, error) {
	t, ok := v.(tuple)
	if !ok || len(t) < 5 || t[0] != "storage" {
		return storage{}, errors.New("a reference to something outside that is no storage of a tensor")
	}
	class, ok1 := t[1].(global)
	key, ok2 := t[2].(string)
	count, ok3 := t[4].(int64)
	kind, ok4 := storageTypes[class]
	if !ok1 || !ok2 || !ok3 || !ok4 || count < 0 {
		return storage{}, errors.New("a storage without class, key and number of elements")
	}
	if len(t) > 5 && t[5] != nil {
		return storage{}, errors.New("a storage that is a view of another, as very old versions wrote it; save it again with a newer one")
	}
	return storage{kind, string(class)[len("torch "):], key, count}, nil
}

func integers64(v any) ([]int64, bool) {
	t, ok := v.(tuple)
	if !ok || len(t) > maxAxes {
		return nil, false
	}
	out := make([]int64, len(t))
	for i, x := range t {
		if out[i], ok = x.(int64); !ok || out[i] < 0 {
			return nil, false
		}
	}
	return out, true
}
