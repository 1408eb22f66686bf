package arrayfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/parquet-go/parquet-go/encoding/delta"
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

// decoded checks what the values of a page decode to.
func (g *pageGuard) decoded(data []byte, encoding format.Encoding, most int64) error {
	switch encoding {
	case format.Plain, format.ByteStreamSplit:
		if g.boolean {
			g.bits(data, most)
		}
		return nil // their length is their count
	//lint:ignore SA1019 older writers use the first.
	case format.PlainDictionary, format.RLEDictionary:
		if len(data) == 0 {
			return nil
		}
		if data[0] > 32 {
			return fmt.Errorf("dictionary indexes of %d bits", data[0])
		}
		return g.runs(data[1:], int(data[0]), most)
	case format.RLE: // booleans
		if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
			return errors.New("a page that is cut short")
		}
		data = data[4:][:binary.LittleEndian.Uint32(data)]
		if err := g.runs(data, 1, most); err != nil {
			return err
		}
		g.boolRuns(data, most)
		return nil
	case format.DeltaBinaryPacked:
		return deltas(data, most, g.intBits)
	case format.DeltaLengthByteArray:
		return deltas(data, most, 32)
	case format.DeltaByteArray:
		return g.prefixes(data, most)
	}
	return fmt.Errorf("values encoded as %v are not read; write the file with plain or dictionary encoding", encoding)
}

// indexMemory is what the library keeps of a run's value: an index of 32 bits.
const indexMemory = 4

// runs bounds the run lengths of the hybrid encoding of runs and bit-packed groups, and takes the memory of values beyond those of the
// page: writers fill the last run up.
func (g *pageGuard) runs(data []byte, width int, most int64) error {
	extra, err := paddingOf(data, width, most)
	if err != nil {
		return err
	}
	return g.more(indexMemory * extra)
}

// paddingOf returns how many values the runs hold beyond the page's. There can be 8 for each byte of them.
func paddingOf(data []byte, width int, most int64) (int64, error) {
	room, total := uint64(most)+8*uint64(len(data)), uint64(0)
	for len(data) > 0 {
		head, n := binary.Uvarint(data)
		if n <= 0 {
			return 0, errors.New("run lengths that are cut short")
		}
		data = data[n:]
		count, size := head>>1, uint64(width+7)/8
		if head&1 != 0 && count <= room { // groups of eight
			count, size = 8*count, count*uint64(width)
		}
		if count > room || size > uint64(len(data)) {
			return 0, fmt.Errorf("a run of %d values in a page of %d", count, most)
		}
		if total += count; total > room {
			return 0, fmt.Errorf("runs of more than the page's %d values", most)
		}
		data = data[size:]
	}
	return max(0, int64(total)-most), nil
}

// bits reads at most so many booleans, eight a byte.
func (g *pageGuard) bits(data []byte, most int64) {
	for i := range min(most, 8*int64(len(data))) {
		g.bools = append(g.bools, data[i/8]>>(i%8)&1)
	}
}

// boolRuns reads booleans in runs that were checked: the library reads runs of one value as if a byte were eight of them.
func (g *pageGuard) boolRuns(data []byte, most int64) {
	for len(data) > 0 && most > 0 {
		head, n := binary.Uvarint(data)
		data = data[n:]
		count := min(int64(head>>1), most)
		if head&1 != 0 {
			packed := data[:head>>1]
			count = min(8*int64(len(packed)), most)
			g.bits(packed, count)
			data = data[len(packed):]
		} else {
			g.bools = append(g.bools, bytes.Repeat(data[:1], int(count))...)
			data = data[1:]
		}
		most -= count
	}
}

// deltas checks a delta encoding: block size, miniblocks, count, first value, and of each block the widths of its numbers, which are in
// bits and at most those of the values. Some writers put 33 into a column of 32, which the library reads as other numbers.
func deltas(data []byte, most int64, bits byte) error {
	var head [4]uint64
	for i := range head {
		v, n := binary.Uvarint(data)
		if n <= 0 {
			return errors.New("a delta encoding that is cut short")
		}
		head[i], data = v, data[n:]
	}
	block, parts, count := head[0], head[1], head[2]
	if block == 0 || block > 1<<16 || parts == 0 || parts > block || count > uint64(most) {
		return fmt.Errorf("a delta encoding of %d values in blocks of %d and %d parts, in a page of %d values", count, block, parts, most)
	}
	for left := int64(count) - 1; left > 0; {
		_, n := binary.Uvarint(data)
		if n <= 0 || uint64(len(data)-n) < parts {
			return errors.New("a delta encoding that is cut short")
		}
		widths := data[n:][:parts]
		data = data[uint64(n)+parts:]
		for _, w := range widths {
			if left <= 0 {
				break
			}
			if w > bits {
				return fmt.Errorf("differences of %d bits in a column of %d: write it again in another encoding, or with other software", w, bits)
			}
			data = data[min(uint64(len(data)), block/parts*uint64(w)/8):]
			left -= int64(block / parts)
		}
	}
	return nil
}

// prefixes bounds texts that repeat the beginning of the one before: n bytes can ask for n² of them.
func (g *pageGuard) prefixes(data []byte, most int64) error {
	if err := deltas(data, most, 32); err != nil {
		return err
	}
	lengths, err := new(delta.BinaryPackedEncoding).DecodeInt32(nil, data)
	if err != nil {
		return err
	}
	size := int64(0)
	for _, n := range lengths {
		if n < 0 {
			return errors.New("a text that repeats less than nothing")
		}
		size += int64(n) // at most 2⁶² in all
	}
	if g.unpacked += size; g.unpacked > g.limit {
		return errUnpacked(g.limit)
	}
	return g.more(2 * size)
}
