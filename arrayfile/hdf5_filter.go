package arrayfile

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// hdf5Filter is a step by which chunks are packed.
type hdf5Filter struct {
	id   uint64
	data []uint64
}

// Filters that are read.
const (
	hdf5Deflate  = 1
	hdf5Shuffle  = 2
	hdf5Fletcher = 3
	hdf5LZF      = 32000 // h5py's
)

var hdf5FilterNames = map[uint64]string{4: "szip", 5: "n-bit", 6: "scale-offset", 307: "bzip2", 32001: "blosc", 32004: "LZ4", 32008: "bitshuffle", 32013: "zfp", 32015: "zstd", 32026: "blosc2"}

// pipeline reads the filters of an array, in the order in which they were applied: shuffle, deflate or LZF, and a checksum. Others are refused.
func pipeline(c *hdf5Cursor) (filters []hdf5Filter) {
	version, n := c.byte(), c.byte()
	if version == 1 {
		c.skip(6)
	}
	for range n {
		f := hdf5Filter{id: c.uint(2)}
		name := uint64(0)
		if version == 1 || f.id >= 256 {
			name = c.uint(2)
		}
		c.skip(2)
		values := c.uint(2)
		if version == 1 {
			name = (name + 7) &^ 7
		}
		c.take(name)
		for range values {
			f.data = append(f.data, c.uint(4))
		}
		if version == 1 && values%2 == 1 {
			c.skip(4)
		}
		filters = append(filters, f)
	}
	step := 0
	for _, f := range filters {
		rank := map[uint64]int{hdf5Shuffle: 1, hdf5Deflate: 2, hdf5LZF: 2, hdf5Fletcher: 3}[f.id]
		if rank <= step {
			word := hdf5FilterNames[f.id]
			if word == "" {
				word = fmt.Sprintf("filter %d", f.id)
			}
			panic(naturef("it is packed with %s here, which is not read; write it with compression=\"gzip\"", word))
		}
		step = rank
	}
	return filters
}

// unpacked returns the elements of a chunk. They are good until the next call.
func (g *hdf5Grid) unpacked(c hdf5Chunk) ([]byte, error) {
	data := g.f.cursor(c.address, c.size).b
	g.f.spent -= int(c.size)
	for i := len(g.filters) - 1; i >= 0; i-- {
		if c.mask>>i&1 != 0 {
			continue
		}
		var err error
		switch f := g.filters[i]; f.id {
		case hdf5Fletcher:
			data, err = withoutFletcher(data)
		case hdf5Deflate, hdf5LZF:
			data, err = g.inflated(data, f.id)
		case hdf5Shuffle:
			size := g.element
			if len(f.data) > 0 {
				size = int(f.data[0])
			}
			data = unshuffled(data, size)
		}
		if err != nil {
			return nil, err
		}
	}
	if uint64(len(data)) != g.bytes {
		return nil, fmt.Errorf("a chunk unpacks to %d bytes; want %d", len(data), g.bytes)
	}
	return data, nil
}

// inflated unpacks to the size of a chunk.
func (g *hdf5Grid) inflated(data []byte, by uint64) ([]byte, error) {
	if g.bytes/maxDeflate > uint64(len(data)) {
		return nil, fmt.Errorf("%d packed bytes cannot hold the %d of a chunk", len(data), g.bytes)
	}
	if err := g.f.account.take(int64(g.bytes)); err != nil {
		return nil, err
	}
	defer g.f.account.give(int64(g.bytes))
	out := make([]byte, g.bytes)
	if by == hdf5LZF {
		return out, unpackLZF(out, data)
	}
	z, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(z, out); err != nil {
		return nil, cut(err)
	}
	if _, err := io.ReadFull(z, make([]byte, 1)); err != io.EOF { // its checksum is compared here
		return nil, errors.Join(errors.New("a chunk is longer than its shape or damaged"), err)
	}
	return out, nil
}

// unshuffled puts the bytes of elements together, which were stored by their place within an element.
func unshuffled(data []byte, size int) []byte {
	if size < 2 || size > len(data) {
		return data
	}
	n := len(data) / size
	out := make([]byte, 0, len(data))
	for i := range n {
		for k := range size {
			out = append(out, data[k*n+i])
		}
	}
	return append(out, data[n*size:]...)
}

// withoutFletcher checks and removes the checksum at the end.
func withoutFletcher(data []byte) ([]byte, error) {
	if len(data) < 4 {
		return nil, errors.New("a chunk without its checksum")
	}
	body, want := data[:len(data)-4], binary.LittleEndian.Uint32(data[len(data)-4:])
	var a, b uint32
	for i := 0; i < len(body); i += 2 {
		word := uint32(body[i]) << 8
		if i+1 < len(body) {
			word |= uint32(body[i+1])
		}
		a = (a + word) % 65535
		b = (b + a) % 65535
	}
	if got := b<<16 | a; got != want && !sameFletcher(got, want) {
		return nil, fmt.Errorf("a chunk's checksum is %#x; want %#x", got, want)
	}
	return body, nil
}

// sameFletcher compares sums that are taken modulo 65535, of which zero has two forms.
func sameFletcher(a, b uint32) bool {
	return (a>>16)%65535 == (b>>16)%65535 && (a&0xffff)%65535 == (b&0xffff)%65535
}

// unpackLZF unpacks data to fill out: runs of literal bytes, and copies from what was unpacked.
func unpackLZF(out, data []byte) (err error) {
	defer recoveredHDF5(&err)
	at := 0
	for i := 0; i < len(data); {
		control := int(data[i])
		i++
		if control < 32 {
			copy(out[at:][:control+1], data[i:][:control+1])
			at, i = at+control+1, i+control+1
			continue
		}
		n := control >> 5
		if n == 7 {
			n += int(data[i])
			i++
		}
		from := at - (control&31)<<8 - int(data[i]) - 1
		i++
		for range n + 2 {
			out[at] = out[from]
			at, from = at+1, from+1
		}
	}
	if at != len(out) {
		return fmt.Errorf("a chunk unpacks to %d bytes; want %d", at, len(out))
	}
	return nil
}
