package arrayfile

import (
	"errors"
	"fmt"
	"strings"
)

// Values in PyTorch's pickles, which describe tensors. The elements are outside.
type (
	// storage holds a tensor's elements.
	storage struct {
		elements
		class string // such as "FloatStorage"
		key   string
		count int64  // of elements
		data  []byte // nil: it lies elsewhere, and key says where
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
	rebuildTensor         global = "torch._utils _rebuild_tensor_v2"
	rebuildTensor3        global = "torch._utils _rebuild_tensor_v3"
	rebuildParameter      global = "torch._utils _rebuild_parameter"
	rebuildParameterState global = "torch._utils _rebuild_parameter_with_state"
	rebuildSubclass       global = "torch._tensor _rebuild_from_type_v2"
	torchSize             global = "torch Size"
	storageFromBytes      global = "torch.storage _load_from_bytes" // what pickle.dump makes of a storage
	orderedDict           global = "collections OrderedDict"
)

// torchTypes gives the elements of types that have no storage class of their own.
var torchTypes = map[global]elements{"torch uint16": {U16, 2}, "torch uint32": {U32, 4}, "torch uint64": {U64, 8}}

// storageTypes gives the elements of PyTorch's storage classes.
var storageTypes = map[global]elements{
	"torch FloatStorage": {F32, 4}, "torch DoubleStorage": {F64, 8}, "torch HalfStorage": {F16, 2}, "torch BFloat16Storage": {BF16, 2},
	"torch LongStorage": {I64, 8}, "torch IntStorage": {I32, 4}, "torch ShortStorage": {I16, 2}, "torch CharStorage": {I8, 1},
	"torch ByteStorage": {U8, 1}, "torch BoolStorage": {Bool, 1},
	"torch ComplexFloatStorage": {0, 8}, "torch ComplexDoubleStorage": {0, 16},
	"torch QInt8Storage": {0, 1}, "torch QUInt8Storage": {0, 1}, "torch QInt32Storage": {0, 4}, "torch.storage UntypedStorage": {0, 1},
}

// torchCall recognises the calls of PyTorch's own files.
func torchCall(callee global, args tuple) (any, error) {
	switch callee {
	case orderedDict:
		return newDict(args)
	case rebuildTensor, rebuildTensor3:
		return newTensor(callee, args)
	case rebuildParameter, rebuildParameterState:
		if len(args) >= 3 {
			return args[0], nil
		}
		return nil, errors.New("a parameter that is not a tensor")
	case rebuildSubclass: // what builds it, its class, the arguments
		if len(args) == 4 {
			of, ok1 := args[0].(global)
			inner, ok2 := args[2].(tuple)
			if ok1 && ok2 && of != rebuildSubclass {
				return torchCall(of, inner)
			}
		}
		return nil, errors.New("a tensor of a class of its own")
	case torchSize:
		if len(args) == 1 {
			if t, ok := args[0].(tuple); ok {
				return t, nil
			}
		}
		return plain, nil
	}
	return nil, errNotKnown
}

// newTensor is a storage, an offset, sizes and strides. Types that came later have a storage of bytes, and name the type of the elements
// as the seventh argument.
func newTensor(callee global, args tuple) (any, error) {
	if len(args) < 6 {
		return nil, fmt.Errorf("a tensor of %d arguments; want 6", len(args))
	}
	s, ok1 := args[0].(storage)
	offset, ok2 := args[1].(int64)
	shape, ok3 := integers64(args[2])
	stride, ok4 := integers64(args[3])
	if !ok1 || !ok2 || offset < 0 || !ok3 || !ok4 || len(shape) != len(stride) {
		return nil, errors.New("a tensor without storage, offset, shape and strides")
	}
	if callee == rebuildTensor3 && len(args) > 6 {
		g, _ := args[6].(global)
		s.elements, s.class = torchTypes[g], strings.Clone(string(g))
		if s.dtype.valid() {
			s.count /= int64(s.size)
		}
	}
	return tensor{s, offset, shape, stride}, nil
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
	_, name, _ := strings.Cut(string(class), " ")
	return storage{elements: kind, class: name, key: key, count: count}, nil
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
