package cli

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/measure"
)

// statesFolder is a capture of states as python/collapse writes it: 30 samples around the labels 0, 3 and 4, moved by at, and a layer.
func statesFolder(t *testing.T, at float64) string {
	t.Helper()
	const n, d = 30, 4
	dir := t.TempDir()
	m := measure.NewMoments(3, d, true)
	m.Values = []int64{0, 3, 4}
	rows, labels := make([]float64, n*d), make([]int32, n)
	for i := range labels {
		labels[i] = int32(i % 3)
		for j := range d {
			rows[i*d+j] = math.Sin(float64(labels[i]*5)+float64(j)) + .1*math.Cos(float64(3*i*j+i)+at)
		}
	}
	if err := measure.AddRows(m, nil, rows, labels); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "layers"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"features.ncs", "layers/body.ncs"} {
		f, err := os.Create(filepath.Join(dir, name))
		if err == nil {
			_, err = m.WriteTo(f)
		}
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	info := `{"format": "collapse_tap 2", "keep": "states", "complete": true, "classifier": null, "bias": null, "streams": {"layers/body": {}, "features": {}}}`
	if err := os.WriteFile(filepath.Join(dir, "tap.json"), []byte(info), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A capture of states is measured by naming its folder, several together, layer by layer, and as one state.
func TestMeasureStatesFolders(t *testing.T) {
	one, two := statesFolder(t, 0), statesFolder(t, 1)
	measured := func(args ...string) (doc struct {
		N      int
		K      int
		Labels []string
		Layers []struct{ Layer string }
	}) {
		t.Helper()
		code, stdout, stderr := call(t, append([]string{"--json", "measure"}, args...)...)
		if code != exitOK {
			t.Fatalf("%q: %s", args, stderr)
		}
		if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
			t.Fatal(err)
		}
		return doc
	}
	if r := measured(one); r.N != 30 || r.K != 3 || strings.Join(r.Labels, " ") != "0 3 4" {
		t.Errorf("one capture: %+v", r)
	}
	if r := measured(one, two, "--layers", "*"); r.N != 60 || len(r.Layers) != 2 || r.Layers[0].Layer != "body" {
		t.Errorf("two captures: %+v", r)
	}
	state := filepath.Join(t.TempDir(), "both.ncs")
	measured("--merge", one, two, "--state-out", state)
	if r := measured("--merge", state); r.N != 60 {
		t.Errorf("the state of both: %+v", r)
	}
}

func TestMeasureStatesFoldersRefused(t *testing.T) {
	one := statesFolder(t, 0)
	state := filepath.Join(one, "features.ncs")
	for _, c := range []struct{ args, want string }{
		{"--labels y.npy", "--labels has no effect here: it is about samples, and this capture holds states"},
		{"--drop-nonfinite", "--drop-nonfinite has no effect here"},
		{"--ood x.npy", "hold train features only"},
		{"--layers * --state-out " + filepath.Join(t.TempDir(), "a.ncs"), "leave out --layers"},
		{"--means " + state + " --state-out " + filepath.Join(t.TempDir(), "a.ncs"), "holds states, which keep no samples"},
		{"--merge --means " + state, "a first pass; with --means only second passes are merged"},
	} {
		code, _, stderr := call(t, append([]string{"measure", one}, strings.Fields(c.args)...)...)
		if code == exitOK || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit %d, %q, want %q", c.args, code, stderr, c.want)
		}
	}
}
