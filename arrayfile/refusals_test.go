package arrayfile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// says reports an error that is missing or does not name its cause.
func says(t *testing.T, what string, err error, cause string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), cause) {
		t.Errorf("%s: %v, want an error that says %q", what, err, cause)
	}
}

// TestHeadersOfNpyAreParsedStrictly: each way in which a header is no Python dictionary of the three keys.
func TestHeadersOfNpyAreParsedStrictly(t *testing.T) {
	for header, cause := range map[string]string{
		"'descr': '<f4'":                 "want {",
		"{'descr' '<f4'}":                "want : after",
		"{'descr': '<f4' 'shape': (1,)}": "want , or } after the value of",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x": "text after the dictionary",
		"{'descr': '<f4":                   "a string does not end, or has escapes",
		`{'de\scr': '<f4'}`:                "a string does not end, or has escapes",
		"{'de\nscr': '<f4'}":               "a string does not end, or has escapes",
		"{'descr': '<f4', 'shape': (1":     "a tuple does not end",
		"{'descr': '<f4', 'shape': (1 2)}": "want , or ) in a tuple",
		"{'descr': '<f4', 'shape': (" + strings.Repeat("1,", 10*maxAxes+1) + ")}": fmt.Sprintf("a shape of more than %d axes is impossible", 10*maxAxes),
		"{'descr': True, 'fortran_order': False, 'shape': (1,)}":                  "want a type name for descr",
		"{'descr': '<f4', 'fortran_order': 'x', 'shape': (1,)}":                   "want a type name for descr",
		"{'descr': '<f4', 'fortran_order': False, 'shape': 'x'}":                  "want a type name for descr",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (1L, x)}":              `"x" is not a size`,
	} {
		_, err := Parse(npyFile(header, 0, 0, 0, 0))
		says(t, header, err, cause)
	}
	for _, header := range []string{"{'descr': '<f4', 'fortran_order': False, 'shape': (1L,)}", "{ \"shape\" :( 1 ) ,'descr':'<f4','fortran_order':False,}\n"} {
		if got := loadAll(t, npyFile(header, 0, 0, 0, 0)); len(got) != 1 || fmt.Sprint(got[0].Shape, got[0].DType) != "[1] F32" {
			t.Errorf("%s: %+v", header, got)
		}
	}
}

// TestWritersRefuseWhatNoReaderTakes: an axis more than numpy has, and a name longer than zip's; the largest of both are written and read.
func TestWritersRefuseWhatNoReaderTakes(t *testing.T) {
	deep := func(axes int) Array { return Of("x", slicesOf(axes), []uint8{7}) }
	says(t, "npy", WriteNPY(io.Discard, deep(maxAxes+1)), fmt.Sprintf("has %d axes, and npy allows %d", maxAxes+1, maxAxes))
	says(t, "npz", WriteNPZ(io.Discard, []Array{deep(maxAxes + 1)}), fmt.Sprintf(`writing npz: array "x": %d axes; npy allows %d`, maxAxes+1, maxAxes))
	long := deep(maxAxes)
	long.Name = strings.Repeat("n", 1<<16-4)
	says(t, "a long name", WriteNPZ(io.Discard, []Array{long}), "the name is too long for a zip archive")
	for _, length := range []int{1, 1000, 1<<16 - 5} {
		long.Name = strings.Repeat("n", length)
		var b bytes.Buffer
		if err := WriteNPZ(&b, []Array{long}); err != nil {
			t.Fatal(err)
		}
		if got := loadAll(t, b.Bytes()); len(got) != 1 || !equalArrays(got[0], long) {
			t.Errorf("written %+v, read %+v", long, got)
		}
	}
	var b bytes.Buffer
	if err := WriteNPY(&b, deep(maxAxes)); err != nil || len(loadAll(t, b.Bytes())[0].Shape) != maxAxes {
		t.Errorf("%d axes: %v", maxAxes, err)
	}
	_, _, err := ParseSafetensors([]byte("1234567"))
	says(t, "seven bytes", err, "the file has 7 bytes, and a header length needs 8")
	_, _, err = ParseSafetensors(safetensorsFile(`{"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}}`, 0))
	says(t, "another type", err, `safetensors: tensor "a": `)
}

