package arrayfile

import (
	"math"
	"strconv"
	"strings"
	"unsafe"
)

// joblib.dump writes a pickle in which each array is an object that only describes it; the elements follow the object, in the middle of the
// pickle. An array of Python objects follows as a pickle of its own.

// joblibArray is the class of such an object.
const joblibArray global = "joblib.numpy_pickle NumpyArrayWrapper"

// joblibWrapper is an array of joblib before its description is known.
type joblibWrapper struct{}

// joblib reads the elements of an array that was just described, and returns the array.
func (m *machine) joblib(_ *joblibWrapper, description any) any {
	d, ok := description.(*dict)
	if !ok {
		m.failf("an array of joblib without a description")
		return nil
	}
	t, ok1 := d.get("dtype").(*numpyType)
	shape, ok2 := d.get("shape").(tuple)
	if !ok1 || !ok2 {
		m.failf("an array of joblib without shape and element type")
		return nil
	}
	kind := strings.TrimLeft(t.descr, "<>|=")
	if strings.HasPrefix(kind, "O") {
		return m.joblibObjects()
	}
	size, err := strconv.Atoi(strings.TrimLeft(kind, "bBiufcmMSUV?"))
	if err != nil || size < 1 || size > 4*maxWord {
		m.failf("an array of joblib of type %.20q", t.descr)
		return nil
	}
	if kind[0] == 'U' {
		size *= 4
	}
	if aligned := d.get("numpy_array_alignment_bytes"); aligned != nil {
		m.take(m.number(1))
	}
	sizes, ok := integers64(shape)
	var sides []int
	for _, n := range sizes {
		sides = append(sides, int(n))
	}
	n, fits := product(sides, math.MaxInt/size)
	if !ok || !fits {
		m.failf("an array of joblib of shape %v", shape)
		return nil
	}
	data := m.take(uint64(n * size))
	if m.err != nil {
		return nil
	}
	a := &numpyArray{}
	m.fail(m.state(a, tuple{int64(1), shape, t, d.get("order") == "F", unsafe.String(unsafe.SliceData(data), len(data))}))
	return a
}

// joblibObjects reads an array of objects: a pickle within the pickle, which holds no further one.
func (m *machine) joblibObjects() any {
	d, ok := m.dialect.(*arraysDialect)
	if !ok || d.within {
		m.failf("an array of joblib within another one")
		return nil
	}
	d.within = true
	v, n, err := unpickle(m.b[m.at:], d, m.account)
	d.within = false
	m.fail(err)
	m.at += n
	return v
}
