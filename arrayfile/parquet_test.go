package arrayfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/delta"
)

type parquetRow struct {
	Features []float32 `parquet:"features,list"`
	Label    int64     `parquet:"label"`
	Word     string    `parquet:"word,dict"`
	Double   []float64 `parquet:"double"`
	Small    uint32    `parquet:"small,delta"`
	Flag     bool      `parquet:"flag"`
}

func parquetRows(n int) []parquetRow {
	rows := make([]parquetRow, n)
	for i := range rows {
		f := float32(i)
		rows[i] = parquetRow{[]float32{f, f + 0.25, f + 0.5}, int64(i % 4), []string{"dog", "cat", "ant"}[i%3], []float64{float64(i) / 3, -1}, uint32(i) + 1<<31, i%2 == 1}
	}
	return rows
}

func parquetBytes[T any](t testing.TB, rows []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestParquet(t *testing.T) {
	rows := parquetRows(5000)
	for name, codec := range map[string]compress.Codec{"none": &parquet.Uncompressed, "snappy": &parquet.Snappy, "gzip": &parquet.Gzip, "zstd": &parquet.Zstd, "brotli": &parquet.Brotli, "lz4": &parquet.Lz4Raw} {
		for _, version := range []int{1, 2} {
			b := parquetBytes(t, rows, parquet.Compression(codec), parquet.DataPageVersion(version), parquet.PageBufferSize(4096), parquet.MaxRowsPerRowGroup(1777))
			f, err := Parse(b)
			if err != nil {
				t.Fatalf("%s, version %d: %v", name, version, err)
			}
			checkParquet(t, fmt.Sprintf("%s, version %d", name, version), f, rows)
		}
	}
}

func checkParquet(t *testing.T, name string, f *File, rows []parquetRow) {
	t.Helper()
	load := func(key, header string) Array {
		a, err := f.Load(key)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := fmt.Sprint(a.DType, " ", a.Shape); got != header {
			t.Fatalf("%s: %s is %s, want %s", name, key, got, header)
		}
		if err := a.check(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return a
	}
	n := len(rows)
	features, _ := load("features", fmt.Sprintf("F32 [%d 3]", n)).Float64s()
	double, _ := load("double", fmt.Sprintf("F64 [%d 2]", n)).Float64s()
	labels, _ := load("label", fmt.Sprintf("I64 [%d]", n)).Int64s()
	small, _ := load("small", fmt.Sprintf("U32 [%d]", n)).Int64s()
	flags, _ := load("flag", fmt.Sprintf("BOOL [%d]", n)).Int64s()
	words := load("word", fmt.Sprintf("I64 [%d]", n))
	codes, _ := words.Int64s()
	for i, r := range rows {
		if features[3*i+1] != float64(r.Features[1]) || double[2*i] != r.Double[0] || labels[i] != r.Label || small[i] != int64(r.Small) ||
			(flags[i] == 1) != r.Flag || words.Categories[codes[i]] != r.Word {
			t.Fatalf("%s: row %d is %v %v %v %v %v %v, want %+v", name, i, features[3*i:3*i+3], double[2*i], labels[i], small[i], flags[i], codes[i], r)
		}
	}
	if fmt.Sprint(words.Categories) != "[ant cat dog]" {
		t.Errorf("%s: categories %v", name, words.Categories)
	}
}

// TestParquetOfOtherWriters reads the sample files that come with the Parquet library's module, written by Impala, Spark, pyarrow
// and others: whole columns must pass the guard, and a known one has its values.
func TestParquetOfOtherWriters(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/parquet-go/parquet-go").Output()
	if err != nil {
		t.Skipf("the module's sample files are not at hand: %v", err)
	}
	folder := filepath.Join(strings.TrimSpace(string(dir)), "testdata")
	f, err := Open(filepath.Join(folder, "alltypes_plain.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := textOf(t, f, "id"); got != "I32 [8] [4 5 6 7 2 3 0 1]" {
		t.Errorf("alltypes_plain.parquet: id is %s", got)
	}
	if got := textOf(t, f, "double_col"); got != "F64 [8] [0 10.1 0 10.1 0 10.1 0 10.1]" {
		t.Errorf("alltypes_plain.parquet: double_col is %s", got)
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	read, refused := 0, map[string]int{}
	for _, path := range paths {
		f, err := Open(path)
		if err != nil {
			refused[path+": "+err.Error()]++
			continue
		}
		for _, e := range f.entries {
			if _, err := f.Load(e.Name); err != nil {
				refused[err.Error()]++
				continue
			}
			read++
		}
		f.Close()
	}
	t.Logf("%d columns of %d files are read; refused: %v", read, len(paths), refused)
	if read < 100 {
		t.Errorf("only %d columns of %d files are read", read, len(paths))
	}
}

func TestParquetThatIsRefused(t *testing.T) {
	type nullable struct {
		F []*float32 `parquet:"f,list"`
		L *int64     `parquet:"l"`
	}
	one, two := float32(1), int64(2)
	type lists struct {
		F []float32 `parquet:"f"`
	}
	type inner struct {
		V []float32 `parquet:"v"`
	}
	type deep struct {
		F []inner `parquet:"f"`
	}
	for name, c := range map[string]struct {
		file []byte
		key  string
		want string
	}{
		"null in a list":    {parquetBytes(t, []nullable{{[]*float32{&one, &one}, &two}, {[]*float32{&one, nil}, &two}}), "f", "row 1 is null"},
		"null label":        {parquetBytes(t, []nullable{{[]*float32{&one}, &two}, {[]*float32{&one}, nil}}), "l", "row 1 is null"},
		"lengths":           {parquetBytes(t, []lists{{[]float32{1, 2}}, {[]float32{1, 2, 3}}}), "f", "different lengths"},
		"lengths that even": {parquetBytes(t, []lists{{[]float32{1, 2}}, {[]float32{1, 2, 3}}, {[]float32{1}}}), "f", "row 1 has more than 2 values"},
		"empty list":        {parquetBytes(t, []lists{{[]float32{1}}, {nil}}), "f", "row 1 is null"},
		"lists of lists":    {parquetBytes(t, []deep{{[]inner{{[]float32{1}}}}}), "f.v", "lists of lists"},
	} {
		f, err := Parse(c.file)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := f.Load(c.key); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestHostileParquet(t *testing.T) {
	whole := parquetBytes(t, parquetRows(300), parquet.DataPageVersion(1), parquet.Compression(&parquet.Snappy))
	footer := func(meta []byte) []byte {
		b := append([]byte(parquetMagic), meta...)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(meta)))
		return append(b, parquetMagic...)
	}
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"only magic":             {[]byte("PAR1"), "end of the file is missing"},
		"footer of 4 GB":         {append(append([]byte("PAR1abcd"), 0xff, 0xff, 0xff, 0xff), "PAR1"...), "impossible"},
		"list of 2³¹ columns":    {footer([]byte{0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07}), "claims"},
		"nested metadata":        {footer(bytes.Repeat([]byte{0x1c}, 5000)), "nested more than"},
		"text beyond the footer": {footer([]byte{0x18, 0xff, 0xff, 0xff, 0xff, 0x0f}), "claims"},
	} {
		if err := parseAllStrict(c.file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	for n := range len(whole) {
		if parseAllStrict(whole[:n]) == nil {
			t.Fatalf("%d of %d bytes are read without an error", n, len(whole))
		}
	}
}

func TestParquetRunsAreBounded(t *testing.T) {
	claim := binary.AppendUvarint(nil, uint64(1)<<31<<1) // one run of 2³¹ values
	if _, err := paddingOf(append(claim, 1), 1, 1000); err == nil {
		t.Error("a run of 2³¹ values passes in a page of 1000")
	}
	packed := binary.AppendUvarint(nil, uint64(1)<<40<<1|1)
	if _, err := paddingOf(packed, 0, 1000); err == nil {
		t.Error("2⁴³ bit-packed values of width 0 pass")
	}
	var many []byte
	for range 200 {
		many = append(binary.AppendUvarint(many, 100<<1), 1)
	}
	if _, err := paddingOf(many, 1, 1000); err == nil {
		t.Error("20,000 values pass in a page of 1000")
	}
	if _, err := paddingOf(append(binary.AppendUvarint(nil, 1000<<1), 1), 1, 1000); err != nil {
		t.Errorf("a run of as many values as the page: %v", err)
	}
	filled := append(binary.AppendUvarint(nil, 32<<1|1), make([]byte, 32)...) // DuckDB and Impala fill the last run up
	if extra, err := paddingOf(filled, 1, 250); err != nil || extra != 6 {
		t.Errorf("256 values of one bit in a page of 250: %d more, %v", extra, err)
	}
}

// TestParquetRunsOfBooleans: a page of version 2 holds runs, which the library takes for bytes of bits.
func TestParquetRunsOfBooleans(t *testing.T) {
	a := loadFile(t, "testdata/bools.parquet", "x")
	v, err := a.Int64s()
	if err != nil || len(v) != 1000 {
		t.Fatalf("%d values, %v", len(v), err)
	}
	for i, got := range v {
		want := i/11%2 == 0
		if i >= 700 {
			want = (i-700)%3 == 0
		}
		if (got == 1) != want {
			t.Fatalf("value %d is %d", i, got)
		}
	}
}

// TestParquetPrefixesAreBounded: texts that repeat what came before make much of a few bytes.
func TestParquetPrefixesAreBounded(t *testing.T) {
	lengths := make([]int32, 1000)
	for i := range lengths {
		lengths[i] = 1 << 20
	}
	data, err := new(delta.BinaryPackedEncoding).EncodeInt32(nil, lengths)
	if err != nil {
		t.Fatal(err)
	}
	g := &pageGuard{limit: freeParquet, account: newAccount(nil, len(data))}
	if err := g.prefixes(data, 1000); err == nil || !strings.Contains(err.Error(), "unpack to more than") {
		t.Errorf("%d bytes that decode to a billion: %v", len(data), err)
	}
	if err := g.prefixes(data, 999); err == nil {
		t.Error("1000 texts pass in a page of 999")
	}
}

// TestParquetDifferencesFitTheirColumn: DuckDB 2 writes differences of 33 bits for columns of 32, which would be read as other numbers.
func TestParquetDifferencesFitTheirColumn(t *testing.T) {
	block := append(binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(nil, 128), 4), 33), 0, 0) // 33 values, the first is 0, the least difference, too
	for width, want := range map[byte]bool{31: true, 32: true, 33: false, 64: false} {
		data := append(append(bytes.Clone(block), width, 255, 255, 255), make([]byte, 32*8)...)
		if err := deltas(data, 33, 32); (err == nil) != want {
			t.Errorf("differences of %d bits: %v", width, err)
		}
		if err := deltas(data, 33, 64); err != nil {
			t.Errorf("differences of %d bits in a column of 64: %v", width, err)
		}
	}
	if err := deltas(block, 33, 32); err == nil {
		t.Error("a block without widths passes")
	}
}

// TestParquetSourceReadsBlanksAsZero, in whatever pieces it is read.
func TestParquetSourceReadsBlanksAsZero(t *testing.T) {
	s := &parquetSource{file: []byte("abcdefghij"), end: []byte("kl"), blanks: []blank{{2, 1}, {5, 3}}}
	const want = "ab\x00de\x80\x80\x00ijkl"
	for size := 1; size <= len(want); size++ {
		var got []byte
		for at := 0; at < len(want); at += size {
			p := make([]byte, min(size, len(want)-at))
			if n, err := s.ReadAt(p, int64(at)); n != len(p) || err != nil {
				t.Fatalf("%d bytes at %d: %d, %v", len(p), at, n, err)
			}
			got = append(got, p...)
		}
		if string(got) != want {
			t.Errorf("in pieces of %d: %q, want %q", size, got, want)
		}
	}
	if n, err := s.ReadAt(make([]byte, 3), 10); n != 2 || err != io.EOF {
		t.Errorf("beyond the end: %d, %v", n, err)
	}
}

func FuzzParquet(f *testing.F) {
	for _, version := range []int{1, 2} {
		for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Zstd, &parquet.Gzip, &parquet.Brotli, &parquet.Lz4Raw} {
			f.Add(parquetBytes(f, parquetRows(20), parquet.DataPageVersion(version), parquet.Compression(codec)))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !bytes.HasPrefix(b, []byte(parquetMagic)) {
			return
		}
		var file *File
		var err error
		if spent := allocated(func() { file, err = Parse(b) }); spent > uint64(4<<20+1000*len(b)) {
			t.Fatalf("%d bytes allocated for the metadata of a file of %d", spent, len(b))
		}
		if err != nil {
			return
		}
		for _, h := range file.Headers() {
			var a Array
			if spent := allocated(func() { a, err = file.Load(h.Name) }); spent > 4*freeParquet {
				t.Fatalf("%d bytes allocated for a column of a file of %d", spent, len(b))
			}
			if err != nil {
				continue
			}
			if err := a.check(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
