package arrayfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
)

// checkContents parses a file and compares its contents, or of "error WHY" that there is such an error.
func checkContents(t *testing.T, name string, file []byte, want string) {
	t.Helper()
	got := ""
	f, err := Parse(file)
	if err == nil {
		got, err = contents(f)
	}
	why, fails := strings.CutPrefix(want, "error ")
	switch {
	case fails && (err == nil || !strings.Contains(err.Error(), why)):
		t.Errorf("%.80q: %s, %v, want an error with %q", name, got, err, why)
	case !fails && (err != nil || got != want):
		t.Errorf("%.80q: %s, %v, want %s", name, got, err, want)
	}
}

// contents spells the arrays of a file, and how many are refused.
func contents(f *File) (string, error) {
	var got []string
	for _, h := range f.Headers() {
		a, err := f.Load(h.Name)
		if err != nil {
			return "", err
		}
		got = append(got, fmt.Sprintf("%s %s %v", h.Name, h.DType, h.Shape))
		if a.Categories != nil {
			codes, err := a.Int64s()
			if err != nil {
				return "", err
			}
			got = append(got, fmt.Sprint(codes, a.Categories))
			continue
		}
		v, err := a.Float64s()
		if err != nil {
			return "", err
		}
		got = append(got, fmt.Sprint(v))
	}
	for _, r := range f.Refused() {
		got = append(got, "refused "+r.Name+": "+r.Err.Error())
	}
	return strings.Join(got, " "), nil
}

