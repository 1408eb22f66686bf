package arrayfile

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// rawPage is a page with the header that a test writes.
func rawPage(t *testing.T, h format.PageHeader, data []byte) []byte {
	t.Helper()
	h.CompressedPageSize = int32(len(data))
	head, err := thrift.Marshal(new(thrift.CompactProtocol), &h)
	if err != nil {
		t.Fatal(err)
	}
	return append(head, data...)
}

// TestPagesKeepWhatTheyClaim: headers that promise more values or other sizes than their bytes hold, runs that go beyond the page, and bytes
// that do not unpack are refused, each for its own reason.
func TestPagesKeepWhatTheyClaim(t *testing.T) {
	dictionary := func(values, size int32) format.PageHeader {
		h := format.PageHeader{Type: format.DictionaryPage, UncompressedPageSize: size}
		h.DictionaryPageHeader.V, h.DictionaryPageHeader.Valid = format.DictionaryPageHeader{NumValues: values, Encoding: format.Plain}, true
		return h
	}
	data := func(values, size int32, encoding format.Encoding) format.PageHeader {
		h := format.PageHeader{Type: format.DataPage, UncompressedPageSize: size}
		h.DataPageHeader.V, h.DataPageHeader.Valid = format.DataPageHeader{NumValues: values, Encoding: encoding, RepetitionLevelEncoding: format.RLE, DefinitionLevelEncoding: format.RLE}, true
		return h
	}
	run := func(values, value uint64) []byte { return append(binary.AppendUvarint(nil, values<<1), byte(value)) }
	levels := func(runs []byte) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(runs))), runs...)
	}
	indexes := func(runs []byte) []byte { return append([]byte{1}, runs...) }
	packed := snappy.Encode(nil, make([]byte, 40))
	for name, of := range map[string]struct {
		h      format.PageHeader
		data   []byte
		codec  format.CompressionCodec
		levels int
		cause  string // "": it is in order
	}{
		"eight values in a byte":   {h: dictionary(8, 1), data: []byte{0}},
		"nine values in a byte":    {h: dictionary(9, 1), data: []byte{0}, cause: "a dictionary of 9 values in 1 bytes"},
		"a page of floats":         {h: data(10, 40, format.Plain), data: packed, codec: format.Snappy},
		"another size":             {h: data(10, 44, format.Plain), data: packed, codec: format.Snappy, cause: "44"},
		"bytes that do not unpack": {h: data(10, 40, format.Plain), data: bytes.Repeat([]byte{255}, 20), codec: format.Snappy, cause: "corrupt"},
		"indexes":                  {h: data(10, 3, format.RLEDictionary), data: indexes(run(10, 1))},
		"indexes of 33 bits":       {h: data(10, 3, format.RLEDictionary), data: append([]byte{33}, run(10, 1)...), cause: "dictionary indexes of 33 bits"},
		"a long run":               {h: data(10, 4, format.RLEDictionary), data: indexes(run(1000, 1)), cause: "a run of 1000 values in a page of 10"},
		"runs cut short":           {h: data(10, 2, format.RLEDictionary), data: indexes([]byte{200}), cause: "run lengths that are cut short"},
		"levels":                   {h: data(10, 9, format.RLEDictionary), data: append(levels(run(10, 1)), indexes(run(10, 1))...), levels: 1},
		"levels in a long run":     {h: data(10, 10, format.RLEDictionary), data: append(levels(run(1000, 1)), indexes(run(10, 1))...), levels: 1, cause: "a run of 1000 values in a page of 10"},
		"levels beyond the page":   {h: data(10, 4, format.RLEDictionary), data: []byte{9, 0, 0, 0}, levels: 1, cause: "levels that are longer than their page"},
		"levels without length":    {h: data(10, 3, format.RLEDictionary), data: []byte{0, 0, 0}, levels: 1, cause: "are not read"},
		"no header of its kind":    {h: format.PageHeader{Type: format.DataPage}, cause: "a data page without its header"},
		"more values than claimed": {h: data(101, 3, format.RLEDictionary), data: indexes(run(10, 1)), cause: "a page claims 101 values, and the column has 100 more"},
		"fewer than none":          {h: data(-1, 3, format.RLEDictionary), data: indexes(run(10, 1)), cause: "a page claims -1 values"},
		"a page of another kind":   {h: format.PageHeader{Type: format.IndexPage}, cause: "are not read"},
	} {
		g := &pageGuard{limit: freeParquet, account: newAccount(nil, 1000), mostValues: 100, def: of.levels, intBits: 32}
		page := rawPage(t, of.h, of.data)
		n, err := g.page(page, 0, of.codec)
		g.done()
		if of.cause == "" && (err != nil || n != len(page)) || of.cause != "" && (err == nil || !strings.Contains(err.Error(), of.cause)) {
			t.Errorf("%s: %d of %d bytes, %v; want %q", name, n, len(page), err, of.cause)
		}
		if used := g.account.budget.Used(); used != 0 {
			t.Errorf("%s: %d bytes stay taken", name, used)
		}
	}
}

// TestMetadataCutAnywhere: the head of a page that ends too soon is an error at every byte, and never a panic.
func TestMetadataCutAnywhere(t *testing.T) {
	h := format.PageHeader{Type: format.DataPage, UncompressedPageSize: 1000}
	h.DataPageHeader.V, h.DataPageHeader.Valid = format.DataPageHeader{NumValues: 500, Statistics: format.Statistics{MaxValue: []byte("most"), MinValue: []byte("least")}}, true
	whole := rawPage(t, h, nil)
	if n, err := thriftStruct(append(whole, 1, 2, 3)); n != len(whole) || err != nil {
		t.Fatalf("%d of %d bytes, %v", n, len(whole), err)
	}
	for n := range whole {
		if _, err := thriftStruct(whole[:n]); err != errThrift {
			t.Errorf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
}
