package featurefiles

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/measure"
)

// The files of testdata/origins come from other programs: those that users sent, and siblings of them by make_origins.py. Nearly all hold the
// same 60 samples, whose NC1 numpy gives as sixty.
const (
	sixty        = 0.0163045038574463
	sixtyHalf    = 0.0163039754912308 // rounded to float16
	sixtyCut     = 0.0163092561322464 // cut to float16
	sixtyText    = 0.0163045035868712 // float32 in its shortest decimals
	thousandDuck = 0.3976973067874782
)

// otherwise is what the files need besides their name, and their NC1 where it is not sixty.
var otherwise = map[string]struct {
	req  Request
	want float64
}{
	"o1_transposed.npz":             {req: Request{Files: []string{"testdata/origins/o1_transposed.npz"}, Keys: [roleCount]string{Features: "arr_0", Labels: "arr_2"}, TransposeFeatures: true}},
	"pandas.csv":                    {want: sixtyText},
	"pandas_index.csv":              {want: sixtyText},
	"pandas_semicolons.csv":         {want: sixtyText},
	"pandas_tabs.tsv":               {want: sixtyText},
	"pandas_numbers_as_names.csv":   {want: sixtyText},
	"polars.csv":                    {want: sixtyText},
	"no_header.csv":                 {want: sixtyText},
	"duck_bars.csv":                 {want: sixtyText, req: Request{Files: []string{"testdata/origins/duck_bars.csv"}, Keys: [roleCount]string{Features: "sepal*,petal*"}}},
	"pandas.csv.gz":                 {want: sixtyText},
	"labels.txt":                    {req: Request{Files: []string{"testdata/origins/savetxt/features.txt", "testdata/origins/savetxt/labels.txt"}}},
	"named_columns.csv":             {want: sixtyText, req: Request{Files: []string{"testdata/origins/named_columns.csv"}, Keys: [roleCount]string{Features: "sepal *,petal*"}}},
	"labels.npy":                    {req: Request{From: [roleCount][]string{Features: {"testdata/origins/vim/o3_features.pkl"}, Labels: {"testdata/origins/vim/labels.npy"}, Weights: {"testdata/origins/vim/o3_fc.pkl"}}}},
	"dn_1000.parquet":               {want: thousandDuck},
	"wasm_f16_none.parquet":         {want: sixtyCut},
	"half_arrow.parquet":            {want: sixtyHalf},
	"half_arrow_dictionary.parquet": {want: sixtyHalf},
	"half_arrow_split.parquet":      {want: sixtyHalf},
}

// TestFilesOfOtherPrograms measures every file of testdata/origins.
func TestFilesOfOtherPrograms(t *testing.T) {
	paths, err := filepath.Glob("testdata/origins/*.*")
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d files: %v", len(paths), err)
	}
	more, err := filepath.Glob("testdata/origins/sharded/*.json")
	if err != nil {
		t.Fatal(err)
	}
	datasets, err := filepath.Glob("testdata/origins/dataset*")
	if err != nil || len(datasets) < 4 {
		t.Fatalf("%d folders of datasets: %v", len(datasets), err)
	}
	paths = slices.Concat(paths, more, datasets, []string{"testdata/origins/vim/labels.npy", "testdata/origins/savetxt/labels.txt"})
	for _, path := range paths {
		name := filepath.Base(path)
		special := otherwise[name]
		req, want := special.req, special.want
		if req.Files == nil && req.From[Features] == nil {
			req.Files = []string{path}
		}
		if want == 0 {
			want = sixty
		}
		got, err := nc1Of(req)
		if err != nil || math.Abs(got-want) > 1e-12*want {
			t.Errorf("%s: NC1 is %v, want %v; %v", name, got, want, err)
		}
	}
}

func nc1Of(req Request) (float64, error) {
	req.Budget = arrayfile.NewFileBudget()
	s, err := Open(req)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	r, err := s.Measure(0, measure.Options{})
	if err != nil {
		return 0, err
	}
	v, _ := r.Measures.Get("nc1_pinv")
	return v, nil
}
