package arrayfile

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// arrowFiles are those of other programs: internal/featurefiles/testdata/make_origins.py wrote them.
func arrowFiles(t testing.TB) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, pattern := range []string{"*.arrow", "*.feather"} {
		paths, err := filepath.Glob(filepath.Join("../internal/featurefiles/testdata/origins", pattern))
		if err != nil || len(paths) < 3 {
			t.Fatalf("%d files %s: %v", len(paths), pattern, err)
		}
		for _, path := range paths {
			if out[filepath.Base(path)], err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out
}

// TestArrowNamesWhatItLeavesOut: nulls, structures and dates do not hide the other columns.
func TestArrowNamesWhatItLeavesOut(t *testing.T) {
	f, err := Parse(arrowFiles(t)["feather_mixed.feather"])
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"t": "type null", "s": "type struct", "when": "type timestamp", "nullable": "are null"}
	for _, r := range f.Refused() {
		if !strings.Contains(r.Err.Error(), want[r.Name]) || want[r.Name] == "" || r.Damaged {
			t.Errorf("%s: %v (damaged: %v), want %q", r.Name, r.Err, r.Damaged, want[r.Name])
		}
		delete(want, r.Name)
	}
	if len(want) > 0 || len(f.Headers()) != 2 {
		t.Errorf("not refused are %v; read are %v", want, f.Headers())
	}
	a, err := f.Load("label")
	if err != nil || strings.Join(a.Categories, " ") != "ant bee cat" {
		t.Errorf("words %v, %v", a.Categories, err)
	}
	texts, err := Parse(arrowFiles(t)["polars.arrow"])
	if err != nil {
		t.Fatal(err)
	}
	if a, err = texts.Load("text"); err != nil || len(a.Categories) != 60 || a.Categories[59] != "a text of more than twelve bytes, 59" {
		t.Errorf("%d words, the last %q: %v", len(a.Categories), a.Categories[len(a.Categories)-1], err)
	}
}

// TestArrowOf017: its packed numbers were read as if they were not packed, since a note beside the message says so.
func TestArrowOf017(t *testing.T) {
	b, err := os.ReadFile("testdata/arrow_017.arrow")
	if err != nil {
		t.Fatal(err)
	}
	a := loadAll(t, b)[0]
	v, err := a.Int64s()
	if err != nil || len(v) != 400 {
		t.Fatalf("%d numbers, %v", len(v), err)
	}
	for i := range v {
		if v[i] != int64(i%3) {
			t.Fatalf("number %d is %d", i, v[i])
		}
	}
	f, err := Parse(bytes.Replace(b, []byte("lz4\x00"), []byte("lzo\x00"), 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Load("a"); err == nil || !strings.Contains(err.Error(), "compression") {
		t.Errorf("another compression: %v", err)
	}
}

// TestDamagedArrow: whatever byte is wrong or missing, there is an error or complete arrays, and no more memory than the file justifies.
func TestDamagedArrow(t *testing.T) {
	for name, b := range arrowFiles(t) {
		cut := 0
		for n := 8; n < len(b); n += 1 + len(b)/30 {
			checkArrow(t, b[:n])
			if parseAllStrict(b[:n]) != nil {
				cut++
			}
			wrong := bytes.Clone(b)
			wrong[n] ^= 0xff
			checkArrow(t, wrong)
		}
		if cut == 0 {
			t.Errorf("%s: every cut is read", name)
		}
	}
	// A list that names one batch twice.
	b := bytes.Clone(arrowFiles(t)["feather_zstd.feather"])
	size := int(binary.LittleEndian.Uint32(b[len(b)-10:]))
	list := b[len(b)-10-size : len(b)-10]
	footer := flat{list, int(binary.LittleEndian.Uint32(list))}
	blocks := footer.vector(3, 24)
	twice := append(bytes.Clone(blocks), blocks...)
	a := &arrowFile{account: newAccount(nil, len(b)), dictionaries: map[int64][]arrowBatch{}}
	if err := a.listed(b); err != nil || len(a.batches) != 1 || len(twice) != 48 {
		t.Fatalf("%d batches, %d bytes: %v", len(a.batches), len(twice), err)
	}
	if err := a.blocks(b, twice, len(b)); err == nil || !strings.Contains(err.Error(), "within another one") {
		t.Errorf("one batch twice: %v", err)
	}
}

func checkArrow(t *testing.T, b []byte) {
	t.Helper()
	var file *File
	var err error
	if spent := allocated(func() { file, err = Parse(b) }); spent > uint64(2*freeParquet+2000*len(b)) { // lists of offsets are unpacked
		t.Fatalf("%d bytes allocated for a file of %d", spent, len(b))
	}
	if err != nil {
		return
	}
	for _, h := range file.Headers() {
		var a Array
		spent := allocated(func() { a, err = file.Load(h.Name) })
		if err == nil {
			err = a.check()
			if err != nil {
				t.Fatal(err)
			}
		}
		if spent > uint64(4*freeParquet+2000*len(b)) {
			t.Fatalf("%d bytes allocated for %q of a file of %d", spent, h.Name, len(b))
		}
	}
}

func FuzzArrow(f *testing.F) {
	for _, b := range arrowFiles(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if isArrow(b) {
			checkArrow(t, b)
		}
	})
}
