package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/store"
)

// noisyRun puts a finished run into the lab whose features obey memorization = cmd·dilation with radius r.
func noisyRun(t *testing.T, lab *store.Lab, loss string, r, cmd float64, seed int) string {
	t.Helper()
	claim, _, err := lab.Lease(store.Spec{Kind: store.Train, Program: store.Program{Version: "0.1.0", Kernel: "generic"},
		Config: json.RawMessage(fmt.Sprintf(`{"data":{"name":"glyphs","noise":0.2},"loss":{"kind":%q},"run":{"seed":%d}}`, loss, seed))})
	if err != nil {
		t.Fatal(err)
	}
	var train, test []float32
	var observed, truth, testTrue []int32
	for k := range int32(2) {
		at := float32(4 * k)
		for range 9 {
			train, observed, truth = append(train, at, 0), append(observed, k), append(truth, k)
		}
		for range 3 { // Σ/9 = cmd·r/4
			train, observed, truth = append(train, at, float32(cmd*r/4*3)), append(observed, 1-k), append(truth, k)
		}
		for _, sign := range []float32{-1, 1} {
			test, testTrue = append(test, at, sign*float32(r)), append(testTrue, k)
		}
	}
	file, err := os.Create(filepath.Join(claim.Dir, "features.npz"))
	if err != nil {
		t.Fatal(err)
	}
	err = arrayfile.WriteNPZ(file, []arrayfile.Array{
		arrayfile.Of("train_h", []int{24, 2}, train), arrayfile.Of("train_observed", []int{24}, observed),
		arrayfile.Of("train_true", []int{24}, truth), arrayfile.Of("train_redrawn", []int{24}, make([]uint8, 24)),
		arrayfile.Of("test_h", []int{4, 2}, test), arrayfile.Of("test_true", []int{4}, testTrue),
		arrayfile.Of("weight", []int{2, 2}, []float32{1, -1, -1, 1}), arrayfile.Of("bias", []int{2}, []float32{0, 0}),
		arrayfile.Of("train_samples", nil, []int64{240}), arrayfile.Of("test_samples", nil, []int64{4}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if err := claim.Finish(); err != nil {
		t.Fatal(err)
	}
	return claim.Hash
}

func TestDilationFitFromRuns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lab")
	lab := openLab(t, dir)
	args := []string{"--lab", dir, "--json", "dilation", "--out", filepath.Join(t.TempDir(), "page"), "--fit"}
	for i, r := range []float64{.25, .5} {
		args = append(args, noisyRun(t, lab, "ce", r, .75, i)[:12], noisyRun(t, lab, "ls", r, .5, i)[:12])
	}
	if err := lab.Close(); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := call(t, args...)
	if code != exitOK {
		t.Fatal(stderr)
	}
	var out struct {
		Fits []struct {
			Group string
			CMD   float64 `json:"c_md"`
		}
		Pairs []fittedPair
		Notes []string
		Index string
	}
	decodeOnly(t, stdout, &out)
	if len(out.Fits) != 2 || len(out.Pairs) != 8 || out.Fits[0].Group != "ce" {
		t.Fatalf("got %+v", out)
	}
	for i, want := range []float64{.75, .5} {
		if !(math.Abs(out.Fits[i].CMD-want) < 1e-6) { // features are float32
			t.Errorf("C_MD of %s is %.9g, wanted %g", out.Fits[i].Group, out.Fits[i].CMD, want)
		}
	}
	if len(out.Notes) != 4 || !strings.Contains(out.Notes[0], "24 of 240") {
		t.Errorf("notes %q", out.Notes)
	}
	if _, err := os.Stat(out.Index); err != nil {
		t.Error(err)
	}
	for _, wrong := range [][]string{{"--fit", "ffff"}, {"--fit", "pairs.csv"}, {"abcd"}} {
		if code, stdout, stderr := call(t, append([]string{"--lab", dir, "dilation"}, wrong...)...); code == exitOK || stdout != "" || stderr == "" {
			t.Errorf("%v: code %d, %q, %q", wrong, code, stdout, stderr)
		}
	}
}
