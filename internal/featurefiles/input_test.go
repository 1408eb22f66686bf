package featurefiles

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/measure"
)

// files writes .npy files into a folder of their own and returns its path.
func files(t testing.TB, arrays map[string]arrayfile.Array) string {
	t.Helper()
	dir := t.TempDir()
	for name, a := range arrays {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(path)
		if err == nil {
			err = arrayfile.WriteNPY(f, a)
		}
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// made returns arrays of 20 samples, 6 wide, in 4 classes, and everything that can be wrong with them.
func made() map[string]arrayfile.Array {
	const n, d, k = 20, 6, 4
	h := make([]float32, n*d)
	y := make([]int64, n)
	for i := range h {
		h[i] = float32(math.Sin(float64(i * i)))
	}
	for i := range y {
		y[i] = int64(i % k)
	}
	ints := func(f func(i int) int64, n int) arrayfile.Array {
		v := make([]int64, n)
		for i := range v {
			v[i] = f(i)
		}
		return arrayfile.Of("", []int{n}, v)
	}
	rows := func(n, width int) arrayfile.Array {
		v := make([]float32, n*width)
		for i := range v {
			v[i] = float32(math.Cos(float64(3 * i)))
		}
		return arrayfile.Of("", []int{n, width}, v)
	}
	bad := append([]float32(nil), h...)
	bad[7*d+3], bad[9*d+1] = float32(math.NaN()), float32(math.Inf(1))
	return map[string]arrayfile.Array{
		"h.npy": arrayfile.Of("", []int{n, d}, h), "y.npy": arrayfile.Of("", []int{n}, y), "w.npy": rows(k, d), "b.npy": arrayfile.Of("", []int{k}, make([]float32, k)),
		"ht.npy": rows(d, n), "wt.npy": rows(d, k), "w7.npy": rows(k, 7), "w1.npy": arrayfile.Of("", []int{k}, make([]float32, k)), "b5.npy": arrayfile.Of("", []int{5}, make([]float32, 5)),
		"y19.npy": arrayfile.Of("", []int{n - 1}, y[1:]), "y9.npy": ints(func(i int) int64 { return max(y[i], int64(i/7%2*9)) }, n), "ymin.npy": ints(func(i int) int64 { return y[i] - 1 }, n), "yneg.npy": ints(func(i int) int64 { return y[i]%3 - 1 }, n),
		"one.npy": ints(func(int) int64 { return 0 }, n), "gap.npy": ints(func(i int) int64 { return []int64{0, 1, 3}[i%3] }, n), "mask.npy": ints(func(i int) int64 { return int64(i) }, n),
		"d1.npy": rows(n, 1), "few.npy": rows(3, d), "yfew.npy": arrayfile.Of("", []int{3}, y[:3]), "h5.npy": rows(n, 5), "none.npy": rows(0, d), "ynone.npy": ints(nil, 0),
		"nan.npy": arrayfile.Of("", []int{n, d}, bad), "vector.npy": arrayfile.Of("", []int{n}, h[:n]), "deep.npy": arrayfile.Of("", []int{n, 2, 3}, h),
		"onehot.npy": rows(n, k), "yfloat.npy": arrayfile.Of("", []int{n}, h[:n]), "bf16.npy": {Header: arrayfile.Header{DType: arrayfile.BF16, Shape: []int{n, d}}, Data: make([]byte, 2*n*d)},
		"s/h0.npy": rows(10, d), "s/h1.npy": rows(10, d), "s/y0.npy": arrayfile.Of("", []int{10}, y[:10]), "s/y1.npy": arrayfile.Of("", []int{10}, y[10:]), "s/y2.npy": arrayfile.Of("", []int{9}, y[:9]),
		"wide/h0.npy": rows(10, d), "wide/h1.npy": rows(10, 5), "nans/h0.npy": rows(7, d), "nans/h1.npy": arrayfile.Of("", []int{n, d}, bad), "nans/y.npy": ints(func(i int) int64 { return int64(i % k) }, n+7),
	}
}

// asked turns "features=h.npy labels=y.npy" into a request.
func asked(dir, text string) Request {
	var req Request
	for _, word := range strings.Fields(text) {
		key, value, _ := strings.Cut(word, "=")
		path := filepath.Join(dir, value)
		switch key {
		case "classes":
			fmt.Sscan(value, &req.Classes)
		case "class-names":
			req.ClassNames = strings.Split(value, ",")
		case "ignore-label":
			req.IgnoreLabels = append(req.IgnoreLabels, value)
		case "transpose":
			req.TransposeWeights = true
		case "transpose-features":
			req.TransposeFeatures = true
		case "layers":
			req.Layers = value
		case "key":
			req.Keys[Features] = value
		case "file":
			req.Files = append(req.Files, path)
		default:
			for r := range roleCount {
				if roles[r].flag == "--"+key {
					req.From[r] = append(req.From[r], path)
				}
			}
		}
	}
	return req
}

// TestBadInput gives every kind of wrong file; each message names the file, what was found and what was wanted.
func TestBadInput(t *testing.T) {
	dir := files(t, made())
	for request, want := range map[string][]string{
		"":                              {"no file was named"},
		"features=h.npy":                {"labels are missing", "--labels"},
		"features=h.npy labels=y19.npy": {"y19.npy has 19 labels", "h.npy has 20 rows"},
		"features=ht.npy labels=y.npy":  {"y.npy has 20 labels", "ht.npy has 6 rows", "stored d×N", "--transpose-features"},
		"features=h.npy labels=y.npy transpose-features=":                    {"h.npy has 6 rows", "leave out --transpose-features"},
		"features=h.npy labels=y.npy weights=wt.npy":                         {"wt.npy", "6×4", "6 wide", "K×6", "--transpose-weights"},
		"features=h.npy labels=y.npy weights=w.npy transpose=":               {"w.npy", "4×6", "leave out --transpose-weights"},
		"features=h.npy labels=y.npy weights=w7.npy":                         {"w7.npy", "4×7", "6 wide", "K×6"},
		"features=h.npy labels=y.npy weights=w1.npy":                         {"w1.npy", "shape 4", "K×d"},
		"features=h.npy labels=y.npy weights=w.npy bias=b5.npy":              {"b5.npy", "5 numbers", "w.npy has 4 classes"},
		"features=h.npy labels=y.npy bias=b.npy":                             {"b.npy holds a bias", "--weights"},
		"features=h.npy labels=y9.npy weights=w.npy":                         {"y9.npy", "sample 7 has label 9", "0 to 3", "classifier has 4 classes"},
		"features=h.npy labels=yneg.npy classes=4":                           {"yneg.npy", "label -1", "not a class", "--ignore-label=-1"},
		"features=h.npy labels=ymin.npy weights=w.npy":                       {"ymin.npy", "sample 0 has label -1", "not a class", "--ignore-label=-1"},
		"features=h.npy labels=yneg.npy weights=w.npy":                       {"yneg.npy", "label -1", "not a class", "--ignore-label=-1"},
		"features=h.npy labels=y.npy ignore-label=cat":                       {"--ignore-label cat", "whole numbers"},
		"features=h.npy labels=one.npy ignore-label=0":                       {"one.npy", "nothing is left"},
		"features=h.npy labels=y.npy weights=w.npy classes=5":                {"--classes 5", "w.npy has 4 rows"},
		"features=h.npy labels=onehot.npy":                                   {"onehot.npy", "20×4", "argmax"},
		"features=h.npy labels=yfloat.npy":                                   {"yfloat.npy", "whole numbers"},
		"features=vector.npy labels=y.npy":                                   {"vector.npy", "shape 20", "N×1"},
		"features=deep.npy labels=y.npy":                                     {"deep.npy", "20×2×3", "pool or flatten"},
		"features=none.npy labels=ynone.npy":                                 {"none.npy", "no row"},
		"features=wide/h*.npy labels=y.npy":                                  {"differ in width", "h0.npy is 6 wide", "h1.npy is 5 wide"},
		"features=s/h*.npy labels=s/y*.npy":                                  {"3 files of labels", "y0.npy", "2 of features", "h0.npy"},
		"features=s/h*.npy labels=s/y0.npy labels=s/y2.npy":                  {"y2.npy has 9 labels", "h1.npy has 10 rows"},
		"features=s/h*.npy labels=s/y0.npy":                                  {"y0.npy has 10 labels", "h0.npy and 1 more has 20 rows"},
		"features=s/h0.npy features=s/h0.npy labels=y.npy":                   {"h0.npy is named twice"},
		"features=gone*.npy labels=y.npy":                                    {"matches", "gone*.npy"},
		"features=h.npy labels=y.npy test-features=h.npy":                    {"h.npy holds test features", "--test-labels"},
		"features=h.npy labels=y.npy test-labels=y.npy":                      {"y.npy holds test labels", "--test-features"},
		"features=h.npy labels=y.npy test-features=h5.npy test-labels=y.npy": {"h5.npy", "5 wide", "6 wide", "same layer"},
		"features=h.npy labels=y.npy ood=h5.npy":                             {"h5.npy", "5 wide", "same layer"},
		"features=h.npy labels=y.npy true-labels=y19.npy":                    {"y19.npy has 19 true labels", "y.npy has 20 labels"},
		"features=h.npy labels=y.npy corrupted=mask.npy":                     {"mask.npy", "sample 2 is 2", "0 or 1"},
		"features=h.npy labels=y.npy corrupted=yfew.npy":                     {"yfew.npy has 3", "y.npy has 20"},
		"file=h.npy file=one.npy":                                            {"no array is named as labels usually are", "; give them with --labels FILE"},
		"file=w.npy":                                                         {"no array is named as features usually are", "--features-key"},
		"features=h.npy labels=y.npy layers=conv*":                           {"--layers", `"conv*"`, `"h" F32 20×6`},
		"features=h.npy labels=y.npy key=feats":                              {`no array is named`, `"h" F32 20×6`, "--features-key"},
	} {
		set, err := Open(asked(dir, request))
		if err == nil {
			set.Close()
			t.Errorf("%q: no error", request)
			continue
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q: got %v, want %q", request, err, w)
			}
		}
	}
}

// TestRowsThatCannotBeMeasured names the file and the row within it.
func TestRowsThatCannotBeMeasured(t *testing.T) {
	dir := files(t, made())
	for request, want := range map[string][]string{
		"features=nan.npy labels=y.npy":                                       {"nan.npy", "2 values in 2 rows", "row 7", "column 3", "--drop-nonfinite"},
		"features=nans/h*.npy labels=nans/y.npy":                              {"h1.npy", "row 7 (sample 14 of all 2 files)", "column 3"},
		"features=h.npy labels=y.npy test-features=nan.npy test-labels=y.npy": {"nan.npy", "test features", "row 7"},
		"features=h.npy labels=y.npy ood=nan.npy":                             {"nan.npy", "out-of-distribution", "row 7"},
	} {
		set, err := Open(asked(dir, request))
		if err != nil {
			t.Fatalf("%q: %v", request, err)
		}
		_, err = set.Measure(0, measure.Options{})
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%q: got %v, want %q", request, err, w)
			}
		}
		set.Close()
	}
	r := measured(t, asked(dir, "features=nan.npy labels=y.npy"), measure.Options{DropNonFinite: true})
	if r.Dropped != 2 || r.N != 18 {
		t.Errorf("%d rows dropped of %d left, want 2 and 18", r.Dropped, r.N)
	}
}

