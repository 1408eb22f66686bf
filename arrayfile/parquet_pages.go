package arrayfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// pageGuard checks the pages of a column before the Parquet library decodes them, because the library allocates what page headers,
// compressed blocks and run lengths claim. A page passes only if its claims agree with its bytes.
type pageGuard struct {
	file       []byte
	source     *parquetSource // what the library will read
	limit      int64          // bytes that all pages together may unpack to
	account    *account
	held       int64 // taken from account for the most demanding page
	need       int64 // of the page at hand
	unpacker   unpacker
	boolean    bool   // the column's type
	intBits    byte   // of its whole numbers
	bools      []byte // its values, one a byte
	rep, def   int    // largest repetition and definition level
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
	for end := start + meta.TotalCompressedSize; start < end; {
		n, err := g.page(g.file[start:end], start, meta.Codec)
		if err != nil {
			return err
		}
		start += int64(n)
	}
	if g.values != meta.NumValues {
		return fmt.Errorf("its pages hold %d values, and %d are claimed", g.values, meta.NumValues)
	}
	return nil
}

// page checks one page, which is at a place of the file, and returns its length with its header.
func (g *pageGuard) page(b []byte, at int64, codec format.CompressionCodec) (int, error) {
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
		return 0, errUnpacked(g.limit)
	}
	if codec == format.Lz4Raw {
		if err := g.source.blankSize(b[:n], at); err != nil {
			return 0, err
		}
	}
	data := b[n : n+int(packed)]
	if err := g.hold(&h); err != nil {
		return 0, err
	}
	switch h.Type {
	case format.DictionaryPage:
		data, err = g.unpacker.unpack(data, codec, int(h.UncompressedPageSize))
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

func errUnpacked(limit int64) error {
	return fmt.Errorf("its pages unpack to more than %d bytes, %d times the file; if that is intended, write it again less compressed", limit, ratioParquet)
}

// hold takes the memory of a page: unpacked here and by the library, and as many decoded indexes and levels as it claims. The next
// page reuses or drops it.
func (g *pageGuard) hold(h *format.PageHeader) error {
	count := max(h.DictionaryPageHeader.V.NumValues, h.DataPageHeader.V.NumValues, h.DataPageHeaderV2.V.NumValues, 0)
	g.need = 0
	if err := g.more(3*int64(h.UncompressedPageSize) + 12*int64(count)); err != nil {
		return fmt.Errorf("a page of %d bytes and %d values: %w", h.UncompressedPageSize, count, err)
	}
	return nil
}

// more adds to the memory of the page at hand.
func (g *pageGuard) more(n int64) error {
	g.need += n
	if g.need <= g.held {
		return nil
	}
	if err := g.account.take(g.need - g.held); err != nil {
		return err
	}
	g.held = g.need
	return nil
}

// done returns what the pages took.
func (g *pageGuard) done() {
	g.unpacker.close()
	g.account.give(g.held)
}

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
	data, err := g.unpacker.unpack(data, codec, int(h.UncompressedPageSize))
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
		if err := g.runs(data[4:4+n], bits.Len(uint(level.most)), int64(v.NumValues)); err != nil {
			return err
		}
		data = data[4+n:]
	}
	return g.decoded(data, v.Encoding, int64(v.NumValues))
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
			if err := g.runs(level.data, bits.Len(uint(level.most)), int64(v.NumValues)); err != nil {
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
		if body, err = g.unpacker.unpack(body, codec, int(int64(h.UncompressedPageSize)-rep-def)); err != nil {
			return err
		}
	}
	return g.decoded(body, v.Encoding, int64(v.NumValues))
}
