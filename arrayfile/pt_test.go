package arrayfile

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFilesOfTorch reads what testdata/make_pt.py wrote with torch.
func TestFilesOfTorch(t *testing.T) {
	count := func(n int) string {
		v := make([]float64, n)
		for i := range v {
			v[i] = float64(i)
		}
		return fmt.Sprint(v)
	}
	upper := "[0 0 0 0 0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1 1 1 1 1]"
	want := map[string]string{
		"f4": "F32 [4 6] " + count(24), "f8": "F64 [4 6] " + count(24), "f2": "F16 [4 6] " + count(24), "bf2": "BF16 [4 6] " + count(24),
		"i8": "I64 [4 6] " + count(24), "i4": "I32 [4 6] " + count(24), "i2": "I16 [4 6] " + count(24), "i1": "I8 [4 6] " + count(24),
		"u1": "U8 [4 6] " + count(24), "bool": "BOOL [4 6] " + upper,
		"transposed": "F32 [6 4] [0 6 12 18 1 7 13 19 2 8 14 20 3 9 15 21 4 10 16 22 5 11 17 23]",
		"sliced":     "F32 [2 3] [6 8 10 12 14 16]", "offset": "F32 [6] [12 13 14 15 16 17]", "scalar": "F32 [] [2.5]", "empty": "F32 [0 5] []",
		"permuted":       "F32 [3 4 2] [0 12 1 13 2 14 3 15 4 16 5 17 6 18 7 19 8 20 9 21 10 22 11 23]",
		"model.0.weight": "F32 [3 2] " + count(6), "model.0.bias": "F32 [3] " + count(3), "parameter": "F32 [2] [1 2]", "ordered.one": "I64 [1] [1]",
		"labels": "I64 [3] [3 1 2]", "numbers": "F64 [2] [0.5 2]", "nested.0.a": "F32 [1] [5]", "nested.1.0": "F32 [1] [6]",
	}
	for _, name := range []string{"zip.pt", "legacy.pt", "protocol3.pt", "protocol4.pt", "protocol5.pt"} {
		f, err := Open(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, h := range f.Headers() {
			got[h.Name] = textOf(t, f, h.Name)
		}
		for key, text := range want {
			if got[key] != text {
				t.Errorf("%s: %s is %q, want %q", name, key, got[key], text)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d arrays, want %d: %v", name, len(got), len(want), got)
		}
		if _, err := f.Load("complex"); err == nil || !strings.Contains(err.Error(), "ComplexFloatStorage") {
			t.Errorf("%s: complex numbers: %v", name, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if a := loadFile(t, "testdata/lone.pt", ""); fmt.Sprint(a.Shape) != "[3]" {
		t.Errorf("a lone tensor has shape %v", a.Shape)
	}
}

func textOf(t *testing.T, f *File, name string) string {
	t.Helper()
	a, err := f.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	v, err := a.Float64s()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(a.DType, " ", append([]int{}, a.Shape...), " ", v)
}

// pickled wraps a pickle's opcodes into an archive with one storage of four float32.
func pickled(t testing.TB, ops string) []byte {
	return zipFile(t, func(z *zip.Writer) {
		addMember(t, z, "a/data.pkl", zip.Store, []byte("\x80\x02"+ops))
		addMember(t, z, "a/data/0", zip.Store, make([]byte, 16))
	})
}

// tensorOps builds a tensor on storage "0" with the given element count, offset, shape and strides.
func tensorOps(count, offset, shape, stride string) string {
	return "ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpu" +
		count + "tQ" + offset + "(" + shape + "t(" + stride + "t\x89)tR"
}

func TestHostilePickles(t *testing.T) {
	huge := "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f" // 2⁶³−1
	for name, c := range map[string]struct{ ops, want string }{
		"a call":               {"cos\nsystem\nX\x02\x00\x00\x00ls\x85R.", `"os system" is not read`},
		"a call by stack":      {"\x8c\x02os\x8c\x06system\x93.", `"os system" is not read`},
		"builtins":             {"c__builtin__\neval\n.", "is not read"},
		"a new object":         {"cos\nPathLike\n)\x81.", `"os PathLike" is not read`},
		"a set's new object":   {"(cos\nsystem\n\x90.", "empty stack"},
		"an instance":          {"(i__main__\nA\n.", "opcode 0x69"},
		"an extension":         {"\x82\x01.", "opcode 0x82"},
		"a wrong callee":       {"K\x01)R.", "not a function"},
		"a called storage":     {"ctorch\nFloatStorage\n)R.", `"torch FloatStorage" is not read`},
		"a subclass of itself": {"ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._tensor\n_rebuild_from_type_v2\nN)Nt" + "R.", "class of its own"},
		"joblib of nothing":    {"cjoblib.numpy_pickle\nNumpyArrayWrapper\n)\x81}b.", "without shape"},
		"a foreign reference":  {"X\x06\x00\x00\x00module\x85Q.", "not the storage"},
		"a frame of 2⁶²":       {"\x95\x00\x00\x00\x00\x00\x00\x00\x40.", "a frame of"},
		"text of 4 GB":         {"X\xff\xff\xff\xff.", "are claimed"},
		"protocol 9":           {"\x80\x09.", "protocol 9"},
		"empty stack":          {".", "0 values"},
		"two values":           {"NN.", "2 values"},
		"no mark":              {"t.", "no mark"},
		"below the mark":       {"K\x01(\x85.", "empty stack"},
		"no end":               {"N", "are left"},
		"unknown memory":       {"h\x07.", "never stored"},
		"trailing bytes":       {"N.N", "follow its end"},
		"odd items":            {"}(K\x01u.", "does not take it"},
		"append to a dict":     {"}K\x01a.", "does not take it"},
		"a list in itself":     {"]q\x00h\x00a.", "nested more than"},
		"deep lists":           {strings.Repeat("]", 400) + strings.Repeat("a", 399) + ".", "nested more than"},
		"billion laughs":       {"]q\x000" + strings.Repeat("]h\x00ah\x00aq\x000", 40) + "h\x00.", "hold more than"},
		"stack bomb":           {strings.Repeat("N", maxStack+1) + ".", "wait on the stack"},
		"mark bomb":            {strings.Repeat("(", maxStack+1) + ".", "wait on the stack"},
		"repeated numbers":     {"](" + strings.Repeat("K\x01", 1000) + "eq\x000](" + strings.Repeat("h\x00", 5000) + "e.", "hold more than"},
		"two of a name":        {"}(X\x03\x00\x00\x00a.b" + tensorOps("K\x04", "K\x00", "K\x01", "K\x01") + "X\x01\x00\x00\x00a}X\x01\x00\x00\x00b" + tensorOps("K\x04", "K\x00", "K\x01", "K\x01") + "su.", "two tensors"},
		"offset":               {tensorOps("K\x04", "K\x04", "K\x01", "K\x01") + ".", "does not fit a storage"},
		"negative offset":      {tensorOps("K\x04", "J\xff\xff\xff\xff", "K\x01", "K\x01") + ".", "without storage, offset"},
		"negative size":        {tensorOps("K\x04", "K\x00", "J\xff\xff\xff\xff", "K\x01") + ".", "without storage, offset"},
		"shape":                {tensorOps("K\x04", "K\x00", "K\x05", "K\x01") + ".", "does not fit a storage"},
		"repeats":              {tensorOps("K\x04", "K\x00", "K\x05", "K\x00") + ".", "repeats the 4 elements"},
		"overflow":             {tensorOps("K\x04", "K\x00", huge+huge, huge+huge) + ".", "does not fit a storage"},
		"overflow by stride":   {tensorOps("K\x04", "K\x00", "K\x03", huge) + ".", "does not fit a storage"},
		"claimed elements":     {tensorOps(huge, "K\x00", "M\xe8\x03", "K\x01") + ".", "claims"},
		"strides missing":      {tensorOps("K\x04", "K\x00", "K\x01", "") + ".", "without storage, offset"},
		"no storage member":    {strings.Replace(tensorOps("K\x04", "K\x00", "K\x01", "K\x01"), "X\x01\x00\x00\x000", "X\x01\x00\x00\x009", 1) + ".", "no member"},
	} {
		err := parseAllStrict(pickled(t, c.ops))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// TestAListInItselfTakesNoMemory has a list whose items are itself: none of the lists in it is taken for numbers.
func TestAListInItselfTakesNoMemory(t *testing.T) {
	const items = 50_000
	file := pickled(t, "]q\x00"+strings.Repeat("h\x00a", items)+".")
	var err error
	if took := allocated(func() { err = parseAllStrict(file) }); took > 500*items {
		t.Errorf("%d items take %d MB", items, took>>20)
	}
	if err == nil || !strings.Contains(err.Error(), "nested more than") {
		t.Errorf("got %v", err)
	}
}

// parseAllStrict is parseAll, but also fails for arrays that cannot be read.
func parseAllStrict(b []byte) error {
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

func TestFilesOfTorchThatAreRefused(t *testing.T) {
	for name, want := range map[string]string{
		"repeated.pt": ".clone()",
		"module.pt":   `"torch.nn.modules.linear Linear" is not read`,
	} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := parseAllStrict(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
}

// TestForeignObjectsHideNothing: what is not known, in whatever form it is pickled, is named, and the tensor beside it is read.
func TestForeignObjectsHideNothing(t *testing.T) {
	for name, c := range map[string]struct{ ops, reason string }{
		"a call":            {"cos\nsystem\nX\x02\x00\x00\x00ls\x85R", `"os system" is not read`},
		"an object":         {"csklearn\nScaler\n)\x81}X\x01\x00\x00\x00mK\x01sb", `"sklearn Scaler" is not read`},
		"named arguments":   {"csklearn\nScaler\n)}\x92", `"sklearn Scaler" is not read`},
		"a filled object":   {"csklearn\nBag\n)\x81(K\x01K\x02e", `"sklearn Bag" is not read`},
		"a filled dict":     {"csklearn\nBag\n)\x81(K\x01K\x02u", `"sklearn Bag" is not read`},
		"a method's result": {"cos\ngetcwd\n)R)R", `"os getcwd" is not read`},
		"a function":        {"cos\nsystem\n", `"os system" is not read`},
		"a storage":         {"ctorch\nFloatStorage\n)R", `"torch FloatStorage" is not read`},
		"outside":           {"X\x06\x00\x00\x00module\x85Q", "not the storage"},
		"complex numbers":   {"cnumpy.core.multiarray\nscalar\ncnumpy\ndtype\nU\x03c16K\x00K\x01\x87RU\x10" + strings.Repeat("x", 16) + "\x86R", "complex numbers"},
		"an array of dates": {opArray + "(K\x01K\x01\x85cnumpy\ndtype\nU\x02M8K\x00K\x01\x87R\x89U\x08abcdefghtb", `"M8" is not read`},
		"an unfinished one": {opArray, "never completed"},
		"a set":             {"\x8f(K\x01K\x02\x90", ""},
		"a frozen set":      {"(K\x01K\x02\x91", ""},
		"a device":          {"ctorch\ndevice\nX\x03\x00\x00\x00cpu\x85R", ""},
		"a dtype":           {"ctorch\nfloat32\n", ""},
		"a path":            {"cpathlib\nPosixPath\nX\x01\x00\x00\x00a\x85R", ""},
		"a date":            {"cdatetime\ndate\nU\x04abcd\x85R", ""},
		"bytes":             {"C\x02\xff\xfe", ""},
		"a huge number":     {"\x8b\x09\x00\x00\x00123456789", ""},
	} {
		f, err := Parse(pickled(t, "}(X\x01\x00\x00\x00h"+tensorOps("K\x04", "K\x00", "K\x04", "K\x01")+"X\x01\x00\x00\x00x"+c.ops+"u."))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := textOf(t, f, "h"); got != "F32 [4] [0 0 0 0]" {
			t.Errorf("%s: the tensor is %s", name, got)
		}
		refused := f.Refused()
		if c.reason == "" && len(refused) > 0 || c.reason != "" && (len(refused) != 1 || refused[0].Name != "x" || !strings.Contains(refused[0].Err.Error(), c.reason)) {
			t.Errorf("%s: refused are %v, want x: %s", name, refused, c.reason)
		}
	}
}

// TestPicklesOfArrays reads bare pickles and arrays of objects: lists, tuples and dicts of numpy's arrays, words, numbers.
func TestPicklesOfArrays(t *testing.T) {
	array := opArray + "(K\x01K\x02\x85" + opU1 + "\x89U\x02\x01\x02tb"
	words := "](U\x03catU\x03dogU\x03cate"
	objects := func(shape, items string) string {
		return "\x80\x02" + opArray + "(K\x01" + shape + "cnumpy\ndtype\nU\x02O8K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK?tb\x89](" + items + "etb."
	}
	text := opArray + "(K\x01K\x02\x85cnumpy\ndtype\nU\x02U1K\x00K\x01\x87R(K\x03U\x01<NNNK\x04K\x04K\x08tb\x89U\x08b\x00\x00\x00a\x00\x00\x00tb"
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"an array":        {[]byte("\x80\x02" + array + "."), "U8 [2] [1 2]"},
		"a tuple":         {[]byte("\x80\x02" + array + array + "\x86."), "0 U8 [2] [1 2] 1 U8 [2] [1 2]"},
		"a dict":          {[]byte("\x80\x02}(U\x01h" + array + "U\x01y" + words + "u."), "h U8 [2] [1 2] y I64 [3] [0 1 0] [cat dog]"},
		"keys of tuples":  {[]byte("\x80\x02}(K\x01\x85" + array + "K\x02\x85" + array + "u."), "(a list, item 0) U8 [2] [1 2] (a list, item 1) U8 [2] [1 2]"},
		"booleans":        {[]byte("\x80\x02](\x88\x89e."), "I64 [2] [1 0]"},
		"text":            {[]byte("\x80\x02" + text + "."), "I64 [2] [0 1] [b a]"},
		"a default dict":  {[]byte("\x80\x02ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(U\x01h" + array + "u."), "h U8 [2] [1 2]"},
		"one object":      {npyOf("|O", "()", []byte(objects(")", "}(U\x01h"+array+"u"))), "h U8 [2] [1 2]"},
		"objects":         {npyOf("|O", "(2,)", []byte(objects("K\x02\x85", array+array))), "0 U8 [2] [1 2] 1 U8 [2] [1 2]"},
		"words":           {npyOf("|O", "(2,)", []byte(objects("K\x02\x85", "U\x03dogU\x03cat"))), "I64 [2] [0 1] [dog cat]"},
		"words in a zip":  {zipOf(t, zip.Store, map[string][]byte{"y.npy": npyOf("|O", "(2,)", []byte(objects("K\x02\x85", "U\x03dogU\x03cat")))}), "y I64 [2] [0 1] [dog cat]"},
		"too few objects": {[]byte(objects("K\x03\x85", "K\x01K\x02")), "refused"},
	} {
		f, err := Parse(c.file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, h := range f.Headers() {
			a, err := f.Load(h.Name)
			if err != nil {
				t.Fatal(err)
			}
			v, err := a.Int64s()
			if err != nil {
				t.Fatal(err)
			}
			if h.Name != "" {
				got = append(got, h.Name)
			}
			got = append(got, fmt.Sprint(a.DType, " ", a.Shape, " ", v))
			if a.Categories != nil {
				got = append(got, fmt.Sprint(a.Categories))
			}
		}
		for range f.Refused() {
			got = append(got, "refused")
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
}

func TestEveryCutOfATorchFileIsAnError(t *testing.T) {
	b, err := os.ReadFile("testdata/legacy.pt")
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(b) {
		if parseAllStrict(b[:n]) == nil {
			t.Fatalf("%d of %d bytes are read without an error", n, len(b))
		}
	}
}

func FuzzPickle(f *testing.F) {
	for _, name := range []string{"zip.pt", "protocol4.pt", "legacy.pt"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	tensor := tensorOps("K\x04", "K\x00", "K\x02K\x02", "K\x01K\x02")
	f.Add([]byte("\x80\x02" + tensor + "."))
	pair := "X\x01\x00\x00\x00w" + tensor
	f.Add([]byte("\x80\x02ccollections\nOrderedDict\n](](" + pair + "e" + pair + "\x86e\x85R."))
	f.Add(zipFile(f, func(z *zip.Writer) {
		addMember(f, z, "a/data.pkl", zip.Store, []byte("\x80\x02"+tensor+"."))
		addMember(f, z, "a/byteorder", zip.Store, []byte("big"))
		addMember(f, z, "a/data/0", zip.Store, make([]byte, 16))
	}))
	f.Add([]byte("\x80\x02}(U\x01h" + opArray + "(K\x01K\x02\x85" + opU1 + "\x89U\x02abtbU\x01yctorch\ndevice\n)R\x8f(K\x01\x90u."))
	f.Add([]byte("\x80\x02csklearn\nScaler\n)\x81}(U\x01aK\x01ub."))
	f.Fuzz(func(t *testing.T, b []byte) {
		if file, err := Parse(b); err == nil { // also as it is: a bare pickle
			for _, h := range file.Headers() {
				if a, err := file.Load(h.Name); err == nil && a.check() != nil {
					t.Fatal(a.check())
				}
			}
		}
		if len(b) > 0 && b[0] == 0x80 && !strings.HasPrefix(string(b), legacyMagic) {
			b = zipFile(t, func(z *zip.Writer) {
				addMember(t, z, "a/data.pkl", zip.Store, b)
				addMember(t, z, "a/data/0", zip.Store, make([]byte, 16))
			})
		}
		// An array that can be read must be complete: as many bytes as the shape says.
		file, err := Parse(b)
		if err != nil {
			return
		}
		for _, h := range file.Headers() {
			a, err := file.Load(h.Name)
			if err != nil {
				continue
			}
			if err := a.check(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
