package arrayfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawArray draws an array of any type, shape and layout with random bits.
func drawArray(t *rapid.T, name string) Array {
	shape := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 4).Draw(t, "shape")
	a := Array{Header: Header{
		Name: name, DType: DType(rapid.IntRange(int(Bool), int(F64)).Draw(t, "dtype")),
		Shape: shape, Fortran: rapid.Bool().Draw(t, "fortran"),
	}}
	a.BigEndian = a.DType.Size() > 1 && rapid.Bool().Draw(t, "big")
	n := a.Len() * a.DType.Size()
	a.Data = rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "data")
	return a
}

// element reads one element by its row-major number, following the definition of the layout.
func element(a Array, number int) float64 {
	index := make([]int, len(a.Shape))
	for axis := len(a.Shape) - 1; axis >= 0; axis-- {
		index[axis] = number % a.Shape[axis]
		number /= a.Shape[axis]
	}
	at, step := 0, 1
	order := slices.Backward(a.Shape)
	if a.Fortran {
		order = slices.All(a.Shape)
	}
	for axis, size := range order {
		at += index[axis] * step
		step *= size
	}
	b := slices.Clone(a.Data[at*a.DType.Size():][:a.DType.Size()])
	if a.BigEndian {
		slices.Reverse(b)
	}
	u := binary.LittleEndian.Uint64(append(b, make([]byte, 8)...))
	switch a.DType {
	case Bool:
		if u > 0 {
			return 1
		}
		return 0
	case I8:
		return float64(int8(u))
	case I16:
		return float64(int16(u))
	case I32:
		return float64(int32(u))
	case I64:
		return float64(int64(u))
	case F16:
		return halfByDefinition(uint16(u))
	case BF16:
		return float64(math.Float32frombits(uint32(u) << 16))
	case F32:
		return float64(math.Float32frombits(uint32(u)))
	case F64:
		return math.Float64frombits(u)
	}
	return float64(u)
}

// halfByDefinition is IEEE 754-2019, 3.4, for binary16.
func halfByDefinition(h uint16) float64 {
	sign := 1 - 2*float64(h>>15)
	exponent, fraction := int(h>>10&31), float64(h&1023)
	switch {
	case exponent == 31 && fraction != 0:
		return math.NaN()
	case exponent == 31:
		return math.Inf(int(sign))
	case exponent == 0:
		return sign * math.Ldexp(fraction, -24)
	}
	return sign * math.Ldexp(1+fraction/1024, exponent-15)
}

func same(x, y float64) bool {
	return x == y && math.Signbit(x) == math.Signbit(y) || math.IsNaN(x) && math.IsNaN(y)
}

func TestHalfIsExact(t *testing.T) {
	for h := range 1 << 16 {
		if got, want := float64(half(uint16(h))), halfByDefinition(uint16(h)); !same(got, want) {
			t.Fatalf("half %#04x: got %g, want %g", h, got, want)
		}
	}
}

func TestConvertFollowsTheLayout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawArray(t, "x")
		first := rapid.IntRange(0, a.Len()).Draw(t, "first")
		n := rapid.IntRange(0, a.Len()-first).Draw(t, "n")
		wide, narrow := make([]float64, n), make([]float32, n)
		if err := Convert(a, first, wide); err != nil {
			t.Fatal(err)
		}
		if err := Convert(a, first, narrow); err != nil {
			t.Fatal(err)
		}
		canonical, err := a.Canonical().Float64s()
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			want := element(a, first+i)
			if !same(wide[i], want) || !same(canonical[first+i], want) {
				t.Fatalf("element %d of %+v: got %g, canonical %g, want %g", first+i, a, wide[i], canonical[first+i], want)
			}
			// float32(want) would round 64-bit integers twice.
			if a.DType != U64 && a.DType != I64 && !same(float64(narrow[i]), float64(float32(want))) {
				t.Fatalf("element %d of %+v: got %g, want %g", first+i, a, narrow[i], float32(want))
			}
		}
	})
}

