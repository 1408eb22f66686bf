package arrayfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// arraysDialect knows the tensors of PyTorch and the arrays of numpy, in one file or beside each other, and what usually lies beside
// them. Anything else becomes a value that says so, and hides nothing but itself.
type arraysDialect struct {
	storages map[string]int // bytes of an element of each storage that is referred to
	account  *account
	within   bool // a file within a pickle, which holds no further ones
}

func newArraysDialect(account *account) *arraysDialect {
	return &arraysDialect{storages: map[string]int{}, account: account}
}

// foreign is a value that is not read.
type foreign struct {
	g   global // its class or function
	err error  // what is wrong with it; nil: nothing is known of it
}

// plain stands for values that are no arrays and of which nothing is missed: a device, a type, a set.
var plain = &foreign{}

var errNotKnown = errors.New("not known")

func (f *foreign) reason() error {
	if f.err != nil {
		return natureError{f.err}
	}
	return naturef("%q is not read, since a pickle may run code through it: %s", string(f.g), insteadOf(f.g))
}

// instead says what to save in place of objects of other libraries, by the beginnings of their classes' names.
var instead = []struct{ of, save string }{
	{"pandas DataFrame", `in Python: df.to_parquet("x.parquet")`},
	{"pandas.core.frame DataFrame", `in Python: df.to_parquet("x.parquet")`},
	{"pandas", "save x.to_numpy() in its place"},
	{"torch.utils.data.dataset TensorDataset", `in Python: x, y = dataset.tensors; torch.save({"features": x, "labels": y}, "x.pt")`},
	{"sklearn.utils._bunch Bunch", `in Python: numpy.savez("x.npz", features=b.data, labels=b.target)`},
	{"sklearn", `a linear model in Python: numpy.savez("w.npz", weight=model.coef_, bias=model.intercept_)`},
	{"scipy.sparse", "save x.toarray() in its place"},
	{"jax", "save numpy.asarray(x) in its place"},
	{"tensorflow", "save x.numpy() in its place"},
	{"torch.nn", "save model.state_dict() in its place"},
}

func insteadOf(g global) string {
	for _, x := range instead {
		if strings.HasPrefix(string(g), x.of) {
			return x.save
		}
	}
	return "save tensors or arrays in lists and dicts only, such as a state_dict"
}

// plainGlobals begin the names of classes that make no arrays.
var plainGlobals = []string{"torch device", "torch layout", "torch.serialization ", "builtins set", "builtins frozenset", "builtins range", "builtins slice", "builtins complex",
	"builtins bytearray", "builtins bytes", "builtins type", "builtins object", "__builtin__ set", "__builtin__ frozenset", "__builtin__ xrange", "__builtin__ slice", "__builtin__ complex", "__builtin__ bytearray",
	"datetime ", "pathlib ", "collections Counter", "collections deque", "argparse Namespace", "types SimpleNamespace", "uuid UUID", "decimal Decimal", "fractions Fraction"}

func (*arraysDialect) known(global) error { return nil }

func (*arraysDialect) lenient() bool { return true }

func (d *arraysDialect) outside(reference any) (any, error) {
	s, err := newStorage(reference)
	if err != nil {
		return &foreign{err: err}, nil
	}
	d.storages[s.key] = s.size
	return s, nil
}

func (d *arraysDialect) call(callee any, args tuple) (any, error) {
	if f, ok := callee.(*foreign); ok {
		return f, nil
	}
	g, ok := callee.(global)
	if !ok {
		return nil, errors.New("something is called that is not a function")
	}
	if g == joblibArray {
		return &joblibWrapper{}, nil
	}
	v, err := torchCall(g, args)
	if g == storageFromBytes && len(args) == 1 {
		v, err = d.storageWithin(args[0])
	}
	if err == errNotKnown && (numpyDialect{}).known(g) == nil {
		v, err = numpyDialect{}.call(g, args)
	}
	switch {
	case err == nil:
		return v, nil
	case numpyGlobal(g) == numpyFromBuffer && len(args) == 4:
		return &numpyArray{unread: newUnread(tuple{nil, args[2], args[1], args[3] == "F", args[0]}, err)}, nil
	case err != errNotKnown:
		return &foreign{g, err}, nil
	case g == "collections defaultdict":
		return &dict{}, nil
	case slices.ContainsFunc(plainGlobals, func(p string) bool { return strings.HasPrefix(string(g), p) }):
		return plain, nil
	}
	return &foreign{g: g}, nil
}

// state completes an array; attributes of other values say nothing about arrays.
func (d *arraysDialect) state(of, state any) error {
	switch of := of.(type) {
	case *numpyType:
		if err := (numpyDialect{}).state(of, state); err != nil {
			of.descr = "?"
		}
	case *numpyArray:
		if err := (numpyDialect{}).state(of, state); err != nil {
			*of = numpyArray{unread: newUnread(state, err)}
		}
	}
	return nil
}

// unread is an array of numpy whose elements are no numbers.
type unread struct {
	shape []int
	items []any      // of an array of objects
	text  *textError // and data, of an array of text
	data  string
	err   error // of another one
}

// newUnread takes the state of an array that is none of numbers.
func newUnread(state any, err error) *unread {
	u := &unread{err: err}
	s, _ := state.(tuple)
	if len(s) != 5 {
		return u
	}
	t, ok1 := s[2].(*numpyType)
	sizes, ok2 := integers64(s[1])
	if !ok1 || !ok2 {
		return u
	}
	for _, n := range sizes {
		u.shape = append(u.shape, int(n))
	}
	switch data := s[4].(type) {
	case *list:
		if n, ok := product(u.shape, len(data.items)); ok && n == len(data.items) && strings.HasPrefix(strings.TrimLeft(t.descr, "<>|="), "O") {
			u.items, u.err = data.items, nil
		}
	case string:
		h := Header{Shape: u.shape, Fortran: s[3] == true}
		if errors.As(textType(h, t.descr, err), &u.text) {
			u.data, u.err = data, nil
		}
	}
	return u
}

// pickleEntries lists the arrays of a pickle, whose names begin with prefix.
func pickleEntries(prefix string, b []byte, account *account) ([]entry, error) {
	root, n, err := unpickle(b, newArraysDialect(account), account)
	if err == nil && n != len(b) {
		err = fmt.Errorf("pickle: %d bytes follow its end", len(b)-n)
	}
	if err != nil {
		return nil, err
	}
	return flatten(prefix, root, false, account, func(s storage) ([]byte, error) {
		return nil, fmt.Errorf("storage %.40q is outside of the pickle", s.key)
	})
}
