package arrayfile

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// matElement is one array of a MAT-file: its content, or the zlib stream of a whole element.
type matElement struct {
	body    []byte // of a matrix, after its tag
	packed  []byte
	account *account // from which unpacked bytes are taken
	order   binary.ByteOrder
}

// matStream reads the content of a matrix from its start.
type matStream struct {
	r     io.Reader
	order binary.ByteOrder
	at    int64
	size  int64 // of the content
}

// open starts at the content; it unpacks no more of a compressed element than is read.
func (m matElement) open() (*matStream, error) {
	if m.packed == nil {
		return &matStream{r: bytes.NewReader(m.body), order: m.order, size: int64(len(m.body))}, nil
	}
	z, err := zlib.NewReader(bytes.NewReader(m.packed))
	if err != nil {
		return nil, fmt.Errorf("unpacking: %w", cut(err))
	}
	s := &matStream{r: z, order: m.order, size: 8}
	kind, size, _, err := s.tag()
	switch {
	case err != nil:
		return nil, err
	case kind != matMatrix:
		return nil, fmt.Errorf("a compressed element of type %d; want 14, an array", kind)
	case size/maxDeflate > int64(len(m.packed)):
		return nil, fmt.Errorf("%d packed bytes cannot hold the %d that the file claims", len(m.packed), size)
	}
	s.at, s.size = 0, size
	return s, nil
}

func (s *matStream) left() int64 { return s.size - s.at }

// take reads n bytes into new memory; n is small.
func (s *matStream) take(n int64) ([]byte, error) {
	if n > s.left() {
		return nil, fmt.Errorf("%d bytes are claimed and %d are left", n, s.left())
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(s.r, b); err != nil {
		return nil, cut(err)
	}
	s.at += n
	return b, nil
}

// tag reads type and size of an element. Up to four bytes of data may be in the tag itself: then small holds the four bytes.
func (s *matStream) tag() (kind uint32, size int64, small []byte, err error) {
	b, err := s.take(8)
	if err != nil {
		return 0, 0, nil, err
	}
	word := s.order.Uint32(b)
	if size := word >> 16; size != 0 {
		if size > 4 {
			return 0, 0, nil, fmt.Errorf("a small element of %d bytes; at most 4 fit", size)
		}
		return word & 0xffff, int64(size), b[4:], nil
	}
	return word, int64(s.order.Uint32(b[4:])), nil, nil
}

// element reads an element of the given kind, of at most the given number of bytes.
func (s *matStream) element(kind uint32, most int64) ([]byte, error) {
	k, size, small, err := s.tag()
	switch {
	case err != nil:
		return nil, err
	case k != kind:
		return nil, fmt.Errorf("type %d where type %d belongs", k, kind)
	case small != nil:
		return small[:size], nil
	case size > most:
		return nil, fmt.Errorf("%d bytes; at most %d are read", size, most)
	}
	b, err := s.take(size + int64(padding(size)))
	if err != nil {
		return nil, err
	}
	return b[:size], nil
}

// load returns the numbers. Uncompressed ones share the file's memory.
func (m matElement) load(h matArray) ([]byte, error) {
	n := int64(h.Len() * h.DType.Size())
	if m.packed == nil {
		return m.body[h.first:][:n:n], nil
	}
	s, err := m.open()
	if err != nil {
		return nil, err
	}
	if _, err := io.CopyN(io.Discard, s.r, h.first); err != nil {
		return nil, fmt.Errorf("unpacking: %w", cut(err))
	}
	if err := m.account.take(n); err != nil {
		return nil, err
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(s.r, b); err != nil {
		return nil, fmt.Errorf("unpacking: %w", cut(err))
	}
	// The checksum is compared at the end of the stream, after some padding.
	rest, err := io.Copy(io.Discard, io.LimitReader(s.r, 8))
	if err != nil {
		return nil, fmt.Errorf("unpacking: %w", cut(err))
	}
	if rest > 7 || h.first+n+rest != s.size {
		return nil, errors.New("the array is longer than its shape says")
	}
	return b, nil
}
