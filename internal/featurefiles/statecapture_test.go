package featurefiles

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/measure"
)

const statesInfo = `{"format": "collapse_tap 2", "keep": "states", "complete": true, "error": null, "samples": 8, "classifier": "fc", "bias": true,
 "streams": {"layers/b%2F1": {"width": 6}, "features": {"width": 6, "state": "features.ncs"}, "layers/a.2": {}}}`

// stateOf is the state of rows [from, to) of a problem, each multiplied by scale, with the values of the labels that they have.
func stateOf(t testing.TB, p problem, from, to int, by float64) *measure.Moments {
	t.Helper()
	labels := p.y[from:to]
	values := slices.Compact(slices.Sorted(slices.Values(labels)))
	m := measure.NewMoments(len(values), p.d, true)
	m.Values = values
	rows, classes := slices.Clone(p.h[from*p.d:to*p.d]), make([]int32, len(labels))
	for i := range rows {
		rows[i] *= by
	}
	for i, v := range labels {
		c, _ := slices.BinarySearch(values, v)
		classes[i] = int32(c)
	}
	if err := measure.AddRows(m, nil, rows, classes); err != nil {
		t.Fatal(err)
	}
	return m
}

// stateCapture writes a capture of states as python/collapse does: of rows [from, to), with two layers, h scaled and h mirrored. The
// classifier has two rows more than the problem has classes.
func stateCapture(t testing.TB, p problem, from, to int, info string) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, fill func(*bytes.Buffer) error) {
		var b bytes.Buffer
		path := filepath.Join(dir, filepath.FromSlash(name))
		err := fill(&b)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o755)
		}
		if err == nil {
			err = os.WriteFile(path, b.Bytes(), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, by := range map[string]float64{"features": 1, "layers/b%2F1": 4, "layers/a.2": -1} {
		write(name+stateFile, func(b *bytes.Buffer) error { _, err := stateOf(t, p, from, to, by).WriteTo(b); return err })
	}
	more := slices.Repeat([]float64{100}, 2*p.d)
	write("weight.npy", func(b *bytes.Buffer) error {
		return arrayfile.WriteNPY(b, arrayfile.Of("", []int{p.k + 2, p.d}, slices.Concat(p.w, more)))
	})
	write("bias.npy", func(b *bytes.Buffer) error {
		return arrayfile.WriteNPY(b, arrayfile.Of("", []int{p.k + 2}, slices.Concat(p.b, []float64{0, 0})))
	})
	write(captureInfo, func(b *bytes.Buffer) error { _, err := b.WriteString(info); return err })
	return dir
}

// onePassKeys are the wanted values of a problem that one pass can give.
func onePassKeys(p problem) map[string]float64 {
	want := maps.Clone(p.want)
	for _, key := range []string{"numerical_rank", "cosine_margin_mean", "cosine_margin_min", "cosine_margin_max", "accuracy", "nc4_ncc_mismatch"} {
		delete(want, key)
	}
	return want
}

func reported(t *testing.T, req Request) map[string]*measure.Report {
	t.Helper()
	columns, err := MergeStates(req)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*measure.Report{}
	for _, c := range columns {
		if out[c.Name], err = c.Report(measure.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// One capture, and three that each hold a part of the samples with some of the classes, give what the features give; rows of W meet the
// classes by label.
func TestStateCaptures(t *testing.T) {
	p := problems()[0]
	n := p.k * p.n
	whole := []string{stateCapture(t, p, 0, n, statesInfo)}
	ranks := []string{stateCapture(t, p, 12, n, statesInfo), stateCapture(t, p, 0, 7, statesInfo), stateCapture(t, p, 7, 12, statesInfo)}
	for name, folders := range map[string][]string{"whole": whole, "ranks": ranks} {
		if !HoldStates(folders) {
			t.Errorf("%s: not taken for states", name)
		}
		r := reported(t, Request{Files: folders})
		if len(r) != 1 {
			t.Errorf("%s: %d columns, want the features alone", name, len(r))
		}
		near(t, name, r["features"], onePassKeys(p), 1e-9, 1e-9)
		left := r["features"].LeftOut
		if len(left) != 1 || left[0].Reason != measure.LeftEmpty || !slices.Equal(left[0].Labels, []string{"4", "5"}) || left[0].Count != 2 {
			t.Errorf("%s: left out %+v, want the two rows of W without samples", name, left)
		}
	}
}

func TestStateCapturesOfLayers(t *testing.T) {
	p := problems()[0]
	folders := []string{stateCapture(t, p, 0, 11, statesInfo), stateCapture(t, p, 11, p.k*p.n, statesInfo)}
	columns, err := MergeStates(Request{Files: folders, Layers: "*"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
		if (c.W != nil) != (c.Name == "features") {
			t.Errorf("%s has a classifier: %v", c.Name, c.W != nil)
		}
	}
	if !slices.Equal(names, []string{"b/1", "a.2", "features"}) {
		t.Errorf("columns %q, want the order the model ran", names)
	}
	for name, r := range reported(t, Request{Files: folders, Layers: "*"}) {
		near(t, name, r, map[string]float64{"nc1_pinv": p.want["nc1_pinv"]}, 0, 1e-9)
	}
	alone := strings.Replace(strings.Replace(statesInfo, `"fc"`, "null", 1), `"features": {"width": 6, "state": "features.ncs"}, `, "", 1)
	if r := reported(t, Request{Files: []string{stateCapture(t, p, 0, 20, alone)}}); len(r) != 2 || r["features"] != nil {
		t.Errorf("a capture of layers alone: %d columns", len(r))
	}
}

// An ignored label leaves its class out, and its row of W is none that samples lack.
func TestStateCaptureIgnoresLabels(t *testing.T) {
	p := problems()[0]
	folder := stateCapture(t, p, 0, p.k*p.n, statesInfo)
	r := reported(t, Request{Files: []string{folder}, IgnoreLabels: []string{"1", "5"}})["features"]
	var said []string
	for _, l := range r.LeftOut {
		said = append(said, l.Reason+" "+strings.Join(l.Labels, ","))
	}
	if want := []string{"ignored label 1", "no sample 4"}; !slices.Equal(said, want) || r.K != 3 {
		t.Errorf("%d classes, left out %q, want %q", r.K, said, want)
	}
}

func TestStateCapturesRefused(t *testing.T) {
	p := problems()[0]
	n := p.k * p.n
	one := stateCapture(t, p, 0, 9, statesInfo)
	fewer := strings.Replace(statesInfo, `, "layers/a.2": {}`, "", 1)
	other := stateCapture(t, p, 9, n, statesInfo)
	if err := arrayfileOf(filepath.Join(other, "bias.npy"), []float64{1, 2, 3, 4, 5, 6}); err != nil {
		t.Fatal(err)
	}
	uneven := stateCapture(t, p, 9, n, statesInfo)
	if err := os.Rename(filepath.Join(stateCapture(t, p, 0, 6, statesInfo), "layers", "a.2.ncs"), filepath.Join(uneven, "layers", "a.2.ncs")); err != nil {
		t.Fatal(err)
	}
	damaged := stateCapture(t, p, 9, n, statesInfo)
	if err := os.WriteFile(filepath.Join(damaged, "features.ncs"), []byte("NCS2 and no more"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		files  []string
		layers string
		want   string
	}{
		"the same samples": {[]string{one, stateCapture(t, p, 0, 9, statesInfo)}, "", "samples would count twice"},
		"twice":            {[]string{one, one}, "", "named twice"},
		"features, too":    {[]string{one, captureOf(t, p, wholeCapture)}, "", "holds features"},
		"files, too":       {[]string{one, filepath.Join(one, "features.ncs")}, "", "is a folder, and other states are files"},
		"other layers":     {[]string{one, stateCapture(t, p, 9, n, fewer)}, "", "want captures of one model"},
		"other bias":       {[]string{one, other}, "", "hold different classifier bias"},
		"other classes":    {[]string{uneven}, "*", "different classes"},
		"no such layer":    {[]string{one}, "x", `it has ["b/1" "a.2"]`},
		"incomplete":       {[]string{stateCapture(t, p, 9, n, strings.Replace(statesInfo, "true", "false", 1))}, "", "incomplete (it says no more); capture again, or name the states with --merge"},
		"damaged":          {[]string{damaged}, "", "state file: it starts with"},
		"missing":          {[]string{stateCapture(t, p, 0, n, strings.Replace(statesInfo, "a.2", "gone", 1))}, "*", "gone.ncs"},
		"outside":          {[]string{stateCapture(t, p, 0, n, strings.Replace(statesInfo, "layers/a.2", "../a", 1))}, "*", "not the name of a folder inside"},
	} {
		if _, err := MergeStates(Request{Files: c.files, Layers: c.layers}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := Open(Request{Files: []string{one}}); err == nil || !strings.Contains(err.Error(), `keep="features"`) {
		t.Errorf("opened for its samples: %v", err)
	}
	if HoldStates([]string{one, filepath.Join(one, "features.ncs")}) || HoldStates(nil) || HoldStates([]string{"no such"}) {
		t.Error("files are taken for captures of states")
	}
}

func arrayfileOf(path string, x []float64) error {
	var b bytes.Buffer
	if err := arrayfile.WriteNPY(&b, arrayfile.Of("", []int{len(x)}, x)); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// TestStateOfTorch reads what python/collapse wrote (testdata/states.py): its layout is ours to the last byte.
func TestStateOfTorch(t *testing.T) {
	path := filepath.Join("testdata", "torch.ncs")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	state, err := measure.ReadState(b)
	if err != nil {
		t.Fatal(err)
	}
	m := state.Moments
	if m == nil || !m.Float32 || m.Dropped != 1 || m.Pooled == nil || !slices.Equal(m.Values, []int64{0, 3, 70000}) || !slices.Equal(m.Count, []int{3, 1, 2}) {
		t.Fatalf("read %+v", m)
	}
	if want := []float64{2, 1, 8, -8, 0.5, 0.25}; !slices.Equal(m.Mean, want) {
		t.Errorf("means %v, want %v", m.Mean, want)
	}
	if want := []float64{10, 0, 0.625}; !slices.Equal(m.Scatter, want) || !slices.Equal(m.Spread, []float64{2.5, 8.125}) || !slices.Equal(m.Pooled, []float64{2.5, -4.25, -4.25, 8.125}) {
		t.Errorf("scatters %v (want %v), spread %v, pooled %v", m.Scatter, want, m.Spread, m.Pooled)
	}
	var again bytes.Buffer
	if _, err := m.WriteTo(&again); err != nil || !bytes.Equal(again.Bytes(), b) {
		t.Errorf("written again it has other bytes: %v", err)
	}
}
