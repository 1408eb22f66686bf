package arrayfile

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"slices"
	"strings"
	"testing"
)

func TestJSON(t *testing.T) {
	for text, want := range map[string]string{
		"{\"a\": 1, \"b\": [1, 2.5]}\n{\"a\": 2, \"b\": [3, 4]}\n": "a I64 [2] [1 2] b F64 [2 2] [1 2.5 3 4]",
		"{\"a\": [1, 2], \"b\": [[1, 2], [3, 4.5]], \"n\": 3}":     "a I64 [2] [1 2] b F64 [2 2] [1 2 3 4.5]",
		"[{\"a\": 1, \"b\": \"x\"}, {\"b\": \"y\", \"a\": 2}]":     "a I64 [2] [1 2] b I64 [2] [0 1] [x y]",
		"[{\"a\": [1]}]":          "a I64 [1 1] [1]",
		"[[1, 2], [3, 4]]":        " I64 [2 2] [1 2 3 4]",
		"[1, 2]\n[3, 4]\n":        " I64 [2 2] [1 2 3 4]",
		"[\"cat\", \"dog\"]":      " I64 [2] [0 1] [cat dog]",
		"3\n1\n2\n":               " I64 [3] [3 1 2]", // a table, as before
		"{\"m\": {\"a\": [1.5]}}": "m.a F64 [1] [1.5]",
		"{\"f\": {\"0\": 0.5, \"1\": 1}, \"y\": {\"0\": \"a\", \"1\": \"b\"}}": "f F64 [2] [0.5 1] y I64 [2] [0 1] [a b]",
		"{\"f\": {\"0\": 1, \"2\": 1}, \"a\": [1]}":                            "a I64 [1] [1] refused f: its keys do not count from 0: after 0 comes \"2\"",
		"{\"a\": [true, false, 2], \"u\": [9007199254740993, 0]}":              "a I64 [3] [1 0 2] u I64 [2] [9.007199254740992e+15 0]",
		"{\"a\": [1, null], \"b\": [1]}":                                       "b I64 [1] [1] refused a: record 0 has null",
		"{\"a\": [[1, 2], [3]], \"b\": [1]}":                                   "b I64 [1] [1] refused a: its lists have different lengths: 2 and 1",
		"{\"a\": [[1, 2], 3], \"b\": [1]}":                                     "b I64 [1] [1] refused a: its values lie in 2 lists, and some in 1",
		"{\"a\": [1, \"x\"], \"b\": [\"x\", 1.5], \"c\": [1.5, \"x\"]}":        "refused a: it holds numbers and text refused b: it holds numbers and text refused c: it holds numbers and text",
		"{\"a\": [{\"x\": [1]}], \"b\": [1]}":                                  "b I64 [1] [1] refused a: it holds objects in lists",
		"{\"a\": 1, \"b\": 1}\n{\"a\": 2}\n":                                   "a I64 [2] [1 2] refused b: 1 of 2 records have it",
		"{\"a\": 1, \"a\": 2}\n{}\n":                                           "refused a: a record has it twice",
		"{\"a\": []}":                                                          "refused a: its lists are empty or of different depth",
		"{\"a\": [1e400]}":                                                     "refused a: \"1e400\" is beyond a double",
		"{\"a\": [1, 2}":                                                       "error JSON: byte 11",
		"{\"a\": [1, 2":                                                        "error cut short",
		"{\"a\": [NaN]}":                                                       "error JSON: byte 7",
		"[]]":                                                                  "error JSON: byte 2",
		strings.Repeat("[", 100) + "1" + strings.Repeat("]", 100):              "error lists nested more than 64 deep",
		strings.Repeat("{\"a\":", 100) + "1" + strings.Repeat("}", 100):        "error objects nested more than 64 deep",
		"{\"" + strings.Repeat("a", 5000) + "\": 1}":                           "error has 5000 bytes",
	} {
		checkContents(t, text, []byte(text), want)
	}
}

