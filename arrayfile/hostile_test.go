package arrayfile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

// npyFile makes a version 1 file from a header text and data.
func npyFile(header string, data ...byte) []byte {
	b := append([]byte(npyMagic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	return append(append(b, header...), data...)
}

func npyHeaderText(descr, shape string) string {
	return fmt.Sprintf("{'descr': %s, 'fortran_order': False, 'shape': %s, }\n", descr, shape)
}

func safetensorsFile(header string, data ...byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), data...)
}

func zipFile(t testing.TB, fill func(*zip.Writer)) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	fill(z)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func addMember(t testing.TB, z *zip.Writer, name string, method uint16, content []byte) {
	t.Helper()
	w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
	if err == nil {
		_, err = w.Write(content)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// parseAll parses a file and loads everything in it; it returns the first error.
func parseAll(b []byte) error {
	f, err := Parse(b)
	if err != nil {
		return err
	}
	for _, e := range f.entries {
		if _, err := f.Load(e.Name); err != nil {
			return err
		}
	}
	return nil
}

// hostile are files that must be refused with a message that contains these words.
func hostile(t testing.TB) map[string]struct {
	file  []byte
	words string
} {
	good := npyFile(npyHeaderText("'<f4'", "(2,)"), make([]byte, 8)...)
	bomb := npyFile(npyHeaderText("'|u1'", "(4194304,)"), make([]byte, 4<<20)...)
	stored := zipFile(t, func(z *zip.Writer) { addMember(t, z, "x.npy", zip.Store, good) })
	flipped := bytes.Clone(stored)
	flipped[bytes.Index(stored, good)+len(good)-1] ^= 1
	deflated := zipFile(t, func(z *zip.Writer) { addMember(t, z, "x.npy", zip.Deflate, bomb) })
	lying := bytes.Clone(deflated)
	directory := bytes.LastIndex(lying, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(lying[directory+24:], 1<<31-1)
	return map[string]struct {
		file  []byte
		words string
	}{
		"empty":                 {nil, "none of .npy"},
		"text":                  {[]byte("hello, this is text"), "none of .npy"},
		"npy cut in the magic":  {good[:7], "cut short"},
		"npy cut in the header": {good[:40], "cut short"},
		"npy cut in the data":   {good[:len(good)-1], "needs 8 bytes of data, and the file has 7"},
		"npy with more data":    {append(bytes.Clone(good), 0), "the file has 9"},
		"npy version":           {append([]byte(npyMagic), 4, 0, 0, 0, 0, 0), "version 4.0"},
		"npy header of 4 GB":    {append([]byte(npyMagic), 2, 0, 255, 255, 255, 255), "claims 4294967295 bytes; at most"},
		"npy 2^63 elements":     {npyFile(npyHeaderText("'<f8'", "(9223372036854775807,)")), "impossible"},
		"npy product overflows": {npyFile(npyHeaderText("'<f8'", "(4294967296, 4294967296)")), "impossible"},
		"npy negative size":     {npyFile(npyHeaderText("'<f8'", "(-1,)")), "not a size"},
		"npy 100 axes":          {npyFile(npyHeaderText("'|u1'", "("+strings.Repeat("1,", 100)+")"), 0), "impossible"},
		"npy objects":           {npyFile(npyHeaderText("'|O'", "(2,)")), "pickled Python"},
		"npy records":           {npyFile(npyHeaderText("[('a', '<f4')]", "(2,)"), make([]byte, 8)...), "records"},
		"npy complex":           {npyFile(npyHeaderText("'<c8'", "(1,)"), make([]byte, 8)...), `(element type "<c8") are not read`},
		"npy code":              {npyFile(npyHeaderText("__import__('os').system('x')", "(1,)")), "want a string"},
		"npy key missing":       {npyFile("{'descr': '<f4', 'shape': (1,), }\n", 0, 0, 0, 0), "want the keys"},
		"npy key twice":         {npyFile("{'descr': '<f4', 'descr': '<f4', 'shape': (1,), }\n", 0, 0, 0, 0), "occurs twice"},
		"npz cut":               {stored[:len(stored)-30], "zip"},
		"npz checksum":          {flipped, "checksum"},
		"npz claims too much":   {lying, "cannot hold"},
		"npz names a shape":     {zipFile(t, func(z *zip.Writer) { addMember(t, z, "x.npy", zip.Deflate, good[:len(good)-2]) }), "makes"},
		"npz twice": {zipFile(t, func(z *zip.Writer) {
			addMember(t, z, "x.npy", zip.Store, good)
			addMember(t, z, "x.npy", zip.Store, good)
		}), "occurs twice"},
		"npz overlap":                  {overlapping(t, good), "overlap"},
		"safetensors header too long":  {append(binary.LittleEndian.AppendUint64(nil, 1<<63), '{'), "claims 9223372036854775808"},
		"safetensors header of 200 MB": {append(binary.LittleEndian.AppendUint64(nil, 200e6), '{'), "the format allows"},
		"safetensors not JSON":         {safetensorsFile("{x}"), "header"},
		"safetensors not closed":       {safetensorsFile(`{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}`), "header"},
		"safetensors twice":            {safetensorsFile(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 0), "occurs twice"},
		"safetensors overlap":          {safetensorsFile(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}`, 0, 0, 0), "want a range from 2"},
		"safetensors gap":              {safetensorsFile(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 0, 0), "want a range from 0"},
		"safetensors beyond the end":   {safetensorsFile(`{"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}}`, 0), "at most 1"},
		"safetensors left over":        {safetensorsFile(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 0, 0), "end at byte 1 of 2"},
		"safetensors shape":            {safetensorsFile(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`, 0, 0, 0, 0), "does not fit its 4 bytes"},
		"safetensors huge shape":       {safetensorsFile(`{"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}}`), "does not fit"},
		"safetensors negative shape":   {safetensorsFile(`{"a":{"dtype":"U8","shape":[-1,-1],"data_offsets":[0,1]}}`, 0), "does not fit"},
		"safetensors dtype":            {safetensorsFile(`{"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}}`, 0), `"F8_E4M3" is not one`},
		"safetensors offsets reversed": {safetensorsFile(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,-1]}}`, 0), "data_offsets"},
		"safetensors metadata":         {safetensorsFile(`{"__metadata__":{"a":1}}`), "strings only"},
	}
}

// overlapping makes an archive whose two directory entries point at one member.
func overlapping(t testing.TB, content []byte) []byte {
	b := zipFile(t, func(z *zip.Writer) {
		addMember(t, z, "a.npy", zip.Store, content)
		addMember(t, z, "b.npy", zip.Store, content)
	})
	second := bytes.LastIndex(b, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(b[second+42:], 0)
	return b
}

func TestHostileFilesAreRefusedByName(t *testing.T) {
	for name, c := range hostile(t) {
		t.Run(name, func(t *testing.T) {
			var err error
			spent := allocated(func() { err = parseAll(c.file) })
			if err == nil || !strings.Contains(err.Error(), c.words) {
				t.Fatalf("got %v, want an error with %q", err, c.words)
			}
			// archive/zip keeps a 40 kB decompressor, everything else is a few lines of text.
			if limit := uint64(1<<20 + 4*len(c.file)); spent > limit {
				t.Fatalf("%d bytes allocated for a file of %d", spent, len(c.file))
			}
		})
	}
}

// TestLimits checks the limits that only large files reach.
func TestLimits(t *testing.T) {
	b := make([]byte, 8+maxSafetensorsHeader+1)
	binary.LittleEndian.PutUint64(b, maxSafetensorsHeader+1)
	if _, _, err := ParseSafetensors(b); err == nil || !strings.Contains(err.Error(), "the format allows") {
		t.Errorf("a header of 100 MB: %v", err)
	}
}

// TestMappedArchivesNeedNoCopy opens an archive of ours as a file.
func TestMappedArchivesNeedNoCopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	var arrays []Array
	for n := range 10 { // names and sizes that would put the next array anywhere
		arrays = append(arrays, Of("h"+strings.Repeat("x", n), []int{n}, make([]uint8, n)), Of("w"+strings.Repeat("x", n), []int{2}, []float64{1, 2}))
	}
	if err := errors.Join(WriteNPZ(f, arrays), f.Close()); err != nil {
		t.Fatal(err)
	}
	for n := range 10 {
		a := loadFile(t, path, "w"+strings.Repeat("x", n))
		if v, ok := View[float64](a); !ok || v[1] != 2 || uintptr(unsafe.Pointer(&v[0]))%64 != 0 {
			t.Errorf("array %s: %v, %v at %p", a.Name, v, ok, v)
		}
	}
}

// allocated returns how many bytes f allocates, freed or not.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestCompressedMembersAreRead(t *testing.T) {
	content := npyFile(npyHeaderText("'>i2'", "(3,)"), 0, 1, 255, 255, 1, 0)
	b := zipFile(t, func(z *zip.Writer) {
		addMember(t, z, "notes.txt", zip.Deflate, []byte("not an array"))
		addMember(t, z, "names.npy", zip.Deflate, npyFile(npyHeaderText("'<M8'", "(1,)"), make([]byte, 8)...))
		addMember(t, z, "y.npy", zip.Deflate, content)
	})
	f, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if h := f.Headers(); len(h) != 1 || h[0].Name != "y" || h[0].DType != I16 || !h[0].BigEndian {
		t.Fatalf("headers %+v", h)
	}
	y, err := f.Load("y")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := y.Int64s(); err != nil || fmt.Sprint(v) != "[1 -1 256]" {
		t.Fatalf("got %v, %v", v, err)
	}
	if _, err := f.Load("names"); err == nil || !strings.Contains(err.Error(), `"<M8" is not read`) {
		t.Fatalf("dates: %v", err)
	}
	if _, err := f.Load("z"); err == nil || !strings.Contains(err.Error(), "it has y") {
		t.Fatalf("unknown name: %v", err)
	}
}

func TestStreamOfRecords(t *testing.T) {
	var b bytes.Buffer
	for i := range 3 {
		if err := WriteNPY(&b, Of("", []int{i}, make([]float32, i))); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		h, err := ReadNPYHeader(&b)
		if err != nil || h.Len() != i {
			t.Fatalf("record %d: %+v, %v", i, h, err)
		}
		if _, err := io.CopyN(io.Discard, &b, int64(4*i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ReadNPYHeader(&b); err != io.EOF {
		t.Fatalf("after the last record: %v", err)
	}
}

// FuzzParse reads any bytes as any format. What can be read is written and read again: the arrays are the same, and the second
// writing gives the bytes of the first.
func FuzzParse(f *testing.F) {
	for _, c := range hostile(f) {
		f.Add(c.file)
	}
	seed := []Array{Of("h", []int{2, 2}, []float32{1, 2, 3, 4}), Of("y", []int{2}, []int64{0, 1}), Of("s", nil, []bool{true})}
	for _, write := range formats {
		b, err := write(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add(npyOf("<U4", "(2, 1)", utf32(binary.LittleEndian, 4, "Hund", "Bär")))
	f.Add(npyOf(">U2", "(2,)", utf32(binary.BigEndian, 2, "a", "")))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := Parse(b)
		if err != nil {
			return
		}
		for _, e := range file.entries {
			var a Array
			spent := allocated(func() { a, err = file.Load(e.Name) })
			if limit := uint64(1<<20 + (maxDeflate+1)*len(b)); spent > limit {
				t.Fatalf("%d bytes allocated for a file of %d", spent, len(b))
			}
			if err != nil {
				continue
			}
			if len(a.Data) != a.Len()*a.DType.Size() {
				t.Fatalf("%+v has %d bytes", a.Header, len(a.Data))
			}
			a.Name = "x"
			for name, write := range formats {
				again(t, name, write, a)
			}
		}
	})
}

// again writes, reads and writes one array.
func again(t *testing.T, name string, write func([]Array) ([]byte, error), a Array) {
	if name == "safetensors" {
		a = a.Canonical()
	} else if len(a.Shape) > maxAxes {
		return // safetensors knows no limit
	}
	first, err := write([]Array{a})
	if err != nil {
		t.Fatalf("%s: writing %+v: %v", name, a.Header, err)
	}
	got := loadAll(t, first)
	if name == "npy" {
		a.Name = ""
	}
	if len(got) != 1 || !equalArrays(got[0], a) {
		t.Fatalf("%s: wrote %+v, read %+v", name, a, got)
	}
	second, err := write(got)
	if err != nil || !bytes.Equal(first, second) {
		t.Fatalf("%s: written again it is another file (%v)", name, err)
	}
}
