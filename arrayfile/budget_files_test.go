package arrayfile

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// zeroMAT is a MATLAB file with one compressed array of n zero bytes.
func zeroMAT(t *testing.T, n int) []byte {
	t.Helper()
	le := binary.LittleEndian
	body := le.AppendUint32(le.AppendUint32(nil, 6), 8)
	body = le.AppendUint64(body, 9) // class uint8
	body = le.AppendUint32(le.AppendUint32(body, 5), 8)
	body = le.AppendUint32(le.AppendUint32(body, uint32(n)), 1)
	body = append(le.AppendUint32(le.AppendUint32(body, 1), 1), 'x', 0, 0, 0, 0, 0, 0, 0)
	body = le.AppendUint32(le.AppendUint32(body, 2), uint32(n))
	body = append(body, make([]byte, n)...)
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	z.Write(le.AppendUint32(le.AppendUint32(nil, matMatrix), uint32(len(body))))
	z.Write(body)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	head := append([]byte("MATLAB 5.0 test"), bytes.Repeat([]byte{' '}, 109)...)
	head = append(head, 0, 1, 'I', 'M')
	return append(le.AppendUint32(le.AppendUint32(head, matCompressed), uint32(packed.Len())), packed.Bytes()...)
}

// greedy are small files in which something unpacks to 4 MB or more, keyed by what it is.
func greedy(t *testing.T) map[string]struct {
	file []byte
	name string
} {
	zeros := npyFile(npyHeaderText("'|u1'", "(4194304,)"), make([]byte, 4<<20)...)
	words := npyFile(npyHeaderText("'|S4'", "(50000,)"))
	for i := range 50_000 {
		words = append(words, fmt.Sprintf("%04x", i)...)
	}
	tensor := "\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nByteStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuJ\x00\x00\x40\x00tQK\x00J\x00\x00\x40\x00\x85K\x01\x85\x89c" +
		"collections\nOrderedDict\n)RtR."
	return map[string]struct {
		file []byte
		name string
	}{
		"npz":          {zipFile(t, func(z *zip.Writer) { addMember(t, z, "x.npy", zip.Deflate, zeros) }), "x"},
		"words":        {zipFile(t, func(z *zip.Writer) { addMember(t, z, "x.npy", zip.Deflate, words) }), "x"},
		"words by npy": {words, ""},
		"mat":          {zeroMAT(t, 4<<20), "x"},
		"torch storage": {zipFile(t, func(z *zip.Writer) {
			addMember(t, z, "m/data.pkl", zip.Store, []byte(tensor))
			addMember(t, z, "m/data/0", zip.Deflate, make([]byte, 4<<20))
		}), ""},
		"parquet": {parquetBytes(t, make([]struct{ X int64 }, 1<<19)), "X"},
	}
}

// TestBudgetOfEveryFormat: what exceeds a budget is refused before it is allocated, what fits is counted, and Close returns it.
func TestBudgetOfEveryFormat(t *testing.T) {
	for format, c := range greedy(t) {
		large := NewBudget(64 << 20)
		f, err := ParseWithin(c.file, large)
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		a, err := f.Load(c.name)
		if err != nil || a.Len() < 50_000 {
			t.Fatalf("%s: %d elements, %v", format, a.Len(), err)
		}
		if once := large.Used(); once < 4<<20 {
			t.Errorf("%s: %d bytes are counted", format, once)
		}
		if err := f.Close(); err != nil || large.Used() != 0 {
			t.Errorf("%s: %d bytes are in use after Close, %v", format, large.Used(), err)
		}
		small := NewBudget(3 << 20)
		spent := allocated(func() {
			if f, err = ParseWithin(c.file, small); err == nil {
				_, err = f.Load(c.name)
			}
		})
		var over *BudgetError
		if !errors.As(err, &over) || over.Limit != 3<<20 {
			t.Errorf("%s: beyond the budget: %v", format, err)
		}
		if spent > 16<<20 {
			t.Errorf("%s: %d bytes were allocated", format, spent)
		}
	}
}

