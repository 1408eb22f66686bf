package arrayfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestPicklesOfNumpy reads what testdata/make_pickle.py wrote with every protocol, against the same arrays in an .npz.
func TestPicklesOfNumpy(t *testing.T) {
	for protocol := 2; protocol <= 5; protocol++ {
		p, err := openPickle(fmt.Sprintf("testdata/numpy_protocol%d.pkl", protocol))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"image_data", "fortran", "big", "half", "flag"} {
			a := must(t, p.Pickle, name)
			got, err := a.Array()
			if err != nil {
				t.Fatal(err)
			}
			want := loadFile(t, "testdata/numpy_pickle.npz", name).Canonical()
			if got = got.Canonical(); !slices.Equal(got.Shape, want.Shape) || got.DType != want.DType || !bytes.Equal(got.Data, want.Data) {
				t.Errorf("protocol %d: %s is %+v, want %+v", protocol, name, got, want)
			}
		}
		classes, err := must(t, p.Pickle, "class_dict").Items()
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, c := range classes {
			numbers, err := c.Value.Ints()
			text += fmt.Sprint(c.Key, numbers, err, " ")
		}
		if want := "n01[0 1] <nil> n02[5 7] <nil> n03[3] <nil> n04[] <nil> "; text != want {
			t.Errorf("protocol %d: classes %s, want %s", protocol, text, want)
		}
		if v := must(t, p.Pickle, "scalar").v; v != 1.5 {
			t.Errorf("protocol %d: scalar %v", protocol, v)
		}
		words := must(t, p.Pickle, "words").v.(*list).items
		if want := []any{"a", "bytes", "ü", strings.Repeat("\xff\x00", 200), nil, int64(3), int64(-1 << 40), 2.5, true}; !slices.Equal(words, want) {
			t.Errorf("protocol %d: words %v", protocol, words)
		}
		if err := p.memory.close(); err != nil {
			t.Error(err)
		}
	}
}

