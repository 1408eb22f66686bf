package featurefiles

import (
	"math"
	"os"
	"path/filepath"
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
	thousandDuck = 0.3976973067874782
)

// otherwise is what the files need besides their name, and their NC1 where it is not sixty.
var otherwise = map[string]struct {
	req  Request
	want float64
}{
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
	for name := range otherwise {
		if _, err := os.Stat(filepath.Join("testdata/origins", name)); err != nil {
			t.Error(err)
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