func slicesOf(n int) []int {
	ones := make([]int, n)
	for i := range ones {
		ones[i] = 1
	}
	return ones
}

// TestArchivesThatAreRefused: members that are empty, share a name with an array of another, or hold something else than their digest says.
func TestArchivesThatAreRefused(t *testing.T) {
	good := npyFile(npyHeaderText("'<f4'", "(2,)"), make([]byte, 8)...)
	objects := npyFile(npyHeaderText("'|O'", "(1,)"), []byte("\x80\x02"+opArray+"(K\x01K\x01\x85cnumpy\ndtype\nU\x02O8K\x00K\x01\x87R\x89](}X\x01\x00\x00\x00b"+opArray+"(K\x01K\x02\x85"+opU1+"\x89U\x02abtbsetb.")...)
	withNames := func(names ...string) []byte {
		return zipFile(t, func(z *zip.Writer) {
			for _, name := range names {
				content := good
				if name == "objects.npy" {
					content = objects
				}
				addMember(t, z, name, zip.Store, content)
			}
		})
	}
	f, err := Parse(withNames("objects.npy"))
	if err != nil || len(f.Headers()) != 1 {
		t.Fatalf("%+v, %+v, %v", f.Headers(), f.Refused(), err)
	}
	inner := f.Headers()[0].Name
	_, err = Parse(withNames(inner+".npy", "objects.npy"))
	says(t, "two of a name", err, fmt.Sprintf("npz: two arrays are called %q", inner))
	empty := zipFile(t, func(z *zip.Writer) { addMember(t, z, "x.npy", zip.Store, nil) })
	says(t, "an empty member", parseAllStrict(empty), "the member is empty")
	keras := zipFile(t, func(z *zip.Writer) { addMember(t, z, kerasWeights, zip.Store, hdf5Files(t)["hdf5_middle.h5"]) })
	if _, err := Parse(keras); err != nil {
		t.Errorf("a file of Keras: %v", err)
	}
	keras[len(keras)/2]++
	_, err = Parse(keras)
	says(t, "a damaged file of Keras", err, "keras: zip: checksum error")
	twice := zipFile(t, func(z *zip.Writer) {
		for range 2 {
			addMember(t, z, "a/data.pkl", zip.Store, []byte("\x80\x02N."))
		}
	})
	_, err = Parse(twice)
	says(t, "two pickles", err, `pt: "a/data.pkl" occurs twice`)
	longer := zipFile(t, func(z *zip.Writer) { addMember(t, z, "x.npy", zip.Deflate, append(bytes.Clone(good), 1)) })
	directory := bytes.LastIndex(longer, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(longer[directory+24:], uint32(len(good)))
	binary.LittleEndian.PutUint32(longer[directory+16:], crc32.ChecksumIEEE(good))
	says(t, "a member with more", parseAllStrict(longer), "zip: ")
}

// TestPicklesThatAreRefused: calls that PyTorch and numpy do not make, and the older format's parts in other order or number.
func TestPicklesThatAreRefused(t *testing.T) {
	ordered := "ccollections\nOrderedDict\n"
	for name, c := range map[string]struct{ ops, cause string }{
		"a parameter of nothing":    {"ctorch._utils\n_rebuild_parameter\n)R.", "a parameter that is not a tensor"},
		"an OrderedDict of a tuple": {ordered + ")\x85R.", "an OrderedDict that is not made from a list"},
		"an OrderedDict of two":     {ordered + "]]\x86R.", "an OrderedDict that is not made from a list"},
		"an OrderedDict of numbers": {ordered + "](K\x01e\x85R.", "an OrderedDict whose items are not pairs"},
		"an OrderedDict of triples": {ordered + "](K\x01K\x02K\x03\x87e\x85R.", "an OrderedDict whose items are not pairs"},
		"a view":                    {"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x04K\x01tQ.", "a storage that is a view of another"},
	} {
		says(t, name, parseAllStrict(pickled(t, c.ops)), c.cause)
	}
	if err := parseAllStrict(pickled(t, ordered+"](K\x01K\x02\x86](K\x03K\x04ee\x85R.")); err != nil {
		t.Errorf("an OrderedDict of pairs: %v", err)
	}
	for name, c := range map[string]struct{ ops, cause string }{
		"bytes of Python 2 with more": {"c__builtin__\nbytes\n(K\x01tR.", "is called in a way that is not read"},
		"a type's short state":        {"cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03tb.", "an element type without byte order"},
		"a type's order of two":       {"cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x02<<tb.", "an element type without byte order"},
		"encoded numbers":             {"c_codecs\nencode\nK\x01X\x06\x00\x00\x00latin1\x86R.", "something is encoded that is not text"},
	} {
		_, err := ParsePickle([]byte("\x80\x02" + c.ops))
		says(t, name, err, c.cause)
	}
	legacy := func(version, system, rest string) []byte {
		return []byte(legacyMagic + "\x80\x02" + version + "\x80\x02" + system + "\x80\x02" + rest)
	}
	const version, little, tensors = "M\xe9\x03.", "}X\x0d\x00\x00\x00little_endian\x88s.", "N.\x80\x02"
	if _, err := Parse(legacy(version, little, tensors+"].")); err != nil {
		t.Errorf("an empty file of the older format: %v", err)
	}
	for name, c := range map[string]struct {
		file  []byte
		cause string
	}{
		"another version":    {legacy("M\xe8\x03.", little, tensors+"]."), "version 1000 of the old format; want 1001"},
		"a big machine":      {legacy(version, "}X\x0d\x00\x00\x00little_endian\x89s.", tensors+"]."), "big-endian machine"},
		"no list of keys":    {legacy(version, little, tensors+"N."), "the old format's list of storages is missing"},
		"more than storages": {legacy(version, little, tensors+"].x"), "1 bytes follow the last storage"},
		"an unknown storage": {legacy(version, little, tensors+"](X\x01\x00\x00\x00ae."), `storage "a" is unknown, occurs twice or is cut short`},
	} {
		_, err := Parse(c.file)
		says(t, name, err, c.cause)
	}
}

// TestChunksOfHDF5ThatAreRefused: sizes that no packing can give, and chunks that unpack to another size than theirs.
func TestChunksOfHDF5ThatAreRefused(t *testing.T) {
	grid := func(bytes uint64, filter uint64) *hdf5Grid {
		return &hdf5Grid{hdf5Dataset: &hdf5Dataset{filters: []hdf5Filter{{id: filter}}}, f: &hdf5File{account: newAccount(nil, 100)}, bytes: bytes}
	}
	_, err := grid(maxDeflate*5, hdf5Deflate).inflated(make([]byte, 4), hdf5Deflate)
	says(t, "a bomb", err, fmt.Sprintf("4 packed bytes cannot hold the %d of a chunk", maxDeflate*5))
	_, err = withoutFletcher([]byte{1, 2, 3})
	says(t, "three bytes", err, "a chunk without its checksum")
	if b, err := withoutFletcher([]byte{0, 0, 0, 0}); err != nil || len(b) != 0 {
		t.Errorf("no bytes and their sum: %v, %v", b, err)
	}
	out := make([]byte, 4)
	says(t, "a short chunk of LZF", unpackLZF(out, []byte{2, 'a', 'b', 'c'}), "a chunk unpacks to 3 bytes; want 4")
	says(t, "a long chunk of LZF", unpackLZF(out, []byte{4, 'a', 'b', 'c', 'd', 'e'}), "damaged")
	says(t, "a copy from before the chunk", unpackLZF(out, []byte{0, 'a', 32, 1}), "damaged")
	if err := unpackLZF(out, []byte{0, 'a', 32, 0}); err != nil || string(out) != "aaaa" {
		t.Errorf("a copy of what was just written: %q, %v", out, err)
	}
	text := &hdf5Dataset{f: &hdf5File{account: newAccount(nil, 100)}, element: maxWord + 1, text: &hdf5Text{}}
	says(t, "a long text", text.words(1, &wordNumbers{account: newAccount(nil, 100)}), fmt.Sprintf("text of %d characters is impossible for a label; at most %d are read", maxWord+1, maxWord))
}

// TestPagesOfParquetThatAreRefused adds to TestPagesKeepWhatTheyClaim what only encodings, levels and packings can claim.
func TestPagesOfParquetThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		check func(g *pageGuard) error
		cause string
	}{
		"no deltas": {func(g *pageGuard) error { return g.decoded(nil, format.DeltaBinaryPacked, 3) }, "a delta encoding that is cut short"},
		"deltas cut short": {func(g *pageGuard) error {
			return g.decoded([]byte{128, 1, 4, 3, 0, 0, 1, 1, 1}, format.DeltaBinaryPacked, 3)
		}, "a delta encoding that is cut short"},
		"blocks of nothing": {func(g *pageGuard) error { return g.decoded([]byte{0, 4, 3, 0}, format.DeltaBinaryPacked, 3) }, "a delta encoding of 3 values in blocks of 0 and 4 parts"},
		"too many deltas":   {func(g *pageGuard) error { return g.decoded([]byte{128, 1, 4, 4, 0}, format.DeltaBinaryPacked, 3) }, "in a page of 3 values"},
		"too wide": {func(g *pageGuard) error {
			return g.decoded([]byte{128, 1, 4, 3, 0, 0, 33, 0, 0, 0}, format.DeltaBinaryPacked, 3)
		}, "differences of 33 bits in a column of 32"},
		"a negative prefix": {func(g *pageGuard) error { return g.decoded([]byte{128, 1, 4, 1, 1}, format.DeltaByteArray, 3) }, "a text that repeats less than nothing"},
		"another encoding":  {func(g *pageGuard) error { return g.decoded(nil, format.BitPacked, 3) }, "are not read; write the file with plain or dictionary encoding"},
		"runs of a boolean": {func(g *pageGuard) error { return g.decoded([]byte{9, 0, 0, 0, 1}, format.RLE, 3) }, "a page that is cut short"},
		"a bomb of LZ4": {func(g *pageGuard) error {
			_, err := g.unpacker.unpack(make([]byte, 4), format.Lz4Raw, maxLZ4*5)
			return err
		}, fmt.Sprintf("4 packed bytes cannot hold %d", maxLZ4*5)},
		"an unknown packing": {func(g *pageGuard) error { _, err := g.unpacker.unpack(nil, format.LZO, 1); return err }, "is not read; write the file with snappy"},
		"no levels": {func(g *pageGuard) error {
			g.def = 1
			h := format.PageHeader{}
			h.DataPageHeaderV2.Valid, h.DataPageHeaderV2.V.NumValues = true, 1
			return g.dataV2([]byte{}, format.Uncompressed, &h)
		}, "a page without levels in a column that needs them"},
		"long levels":        {func(g *pageGuard) error { return g.dataV2(make([]byte, 4), format.Uncompressed, levelsOf(3, 3, 100)) }, "levels that are longer than their page"},
		"long levels packed": {func(g *pageGuard) error { return g.dataV2(make([]byte, 100), format.Uncompressed, levelsOf(3, 3, 4)) }, "levels that are longer than their page"},
		"no header":          {func(g *pageGuard) error { return g.dataV2(nil, format.Uncompressed, &format.PageHeader{}) }, "a data page without its header"},
		"fewer values": {func(g *pageGuard) error {
			return g.column(&format.ColumnMetaData{NumValues: 1, DataPageOffset: 4})
		}, "its pages hold 0 values, and 1 are claimed"},
		"pages before the file": {func(g *pageGuard) error { return g.column(&format.ColumnMetaData{DataPageOffset: 3}) }, "its pages lie outside the file"},
		"pages beyond the file": {func(g *pageGuard) error {
			return g.column(&format.ColumnMetaData{DataPageOffset: 4, TotalCompressedSize: 97})
		}, "its pages lie outside the file"},
		"pages of 2^63 bytes": {func(g *pageGuard) error {
			return g.column(&format.ColumnMetaData{DataPageOffset: 4, TotalCompressedSize: 1<<63 - 1})
		}, "its pages lie outside the file"},
		"pages of less than none": {func(g *pageGuard) error {
			return g.column(&format.ColumnMetaData{DataPageOffset: 4, TotalCompressedSize: -1})
		}, "its pages lie outside the file"},
		"a page before the column": {func(g *pageGuard) error {
			return g.column(&format.ColumnMetaData{DictionaryPageOffset: 50, DataPageOffset: 49, TotalCompressedSize: 10})
		}, "its first page lies outside the column"},
		"a page after the column": {func(g *pageGuard) error {
			return g.column(&format.ColumnMetaData{DictionaryPageOffset: 50, DataPageOffset: 61, TotalCompressedSize: 10})
		}, "its first page lies outside the column"},
	} {
		g := &pageGuard{file: make([]byte, 100), limit: freeParquet, account: newAccount(nil, 1000), mostValues: 100, intBits: 32}
		says(t, name, c.check(g), c.cause)
		g.done()
		if used := g.account.budget.Used(); used != 0 {
			t.Errorf("%s: %d bytes stay taken", name, used)
		}
	}
}

