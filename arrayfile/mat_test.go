package arrayfile

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestFilesOfScipy reads what testdata/make_mat.py wrote with scipy, plain and compressed, against the same arrays in an .npz.
func TestFilesOfScipy(t *testing.T) {
	names := []string{"X", "y", "f4", "f8", "i8", "i2", "u2", "i4", "u4", "i64", "u64", "none"}
	for _, file := range []string{"testdata/mat_plain.mat", "testdata/mat_packed.mat"} {
		f, err := Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var got []string
		for _, h := range f.Headers() {
			got = append(got, h.Name)
		}
		if !slices.Equal(got, names) {
			t.Fatalf("%s has %v", file, got)
		}
		for _, name := range names {
			a, err := f.Load(name)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			want := loadFile(t, "testdata/mat_arrays.npz", name)
			a, want = a.Canonical(), want.Canonical()
			if !slices.Equal(a.Shape, want.Shape) || a.DType != want.DType || !bytes.Equal(a.Data, want.Data) {
				t.Errorf("%s: %s is %+v, want %+v", file, name, a, want)
			}
		}
	}
}

// What is not a real numerical array is named and refused; the arrays around it are read.
func TestOddMATArrays(t *testing.T) {
	for _, file := range []string{"testdata/mat_odd.mat", "testdata/mat_odd_packed.mat"} {
		f, err := Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for name, word := range map[string]string{"words": "text", "cells": "a cell", "complex": "complex"} {
			if _, err := f.Load(name); err == nil || !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %s: %v", file, name, err)
			}
		}
		a, err := f.Load("after")
		if err != nil {
			t.Fatal(err)
		}
		if v, err := a.Float64s(); err != nil || !slices.Equal(v, []float64{1.5, 2.5}) {
			t.Errorf("%s: %v, %v", file, v, err)
		}
	}
}

// matFile is a second implementation of the format: it writes arrays of numbers.
type matFile struct {
	order  binary.ByteOrder
	packed bool
	b      []byte
}

func newMAT(order binary.ByteOrder, packed bool) *matFile {
	m := &matFile{order: order, packed: packed, b: append([]byte("MATLAB 5.0 test"), bytes.Repeat([]byte{' '}, 109)...)}
	m.b = append(m.b, 0, 0, 0, 0)
	order.PutUint16(m.b[124:], 0x0100)
	order.PutUint16(m.b[126:], 'M'<<8|'I')
	return m
}

// element encodes one element; short data go into the tag if small is set.
func (m *matFile) element(kind uint32, data []byte, small bool) []byte {
	b := make([]byte, 8)
	if small && len(data) <= 4 && len(data) > 0 {
		m.order.PutUint32(b, uint32(len(data))<<16|kind)
		copy(b[4:], data)
		return b
	}
	m.order.PutUint32(b, kind)
	m.order.PutUint32(b[4:], uint32(len(data)))
	return append(append(b, data...), make([]byte, -len(data)&7)...)
}

func (m *matFile) matrix(class byte, shape []int, name string, kind uint32, data []byte, small bool) []byte {
	flags := make([]byte, 8)
	m.order.PutUint32(flags, uint32(class))
	dims := make([]byte, 4*len(shape))
	for i, n := range shape {
		m.order.PutUint32(dims[4*i:], uint32(n))
	}
	return slices.Concat(m.element(6, flags, false), m.element(5, dims, false), m.element(1, []byte(name), small), m.element(kind, data, small))
}

func (m *matFile) add(content []byte) {
	whole := m.element(matMatrix, content, false)
	if !m.packed {
		m.b = append(m.b, whole...)
		return
	}
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	w.Write(whole)
	w.Close()
	tag := make([]byte, 8)
	m.order.PutUint32(tag, matCompressed)
	m.order.PutUint32(tag[4:], uint32(z.Len()))
	m.b = append(append(m.b, tag...), z.Bytes()...)
}

func matCode(t DType) uint32 {
	for code, d := range matTypes {
		if d == t {
			return code
		}
	}
	panic("no code")
}

func TestMATRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMAT(rapid.SampledFrom([]binary.ByteOrder{binary.LittleEndian, binary.BigEndian}).Draw(t, "order"), rapid.Bool().Draw(t, "packed"))
		var want []Array
		for i := range rapid.IntRange(0, 3).Draw(t, "arrays") {
			a := Array{Header: Header{Name: string(rune('a' + i)), DType: rapid.SampledFrom([]DType{U8, I8, U16, I16, U32, I32, U64, I64, F32, F64}).Draw(t, "type"),
				Shape: rapid.SliceOfN(rapid.IntRange(0, 4), 2, 4).Draw(t, "shape"), Fortran: true}}
			a.BigEndian = m.order == binary.BigEndian && a.DType.Size() > 1
			n := a.Len() * a.DType.Size()
			a.Data = rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "data")
			want = append(want, a)
			m.add(m.matrix(9, a.Shape, a.Name, matCode(a.DType), a.Data, rapid.Bool().Draw(t, "small")))
		}
		got := loadAll(t, m.b)
		if len(got) != len(want) {
			t.Fatalf("%d arrays, want %d", len(got), len(want))
		}
		for i := range got {
			if !equalArrays(got[i], want[i]) {
				t.Fatalf("read %+v, want %+v", got[i], want[i])
			}
		}
	})
}

// hostileMAT are files that must be refused with a message that contains these words.
func hostileMAT() map[string]struct {
	file  []byte
	words string
} {
	make1 := func(packed bool, content func(*matFile) []byte) []byte {
		m := newMAT(binary.LittleEndian, packed)
		m.add(content(m))
		return m.b
	}
	good := func(m *matFile) []byte { return m.matrix(9, []int{2, 3}, "x", 2, []byte("sixish"), false) }
	plain, packed := make1(false, good), make1(true, good)
	old := bytes.Clone(plain)
	old[124], old[125] = 0, 2
	letters := bytes.Clone(plain)
	letters[126] = 'X'
	flip := bytes.Clone(packed)
	flip[len(flip)-1] ^= 1
	claim := newMAT(binary.LittleEndian, true)
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	w.Write([]byte{matMatrix, 0, 0, 0, 0, 0, 0, 0x7f})
	w.Close()
	claim.b = append(append(claim.b, matCompressed, 0, 0, 0, byte(z.Len()), 0, 0, 0), z.Bytes()...)
	bomb := func(m *matFile) []byte { return m.matrix(9, []int{1, 4 << 20}, "x", 2, make([]byte, 4<<20), false) }
	return map[string]struct {
		file  []byte
		words string
	}{
		"header cut":    {plain[:100], "ends within its header, after 100 of 128"},
		"version":       {old, "version 0x0200"},
		"byte order":    {letters, `"XM"; want IM or MI`},
		"cut":           {plain[:len(plain)-1], "cut short"},
		"packed cut":    {packed[:len(packed)-5], "cut short"},
		"tag cut":       {append(bytes.Clone(plain), 1, 2, 3), "ends with 3 bytes"},
		"trailing":      {append(bytes.Clone(packed), make([]byte, 8)...), "type 0; want 14"},
		"twice":         {append(bytes.Clone(plain), plain[128:]...), `"x" occurs twice`},
		"checksum":      {flip, "checksum"},
		"claim":         {claim.b, "cannot hold"},
		"shape":         {make1(false, func(m *matFile) []byte { return m.matrix(9, []int{2, 4}, "x", 2, []byte("sixish"), false) }), "shape [2 4] of U8 makes 8 bytes, the file says 6"},
		"overflow":      {make1(true, func(m *matFile) []byte { return m.matrix(9, []int{1 << 30, 1 << 30, 1 << 30}, "x", 9, nil, false) }), "makes 0 bytes"},
		"negative":      {make1(false, func(m *matFile) []byte { return m.matrix(9, []int{-1, 2}, "x", 2, nil, false) }), "shape [-1 2]"},
		"axes":          {make1(false, func(m *matFile) []byte { return m.matrix(9, make([]int, 65), "x", 2, nil, false) }), "260 bytes; at most 256"},
		"no dimensions": {make1(false, func(m *matFile) []byte { return m.matrix(9, []int{2}, "x", 2, []byte("ab"), false) }), "dimensions are missing"},
		"number type":   {make1(false, func(m *matFile) []byte { return m.matrix(9, []int{1, 2}, "x", 8, []byte("ab"), false) }), "of type 8"},
		"sparse":        {make1(false, func(m *matFile) []byte { return m.matrix(5, []int{1, 2}, "x", 2, []byte("ab"), false) }), "sparse"},
		"class":         {make1(false, func(m *matFile) []byte { return m.matrix(77, []int{1, 2}, "x", 2, []byte("ab"), false) }), "of class 77"},
		"small":         {make1(false, func(m *matFile) []byte { return []byte{6, 0, 5, 0, 1, 2, 3, 4, 5, 6, 7, 8} }), "a small element of 5 bytes"},
		"flags":         {make1(false, func(m *matFile) []byte { return m.element(6, []byte("abc"), false) }), "array flags are missing"},
		"nested":        {make1(true, func(m *matFile) []byte { return nil }), "array flags are missing"},
		"longer": {make1(true, func(m *matFile) []byte {
			return append(m.matrix(9, []int{1, 2}, "x", 2, []byte("ab"), false), make([]byte, 16)...)
		}), "longer than its shape"},
		"bomb is fine": {append(make1(true, bomb), 0), "ends with 1 bytes"},
	}
}

