package cli

import (
	"bytes"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
)

// leftFile is 40 samples around four of the six classes that the classifier has, eight of them without a label, and one of the four classes rare.
func leftFile(t *testing.T) string {
	t.Helper()
	const n, d, k = 40, 5, 6
	h, y, w := make([]float64, n*d), make([]int64, n), make([]float64, k*d)
	for i := range w {
		w[i] = math.Sin(float64(7*i*i + i))
	}
	for i := range y {
		c := []int{0, 2, 3, 5}[i%4]
		if c == 5 && i > 8 {
			c = 0
		}
		for j := range d {
			h[i*d+j] = w[c*d+j] + .2*math.Cos(float64(3*i*j+i))
		}
		if y[i] = int64(c); i >= 32 {
			y[i] = -100
		}
	}
	var b bytes.Buffer
	if err := arrayfile.WriteNPZ(&b, []arrayfile.Array{arrayfile.Of("features", []int{n, d}, h), arrayfile.Of("labels", []int{n}, y), arrayfile.Of("weight", []int{k, d}, w)}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "left.npz")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestMeasureLeavesOut: what has no part in the numbers is named and counted in JSON, table, CSV and page.
func TestMeasureLeavesOut(t *testing.T) {
	path := leftFile(t)
	rows, page := filepath.Join(t.TempDir(), "a.csv"), filepath.Join(t.TempDir(), "a.html")
	args := []string{path, "--ignore-label=-100", "--min-count", "3"}
	code, stdout, stderr := call(t, append([]string{"--json", "measure", "--csv", rows, "--html", page}, args...)...)
	if code != exitOK {
		t.Fatal(stderr)
	}
	var doc struct {
		measuredJSON
		LeftOut []struct {
			Split, Reason  string
			Count, Samples int
			Classes        []string
		} `json:"left_out"`
	}
	decodeOnly(t, stdout, &doc)
	if doc.N != 30 || doc.K != 3 || !slices.Equal(doc.Labels, []string{"0", "2", "3"}) || len(doc.ClassCounts) != 3 || len(doc.PerClass["within_trace"]) != 3 {
		t.Errorf("n %d, k %d, labels %q, counts %v", doc.N, doc.K, doc.Labels, doc.ClassCounts)
	}
	for _, key := range []string{"nc1_pinv", "nc2_w", "nc3_gram", "nc4_bias", "accuracy", "cosine_margin_mean"} {
		if _, ok := doc.Measures[key]; !ok {
			t.Errorf("%s is missing: %s", key, doc.Missing[key])
		}
	}
	if len(doc.LeftOut) != 3 {
		t.Fatalf("left out: %+v", doc.LeftOut)
	}
	want := []string{"left out of the train split: 1 class (-100): ignored label; 8 samples", "left out of the train split: 2 classes (1, 4): no sample",
		"left out of the train split: 1 class (5): fewer than 3 samples; 2 samples"}
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := call(t, append([]string{"measure", "--all"}, args...)...)
	for i, line := range want {
		l := doc.LeftOut[slices.IndexFunc(doc.LeftOut, func(l struct {
			Split, Reason  string
			Count, Samples int
			Classes        []string
		}) bool {
			return strings.Contains(line, l.Reason)
		})]
		if samples := []int{8, 0, 2}[i]; l.Split != "train" || l.Samples != samples || l.Count != len(l.Classes) || !strings.Contains(line, "("+strings.Join(l.Classes, ", ")+")") {
			t.Errorf("left out: %+v, want %s", l, line)
		}
		if !slices.Contains(doc.Notes, line) || !strings.Contains(table, "note: "+line) || !bytes.Contains(html, []byte(line)) {
			t.Errorf("notes %q, table or page lack %q", doc.Notes, line)
		}
	}
	file, err := os.Open(rows)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cells, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, row := range cells {
		if row[2] == "left_out_train" {
			named = append(named, row[1]+" "+row[4])
		}
		if row[2] == "within_trace" && !slices.Contains([]string{"0", "2", "3"}, row[1]) {
			t.Errorf("a value of class %s", row[1])
		}
	}
	if slices.Sort(named); !slices.Equal(named, []string{"-100 ignored label", "1 no sample", "4 no sample", "5 fewer than 3 samples"}) {
		t.Errorf("CSV: %q", named)
	}
}

// TestMeasureStatesLeaveOut: the flags mean the same to states and merges.
func TestMeasureStatesLeaveOut(t *testing.T) {
	path := leftFile(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	choice := []string{"--ignore-label=-100", "--min-count", "3"}
	whole := measureJSON(t, append(choice, path)...)
	measureJSON(t, append(choice, path, "--state-out", at("a.ncs"))...)
	measureJSON(t, append(choice, "--merge", at("a.ncs"), "--state-out", at("m.ncs"))...)
	if code, _, stderr := call(t, append(append([]string{"measure"}, choice...), path, "--means", at("m.ncs"), "--state-out", at("b.ncs"))...); code != exitOK {
		t.Fatal(stderr)
	}
	weights := at("w.npy")
	f, err := arrayfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := f.Load("weight")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := arrayfile.WriteNPY(&b, w); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(weights, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	both := measureJSON(t, append(choice, "--merge", at("b.ncs"), "--means", at("m.ncs"), "--weights", weights)...)
	for key, v := range whole.Measures {
		if g, ok := both.Measures[key]; !slices.Contains([]string{"numerical_rank", "vci", "feature_rank", "feature_stable_rank"}, key) && (!ok || !(math.Abs(g-v) <= 1e-12*(1+math.Abs(v)))) {
			t.Errorf("%s of states is %g (missing %q), want %g", key, g, both.Missing[key], v)
		}
	}
	if len(whole.Measures) < 20 || both.N != 30 || both.K != 3 {
		t.Errorf("%d measures, n %d, k %d", len(whole.Measures), both.N, both.K)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{path, "--min-count", "0"}, exitUsage, "at least 1"},
		{[]string{path}, exitFailed, "--ignore-label=-100"},
		{[]string{path, "--ignore-label=-100", "--min-count", "1000"}, exitFailed, "left out (fewer than 1000 samples)"},
	} {
		if code, _, stderr := call(t, append([]string{"measure"}, c.args...)...); code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: exit code %d, %q, want %d and %q", c.args, code, stderr, c.code, c.want)
		}
	}
}