// packedBy packs bytes as a whole.
func packedBy(t testing.TB, by string, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if by == "gzip" {
		z := gzip.NewWriter(&out)
		z.Write(b)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	z := zlib.NewWriter(&out)
	z.Write(b)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestPackedFiles: a packed file is what it was, once, within the budget, and damage is noticed.
func TestPackedFiles(t *testing.T) {
	table := []byte("a,b\n1,2\n3,4\n")
	for _, by := range []string{"gzip", "zlib"} {
		b := packedBy(t, by, table)
		f, err := Parse(b)
		if err != nil {
			t.Fatal(by, err)
		}
		if got, err := contents(f); err != nil || got != "a I64 [2] [1 3] b I64 [2] [2 4]" {
			t.Errorf("%s: %s, %v", by, got, err)
		}
		wrong := bytes.Clone(b)
		wrong[len(wrong)-6] ^= 1
		if by == "zlib" {
			wrong[len(wrong)-6] ^= 1
			wrong[len(wrong)-1] ^= 1
		}
		if _, err := Parse(wrong); err == nil || !strings.Contains(err.Error(), "checksum") {
			t.Errorf("%s: a wrong checksum gives %v", by, err)
		}
		for n := 3; n < len(b); n++ {
			if _, err := Parse(b[:n]); err == nil {
				t.Errorf("%s: %d of %d bytes are read", by, n, len(b))
			}
		}
		bomb := packedBy(t, by, make([]byte, 8<<20))
		spent := allocated(func() { _, err = ParseWithin(bomb, NewBudget(1<<20)) })
		if err == nil || !strings.Contains(err.Error(), "limit") || spent > 1<<20 {
			t.Errorf("%s: a bomb gives %v and took %d bytes", by, err, spent)
		}
	}
	if _, err := Parse(packedBy(t, "gzip", packedBy(t, "gzip", table))); err == nil || !strings.Contains(err.Error(), "packed twice") {
		t.Errorf("packed twice: %v", err)
	}
	for _, size := range []int{0x178, 0x5e78, 0x9c78, 0xda78} { // the beginnings of zlib's data
		header := "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}"
		f, err := Parse(safetensorsFile(header+strings.Repeat(" ", size-len(header)), 7))
		if err != nil {
			t.Errorf("a .safetensors with a header of %#x bytes: %v", size, err)
			continue
		}
		if a, err := f.Load("a"); err != nil || a.Data[0] != 7 {
			t.Errorf("a .safetensors with a header of %#x bytes: %v, %v", size, a, err)
		}
	}
	if f, err := Parse([]byte("x^2,x^3\n1,2\n")); err != nil || len(f.Headers()) != 2 {
		t.Errorf("a table whose first name looks like zlib: %v", err)
	}
}

// TestJoblib: what describes an array and what follows.
func TestJoblib(t *testing.T) {
	wrapper := func(fields string) string {
		return "\x80\x02cjoblib.numpy_pickle\nNumpyArrayWrapper\n)\x81}(" + fields + "ub"
	}
	shape := "U\x05shapeK\x02\x85" // (2,)
	kind := func(descr string) string {
		return "U\x05dtypecnumpy\ndtype\n(U" + string(rune(len(descr))) + descr + "K\x00K\x01tR"
	}
	for name, c := range map[string]struct{ text, want string }{
		"bytes":        {wrapper(shape+kind("u1")) + "\x07\x09.", " U8 [2] [7 9]"},
		"aligned":      {wrapper(shape+kind("u1")+"U\x1bnumpy_array_alignment_bytesK\x10") + "\x03\xff\xff\xff\x07\x09.", " U8 [2] [7 9]"},
		"text":         {wrapper(shape+kind("S3")) + "catdog.", " I64 [2] [0 1] [cat dog]"},
		"complex":      {wrapper(shape+kind("c2")) + "1234.", `refused : complex numbers (element type "c2") are not read; save real and imaginary parts side by side as twice as many columns`},
		"objects":      {wrapper(shape+kind("O8")) + "\x80\x02](K\x05K\x06e..", " I64 [2] [5 6]"},
		"within":       {wrapper(shape+kind("O8")) + wrapper(shape+kind("O8")) + "\x80\x02]..", "error within another"},
		"cut":          {wrapper(shape+kind("u1")) + "\x07", "error 2 bytes are claimed and 1 are left"},
		"no type":      {wrapper(shape) + "\x07\x09.", "error without shape and element type"},
		"strange type": {wrapper(shape+kind("u1,u1")) + "\x07\x09.", "error of type"},
		"too large":    {wrapper("U\x05shape(\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7fK\x7ft"+kind("u1")) + "\x07.", "error of shape"},
	} {
		checkContents(t, name, []byte(c.text), c.want)
	}
}

// TestStoragesInPickles refuses files within files within pickles, and what is no file of PyTorch.
func TestStoragesInPickles(t *testing.T) {
	call := func(b string) string {
		size := []byte{byte(len(b)), byte(len(b) >> 8), 0, 0}
		return "ctorch.storage\n_load_from_bytes\nB" + string(size) + b + "\x85R"
	}
	storage := func() string { // a file of one storage, whose bytes come after it
		return legacyMagic + "\x80\x02M\xe9\x03.\x80\x02}U\x0dlittle_endian\x88s.\x80\x02(U\x07storagectorch\nByteStorage\nU\x01kU\x03cpuK\x01NtQ.\x80\x02]U\x01ka.\x01\x00\x00\x00\x00\x00\x00\x00\x07"
	}
	inner := legacyMagic + "\x80\x02M\xe9\x03.\x80\x02}U\x0dlittle_endian\x88s.\x80\x02" + call(storage()) + ".\x80\x02]."
	tensor := func(of string) string {
		return "ctorch._utils\n_rebuild_tensor_v2\n(" + call(of) + "K\x00K\x01\x85K\x01\x85\x89NtR"
	}
	if a := loadAll(t, []byte("\x80\x02"+tensor(storage())+".")); len(a) != 1 || len(a[0].Data) != 1 || a[0].Data[0] != 7 {
		t.Errorf("a tensor of one byte, 7, is %v", a)
	}
	for text, want := range map[string]string{
		"\x80\x02" + call("no file") + ".":                      "no file of PyTorch",
		"\x80\x02" + call(legacyMagic+"\x80\x02K\x01.") + ".":   "part 3",
		"\x80\x02" + call(inner) + ".":                          "no storage",
		"\x80\x02ctorch.storage\n_load_from_bytes\nK\x01\x85R.": "no file of PyTorch",
	} {
		f, err := Parse([]byte(text))
		got := ""
		if err != nil {
			got = err.Error()
		} else if r := f.Refused(); len(r) > 0 {
			got = r[0].Err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %q", text, got, want)
		}
	}
}

// TestRecordsOfPickles: numbers and words that all items of a list have are columns beside the items' arrays.
func TestRecordsOfPickles(t *testing.T) {
	dictOf := func(label string) string { return "}(U\x01y" + label + "K\x07K\x01(tK\x02u" }
	for text, want := range map[string]string{
		"\x80\x02](" + dictOf("K\x03") + dictOf("K\x04") + "e.":   "y I64 [2] [3 4] 7 I64 [2] [1 1]",
		"\x80\x02](" + dictOf("U\x01a") + dictOf("U\x01b") + "e.": "y I64 [2] [0 1] [a b] 7 I64 [2] [1 1]",
		"\x80\x02](" + dictOf("K\x03") + dictOf("U\x01b") + "e.":  "7 I64 [2] [1 1]",
		"\x80\x02](K\x01U\x01a\x86K\x02U\x01b\x86e.":              "0 I64 [2] [1 2] 1 I64 [2] [0 1] [a b]",
		"\x80\x02](K\x01U\x01a\x86K\x02\x85e.":                    "1 I64 [1] [2] 0 I64 [2] [1 2]",
	} {
		f, err := Parse([]byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got, err := contents(f); err != nil || got != want {
			t.Errorf("%q: %s, want %s (%v)", text, got, want, err)
		}
	}
}

// FuzzPacked reads JSON and packed files.
func FuzzPacked(f *testing.F) {
	for _, text := range []string{"{\"a\": 1, \"b\": [1, 2.5]}\n{\"a\": 2, \"b\": [3, 4]}\n", "[{\"a\": [\"x\"]}]", "{\"f\": {\"0\": 0.5, \"1\": 1}}", "[[1, 2], [3, true]]"} {
		f.Add([]byte(text))
		f.Add(packedBy(f, "gzip", []byte(text)))
		f.Add(packedBy(f, "zlib", []byte(text)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !isJSON(b) && !isPacked(b) {
			return
		}
		var file *File
		var err error
		if spent := allocated(func() { file, err = Parse(b) }); isJSON(b) && spent > uint64(2<<20+2000*len(b)) {
			t.Fatalf("%d bytes allocated for a file of %d", spent, len(b))
		}
		if err != nil {
			return
		}
		var names []string
		for _, h := range file.Headers() {
			a, err := file.Load(h.Name)
			if err == nil {
				err = a.check()
			}
			if err != nil && isJSON(b) {
				t.Fatal(err)
			}
			names = append(names, h.Name)
		}
		if slices.Sort(names); len(slices.Compact(names)) < len(file.Headers()) {
			t.Fatal("two arrays have one name")
		}
	})
}
