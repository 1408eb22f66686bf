package arrayfile

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// numpyDialect knows the arrays and scalars that numpy pickles, as versions 1 and 2 write them under Python 2 and 3.
type numpyDialect struct{}

// Values in such a pickle. The pointers are values that BUILD completes after others already refer to them.
type (
	numpyType  struct{ descr string } // such as "<f4"
	numpyArray struct {
		Array
		unread *unread // instead of the array's elements; nil: there are none, or they are read
	}
)

// Globals that may occur. Modules of numpy 2 begin with numpy._core; numpyGlobal strips the underscore.
const (
	numpyReconstruct global = "numpy.core.multiarray _reconstruct"
	numpyScalar      global = "numpy.core.multiarray scalar"
	numpyFromBuffer  global = "numpy.core.numeric _frombuffer"
	numpyNDArray     global = "numpy ndarray"
	numpyDType       global = "numpy dtype"
	codecsEncode     global = "_codecs encode" // bytes under Python 3, protocol 2
	py2Bytes         global = "__builtin__ bytes"
)

func numpyGlobal(g global) global {
	return global(strings.Replace(string(g), "numpy._core.", "numpy.core.", 1))
}

func (numpyDialect) known(g global) error {
	switch numpyGlobal(g) {
	case numpyReconstruct, numpyScalar, numpyFromBuffer, numpyNDArray, numpyDType, codecsEncode, py2Bytes:
		return nil
	}
	return fmt.Errorf("%q is not read, since a pickle may run code through it: only numpy arrays, numbers, text, lists, tuples and dicts are", string(g))
}

func (numpyDialect) outside(any) (any, error) {
	return nil, errors.New("a reference to something outside of the pickle")
}

func (numpyDialect) lenient() bool { return false }

func (numpyDialect) call(callee any, args tuple) (any, error) {
	g, ok := callee.(global)
	if !ok {
		return nil, errors.New("something is called that is not a known function")
	}
	switch numpyGlobal(g) {
	case numpyReconstruct:
		return &numpyArray{}, nil // numpy's arguments make an empty array; its state has the rest
	case numpyDType:
		if len(args) == 3 {
			if s, ok := args[0].(string); ok {
				return &numpyType{descr: strings.Clone(s)}, nil
			}
		}
		return nil, errors.New("an element type without a name")
	case numpyScalar:
		return newScalar(args)
	case numpyFromBuffer:
		if len(args) != 4 {
			return nil, fmt.Errorf("an array from a buffer with %d arguments; want 4", len(args))
		}
		return newArray(args[2], args[1], args[3] == "F", args[0])
	case codecsEncode:
		return encodeLatin1(args)
	case py2Bytes:
		if len(args) == 0 {
			return "", nil
		}
	}
	return nil, fmt.Errorf("%q is called in a way that is not read", string(g))
}

// state is (version, shape, type, Fortran order, bytes) for an array, and (version, byte order, …) for an element type, whose
// further items are names and sizes of fields: those types are refused by name.
func (numpyDialect) state(of, state any) error {
	s, ok := state.(tuple)
	if !ok {
		return errors.New("a state that is not a tuple")
	}
	switch of := of.(type) {
	case *numpyType:
		if len(s) < 2 {
			return errors.New("an element type without byte order")
		}
		order, ok := s[1].(string)
		if !ok || len(order) != 1 || !strings.Contains("<>|=", order) {
			return errors.New("an element type without byte order")
		}
		of.descr = order + strings.TrimLeft(of.descr, "<>|=")
		return nil
	case *numpyArray:
		if len(s) != 5 {
			return fmt.Errorf("the state of an array has %d items; want 5", len(s))
		}
		a, err := newArray(s[1], s[2], s[3] == true, s[4])
		if err == nil {
			*of = *a
		}
		return err
	}
	return errors.New("a state is set on a value that is neither an array nor an element type")
}

// newArray checks the parts of an array.
func newArray(shape, element any, fortran bool, data any) (*numpyArray, error) {
	t, ok1 := element.(*numpyType)
	sizes, ok2 := integers64(shape)
	text, ok3 := data.(string)
	if !ok1 || !ok2 || !ok3 {
		return nil, errors.New("an array without shape, element type and bytes, such as one of objects, is not read")
	}
	a := &numpyArray{}
	var err error
	if a.DType, a.BigEndian, err = npyType(t.descr); err != nil {
		return nil, err
	}
	for _, n := range sizes {
		a.Shape = append(a.Shape, int(n))
	}
	a.Fortran = fortran
	n, ok := product(a.Shape, math.MaxInt/a.DType.Size())
	if !ok || n*a.DType.Size() != len(text) {
		return nil, fmt.Errorf("an array of shape %v of %s has %d bytes", a.Shape, a.DType, len(text))
	}
	a.Data = unsafe.Slice(unsafe.StringData(text), len(text))
	return a, nil
}

// newScalar is a numpy scalar: (type, bytes).
func newScalar(args tuple) (any, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("a scalar with %d arguments; want 2", len(args))
	}
	a, err := newArray(tuple{}, args[0], false, args[1])
	if t, ok := args[0].(*numpyType); ok && err != nil {
		if text := (*textError)(nil); errors.As(textType(Header{}, t.descr, err), &text) {
			return text.scalar(args[1])
		}
	}
	if err != nil {
		return nil, err
	}
	if a.DType.IsFloat() {
		v, err := a.Float64s()
		if err != nil {
			return nil, err
		}
		return v[0], nil
	}
	v, err := a.Int64s()
	if err != nil {
		return nil, err
	}
	return v[0], nil
}

// encodeLatin1 turns text into bytes, one per character.
func encodeLatin1(args tuple) (any, error) {
	if len(args) != 2 || args[1] != "latin1" {
		return nil, errors.New("text is encoded other than as latin1")
	}
	text, ok := args[0].(string)
	if !ok {
		return nil, errors.New("something is encoded that is not text")
	}
	out := make([]byte, 0, utf8.RuneCountInString(text))
	for _, r := range text {
		if r > 0xff {
			return nil, fmt.Errorf("character %U does not fit a byte", r)
		}
		out = append(out, byte(r))
	}
	return unsafe.String(unsafe.SliceData(out), len(out)), nil
}

// integersOf lists the integers of a list, a tuple or an array.
func integersOf(v any) ([]int64, error) {
	var items []any
	switch v := v.(type) {
	case *numpyArray:
		return v.Int64s() // an error if the array was never completed
	case *list:
		items = v.items
	case tuple:
		items = v
	default:
		return nil, fmt.Errorf("%s where a list of whole numbers belongs", kindOf(v))
	}
	out := make([]int64, len(items))
	for i, x := range items {
		n, ok := x.(int64)
		if !ok {
			return nil, fmt.Errorf("item %d is %s, not a whole number", i, kindOf(x))
		}
		out[i] = n
	}
	return out, nil
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case *numpyArray:
		return "an array"
	case *list, tuple:
		return "a list"
	case *dict:
		return "a dict"
	case string:
		return "text"
	case int64, long, float64, bool:
		return "a number"
	}
	return "a name"
}
