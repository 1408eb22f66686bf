package arrayfile

import (
	"errors"
	"fmt"
)

// torchDialect knows the tensors of PyTorch's files, whose elements are outside the pickle.
type torchDialect struct{}

// Values in such a pickle.
type (
	// storage holds a tensor's elements.
	storage struct {
		elements
		class string // such as "FloatStorage"
		key   string
		count int64 // of elements
	}
	elements struct {
		dtype DType // 0: a type that cannot be read
		size  int   // bytes of one
	}
	tensor struct {
		storage
		offset        int64
		shape, stride []int64
	}
)

// Globals that may occur; storage classes are those of storageTypes.
const (
	rebuildTensor    global = "torch._utils _rebuild_tensor_v2"
	rebuildParameter global = "torch._utils _rebuild_parameter"
	orderedDict      global = "collections OrderedDict"
)

// storageTypes gives the elements of PyTorch's storage classes.
var storageTypes = map[global]elements{
	"torch FloatStorage": {F32, 4}, "torch DoubleStorage": {F64, 8}, "torch HalfStorage": {F16, 2}, "torch BFloat16Storage": {BF16, 2},
	"torch LongStorage": {I64, 8}, "torch IntStorage": {I32, 4}, "torch ShortStorage": {I16, 2}, "torch CharStorage": {I8, 1},
	"torch ByteStorage": {U8, 1}, "torch BoolStorage": {Bool, 1},
	"torch ComplexFloatStorage": {0, 8}, "torch ComplexDoubleStorage": {0, 16},
	"torch QInt8Storage": {0, 1}, "torch QUInt8Storage": {0, 1}, "torch QInt32Storage": {0, 4},
}

func (torchDialect) known(g global) error {
	if _, ok := storageTypes[g]; !ok && g != rebuildTensor && g != rebuildParameter && g != orderedDict {
		return fmt.Errorf("%q is not read, since a pickle may run code through it: save tensors in lists and dicts only, such as a state_dict", string(g))
	}
	return nil
}

// state drops attributes of an OrderedDict, such as a state_dict's _metadata, which say nothing about tensors.
func (torchDialect) state(of, _ any) error {
	if _, ok := of.(*dict); ok {
		return nil
	}
	return errors.New("attributes are set on a value that is not a dict")
}

func (torchDialect) outside(reference any) (any, error) { return newStorage(reference) }

func (torchDialect) string(b []byte) string { return string(b) }

func (torchDialect) copies() bool { return true }

// call recognises the three calls of PyTorch's own files.
func (torchDialect) call(callee any, args tuple) (any, error) {
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
		return nil, errors.New("a parameter that is not a tensor")
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
		return nil, errors.New("an OrderedDict that is not made from a list")
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
			return nil, errors.New("an OrderedDict whose items are not pairs")
		}
		d.keys, d.values = append(d.keys, kv[0]), append(d.values, kv[1])
	}
	return d, nil
}

// newStorage reads ("storage", class, key, device, elements) and the view that older files add.
func newStorage(v any) (storage, error) {
	t, ok := v.(tuple)
	if !ok || len(t) < 5 || t[0] != "storage" {
		return storage{}, errors.New("a reference to something outside that is not the storage of a tensor")
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
