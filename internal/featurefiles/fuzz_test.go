package featurefiles

import (
	"bytes"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"testing"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/measure"
)

// FuzzOpen gives the input layer any file as features, labels and classifier at once. Whatever opens can be
// measured or says why not.
func FuzzOpen(f *testing.F) {
	for _, name := range []string{"torch_lists.pt", "weight.npy", "labels_i2.npy"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	small := []arrayfile.Array{arrayfile.Of("features", []int{4, 1}, []float32{1, 2, 3, 5}), arrayfile.Of("labels", []int{4}, []uint8{0, 0, 1, 1})}
	for _, write := range []func(io.Writer, []arrayfile.Array) error{
		arrayfile.WriteNPZ, func(w io.Writer, a []arrayfile.Array) error { return arrayfile.WriteSafetensors(w, a, nil) },
	} {
		var b bytes.Buffer
		if err := write(&b, small); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	path := filepath.Join(f.TempDir(), "x")
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > fuzzBytes {
			t.Skip("larger files say nothing new and are slow to make smaller")
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		for _, req := range []Request{{Files: []string{path}}, {From: [roleCount][]string{Features: {path}, Labels: {"testdata/labels_i2.npy"}}}} {
			set, err := Open(req)
			if err != nil {
				continue
			}
			r, err := set.Measure(0, measure.Options{DropNonFinite: true})
			allFinite(t, r)
			if err == nil && r.N+r.Dropped != set.Columns[0].N {
				t.Errorf("%d measured and %d dropped of %d samples", r.N, r.Dropped, set.Columns[0].N)
			}
			if err := set.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// fuzzBytes bounds the files of fuzz tests.
const fuzzBytes = 1 << 13

// allFinite checks a report, if there is one.
func allFinite(t *testing.T, r *measure.Report) {
	if r == nil {
		return
	}
	for key, v := range r.Measures.All() {
		if v-v != 0 {
			t.Errorf("%s is %g", key, v)
		}
	}
}

// FuzzCapture gives a capture any description: no stream is looked for outside its folder, and what opens is measured or says why not.
func FuzzCapture(f *testing.F) {
	f.Add([]byte(`{"format":"collapse_tap 1","complete":true,"classifier":"fc","bias":true,"streams":{"features":{},"labels":{},"layers/a%2Eb":{}}}`))
	f.Add([]byte(`{"format":"collapse_tap 1","complete":true,"streams":{"../features":{}}}`))
	f.Add([]byte(`{"format":"collapse_tap 2","complete":true,"classifier":null,"streams":{"features":{"state":"/etc/passwd"},"layers/a":{}}}`))
	f.Add([]byte(`{"format":"collapse_tap 1","complete":false,"error":"out of memory"}`))
	f.Add([]byte(wholeCapture))
	dir := captureOf(f, problems()[0], wholeCapture)
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, captureInfo), b, 0o644); err != nil {
			t.Fatal(err)
		}
		c := &capture{folder: dir}
		if err := c.read(); err != nil {
			return
		}
		for _, s := range c.streams {
			if !filepath.IsLocal(filepath.FromSlash(s)) {
				t.Errorf("stream %q lies outside the capture", s)
			}
		}
		for _, req := range []Request{{Files: []string{dir}}, {Files: []string{dir}, Layers: "*"}} {
			set, err := Open(req)
			if err != nil {
				continue
			}
			for i := range set.Columns {
				if r, err := set.Measure(i, measure.Options{}); err == nil {
					allFinite(t, r)
				}
			}
			if err := set.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// FuzzStream reads any bytes as npy records, with and without what the user may say of their labels.
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
		for _, req := range []Request{{}, {Classes: 8}, {IgnoreLabels: []string{"7"}}} {
			one, err := Stream(bytes.NewReader(b), req, measure.Options{})
			if err != nil {
				continue
			}
			if r, err := one.Report(measure.Options{}); err == nil {
				allFinite(t, r)
			}
		}
	})
}

// FuzzStateCapture gives a capture of states any state, whose checksum is made to be right: what merges is reported, or it is said why not.
func FuzzStateCapture(f *testing.F) {
	torch, err := os.ReadFile(filepath.Join("testdata", "torch.ncs"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(torch[:len(torch)-sha256.Size])
	var b bytes.Buffer
	p := problems()[0]
	if _, err := stateOf(f, p, 0, 9, 1).WriteTo(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes()[:b.Len()-sha256.Size])
	dirs := []string{stateCapture(f, p, 0, 9, statesInfo), stateCapture(f, p, 9, p.k*p.n, statesInfo)}
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > fuzzBytes {
			t.Skip("larger files say nothing new and are slow to make smaller")
		}
		sum := sha256.Sum256(body)
		if err := os.WriteFile(filepath.Join(dirs[0], "features.ncs"), append(body, sum[:]...), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, folders := range [][]string{dirs[:1], dirs} {
			columns, err := MergeStates(Request{Files: folders})
			if err != nil {
				continue
			}
			r, err := columns[0].Report(measure.Options{})
			if err == nil {
				allFinite(t, r)
			}
		}
	})
}