func TestHostileMAT(t *testing.T) {
	for what, c := range hostileMAT() {
		var err error
		spent := allocated(func() { err = parseAllStrict(c.file) })
		if err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: got %v, want an error with %q", what, err, c.words)
		}
		if spent > 1<<20 {
			t.Errorf("%s: %d bytes allocated for a file of %d", what, spent, len(c.file))
		}
	}
}

// TestEveryCutOfAMATFileIsAnError: a file whose end is missing gives an error somewhere, unless it was cut between arrays.
func TestEveryCutOfAMATFileIsAnError(t *testing.T) {
	for _, file := range []string{"testdata/mat_plain.mat", "testdata/mat_packed.mat"} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var whole int
		for n := matHeader + 1; n < len(b); n++ {
			if parseAllStrict(b[:n]) == nil {
				whole++
			}
		}
		if whole >= 12+12*7 { // 11 ends between arrays; padding after the last byte of an array may be missing
			t.Errorf("%s: %d cuts are not noticed", file, whole)
		}
	}
}

// FuzzMAT: no input panics, and memory stays within what its bytes can hold.
func FuzzMAT(f *testing.F) {
	for _, c := range hostileMAT() {
		f.Add(c.file)
	}
	for _, file := range []string{"testdata/mat_plain.mat", "testdata/mat_packed.mat", "testdata/mat_odd.mat", "testdata/mat_odd_packed.mat", "testdata/mat_words.mat", "testdata/mat_words_packed.mat"} {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !isMAT(b) {
			b = append(newMAT(binary.LittleEndian, false).b, b...)
		}
		file, err := Parse(b)
		if err != nil {
			return
		}
		for _, e := range file.entries {
			var a Array
			spent := allocated(func() { a, err = file.Load(e.Name) })
			if limit := uint64(1<<20 + (maxDeflate+1)*len(b)); spent > limit {
				t.Fatalf("%d bytes allocated for a file of %d", spent, len(b))
			}
			if err == nil && len(a.Data) != a.Len()*a.DType.Size() {
				t.Fatalf("%+v has %d bytes", a.Header, len(a.Data))
			}
		}
	})
}

// TestStructuresOfMATLAB: the fields of one structure are arrays, packed or not.
func TestStructuresOfMATLAB(t *testing.T) {
	for _, file := range []string{"testdata/mat_odd.mat", "testdata/mat_odd_packed.mat"} {
		f, err := Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		a, err := f.Load("record.a")
		if v, bad := a.Float64s(); err != nil || bad != nil || !slices.Equal(v, []float64{1}) {
			t.Errorf("%s: record.a is %v, %v, %v", file, v, err, bad)
		}
	}
}

// TestPairsOfUnitsInRowsOfMATLAB: a character of two UTF-16 units lies in a row; two units below each other are none.
func TestPairsOfUnitsInRowsOfMATLAB(t *testing.T) {
	m := newMAT(binary.LittleEndian, false)
	var units []byte
	for _, u := range []uint16{'a', 0xd83d, 0xd83d, 'c', 0xde00, 0xde00} { // by columns: "a😀", and half a pair around c
		units = binary.LittleEndian.AppendUint16(units, u)
	}
	m.add(m.matrix(matChar, []int{2, 3}, "rows", 4, units, false))
	checkContents(t, "pairs", m.b, "rows I64 [2] [0 1] [a😀 \ufffdc\ufffd]")
}

