package arrayfile

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// unpacker decompresses pages and keeps what the next one can use again.
type unpacker struct {
	brotli *brotli.Reader
	zstd   *zstd.Decoder
}

// unpack decompresses data to exactly size bytes, and never produces more. What a window may hold is no more than that, either:
// zstd writes straight into the result. Brotli's is at most 16 MB, once for all pages.
func (u *unpacker) unpack(data []byte, codec format.CompressionCodec, size int) ([]byte, error) {
	var out []byte
	var err error
	switch codec {
	case format.Uncompressed:
		out = data
	case format.Snappy:
		var n int
		if n, err = snappy.DecodedLen(data); err == nil && n == size && n/64 <= len(data) { // its longest copy is 64 bytes
			out, err = snappy.Decode(nil, data)
		}
	case format.Gzip:
		var r *gzip.Reader
		if r, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			out, err = atMost(r, size)
		}
	case format.Zstd:
		out, err = u.ofZstd(data, size)
	case format.Brotli:
		if u.brotli == nil {
			u.brotli = new(brotli.Reader)
		}
		if err = u.brotli.Reset(bytes.NewReader(data)); err == nil {
			out, err = atMost(u.brotli, size)
		}
	case format.Lz4Raw:
		out, err = ofLZ4(data, size)
	default:
		return nil, fmt.Errorf("compression %v is not read; write the file with snappy, gzip, zstd, brotli, LZ4_RAW or none", codec)
	}
	if err != nil {
		return nil, fmt.Errorf("unpacking a page: %w", err)
	}
	if len(out) != size {
		return nil, fmt.Errorf("a page unpacks to another size than the %d bytes it claims", size)
	}
	return out, nil
}

func (u *unpacker) ofZstd(data []byte, size int) (out []byte, err error) {
	if u.zstd == nil {
		if u.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true)); err != nil {
			return nil, err
		}
	}
	return u.zstd.DecodeAll(data, make([]byte, 0, size))
}

// maxLZ4 is its largest expansion: a byte of length makes 255.
const maxLZ4 = 255

func ofLZ4(data []byte, size int) ([]byte, error) {
	if size/maxLZ4 > len(data) {
		return nil, fmt.Errorf("%d packed bytes cannot hold %d", len(data), size)
	}
	out := make([]byte, size)
	n, err := lz4.UncompressBlock(data, out)
	if err != nil {
		return nil, err
	}
	return out[:n], nil
}

// ofLZ4Frame unpacks a frame: blocks one after the other, which may refer to what came before. The library's own reader takes a checksum of a
// block for one of what it unpacks to, which it is not; checksums are left out here.
func ofLZ4Frame(data []byte, size int) (out []byte, err error) {
	const magic = 0x184d2204
	if len(data) < 7 || binary.LittleEndian.Uint32(data) != magic || size/maxLZ4 > len(data) {
		return nil, fmt.Errorf("%d packed bytes cannot hold %d, or are no frame of LZ4", len(data), size)
	}
	flags, header := data[4], 7
	for bit, more := range map[byte]int{8: 8, 1: 4} { // size of the content, number of a dictionary
		if flags&bit != 0 {
			header += more
		}
	}
	data = data[min(header, len(data)):]
	for out = make([]byte, 0, size); len(data) >= 4; {
		n := binary.LittleEndian.Uint32(data)
		if n == 0 {
			return out, nil
		}
		plain := n>>31 != 0
		if n &^= 1 << 31; uint64(n) > uint64(len(data)-4) {
			break
		}
		block := data[4:][:n]
		if data = data[4+n:]; flags&16 != 0 { // a checksum
			data = data[min(4, len(data)):]
		}
		if plain {
			if len(block) > size-len(out) {
				break
			}
			out = append(out, block...)
			continue
		}
		got, err := lz4.UncompressBlockWithDict(block, out[len(out):size], out[max(0, len(out)-1<<16):])
		if err != nil {
			return nil, err
		}
		out = out[:len(out)+got]
	}
	return nil, errors.New("a frame of LZ4 that is cut short or holds more than it claims")
}

// close ends what unpacking keeps.
func (u *unpacker) close() {
	if u.zstd != nil {
		u.zstd.Close()
	}
}

// atMost reads to the end, but not far beyond size.
func atMost(r io.Reader, size int) ([]byte, error) {
	return io.ReadAll(io.LimitReader(r, int64(size)+1))
}