func TestTablesOfText(t *testing.T) {
	for text, want := range map[string]string{
		"a,b\n1,2\n3,4\n":               "a I64 [2] [1 3] b I64 [2] [2 4]",
		"\ufeffa,b\r\n1,2.5\r\n3,4\r\n": "a I64 [2] [1 3] b F64 [2] [2.5 4]",
		"a;b\n1;2\n":                    "a I64 [1] [1] b I64 [1] [2]",
		"a\tb\n1\tx y\n":                "a I64 [1] [1] b I64 [1] [0] [x y]",
		"a|b\n1|\"x|y\"\n":              "a I64 [1] [1] b I64 [1] [0] [x|y]",
		"# note\n1 2.5\n  3   4\n\n":    " F64 [2 2] [1 2.5 3 4]",
		"1,2\n3,4\n":                    " I64 [2 2] [1 2 3 4]",
		"3\n1\n2\n":                     " I64 [3] [3 1 2]",
		"0\n1\n2\n":                     " I64 [3] [0 1 2]",
		"label\n3\n1\n":                 "label I64 [2] [3 1]",
		"label\ncat\ndog\n":             "label I64 [2] [0 1] [cat dog]",
		"cat\ndog\ncat\n":               "0 I64 [3] [0 1 0] [cat dog]",
		"1.5,cat\n2,dog\n":              "0 F64 [2] [1.5 2] 1 I64 [2] [0 1] [cat dog]",
		"0,1\n0.5,1.5\n2,3\n":           "0 F64 [2] [0.5 2] 1 F64 [2] [1.5 3]",
		"0,1\n1,0\n0,1\n":               " I64 [3 2] [0 1 1 0 0 1]",
		"0,1,2\n7,8,9\n":                "0 I64 [1] [7] 1 I64 [1] [8] 2 I64 [1] [9]",
		",0,1,y\n0,.5,.25,cat\n":        "Unnamed: 0 I64 [1] [0] 0 F64 [1] [0.5] 1 F64 [1] [0.25] y I64 [1] [0] [cat]",
		"1,2,y\n.5,.25,cat\n":           "1 F64 [1] [0.5] 2 F64 [1] [0.25] y I64 [1] [0] [cat]",
		"a,b\n1,\n,2\n3,3\n":            "refused a: 1 of its 3 rows are empty, the first is row 2; drop such rows refused b: 1 of its 3 rows are empty, the first is row 1; drop such rows",
		"a,b\n1,\n2,x\n":                "a I64 [2] [1 2] b I64 [2] [0 1] [ x]",
		"a,b\nnan,inf\n1,-1e400\n":      "a F64 [2] [NaN 1] b F64 [2] [+Inf -Inf]",
		"id,x\n9007199254740993,1\n":    "id I64 [1] [9.007199254740992e+15] x I64 [1] [1]",
		"a,b\n1,2\n3\n":                 "error wrong number of fields",
		"1 2\n3\n":                      "error line 2 has 1 values, and the first has 2",
		"a,a\n1,2\n":                    `error two columns are called "a"`,
		"a,b\n1,\"2\n":                  "error extraneous or missing",
		"\x1f\x8b\x08\x00":              "error the file is packed: the file is cut short",
		"a,b\n1,2\x00\n":                "error none of .npy",
		"1 3:.5 7:2\n0 1:1 2:3\n":       "error load_svmlight_file",
		"1 3:.5 7\n0 1:1 2\n":           "0 I64 [2] [1 0] 1 I64 [2] [0 1] [3:.5 1:1] 2 I64 [2] [7 2]",
		"only one line\n":               "error none of .npy",

		"x,y\n\"[1, 2.5]\",0\n\"[ 3,4]\",1\n":                                           "x F64 [2 2] [1 2.5 3 4] y I64 [2] [0 1]",
		"x,y\n[1. 2.5],0\n\"[ 3.\n  4e-1]\",1\n":                                        "x F64 [2 2] [1 2.5 3 0.4] y I64 [2] [0 1]",
		"x,y\n\"[np.float32(1.5), np.float32(2.0)]\",0\n\"[np.float64(3.0), nan]\",1\n": "x F64 [2 2] [1.5 2 3 NaN] y I64 [2] [0 1]",
		"\"[1, 2]\"\n\"[3, 4]\"\n":                                                      "0 F64 [2 2] [1 2 3 4]",
		"x\n\"[1, 2]\"\n\n\"[3, 4]\"\n":                                                 "x F64 [2 2] [1 2 3 4]",
		"x,y\n\"[1, 2]\",0\n,1\n":                                                       "y I64 [2] [0 1] refused x: 1 of its 2 rows are empty, the first is row 2; drop such rows",
		"x,y\n\"[1, 2]\",0\n\"[3]\",1\n":                                                "x I64 [2] [0 1] [[1, 2] [3]] y I64 [2] [0 1]",
		"x,y\n[1 ... 2],0\n[3 ... 4],1\n":                                               "x I64 [2] [0 1] [[1 ... 2] [3 ... 4]] y I64 [2] [0 1]",
		"x,y\n[1 2],0\n7,1\n":                                                           "x I64 [2] [0 1] [[1 2] 7] y I64 [2] [0 1]",
		"x,y\n7,0\n[1 2],1\n":                                                           "x I64 [2] [0 1] [7 [1 2]] y I64 [2] [0 1]",
		"x,y\n[],0\n[],1\n":                                                             "x I64 [2] [0 0] [[]] y I64 [2] [0 1]",
	} {
		checkContents(t, text, []byte(text), want)
	}
}