// TestWordsOfMATLAB: cells of text and rows of characters are lists of words, in every form of a file; other cells and single texts are not.
func TestWordsOfMATLAB(t *testing.T) {
	for _, file := range []string{"testdata/mat_words.mat", "testdata/mat_words_packed.mat"} {
		f, err := Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for name, want := range map[string][]string{"cells": {"owl", "kitten", "öwl 𝔸", "owl"}, "column": {"b", "a"}, "rows": {"cat", "mouse", "ox"}} {
			a, err := f.Load(name)
			if err != nil {
				t.Errorf("%s: %s: %v", file, name, err)
				continue
			}
			codes, err := a.Int64s()
			var got []string
			for _, c := range codes {
				got = append(got, a.Categories[c])
			}
			if err != nil || !slices.Equal(got, want) || !slices.Equal(a.Shape, []int{len(want)}) || !a.Text {
				t.Errorf("%s: %s is %q of shape %v, text: %t, %v", file, name, got, a.Shape, a.Text, err)
			}
		}
		for name, why := range map[string]string{"mixed": "a cell array", "nested": "a cell array", "one": "text"} {
			if _, err := f.Load(name); err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %s: %v", file, name, err)
			}
		}
		if a, err := f.Load("after"); err != nil || a.Shape[1] != 2 {
			t.Errorf("%s: behind the words: %v, %v", file, a.Shape, err)
		}
	}
}

// cellOf is a file with a cell of one text, whose matrix says that it has so many bytes fewer than it has.
func cellOf(fewer uint32) []byte {
	m := newMAT(binary.LittleEndian, false)
	text := m.element(matMatrix, m.matrix(matChar, []int{1, 3}, "", 2, []byte("cat"), false), false)
	binary.LittleEndian.PutUint32(text[4:], uint32(len(text)-8)-fewer)
	flags, dims := []byte{matCell, 0, 0, 0, 0, 0, 0, 0}, []byte{1, 0, 0, 0, 1, 0, 0, 0}
	m.add(slices.Concat(m.element(6, flags, false), m.element(5, dims, false), m.element(1, []byte("x"), false), text))
	return m.b
}

// TestTextsOfMATLABBehindTheirCells: a text that is longer than the matrix it lies in makes no list of words.
func TestTextsOfMATLABBehindTheirCells(t *testing.T) {
	checkContents(t, "as long as it says", cellOf(0), "x I64 [1] [0] [cat]")
	file := cellOf(8)
	element := matElement{body: file[matHeader+8:], account: newAccount(nil, 1000), order: binary.LittleEndian}
	h, err := element.header()
	if h.Name != "x" {
		t.Fatalf("%+v, %v", h, err)
	}
	_, err = element.wordEntry(h)
	says(t, "longer", err, "a text ends 8 bytes behind its cell")
}

// TestPackedMATThatChanges: numbers that could be unpacked when the file was opened, and no longer can, are no zeros.
func TestPackedMATThatChanges(t *testing.T) {
	m := newMAT(binary.LittleEndian, true)
	whole := m.element(matMatrix, m.matrix(6, []int{1, 2}, "x", 9, make([]byte, 16), false), false)
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	w.Write(whole[:8]) // the tag, in a block of its own
	w.Flush()
	first := z.Len()
	w.Write(whole[8:])
	w.Close()
	element := matElement{packed: z.Bytes(), account: newAccount(nil, 1000), order: binary.LittleEndian}
	entry, err := element.entry()
	if err != nil {
		t.Fatal(err)
	}
	if b, err := entry.load(); err != nil || len(b) != 16 {
		t.Fatalf("%v, %v", b, err)
	}
	z.Bytes()[first] = 0xff // a block of no kind
	_, err = entry.load()
	says(t, "changed", err, "unpacking: ")
}

// TestStructuresOfOneFieldAndTwo have their fields, whose names take as many bytes each as the file says, one at the least.
func TestStructuresOfOneFieldAndTwo(t *testing.T) {
	for names, want := range map[string]string{"a": "s.a U8 [1 1] [4]", "ab": "s.a U8 [1 1] [4] s.b U8 [1 1] [5]"} {
		for _, width := range []byte{1, 8} {
			m := newMAT(binary.LittleEndian, false)
			var padded []byte
			for _, name := range []byte(names) {
				padded = append(append(padded, name), make([]byte, width-1)...)
			}
			content := slices.Concat(m.element(6, []byte{matStructure, 0, 0, 0, 0, 0, 0, 0}, false), m.element(5, []byte{1, 0, 0, 0, 1, 0, 0, 0}, false), m.element(1, []byte("s"), false),
				m.element(5, []byte{width, 0, 0, 0}, true), m.element(1, padded, false))
			for i := range names {
				content = append(content, m.element(matMatrix, m.matrix(6, []int{1, 1}, "", 2, []byte{byte(4 + i)}, false), false)...)
			}
			m.add(content)
			checkContents(t, names, m.b, want)
		}
	}
}