func TestConvertToIntegers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawArray(t, "x")
		got, err := a.Int64s()
		whole := true
		for i := range a.Len() {
			x := element(a, i)
			if a.DType.IsFloat() {
				whole = whole && x == math.Trunc(x) && x >= -1<<63 && x < 1<<63
			} else if a.DType == U64 {
				whole = whole && x < 1<<63
			}
			if err == nil && float64(got[i]) != x {
				t.Fatalf("element %d: got %d, want %g", i, got[i], x)
			}
		}
		if (err == nil) != whole {
			t.Fatalf("%+v: err %v, though whole = %v", a, err, whole)
		}
	})
}

func TestIntegersKeepAllDigits(t *testing.T) {
	want := []int64{math.MinInt64, -1, 1<<53 + 1, math.MaxInt64}
	got, err := Of("", []int{4}, want).Int64s()
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("got %d, %v", got, err)
	}
	if v, err := Of("y", []int{1}, []uint64{1 << 63}).Int64s(); err == nil {
		t.Fatalf("2^63 became %d", v)
	}
	for _, x := range []float64{0.5, 1 << 63, -1<<63 - 2048, math.Inf(1), math.NaN()} {
		if v, err := Of("y", []int{2}, []float64{1, x}).Int64s(); err == nil || !strings.Contains(err.Error(), "element 1 ") {
			t.Errorf("%g became %d, %v", x, v, err)
		}
	}
}

func TestViewSharesMemoryOrReportsWhyNot(t *testing.T) {
	v := []float32{1, 2, 3, 4, 5, 6}
	a := Of("h", []int{2, 3}, v)
	got, ok := View[float32](a)
	if !ok || &got[0] != &v[0] || len(got) != 6 {
		t.Fatalf("View gave %v, %v", got, ok)
	}
	odd := a
	odd.Data = append([]byte{0}, a.Data...)[1:]
	for name, b := range map[string]Array{
		"other byte order": {Header: Header{DType: F32, Shape: []int{6}, BigEndian: !a.BigEndian}, Data: a.Data},
		"column-major":     {Header: Header{DType: F32, Shape: []int{2, 3}, Fortran: true}, Data: a.Data},
		"unaligned":        odd,
		"another type":     {Header: Header{DType: I32, Shape: []int{6}}, Data: a.Data},
	} {
		if _, ok := View[float32](b); ok {
			t.Errorf("%s: View should refuse", name)
		}
	}
}

func TestOfPanicsOnWrongShape(t *testing.T) {
	for _, shape := range [][]int{{3}, {-1, -2}, {1 << 62, 4}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("shape %v: no panic", shape)
				}
			}()
			Of("x", shape, []float32{1, 2})
		}()
	}
}

// formats writes arrays in each format and reads them back; one array for npy.
var formats = map[string]func([]Array) ([]byte, error){
	"npy": func(a []Array) ([]byte, error) {
		var b bytes.Buffer
		err := WriteNPY(&b, a[0])
		return b.Bytes(), err
	},
	"npz": func(a []Array) ([]byte, error) {
		var b bytes.Buffer
		err := WriteNPZ(&b, a)
		return b.Bytes(), err
	},
	"safetensors": func(a []Array) ([]byte, error) {
		var b bytes.Buffer
		err := WriteSafetensors(&b, a, map[string]string{"format": "pt", "a": "<é>"})
		return b.Bytes(), err
	},
}

// loadAll reads every array of a file.
func loadAll(t interface{ Fatalf(string, ...any) }, b []byte) []Array {
	f, err := Parse(b)
	if err != nil {
		t.Fatalf("%v", err)
	}
	var all []Array
	for _, h := range f.Headers() {
		a, err := f.Load(h.Name)
		if err != nil {
			t.Fatalf("%v", err)
		}
		all = append(all, a)
	}
	return all
}

