package arrayfile

import (
	"cmp"
	"encoding/binary"
	"io"
	"slices"
)

// parquetSource is a Parquet file as the library gets to see it: without what it would stumble over.
type parquetSource struct {
	file, end []byte // all before the metadata, and what comes in their place
	blanks    []blank
}

// blank is a number of metadata that reads as zero.
type blank struct {
	at   int64
	size int // bytes of a varint
}

func (s *parquetSource) size() int64 { return int64(len(s.file) + len(s.end)) }

// ReadAt implements io.ReaderAt.
func (s *parquetSource) ReadAt(p []byte, at int64) (n int, err error) {
	if at < int64(len(s.file)) {
		n = copy(p, s.file[at:])
	}
	if past := at + int64(n) - int64(len(s.file)); past >= 0 && past < int64(len(s.end)) {
		n += copy(p[n:], s.end[past:])
	}
	first, _ := slices.BinarySearchFunc(s.blanks, at, func(b blank, at int64) int { return cmp.Compare(b.at+int64(b.size)-1, at) })
	for _, b := range s.blanks[first:] {
		if b.at >= at+int64(n) {
			break
		}
		for i := range b.size {
			if to := b.at + int64(i) - at; to >= 0 && to < int64(n) {
				p[to] = 0x80 // more follows
				if i == b.size-1 {
					p[to] = 0
				}
			}
		}
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// footerOf returns the metadata of a file.
func footerOf(b []byte, size int64) []byte { return b[int64(len(b))-8-size : len(b)-8] }

// keyValues is the field of the metadata with free text for programs, such as pandas' notes. A pair may lack its value, which the
// library refuses.
const keyValues = 5

// newParquetSource returns the file without free text in its metadata.
func newParquetSource(b []byte, footer int64) (*parquetSource, error) {
	meta, out := footerOf(b, footer), []byte(nil)
	w := &thriftWalk{b: meta}
	err := w.fields(0, func(id int64, kind byte, value int) {
		if id != keyValues {
			out = binary.AppendUvarint(append(out, kind), uint64(id<<1^id>>63))
			out = append(out, meta[value:w.at]...)
		}
	})
	out = append(out, 0)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(out)))
	return &parquetSource{file: b[:int64(len(b))-8-footer], end: append(out, parquetMagic...)}, err
}

// unpackedSize is the field of a page's header with the size that it unpacks to.
const unpackedSize = 2

// blankSize hides the size of a page whose header, at a place of the file, the guard has checked. The library then takes what LZ4 gives.
// With the right size it takes a buffer of that size, which only sometimes is the one that was written to.
func (s *parquetSource) blankSize(header []byte, at int64) error {
	w := &thriftWalk{b: header}
	return w.fields(0, func(id int64, _ byte, value int) {
		if id == unpackedSize {
			s.blanks = append(s.blanks, blank{at + int64(value), w.at - value})
		}
	})
}
