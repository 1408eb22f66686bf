package arrayfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// Arrow's messages are flatbuffers: tables that point to their fields. Offsets are checked by the slices that they index; a wrong one is a
// panic, which parseArrow turns into an error.

// flat is a table at a place of a flatbuffer.
type flat struct {
	b  []byte
	at int
}

// field returns the place of a field, 0 if it is absent.
func (t flat) field(i int) int {
	table := t.at - int(int32(binary.LittleEndian.Uint32(t.b[t.at:])))
	if 4+2*i+2 > int(binary.LittleEndian.Uint16(t.b[table:])) {
		return 0
	}
	if offset := int(binary.LittleEndian.Uint16(t.b[table+4+2*i:])); offset != 0 {
		return t.at + offset
	}
	return 0
}

// follow returns where the offset of a field points, 0 if it is absent.
func (t flat) follow(i int) int {
	at := t.field(i)
	if at == 0 {
		return 0
	}
	return at + int(binary.LittleEndian.Uint32(t.b[at:]))
}

func (t flat) table(i int) (flat, bool) {
	at := t.follow(i)
	return flat{t.b, at}, at != 0
}

// number reads a field of 1, 2, 4 or 8 bytes.
func (t flat) number(i, size int) int64 {
	at := t.field(i)
	if at == 0 {
		return 0
	}
	var whole [8]byte
	copy(whole[:], t.b[at:at+size])
	n := int64(binary.LittleEndian.Uint64(whole[:]))
	return n << (64 - 8*size) >> (64 - 8*size)
}

// vector returns the items of a field, each of so many bytes.
func (t flat) vector(i, size int) []byte {
	at := t.follow(i)
	if at == 0 {
		return nil
	}
	n := int(binary.LittleEndian.Uint32(t.b[at:]))
	if n > len(t.b) {
		panic("a vector beyond its message")
	}
	return t.b[at+4:][:n*size]
}

// tables visits the tables of a field.
func (t flat) tables(i int, visit func(flat)) {
	at := t.follow(i)
	for j := range len(t.vector(i, 4)) / 4 {
		place := at + 4 + 4*j
		visit(flat{t.b, place + int(binary.LittleEndian.Uint32(t.b[place:]))})
	}
}

// Types of columns.
const (
	arrowNull, arrowInt, arrowFloat, arrowBinary, arrowUtf8, arrowBool = 1, 2, 3, 4, 5, 6
	arrowList, arrowStruct, arrowUnion, arrowFixedList, arrowMap       = 12, 13, 14, 16, 17
	arrowLargeBinary, arrowLargeUtf8, arrowLargeList, arrowRunEnd      = 19, 20, 21, 22
	arrowBinaryView, arrowUtf8View, arrowListView, arrowLargeListView  = 23, 24, 25, 26
)

var arrowNames = map[int64]string{arrowNull: "null", arrowBinary: "binary", 7: "decimal", 8: "date", 9: "time", 10: "timestamp", 11: "interval", arrowStruct: "struct", arrowUnion: "union",
	15: "fixed-size binary", arrowMap: "map", 18: "duration", arrowLargeBinary: "binary", arrowRunEnd: "run-end encoded", arrowBinaryView: "binary", arrowListView: "list view", arrowLargeListView: "list view"}

// arrowField is a column, or a part of one.
type arrowField struct {
	name       string
	kind       int64
	dtype      DType // of numbers; of a dictionary those that count its words
	size       int   // of a list of fixed size
	dictionary bool
	id         int64 // of the dictionary
	dense      bool  // union
	children   []*arrowField
}

// maxArrowDepth is how deeply columns may be nested.
const maxArrowDepth = 16

// schemaReader reads the columns of a schema.
type schemaReader struct {
	left int // fields that may still follow: tables can be referred to again and again
}

func (r *schemaReader) fields(t flat, i, depth int) (out []*arrowField, err error) {
	t.tables(i, func(f flat) {
		if err != nil {
			return
		}
		if r.left--; r.left < 0 || depth > maxArrowDepth {
			err = errors.New("more columns than its bytes hold, or nested too deeply")
			return
		}
		var field *arrowField
		if field, err = r.field(f, depth); err == nil {
			out = append(out, field)
		}
	})
	return out, err
}

func (r *schemaReader) field(f flat, depth int) (*arrowField, error) {
	out := &arrowField{name: strings.Clone(string(f.vector(0, 1))), kind: f.number(2, 1)}
	if len(out.name) > maxName {
		return nil, fmt.Errorf("the name of a column has %d bytes", len(out.name))
	}
	kind, ok := f.table(3)
	if !ok {
		return nil, errors.New("a column without a type")
	}
	switch out.kind {
	case arrowInt:
		out.dtype = arrowInteger(kind)
	case arrowFloat:
		out.dtype = [...]DType{F16, F32, F64}[kind.number(0, 2)]
	case arrowBool:
		out.dtype = Bool
	case arrowFixedList:
		out.size = int(kind.number(0, 4))
	case arrowUnion:
		out.dense = kind.number(0, 2) == 1
	}
	var err error
	out.children, err = r.fields(f, 5, depth+1)
	if d, ok := f.table(4); ok {
		out.dictionary, out.id, out.dtype = true, d.number(0, 8), I32
		if index, ok := d.table(1); ok {
			out.dtype = arrowInteger(index)
		}
	}
	return out, err
}

func arrowInteger(t flat) DType {
	types := map[int64][2]DType{8: {I8, U8}, 16: {I16, U16}, 32: {I32, U32}, 64: {I64, U64}}[t.number(0, 4)]
	if t.number(1, 1) != 0 {
		return types[0]
	}
	return types[1]
}