// levelsOf is the header of a page of one value with so many bytes of levels, which unpacks to a size.
func levelsOf(rep, def, size int32) *format.PageHeader {
	h := &format.PageHeader{UncompressedPageSize: size}
	h.DataPageHeaderV2.Valid = true
	h.DataPageHeaderV2.V.NumValues, h.DataPageHeaderV2.V.RepetitionLevelsByteLength, h.DataPageHeaderV2.V.DefinitionLevelsByteLength = 1, rep, def
	return h
}

// withMetadata is a file of Parquet with other metadata.
func withMetadata(t *testing.T, b []byte, change func(*format.FileMetaData)) []byte {
	t.Helper()
	footer := int64(binary.LittleEndian.Uint32(b[len(b)-8:]))
	var meta format.FileMetaData
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), footerOf(b, footer), &meta); err != nil {
		t.Fatal(err)
	}
	change(&meta)
	made, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	if err != nil {
		t.Fatal(err)
	}
	out := append(bytes.Clone(b[:int64(len(b))-8-footer]), made...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(made))), parquetMagic...)
}

// TestMetadataOfParquetThatIsRefused: numbers of rows and values that no file of the size holds or that contradict each other.
func TestMetadataOfParquetThatIsRefused(t *testing.T) {
	b := parquetBytes(t, make([]struct{ X int64 }, 10))
	lists := parquetBytes(t, []struct{ X []int64 }{{[]int64{1, 2}}, {[]int64{3, 4}}})
	rows := func(rows, values int64) func(*format.FileMetaData) {
		return func(m *format.FileMetaData) {
			m.NumRows, m.RowGroups[0].NumRows, m.RowGroups[0].Columns[0].MetaData.NumValues = rows, rows, values
		}
	}
	for name, c := range map[string]struct {
		file  []byte
		cause string
	}{
		"2^40 values":           {withMetadata(t, b, rows(1<<40, 1<<40)), fmt.Sprintf("it claims %d values, more than %d times the file", int64(1<<40), ratioParquet)},
		"more values than rows": {withMetadata(t, b, rows(10, 11)), "11 values in 10 rows"},
		"fewer than none":       {withMetadata(t, b, rows(10, -1)), "its metadata contradict each other"},
		"lists of 3 in 2":       {withMetadata(t, lists, rows(2, 3)), "its lists have different lengths (3 values in 2 rows)"},
		"lists of no row":       {withMetadata(t, lists, rows(0, 4)), "its lists have different lengths (4 values in 0 rows)"},
		"wider lists":           {withMetadata(t, lists, rows(1, 4)), "row 0 has 2 values, and others 4"},
		"wider lists at last":   {withMetadata(t, parquetBytes(t, []struct{ X []int64 }{{[]int64{1, 2, 3}}, {[]int64{4}}}), rows(2, 4)), "row 0 has more than 2 values"},
		"short lists at last":   {withMetadata(t, parquetBytes(t, []struct{ X []int64 }{{[]int64{1, 2}}, {[]int64{3, 4}}, {[]int64{5, 6}}}), rows(1, 6)), "row 0 has 2 values, and others 6"},
	} {
		says(t, name, parseAllStrict(c.file), c.cause)
	}
	if err := parseAllStrict(withMetadata(t, b, rows(10, 10))); err != nil {
		t.Errorf("the same metadata: %v", err)
	}
}

