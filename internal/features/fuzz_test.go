package features

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"collapse/arrayfile"
	"collapse/measure"
)

// FuzzOpen gives the input layer any file as features, labels and classifier at once. Whatever opens can be
// measured or says why not.
func FuzzOpen(f *testing.F) {
	for _, name := range []string{"numpy.npz", "torch.pt", "torch_lists.pt", "keys.npz", "features_fortran_big.npy"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	path := filepath.Join(f.TempDir(), "x")
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		for _, req := range []Request{{Files: []string{path}}, {From: [roleCount][]string{Features: {path}, Labels: {"testdata/labels_i2.npy"}}}} {
			set, err := Open(req)
			if err != nil {
				continue
			}
			r, err := set.Measure(0, measure.Options{DropNonFinite: true})
			for key, v := range mapOf(r) {
				if v-v != 0 {
					t.Errorf("%s is %g", key, v)
				}
			}
			if err == nil && r.N+r.Dropped != set.Columns[0].N {
				t.Errorf("%d measured and %d dropped of %d samples", r.N, r.Dropped, set.Columns[0].N)
			}
			if err := set.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

func mapOf(r *measure.Report) map[string]float64 {
	if r == nil {
		return nil
	}
	return r.Measures
}

func FuzzStream(f *testing.F) {
	var b bytes.Buffer
	for _, a := range []arrayfile.Array{arrayfile.Of("", []int{2, 2}, []float32{1, 2, 3, 4}), arrayfile.Of("", []int{2}, []int64{0, 7})} {
		if err := arrayfile.WriteNPY(&b, a); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(b.Bytes())
	f.Add(append(b.Bytes(), b.Bytes()...))
	f.Fuzz(func(t *testing.T, b []byte) {
		one, err := Stream(bytes.NewReader(b), Request{}, measure.Options{})
		if err != nil {
			return
		}
		if _, err := one.Report(measure.Options{}); err != nil {
			t.Logf("%v", err)
		}
	})
}
