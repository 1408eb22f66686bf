package arrayfile

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// pageGuard checks the pages of a column before the Parquet library decodes them, because the library allocates what page headers,
// compressed blocks and run lengths claim. A page passes only if its claims agree with its bytes.
type pageGuard struct {
	file       []byte
	limit      int64 // bytes that all pages together may unpack to
	account    *account
	held       int64 // taken from account for the most demanding page
	rep, def   int   // largest repetition and definition level
	unpacked   int64
	values     int64 // values of data pages so far
	mostValues int64
}

// column checks every page of a column chunk.
func (g *pageGuard) column(meta *format.ColumnMetaData) error {
	start := meta.DataPageOffset
	if meta.DictionaryPageOffset != 0 {
		start = meta.DictionaryPageOffset
	}
	size := int64(len(g.file))
	if start < 4 || meta.TotalCompressedSize < 0 || start > size || meta.TotalCompressedSize > size-start {
		return errors.New("its pages lie outside the file, which may be cut short")
	}
	if meta.DataPageOffset < start || meta.DataPageOffset > start+meta.TotalCompressedSize {
		return errors.New("its first page lies outside the column")
	}
	g.values, g.mostValues = 0, meta.NumValues
	for rest := g.file[start : start+meta.TotalCompressedSize]; len(rest) > 0; {
		n, err := g.page(rest, meta.Codec)
		if err != nil {
			return err
		}
		rest = rest[n:]
	}
	if g.values != meta.NumValues {
		return fmt.Errorf("its pages hold %d values, and %d are claimed", g.values, meta.NumValues)
	}
	return nil
}

// page checks one page and returns its length with its header.
func (g *pageGuard) page(b []byte, codec format.CompressionCodec) (int, error) {
	n, err := thriftStruct(b)
	if err != nil {
		return 0, fmt.Errorf("page header: %w", err)
	}
	var h format.PageHeader
	if err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReaderFromBytes(b[:n])).Decode(&h); err != nil {
		return 0, fmt.Errorf("page header: %w", err)
	}
	packed := int64(h.CompressedPageSize)
	if packed < 0 || packed > int64(len(b)-n) || h.UncompressedPageSize < 0 {
		return 0, fmt.Errorf("a page claims %d bytes, and %d are left", packed, len(b)-n)
	}
	if g.unpacked += int64(h.UncompressedPageSize); g.unpacked > g.limit {
		return 0, fmt.Errorf("its pages unpack to more than %d bytes, %d times the file; if that is intended, write it again less compressed", g.limit, ratioParquet)
	}
	data := b[n : n+int(packed)]
	if err := g.hold(&h); err != nil {
		return 0, err
	}
	switch h.Type {
	case format.DictionaryPage:
		data, err = unpack(data, codec, int(h.UncompressedPageSize))
		if err == nil && int64(h.DictionaryPageHeader.V.NumValues) > 8*int64(len(data)) {
			err = fmt.Errorf("a dictionary of %d values in %d bytes", h.DictionaryPageHeader.V.NumValues, len(data))
		}
	case format.DataPage:
		err = g.dataV1(data, codec, &h)
	case format.DataPageV2:
		err = g.dataV2(data, codec, &h)
	default:
		err = fmt.Errorf("pages of type %v are not read", h.Type)
	}
	return n + int(packed), err
}

// hold takes the memory of a page: unpacked here and by the library, and as many decoded indexes and levels as it claims. The next
// page reuses or drops it.
func (g *pageGuard) hold(h *format.PageHeader) error {
	count := max(h.DictionaryPageHeader.V.NumValues, h.DataPageHeader.V.NumValues, h.DataPageHeaderV2.V.NumValues, 0)
	need := 3*int64(h.UncompressedPageSize) + 12*int64(count)
	if need <= g.held {
		return nil
	}
	if err := g.account.take(need - g.held); err != nil {
		return fmt.Errorf("a page of %d bytes and %d values: %w", h.UncompressedPageSize, count, err)
	}
	g.held = need
	return nil
}

// done returns what the pages took.
func (g *pageGuard) done() { g.account.give(g.held) }

func (g *pageGuard) count(n int32) error {
	if n < 0 || int64(n) > g.mostValues-g.values {
		return fmt.Errorf("a page claims %d values, and the column has %d more", n, g.mostValues-g.values)
	}
	g.values += int64(n)
	return nil
}

func (g *pageGuard) dataV1(data []byte, codec format.CompressionCodec, h *format.PageHeader) error {
	v := &h.DataPageHeader.V
	if !h.DataPageHeader.Valid {
		return errors.New("a data page without its header")
	}
	if err := g.count(v.NumValues); err != nil {
		return err
	}
	data, err := unpack(data, codec, int(h.UncompressedPageSize))
	if err != nil {
		return err
	}
	for _, level := range []struct {
		most     int
		encoding format.Encoding
	}{{g.rep, v.RepetitionLevelEncoding}, {g.def, v.DefinitionLevelEncoding}} {
		if level.most == 0 {
			continue
		}
		if level.encoding != format.RLE || len(data) < 4 {
			return fmt.Errorf("levels encoded as %v are not read", level.encoding)
		}
		n := uint64(binary.LittleEndian.Uint32(data))
		if n > uint64(len(data)-4) {
			return errors.New("levels that are longer than their page")
		}
		if err := runs(data[4:4+n], bits.Len(uint(level.most)), int64(v.NumValues)); err != nil {
			return err
		}
		data = data[4+n:]
	}
	return values(data, v.Encoding, int64(v.NumValues))
}