// TestTablesThatAreTooLarge: a table, and metadata of columns, need room that a budget may not have; the error says so.
func TestTablesThatAreTooLarge(t *testing.T) {
	var full *BudgetError
	for name, b := range map[string][]byte{"table of text": []byte("a,b\n1,2\n"), "bytes of metadata": parquetBytes(t, make([]struct{ X int64 }, 10)), "arrow": arrowFiles(t)["stream.arrow"]} {
		if _, err := ParseWithin(b, NewBudget(1)); !errors.As(err, &full) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// schemaOf is a schema, as a flatbuffer, of one column with so many levels of columns below; each refers so many times to the same one.
func schemaOf(levels, times int, name string) flat {
	le := binary.LittleEndian
	each := 16 + 20 + 4 + 4*times // a column's table of fields, the column, and the vector of its children
	end := 24 + levels*each
	b := le.AppendUint32(le.AppendUint16(le.AppendUint16(le.AppendUint16(le.AppendUint16(nil, 8), 8), 0), 4), 8) // the root has a second field
	b = le.AppendUint32(le.AppendUint32(le.AppendUint32(b, 4), 1), 4+16)
	for i := range levels {
		for _, x := range []uint16{16, 20, 4, 0, 8, 12, 0, 16} { // name, type's kind, type, children
			b = le.AppendUint16(b, x)
		}
		b = le.AppendUint32(b, 16)
		b = le.AppendUint32(b, uint32(end-len(b)))
		b = le.AppendUint32(b, arrowStruct)
		b = le.AppendUint32(le.AppendUint32(b, 0), 4)
		next := 24 + (i+1)*each + 16
		below := times
		if i == levels-1 {
			below = 0
		}
		b = le.AppendUint32(b, uint32(below))
		for range times {
			b = le.AppendUint32(b, uint32(next-len(b)))
		}
	}
	return flat{append(le.AppendUint32(b, uint32(len(name))), name...), 8}
}

// TestSchemasOfArrowThatAreRefused: columns nested without end, columns that refer to the same ones again and again, and names of megabytes.
func TestSchemasOfArrowThatAreRefused(t *testing.T) {
	for what, c := range map[string]struct {
		schema flat
		cause  string
	}{
		"as deep as may be": {schemaOf(maxArrowDepth+1, 1, "x"), ""},
		"deeper":            {schemaOf(maxArrowDepth+2, 1, "x"), "nested too deeply"},
		"shared":            {schemaOf(4, 3, "x"), ""},
		"shared too often":  {schemaOf(12, 4, "x"), "more columns than its bytes hold"},
		"a long name":       {schemaOf(1, 1, strings.Repeat("x", maxName)), ""},
		"a longer name":     {schemaOf(1, 1, strings.Repeat("x", maxName+1)), fmt.Sprintf("the name of a column has %d bytes", maxName+1)},
	} {
		fields, err := (&schemaReader{left: len(c.schema.b)}).fields(c.schema, 1, 0)
		if c.cause != "" {
			says(t, what, err, c.cause)
		} else if err != nil || len(fields) != 1 || !strings.HasPrefix(fields[0].name, "x") || fields[0].kind != arrowStruct {
			t.Errorf("%s: %v, %v", what, fields, err)
		}
	}
}

// TestTruthsOfArrowThatAreMissing: a column of bits whose bytes are fewer than its rows.
func TestTruthsOfArrowThatAreMissing(t *testing.T) {
	for bytes, cause := range map[int]string{2: "", 1: "16 values in 1 bytes", 0: "16 values in 0 bytes"} {
		f := &arrowField{name: "x", kind: arrowBool, dtype: Bool}
		at := binary.LittleEndian.AppendUint64(make([]byte, 24), uint64(bytes)) // places and lengths of two buffers
		a := &arrowFile{fields: []*arrowField{f}, account: newAccount(nil, 100), batches: []arrowBatch{{rows: 16, codec: -1, nodes: make([]byte, 16), buffers: at, body: []byte{5, 128}}}}
		c := &arrowColumn{arrowFile: a, f: f, width: 1, rows: 16}
		out, err := c.load()
		if cause != "" {
			says(t, "few bytes", err, cause)
		} else if err != nil || !slices.Equal(out, []byte{1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}) {
			t.Errorf("%v, %v", out, err)
		}
	}
}

// TestEveryTypeOfSafetensors is read by its name, and of data_offsets neither may be below 0.
func TestEveryTypeOfSafetensors(t *testing.T) {
	for d := DType(1); d.valid(); d++ {
		file := safetensorsFile(fmt.Sprintf(`{"x":{"dtype":"%s","shape":[1],"data_offsets":[0,%d]}}`, d, d.Size()), make([]byte, d.Size())...)
		if got, err := spelled(file); err != nil || !strings.HasPrefix(got, fmt.Sprintf(`"x": %s [1]`, d)) {
			t.Errorf("%s: %q, %v", d, got, err)
		}
	}
	for offsets, cause := range map[string]string{"-1,0": "data_offsets [-1 0]: want a beginning and an end", "0,-1": "", "0": "data_offsets [0]"} {
		err := parseAll(safetensorsFile(`{"x":{"dtype":"U8","shape":[1],"data_offsets":[`+offsets+`]}}`, 0))
		if says(t, offsets, err, cause); err == nil {
			t.Errorf("%s is read", offsets)
		}
	}
}

// TestPagesOfParquetWithSizesBelowNothing: neither packed nor unpacked.
func TestPagesOfParquetWithSizesBelowNothing(t *testing.T) {
	for what, h := range map[string]format.PageHeader{"packed": {CompressedPageSize: -1}, "unpacked": {UncompressedPageSize: -1}} {
		b, err := thrift.Marshal(new(thrift.CompactProtocol), &h)
		if err != nil {
			t.Fatal(err)
		}
		g := &pageGuard{file: make([]byte, 100), limit: freeParquet, account: newAccount(nil, 1000), mostValues: 100, intBits: 32}
		_, err = g.page(append(b, make([]byte, 20)...), 0, format.Uncompressed)
		says(t, what, err, "bytes, and 20 are left")
		g.done()
	}
}

// TestWhatIsLeftOfMAT: an element that is cut short says how much is there of it.
func TestWhatIsLeftOfMAT(t *testing.T) {
	m := newMAT(binary.LittleEndian, false)
	m.add(m.matrix(9, []int{2, 3}, "x", 2, []byte("sixish"), false))
	claimed := len(m.b) - matHeader - 8
	_, err := parseMAT(m.b[:len(m.b)-5], newAccount(nil, 1000))
	says(t, "cut", err, fmt.Sprintf("%d bytes are claimed and %d are left; the file was cut short", claimed, claimed-5))
}