// TestNotes: what is odd but can be measured is said, with file, found and wanted.
func TestNotes(t *testing.T) {
	dir := files(t, made())
	for request, want := range map[string][]string{
		"features=h.npy labels=one.npy":                  {"one.npy: 1 class", "at least 2"},
		"features=d1.npy labels=y.npy":                   {"d1.npy: features of width 1", "K−1 = 3"},
		"features=few.npy labels=yfew.npy weights=w.npy": {"yfew.npy: 3 samples for 4 classes", "single sample (0, 1, 2)", "--min-count 2"},
		"features=h.npy labels=gap.npy":                  {"gap.npy have the values 0, 1, 3", "--classes K"},
		"features=h.npy labels=y.npy ignore-label=77":    {"--ignore-label 77: no sample has this label"},
		"features=bf16.npy labels=y.npy":                 {"bf16.npy", "numpy has no bfloat16"},
		"features=h.npy labels=y.npy":                    {},
	} {
		set, err := Open(asked(dir, request))
		if err != nil {
			t.Fatalf("%q: %v", request, err)
		}
		notes := strings.Join(set.Notes, "\n")
		for _, w := range want {
			if !strings.Contains(notes, w) {
				t.Errorf("%q: notes %q, want %q", request, notes, w)
			}
		}
		if len(want) == 0 && notes != "" {
			t.Errorf("%q: notes %q, want none", request, notes)
		}
		if _, err := set.Measure(0, measure.Options{}); err != nil {
			t.Errorf("%q: %v", request, err)
		}
		set.Close()
	}
}