func (g *pageGuard) dataV2(data []byte, codec format.CompressionCodec, h *format.PageHeader) error {
	v := &h.DataPageHeaderV2.V
	rep, def := int64(v.RepetitionLevelsByteLength), int64(v.DefinitionLevelsByteLength)
	if !h.DataPageHeaderV2.Valid {
		return errors.New("a data page without its header")
	}
	if err := g.count(v.NumValues); err != nil {
		return err
	}
	if rep < 0 || def < 0 || rep+def > int64(len(data)) || rep+def > int64(h.UncompressedPageSize) || v.NumNulls < 0 || v.NumNulls > v.NumValues {
		return errors.New("levels that are longer than their page")
	}
	for _, level := range []struct {
		most int
		data []byte
	}{{g.rep, data[:rep]}, {g.def, data[rep : rep+def]}} {
		if level.most > 0 {
			if err := runs(level.data, bits.Len(uint(level.most)), int64(v.NumValues)); err != nil {
				return err
			}
		}
	}
	if (g.rep > 0 && rep == 0 || g.def > 0 && def == 0) && v.NumValues > 0 {
		return errors.New("a page without levels in a column that needs them")
	}
	body := data[rep+def:]
	if v.IsCompressed.V || !v.IsCompressed.Valid {
		var err error
		if body, err = unpack(body, codec, int(int64(h.UncompressedPageSize)-rep-def)); err != nil {
			return err
		}
	}
	return values(body, v.Encoding, int64(v.NumValues))
}

// values checks the counts that an encoding contains.
func values(data []byte, encoding format.Encoding, most int64) error {
	switch encoding {
	case format.Plain, format.ByteStreamSplit:
		return nil // their length is their count
	//lint:ignore SA1019 older writers use the first.
	case format.PlainDictionary, format.RLEDictionary:
		if len(data) == 0 {
			return nil
		}
		if data[0] > 32 {
			return fmt.Errorf("dictionary indexes of %d bits", data[0])
		}
		return runs(data[1:], int(data[0]), most)
	case format.RLE: // booleans
		if len(data) < 4 {
			return errors.New("a page that is cut short")
		}
		return runs(data[4:], 1, most)
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray:
		return delta(data, most)
	}
	return fmt.Errorf("values encoded as %v are not read; write the file with plain or dictionary encoding", encoding)
}

// runs adds up the run lengths of the hybrid encoding of runs and bit-packed groups.
func runs(data []byte, width int, most int64) error {
	total := uint64(0)
	for len(data) > 0 {
		head, n := binary.Uvarint(data)
		if n <= 0 {
			return errors.New("run lengths that are cut short")
		}
		data = data[n:]
		count, size := head>>1, uint64(width+7)/8
		if head&1 != 0 { // groups of eight
			count, size = 8*count, count*uint64(width)
		}
		if head>>1 > uint64(most) || size > uint64(len(data)) {
			return fmt.Errorf("a run of %d values in a page of %d", head>>1, most)
		}
		if total += count; total > uint64(most)+7 {
			return fmt.Errorf("runs of more than the page's %d values", most)
		}
		data = data[size:]
	}
	return nil
}

// delta checks the header of a delta encoding: block size, miniblocks, count.
func delta(data []byte, most int64) error {
	var head [3]uint64
	for i := range head {
		v, n := binary.Uvarint(data)
		if n <= 0 {
			return errors.New("a delta encoding that is cut short")
		}
		head[i], data = v, data[n:]
	}
	if head[0] == 0 || head[0] > 1<<16 || head[1] == 0 || head[1] > head[0] || head[2] > uint64(most) {
		return fmt.Errorf("a delta encoding of %d values in blocks of %d and %d parts, in a page of %d values", head[2], head[0], head[1], most)
	}
	return nil
}

// unpack decompresses data to exactly size bytes, and never produces more.
func unpack(data []byte, codec format.CompressionCodec, size int) ([]byte, error) {
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
		var r *zstd.Decoder
		if r, err = zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(size)+1<<20)); err == nil {
			out, err = atMost(r, size)
			r.Close()
		}
	default:
		return nil, fmt.Errorf("compression %v is not read; write the file with snappy, gzip, zstd or none", codec)
	}
	if err != nil {
		return nil, fmt.Errorf("unpacking a page: %w", err)
	}
	if len(out) != size {
		return nil, fmt.Errorf("a page unpacks to another size than the %d bytes it claims", size)
	}
	return out, nil
}

// atMost reads to the end, but not far beyond size.
func atMost(r io.Reader, size int) ([]byte, error) {
	return io.ReadAll(io.LimitReader(r, int64(size)+1))
}