// TestMembersShareABudget: each of 40 members is small enough, but all of them together are not.
func TestMembersShareABudget(t *testing.T) {
	b := zipFile(t, func(z *zip.Writer) {
		for i := range 40 {
			addMember(t, z, fmt.Sprintf("x%d.npy", i), zip.Deflate, npyFile(npyHeaderText("'|u1'", "(1000000,)"), make([]byte, 1e6)...))
		}
	})
	f, err := ParseWithin(b, NewBudget(10_100_000))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		var over *BudgetError
		if _, err := f.Load(fmt.Sprintf("x%d", i)); errors.As(err, &over) != (i >= 10) {
			t.Errorf("member %d: %v", i, err)
		}
	}
}

// TestPicklesOfManyValues: a few bytes of a pickle can ask for many values that contain one another and so are not on the stack.
func TestPicklesOfManyValues(t *testing.T) {
	for name, text := range map[string]string{
		"empty lists":         "]" + strings.Repeat("]a", 1<<20) + ".",
		"copies of one tuple": "](" + strings.Repeat("K\x01", 10_000) + "tq\x00a" + strings.Repeat("(h\x00h\x00h\x00h\x00t0", 1<<18) + ".",
		"copies of a list":    "](" + strings.Repeat("K\x01K\x02\x86", 5_000) + "eq\x000" + strings.Repeat("ccollections\nOrderedDict\nh\x00\x85R0", 5_000) + "h\x00.",
	} {
		b := zipFile(t, func(z *zip.Writer) { addMember(t, z, "m/data.pkl", zip.Deflate, []byte("\x80\x02"+text)) })
		var err error
		spent := allocated(func() { _, err = ParseWithin(b, NewBudget(16<<20)) })
		var over *BudgetError
		if !errors.As(err, &over) {
			t.Errorf("%s: %v", name, err)
		}
		if spent > 64<<20 {
			t.Errorf("%s: %d bytes were allocated for a file of %d", name, spent, len(b))
		}
	}
}

// TestNamesOfTensorsAreBounded: the long name of a container would be repeated for each tensor in it.
func TestNamesOfTensorsAreBounded(t *testing.T) {
	long := strings.Repeat("n", 5000)
	text := "\x80\x02}X\x88\x13\x00\x00" + long + "}X\x01\x00\x00\x00a]K\x01assss."
	text = strings.Replace(text, "assss.", "ass.", 1)
	b := zipFile(t, func(z *zip.Writer) { addMember(t, z, "m/data.pkl", zip.Deflate, []byte(text)) })
	if _, err := Parse(b); err == nil || !strings.Contains(err.Error(), "at most 4096 are read") {
		t.Errorf("a name of 5000 bytes: %v", err)
	}
}

// TestDeepParquetSchema: the library lists all parent names of every column, so for nested columns their number grows quadratically.
func TestDeepParquetSchema(t *testing.T) {
	var meta []byte
	meta = append(meta, 0x15, 2, 0x19, 0xfc) // version 1, a list of structures
	const depth = 20_000
	meta = binary.AppendUvarint(meta, depth)
	for i := range depth {
		meta = append(meta, 0x48, 1, 'a')
		if i < depth-1 {
			meta = append(meta, 0x15, 2) // one child
		}
		meta = append(meta, 0)
	}
	meta = append(meta, 0x16, 0, 0x19, 0x0c, 0)
	b := append([]byte(parquetMagic), meta...)
	b = append(binary.LittleEndian.AppendUint32(b, uint32(len(meta))), parquetMagic...)
	var err error
	spent := allocated(func() { _, err = Parse(b) })
	if err == nil || !strings.Contains(err.Error(), "columns nested more than 32 deep") {
		t.Errorf("%d columns within one another: %v", depth, err)
	}
	if spent > 64<<20 {
		t.Errorf("%d bytes were allocated for a file of %d", spent, len(b))
	}
}

// TestParquetOfOtherRowsThanItClaims: the result of Load has as many bytes as its shape says, whatever the pages hold.
func TestParquetOfOtherRowsThanItClaims(t *testing.T) {
	b := parquetBytes(t, make([]struct{ X int64 }, 1000))
	file, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for rows, want := range map[int]string{1000: "", 1001: "its pages hold 1000 rows, and the metadata claim 1001", 999: "it holds more than the 999 rows"} {
		p := &parquetFile{b, &parquetSource{file: b}, file, freeParquet, newAccount(nil, len(b))}
		r := &columnReader{p: p, c: file.Root().Columns()[0], dtype: I64, rows: rows, width: 1}
		out, err := r.load()
		if want == "" && (err != nil || len(out) != 8*rows) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d rows claimed: %d bytes, %v", rows, len(out), err)
		}
	}
}