func must(t *testing.T, p Pickle, key string) Pickle {
	t.Helper()
	v, err := p.Get(key)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Opcodes of arrays, written by hand.
const (
	opArray = "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
	opU1    = "cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
)

func TestHostileNumpyPickles(t *testing.T) {
	good := "\x80\x02" + opArray + "(K\x01K\x02\x85" + opU1 + "\x89U\x02abtb."
	p, err := ParsePickle([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if a, err := p.Array(); err != nil || string(a.Data) != "ab" || !slices.Equal(a.Shape, []int{2}) {
		t.Fatalf("%+v, %v", a, err)
	}
	for name, c := range map[string]struct{ ops, want string }{
		"a call":            {"cos\nsystem\nX\x02\x00\x00\x00ls\x85R.", `"os system" is not read`},
		"numpy's own eval":  {"cnumpy.testing._private.utils\nrunstring\n.", "is not read"},
		"a ufunc":           {"cnumpy.core\n_ufunc_reconstruct\n.", "is not read"},
		"numpy load":        {"cnumpy\nload\n.", "is not read"},
		"torch":             {"ctorch._utils\n_rebuild_tensor_v2\n.", "is not read"},
		"getattr":           {"c__builtin__\ngetattr\n.", "is not read"},
		"a new object":      {"cnumpy\nndarray\n)\x81.", "opcode 0x81"},
		"codec":             {"c_codecs\nencode\nX\x01\x00\x00\x00aX\x06\x00\x00\x00rot_13\x86R.", "other than as latin1"},
		"wide text":         {"c_codecs\nencode\nX\x02\x00\x00\x00\xc4\x80X\x06\x00\x00\x00latin1\x86R.", "does not fit a byte"},
		"outside":           {"U\x01aQ.", "outside of the pickle"},
		"out of band":       {"\x97.", "opcode 0x97"},
		"object list":       {opArray + "(K\x01K\x01\x85cnumpy\ndtype\nU\x02O8K\x00K\x01\x87R\x89]tb.", "such as one of objects"},
		"object bytes":      {opArray + "(K\x01K\x01\x85cnumpy\ndtype\nU\x02O8K\x00K\x01\x87R\x89U\x08abcdefghtb.", "object arrays"},
		"record":            {opArray + "(K\x01K\x01\x85cnumpy\ndtype\nU\x02V4K\x00K\x01\x87R\x89U\x04abcdtb.", `"V4" is not read`},
		"short":             {opArray + "(K\x01K\x03\x85" + opU1 + "\x89U\x02abtb.", "shape [3] of U8 has 2 bytes"},
		"long":              {opArray + "(K\x01K\x01\x85" + opU1 + "\x89U\x02abtb.", "shape [1] of U8 has 2 bytes"},
		"overflow":          {opArray + "(K\x01J\xff\xff\xff\x7fJ\xff\xff\xff\x7fJ\xff\xff\xff\x7f\x87" + opU1 + "\x89U\x02abtb.", "has 2 bytes"},
		"negative":          {opArray + "(K\x01J\xff\xff\xff\xff\x85" + opU1 + "\x89U\x02abtb.", "without shape"},
		"no state":          {opArray + ".", "never completed"},
		"state of a number": {"K\x01)b.", "neither an array nor"},
		"state no tuple":    {opArray + "]b.", "not a tuple"},
		"state short":       {opArray + ")b.", "has 0 items"},
		"order":             {"cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01?tb.", "without byte order"},
		"type":              {"cnumpy\ndtype\nK\x01\x85R.", "without a name"},
		"call of a number":  {"K\x01)R.", "not a known function"},
		"scalar":            {"cnumpy.core.multiarray\nscalar\n)R.", "a scalar with 0"},
		"buffer":            {"cnumpy.core.numeric\n_frombuffer\n)R.", "buffer with 0"},
		"trailing":          {"N.N", "1 bytes follow"},
		"text of 4 GB":      {"X\xff\xff\xff\xff.", "are claimed"},
		"dict as array":     {"}.", "a dict where an array"},
	} {
		var err error
		spent := allocated(func() {
			var p Pickle
			if p, err = ParsePickle([]byte("\x80\x02" + c.ops)); err == nil {
				_, err = p.Array()
			}
		})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		if spent > 1<<20 {
			t.Errorf("%s: %d bytes allocated", name, spent)
		}
	}
	for n := range len(good) {
		if _, err := ParsePickle([]byte(good[:n])); err == nil {
			t.Errorf("%d of %d bytes are read without an error", n, len(good))
		}
	}
}

func TestPickleErrors(t *testing.T) {
	p, err := ParsePickle([]byte("\x80\x02}(X\x01\x00\x00\x00aK\x01X\x01\x00\x00\x00aK\x02u."))
	if err != nil {
		t.Fatal(err)
	}
	if v, err := p.Get("a"); err != nil || v.v != int64(2) {
		t.Errorf("of two values the last counts: %v, %v", v, err)
	}
	if _, err := p.Get("b"); err == nil || !strings.Contains(err.Error(), `there is no "b"; found ["a" "a"]`) {
		t.Error(err)
	}
	if _, err := p.Ints(); err == nil || !strings.Contains(err.Error(), "a dict where a list") {
		t.Error(err)
	}
	for ops, want := range map[string]string{"](K\x01Ne.": "item 1 is nothing", "}N]s.": "key of a dict is nothing", "].": "a list where a dict"} {
		p, err := ParsePickle([]byte("\x80\x02" + ops))
		if err != nil {
			t.Fatal(err)
		}
		_, err1 := p.Ints()
		_, err2 := p.Items()
		if text := fmt.Sprint(err1, err2); !strings.Contains(text, want) {
			t.Errorf("%q, want %q", text, want)
		}
	}
	if _, err := openPickle("testdata/none.pkl"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// FuzzNumpyPickle: no input panics, arrays are whole, memory stays within a multiple of the input.
func FuzzNumpyPickle(f *testing.F) {
	for protocol := 2; protocol <= 5; protocol++ {
		b, err := os.ReadFile(fmt.Sprintf("testdata/numpy_protocol%d.pkl", protocol))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte("\x80\x02" + opArray + "(K\x01K\x02\x85" + opU1 + "\x89U\x02abtb."))
	f.Fuzz(func(t *testing.T, b []byte) {
		var p Pickle
		var err error
		if spent := allocated(func() { p, err = ParsePickle(b) }); spent > uint64(1<<20+1000*len(b)) {
			t.Fatalf("%d bytes allocated for %d", spent, len(b))
		}
		if err != nil {
			return
		}
		check := func(p Pickle) {
			if a, err := p.Array(); err == nil {
				if err := a.check(); err != nil {
					t.Fatal(err)
				}
			}
			p.Ints()
		}
		check(p)
		if items, err := p.Items(); err == nil {
			for _, i := range items {
				check(i.Value)
			}
		}
	})
}

// TestPandasPicklesAreToldWhatToDo: a frame's pickle would have to run code; pandas has a file for it.
func TestPandasPicklesAreToldWhatToDo(t *testing.T) {
	for g, want := range map[global]string{"pandas DataFrame": "df.to_parquet", "pandas.core.frame DataFrame": "df.to_parquet", "pandas Series": "save x.to_numpy()", "pandas.core.indexes.base _new_Index": "save x.to_numpy()",
		"torch.utils.data.dataset TensorDataset": "dataset.tensors", "sklearn.utils._bunch Bunch": "features=b.data", "sklearn.linear_model._logistic LogisticRegression": "weight=model.coef_",
		"scipy.sparse._csr csr_array": "save x.toarray()", "jax._src.array _reconstruct_array": "save numpy.asarray(x)", "torch.nn.modules.linear Linear": "save model.state_dict()", "mine.module Thing": "in lists and dicts only"} {
		if err := (&foreign{g: g}).reason(); !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), string(g)) {
			t.Errorf("%s: %v", g, err)
		}
	}
}

// TestObjectsOfNumpy: an array of objects that are numbers keeps its shape, in the order of its rows; texts of numpy are words.
func TestObjectsOfNumpy(t *testing.T) {
	for _, file := range []string{"testdata/objects_protocol2.pkl", "testdata/objects_protocol5.pkl"} {
		f, err := Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for name, want := range map[string][]float64{"grid": {1, 2, 3, 4, 5, 6}, "mixed": {0.5, 1, 2, 3}} {
			a, err := f.Load(name)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := a.Float64s(); err != nil || !slices.Equal(v, want) || !slices.Equal(a.Shape, []int{2, len(want) / 2}) {
				t.Errorf("%s: %s is %v of shape %v, %v", file, name, v, a.Shape, err)
			}
		}
		a, err := f.Load("words")
		if err != nil {
			t.Fatal(err)
		}
		if codes, err := a.Int64s(); err != nil || !slices.Equal(a.Categories, []string{"owl", "öwl"}) || !slices.Equal(codes, []int64{0, 1, 0}) {
			t.Errorf("%s: words %q, %v, %v", file, a.Categories, codes, err)
		}
	}
}
