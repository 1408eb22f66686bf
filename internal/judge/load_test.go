package judge

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
)

// lab makes a lab with one finished run and returns its hash.
func lab(t *testing.T) (*store.Lab, string) {
	t.Helper()
	l, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	c, _, err := l.Lease(store.Spec{Kind: store.Train, Label: "x", Program: store.Program{Version: "0.1.0", Kernel: "generic"},
		Config: json.RawMessage(`{"data":{"name":"glyphs","noise":0.1},"loss":{"kind":"ls"},"run":{"epochs":2,"seed":7},"net":{"width":64}}`)})
	if err != nil {
		t.Fatal(err)
	}
	for epoch := int64(1); epoch <= 2; epoch++ {
		rows := []store.Value{{Key: store.Key{Series: "epoch", Split: "train", Measure: "nc1_pinv"}, Step: epoch, Value: 1 / float64(epoch)},
			{Key: store.Key{Series: "epoch", Split: "train", Measure: "nc2_w"}, Step: epoch, Missing: "W is zero"}}
		if err := c.AppendEpoch(epoch, rows); err != nil {
			t.Fatal(err)
		}
	}
	writeArrays(t, c.Dir, nil)
	if err := c.Finish(); err != nil {
		t.Fatal(err)
	}
	return l, c.Hash
}

// writeArrays writes a features file as train does; change replaces or removes (nil) arrays.
func writeArrays(t *testing.T, dir string, change map[string]*arrayfile.Array) {
	t.Helper()
	arrays := []arrayfile.Array{
		arrayfile.Of("train_h", []int{3, 2}, []float32{1, 0, 0, 2, 0.5, 0.5}),
		arrayfile.Of("train_observed", []int{3}, []int32{0, 1, 1}),
		arrayfile.Of("train_true", []int{3}, []int32{0, 1, 0}),
		arrayfile.Of("train_redrawn", []int{3}, []uint8{0, 1, 1}),
		arrayfile.Of("test_h", []int{2, 2}, []float32{1, 0, 0, 2}),
		arrayfile.Of("test_true", []int{2}, []int32{0, 1}),
		arrayfile.Of("weight", []int{2, 2}, []float32{1, -1, -1, 1}),
		arrayfile.Of("bias", []int{2}, []float32{0.25, -0.25}),
		arrayfile.Of("train_samples", nil, []int64{40}),
	}
	var kept []arrayfile.Array
	for _, a := range arrays {
		if c, ok := change[a.Name]; ok {
			if c == nil {
				continue
			}
			a = *c
		}
		kept = append(kept, a)
	}
	var b bytes.Buffer
	if err := arrayfile.WriteNPZ(&b, kept); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(rundir.Dir(dir).FinalFeatures(), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLoad(t *testing.T) {
	l, hash := lab(t)
	runs, err := Load(l, hash[:10])
	if err != nil {
		t.Fatal(err)
	}
	r := runs[0]
	if r.Loss != "ls" || r.Noise != 0.1 || r.Seed != 7 || r.Hash != hash || r.Status != store.Done {
		t.Errorf("run %+v", r)
	}
	for key, want := range map[string]string{"net.width": "64", "optim.momentum": "0.9", "loss.smoothing": "0.1", "data.noise": "0.1"} {
		if r.Settings[key] != want {
			t.Errorf("%s = %q, wanted %q", key, r.Settings[key], want)
		}
	}
	if f := r.Features(); f == nil || f.TrainN != 40 || f.TestN != 2 {
		t.Errorf("features %+v (%s), of 40 training and 2 test samples", f, r.NoFeatures())
	}
	if _, guessed := r.Settings["data.samples_per_class"]; guessed {
		t.Error("a key that runs do not record is shown at its default")
	}
	if v, ok, _ := r.Final("train", "nc1_pinv"); !ok || v != 0.5 {
		t.Errorf("NC1 %g (%v), wanted 0.5", v, ok)
	}
	if _, ok, why := r.Final("train", "nc2_w"); ok || why != "W is zero" {
		t.Errorf("NC2 is %v, reason %q", ok, why)
	}
	f := r.Features()
	if f == nil {
		t.Fatalf("no features: %s", r.NoFeatures())
	}
	if f.D != 2 || f.K != 2 || f.TrainH[3] != 2 || !f.Corrupted(2) || f.Corrupted(1) || !f.Redrawn[1] || f.Weight[1] != -1 || f.Bias[1] != -0.25 || f.TestTrue[1] != 1 {
		t.Errorf("features %+v", f)
	}
	if _, err := Load(l, "ffff"); err == nil || !strings.Contains(err.Error(), "ffff") {
		t.Errorf("a run that is not there: %v", err)
	}
}

func TestBadFeaturesAreAReasonNotAFailure(t *testing.T) {
	l, hash := lab(t)
	dir := l.RunDir(hash)
	array := func(a arrayfile.Array) *arrayfile.Array { return &a }
	for name, c := range map[string]struct {
		change map[string]*arrayfile.Array
		words  string
	}{
		"no weight":    {map[string]*arrayfile.Array{"weight": nil}, "weight"},
		"flat":         {map[string]*arrayfile.Array{"train_h": array(arrayfile.Of("train_h", []int{6}, make([]float32, 6)))}, "wanted samples × features"},
		"wider test":   {map[string]*arrayfile.Array{"test_h": array(arrayfile.Of("test_h", []int{2, 3}, make([]float32, 6)))}, "3 wide"},
		"labels short": {map[string]*arrayfile.Array{"train_true": array(arrayfile.Of("train_true", []int{2}, []int32{0, 1}))}, "2 elements"},
		"label range":  {map[string]*arrayfile.Array{"test_true": array(arrayfile.Of("test_true", []int{2}, []int32{0, 2}))}, "wanted a class from 0 to 1"},
		"bias long":    {map[string]*arrayfile.Array{"bias": array(arrayfile.Of("bias", []int{3}, make([]float32, 3)))}, "wanted 2"},
	} {
		writeArrays(t, dir, c.change)
		runs, err := Load(l, hash)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if runs[0].Features() != nil || !strings.Contains(runs[0].NoFeatures(), c.words) {
			t.Errorf("%s: reason %q does not say %q", name, runs[0].NoFeatures(), c.words)
		}
	}
	writeArrays(t, dir, map[string]*arrayfile.Array{"bias": nil})
	if runs, err := Load(l, hash); err != nil || runs[0].Features() == nil || runs[0].Features().Bias != nil {
		t.Errorf("a classifier without bias: %v", err)
	}
	if err := os.Remove(rundir.Dir(dir).FinalFeatures()); err != nil {
		t.Fatal(err)
	}
	if runs, err := Load(l, hash); err != nil || !strings.Contains(runs[0].NoFeatures(), "saved no features") {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(rundir.Dir(dir).FinalFeatures(), []byte("not a zip"), 0o600); err != nil {
		t.Fatal(err)
	}
	if runs, err := Load(l, hash); err != nil || runs[0].NoFeatures() == "" {
		t.Errorf("a broken file: %v", err)
	}
}
