package featurefiles

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/measure"
)

// captureOf writes a capture of a problem in three shards, as collapse_tap does: two layers, h scaled and h mirrored, that run
// against the order of their names. info replaces tap.json.
func captureOf(t testing.TB, p problem, info string) string {
	t.Helper()
	n := p.k * p.n
	arrays := map[string]arrayfile.Array{"weight.npy": arrayfile.Of("", []int{p.k, p.d}, p.w), "bias.npy": arrayfile.Of("", []int{p.k}, p.b)}
	for s, span := range [][2]int{{0, 2}, {2, 5}, {5, n}} {
		from, to := span[0], span[1]
		h := p.h[from*p.d : to*p.d]
		scaled, mirrored := make([]float64, len(h)), make([]float64, len(h))
		for i, x := range h {
			scaled[i], mirrored[i] = 4*x, -x
		}
		for stream, x := range map[string][]float64{"features": h, "layers/b%2F1": scaled, "layers/a.2": mirrored} {
			arrays[fmt.Sprintf("%s/%05d.npy", stream, s)] = arrayfile.Of("", []int{to - from, p.d}, x)
		}
		arrays[fmt.Sprintf("labels/%05d.npy", s)] = arrayfile.Of("", []int{to - from}, p.y[from:to])
	}
	dir := files(t, arrays)
	if err := os.WriteFile(filepath.Join(dir, captureInfo), []byte(info), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

const wholeCapture = `{"format": "collapse_tap 1", "complete": true, "error": null, "samples": 8, "classifier": "fc", "bias": true,
 "streams": {"layers/b%2F1": {"width": 3, "module": "b/1"}, "features": {"width": 3}, "layers/a.2": {}, "labels": {"width": null}}}`

func TestCapture(t *testing.T) {
	p := problems()[0]
	dir := captureOf(t, p, wholeCapture)
	near(t, "classifier's input", measured(t, Request{Files: []string{dir}}, measure.Options{}), p.want, 0, 1e-9)

	set, err := Open(Request{Files: []string{dir}, Layers: "*"})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	var names []string
	for i, c := range set.Columns {
		names = append(names, c.Name)
		r, err := set.Measure(i, measure.Options{})
		if err != nil {
			t.Fatal(err)
		}
		near(t, c.Name, r, map[string]float64{"nc1_pinv": p.want["nc1_pinv"]}, 0, 1e-9) // free of scale and sign
		if _, ok := r.Measures.Get("nc3_direct"); ok != (c.Name == "features") {
			t.Errorf("%s has nc3_direct: %v; the classifier belongs to the features alone", c.Name, ok)
		}
	}
	if want := []string{"a.2", "b/1", "features"}; !slices.Equal(slices.Sorted(slices.Values(names)), want) || names[0] != "b/1" || names[2] != "features" {
		t.Errorf("columns %q, want the layers in the order the model ran, then the features", names)
	}
	one, err := Open(Request{Files: []string{dir}, Layers: "a*"})
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	if len(one.Columns) != 2 || one.Columns[0].Name != "a.2" {
		t.Errorf("a*: columns %+v", one.Columns)
	}
}

// A capture of layers alone needs no pattern.
func TestCaptureWithoutClassifier(t *testing.T) {
	info := strings.Replace(strings.Replace(wholeCapture, `"fc"`, "null", 1), `"features": {"width": 3}, `, "", 1)
	set, err := Open(Request{Files: []string{captureOf(t, problems()[0], info)}})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	if len(set.Columns) != 2 {
		t.Errorf("columns %+v, want two layers", set.Columns)
	}
}

func TestCaptureRefused(t *testing.T) {
	p := problems()[0]
	for name, c := range map[string]struct{ info, layers, want string }{
		"no json":       {"[", "", "unexpected end"},
		"other format":  {`{"format": "collapse_tap 9"}`, "", "reads \"collapse_tap 1\""},
		"incomplete":    {`{"format": "collapse_tap 1", "complete": false, "error": "KeyboardInterrupt"}`, "", "incomplete (KeyboardInterrupt)"},
		"no streams":    {`{"format": "collapse_tap 1", "complete": true, "streams": 3}`, "", "an object is wanted"},
		"outside":       {strings.ReplaceAll(wholeCapture, "a.2", "../a"), "", "not the name of a folder inside"},
		"parent":        {strings.ReplaceAll(wholeCapture, "layers/a.2", ".."), "", "not the name of a folder inside"},
		"missing":       {strings.ReplaceAll(wholeCapture, "a.2", "gone"), "*", "gone"},
		"no such layer": {wholeCapture, "fc*", `it has ["b/1" "a.2"]`},
		"no labels":     {strings.ReplaceAll(wholeCapture, "labels", "LABELS"), "", "labels are missing"},
	} {
		dir := captureOf(t, p, c.info)
		if _, err := Open(Request{Files: []string{dir}, Layers: c.layers}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for stream, c := range map[string]struct{ layers, want string }{
		"layers/empty":  {"empty", `the stream "layers/empty" of the capture has no .npy file`},
		"layers/bad%zz": {"*", `stream "layers/bad%zz": invalid URL escape`},
		"layers/a.2":    {"[", `--layers "[": syntax error in pattern`},
	} {
		dir := captureOf(t, p, strings.ReplaceAll(wholeCapture, "layers/a.2", stream))
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(stream), "folder"), 0o777); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(Request{Files: []string{dir}, Layers: c.layers}); err == nil || !strings.Contains(err.Error(), dir) && c.layers != "[" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", stream, err, c.want)
		}
	}
	if _, err := Open(Request{Files: []string{t.TempDir()}}); err == nil || !strings.Contains(err.Error(), "no tap.json") {
		t.Errorf("another folder: %v", err)
	}
}