func TestRoundTrip(t *testing.T) {
	for name, write := range formats {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				n := 1
				if name != "npy" {
					n = rapid.IntRange(0, 4).Draw(t, "arrays")
				}
				arrays := make([]Array, n)
				for i := range arrays {
					label := ""
					if name != "npy" {
						label = fmt.Sprintf("layer%d.wéight \"%d\"", i, i)
					}
					arrays[i] = drawArray(t, label)
					if name == "safetensors" {
						arrays[i] = arrays[i].Canonical()
					}
				}
				first, err := write(arrays)
				if err != nil {
					t.Fatal(err)
				}
				got := loadAll(t, first)
				if name == "safetensors" {
					slices.SortStableFunc(arrays, func(x, y Array) int { return y.DType.Size() - x.DType.Size() })
					for _, a := range got {
						if len(a.Data) > 0 && offset(first, a.Data)%a.DType.Size() != 0 {
							t.Fatalf("array %q of %s lies at byte %d", a.Name, a.DType, offset(first, a.Data))
						}
					}
				}
				if diff := cmp.Diff(arrays, got, cmp.Comparer(equalArrays)); len(arrays)+len(got) > 0 && diff != "" {
					t.Fatal(diff)
				}
				if len(got) == 0 && name == "npy" {
					return
				}
				second, err := write(got)
				if err != nil || !bytes.Equal(first, second) {
					t.Fatalf("written again: %v, %d bytes, then %d", err, len(first), len(second))
				}
			})
		})
	}
}

// offset returns the position in a file of the bytes of an array that shares its memory.
func offset(file, data []byte) int {
	return int(uintptr(unsafe.Pointer(&data[0])) - uintptr(unsafe.Pointer(&file[0])))
}

func equalArrays(x, y Array) bool {
	return x.Name == y.Name && x.DType == y.DType && slices.Equal(x.Shape, y.Shape) &&
		x.Fortran == y.Fortran && x.BigEndian == y.BigEndian && bytes.Equal(x.Data, y.Data)
}

func TestWritersRefuse(t *testing.T) {
	x := Of("x", []int{2}, []float32{1, 2})
	torn, none := x, x
	torn.Shape, none.DType = []int{3}, 0
	fortran := Array{Header: Header{Name: "f", DType: U8, Shape: []int{2, 2}, Fortran: true}, Data: make([]byte, 4)}
	meta := x
	meta.Name = "__metadata__"
	nameless := x
	nameless.Name = ""
	for _, c := range []struct {
		format string
		arrays []Array
	}{
		{"npy", []Array{torn}}, {"npy", []Array{none}},
		{"npz", []Array{torn}}, {"npz", []Array{x, x}}, {"npz", []Array{nameless}},
		{"safetensors", []Array{torn}}, {"safetensors", []Array{x, x}}, {"safetensors", []Array{fortran}}, {"safetensors", []Array{meta}},
	} {
		if _, err := formats[c.format](c.arrays); err == nil {
			t.Errorf("%s wrote %+v", c.format, c.arrays)
		}
	}
}

// TestPartsOfArraysByColumns: any part of an array that is stored by columns is that part of the whole.
func TestPartsOfArraysByColumns(t *testing.T) {
	const size = 3 * 4 * 2
	stored := make([]int16, size)
	for i := range stored {
		stored[i] = int16(i)
	}
	a := Of("x", []int{3, 4, 2}, stored)
	a.Fortran = true
	whole, err := a.Float64s()
	if err != nil || whole[1] != 12 || whole[2] != 3 { // the last axis is the slowest in the file
		t.Fatalf("%v, %v", whole, err)
	}
	for first := range size {
		for n := range size - first + 1 {
			part := make([]float64, n)
			if err := Convert(a, first, part); err != nil || !slices.Equal(part, whole[first:first+n]) {
				t.Fatalf("%d from %d on: %v, %v; wanted %v", n, first, part, err, whole[first:first+n])
			}
		}
	}
}