// TestTablesKeepLargeWholeNumbers, which float64 would make equal.
func TestTablesKeepLargeWholeNumbers(t *testing.T) {
	f, err := Parse([]byte("id,x\n9007199254740993,1\n9007199254740992,2\n"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := f.Load("id")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := a.Int64s(); err != nil || v[0] != 9007199254740993 || v[1] != 9007199254740992 {
		t.Errorf("%v, %v", v, err)
	}
}

// mat4Matrix is a matrix of level 4.
func mat4Matrix(order binary.AppendByteOrder, kind, rows, columns, imaginary uint32, name string, data []byte) []byte {
	var b []byte
	for _, v := range []uint32{kind, rows, columns, imaginary, uint32(len(name) + 1)} {
		b = order.AppendUint32(b, v)
	}
	return append(append(append(b, name...), 0), data...)
}

func TestMATLevel4(t *testing.T) {
	le, be := binary.LittleEndian, binary.BigEndian
	double := le.AppendUint64(nil, math.Float64bits(1.5))
	good := mat4Matrix(le, 50, 2, 3, 0, "y", []byte{1, 2, 3, 4, 5, 6})
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"bytes by columns": {good, "y U8 [2 3] [1 3 5 2 4 6]"},
		"two":              {append(mat4Matrix(le, 0, 1, 1, 0, "x", double), good...), "x F64 [1 1] [1.5] y U8 [2 3] [1 3 5 2 4 6]"},
		"big endian":       {mat4Matrix(be, 1030, 1, 2, 0, "y", []byte{0, 1, 255, 255}), "y I16 [1 2] [1 -1]"},
		"complex":          {append(mat4Matrix(le, 0, 1, 1, 1, "z", append(double, double...)), good...), "y U8 [2 3] [1 3 5 2 4 6] refused z: the array is complex; only real numerical arrays are read"},
		"text":             {append(mat4Matrix(le, 51, 1, 2, 0, "t", []byte("ab")), good...), "y U8 [2 3] [1 3 5 2 4 6] refused t: the array is text; only real numerical arrays are read"},
		"sparse":           {append(mat4Matrix(le, 2, 1, 1, 0, "s", double), good...), "y U8 [2 3] [1 3 5 2 4 6] refused s: the array is sparse; only real numerical arrays are read"},
		"twice":            {append(good, good...), "error occurs twice"},
		"cut":              {append(good, good[:20]...), "error matrix at byte 28: the file ends"},
		"cut numbers":      {append(good, mat4Matrix(le, 50, 2, 3, 0, "x", []byte{1})...), `error "x" claims 2×3 numbers`},
		"too many":         {append(good, mat4Matrix(le, 0, 1<<31-1, 1<<31-1, 0, "x", nil)...), `error "x" claims`},
		"a long name":      {append(good, mat4Matrix(le, 0, 1, 1, 0, strings.Repeat("x", 5000), double)...), "error a name of 5001 bytes"},
	} {
		checkContents(t, name, c.file, c.want)
	}
}

// FuzzText reads tables of text and matrices of level 4, which have no magic number.
func FuzzText(f *testing.F) {
	for _, text := range []string{"a,b\n1,2\n3,4\n", "# x\n1 2\n3 4\n", ",0,1,y\n0,.5,.25,cat\n", "a;b\n\"x;\"\"y\";\n", "cat\ndog\ncat\n", "x,y\n\"[1, 2.5]\",0\n[np.float32(3.0) nan],1\n"} {
		f.Add([]byte(text))
	}
	f.Add(mat4Matrix(binary.LittleEndian, 50, 2, 3, 0, "y", []byte{1, 2, 3, 4, 5, 6}))
	f.Add(mat4Matrix(binary.BigEndian, 1030, 1, 2, 0, "y", []byte{0, 1, 255, 255}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if !isText(b) && !isMAT4(b) {
			return
		}
		var file *File
		var err error
		if spent := allocated(func() { file, err = Parse(b) }); spent > uint64(1<<20+2000*len(b)) {
			t.Fatalf("%d bytes allocated for a file of %d", spent, len(b))
		}
		if err != nil {
			return
		}
		for _, h := range file.Headers() {
			a, err := file.Load(h.Name)
			if err == nil {
				err = a.check()
			}
			if err != nil {
				t.Fatal(err)
			}
			codes, err := a.Int64s()
			for _, c := range codes {
				if h.Categories != nil && (err != nil || c < 0 || int(c) >= len(h.Categories)) {
					t.Fatalf("word %d of %d", c, len(h.Categories))
				}
			}
		}
	})
}
