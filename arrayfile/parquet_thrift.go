package arrayfile

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

// Parquet's metadata is Thrift in its compact form. Decoders allocate as many list items as a header claims; thriftStruct walks a
// structure first and refuses claims that its bytes cannot hold.

const thriftDepth = 32

var errThrift = errors.New("metadata that ends before its claims do")

// maxSchemaDepth is how deeply columns may be nested: the library lists all parent names of each.
const maxSchemaDepth = 32

// checkFooter walks the metadata of a file and the tree of its columns.
func checkFooter(b []byte) error {
	if _, err := thriftStruct(b); err != nil {
		return err
	}
	var meta struct {
		Schema []struct {
			NumChildren thrift.Null[int32] `thrift:"5,optional"`
		} `thrift:"2,required"`
	}
	if err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReaderFromBytes(b)).Decode(&meta); err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	var open []int32 // number of columns still to come in each incomplete group
	for _, s := range meta.Schema {
		if n := s.NumChildren; n.Valid && n.V > 0 {
			open = append(open, n.V)
			if len(open) > maxSchemaDepth {
				return fmt.Errorf("columns nested more than %d deep", maxSchemaDepth)
			}
			continue
		}
		for len(open) > 0 {
			if open[len(open)-1]--; open[len(open)-1] > 0 {
				break
			}
			open = open[:len(open)-1]
		}
	}
	return nil
}

// thriftStruct returns the length of the structure at the start of b.
func thriftStruct(b []byte) (int, error) {
	w := &thriftWalk{b: b}
	err := w.structure(0)
	return w.at, err
}

type thriftWalk struct {
	b  []byte
	at int
}

func (w *thriftWalk) skip(n uint64) error {
	if n > uint64(len(w.b)-w.at) {
		return errThrift
	}
	w.at += int(n)
	return nil
}

func (w *thriftWalk) byte() (byte, error) {
	if w.at >= len(w.b) {
		return 0, errThrift
	}
	w.at++
	return w.b[w.at-1], nil
}

func (w *thriftWalk) varint() (uint64, error) {
	v, n := binary.Uvarint(w.b[w.at:])
	if n <= 0 {
		return 0, errThrift
	}
	w.at += n
	return v, nil
}

func (w *thriftWalk) structure(depth int) error {
	return w.fields(depth, func(int64, byte, int) {})
}

// fields walks a structure and visits each field after its value: its number, its type, and where the value begins.
func (w *thriftWalk) fields(depth int, visit func(id int64, kind byte, value int)) error {
	if depth > thriftDepth {
		return fmt.Errorf("metadata nested more than %d deep", thriftDepth)
	}
	for id := int64(0); ; {
		head, err := w.byte()
		if err != nil || head == 0 {
			return err
		}
		id += int64(head >> 4)
		if head>>4 == 0 { // the field's number follows
			n, err := w.varint()
			if err != nil {
				return err
			}
			id = int64(n>>1) ^ -int64(n&1)
		}
		kind, value := head&15, w.at
		if kind > 2 { // 1 and 2 are true and false
			if err := w.value(kind, depth+1); err != nil {
				return err
			}
		}
		visit(id, kind, value)
	}
}

// value skips a value, given by the type numbers of the compact protocol.
func (w *thriftWalk) value(kind byte, depth int) error {
	switch kind {
	case 1, 2, 3: // in lists a boolean is a byte
		return w.skip(1)
	case 4, 5, 6:
		_, err := w.varint()
		return err
	case 7:
		return w.skip(8)
	case 8:
		n, err := w.varint()
		if err != nil {
			return err
		}
		return w.skip(n)
	case 9, 10:
		return w.list(depth)
	case 12:
		return w.structure(depth)
	}
	return fmt.Errorf("metadata of unknown type %d", kind)
}

func (w *thriftWalk) list(depth int) error {
	head, err := w.byte()
	if err != nil {
		return err
	}
	n := uint64(head >> 4)
	if n == 15 {
		if n, err = w.varint(); err != nil {
			return err
		}
	}
	if n > uint64(len(w.b)-w.at) { // every item takes at least one byte
		return errThrift
	}
	for range n {
		if err := w.value(head&15, depth+1); err != nil {
			return err
		}
	}
	return nil
}
