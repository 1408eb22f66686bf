package cli

import (
	"bytes"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// formula holds the formula features in one file: K=4, n=5, d=6.
const formula = "../featurefiles/testdata/numpy.npz"

// measuredJSON is what a reader of `collapse measure --json` may rely on.
type measuredJSON struct {
	N, D, K     int
	ClassCounts []int                  `json:"class_counts"`
	Measures    map[string]float64     `json:"measures"`
	Missing     map[string]string      `json:"missing"`
	PerClass    map[string][]*float64  `json:"per_class"`
	Conventions map[string]interface{} `json:"conventions"`
	Layers      []struct {
		Layer    string
		Measures map[string]float64
	}
	Labels    []string
	Notes     []string
	Quantiles map[string]float64 `json:"margin_quantiles"`
}

// measureInto decodes and returns the document of a call of measure that says nothing else.
func measureInto(t *testing.T, to any, args ...string) (document string) {
	t.Helper()
	code, stdout, stderr := call(t, append([]string{"--json", "measure"}, args...)...)
	if code != exitOK || stderr != "" {
		t.Fatalf("measure %q: exit code %d, standard error %q", args, code, stderr)
	}
	decodeOnly(t, stdout, to)
	return stdout
}

func measureJSON(t *testing.T, args ...string) measuredJSON {
	t.Helper()
	var m measuredJSON
	if strings.Contains(measureInto(t, &m, args...), `"margins"`) {
		t.Error("the document holds a margin for every sample; its length must not grow with the data")
	}
	return m
}

// TestMeasureJSONKeys: the keys of docs/measures.md, each under measures or under missing.
func TestMeasureJSONKeys(t *testing.T) {
	m := measureJSON(t, formula)
	if m.N != 20 || m.D != 6 || m.K != 4 || len(m.ClassCounts) != 4 || m.ClassCounts[3] != 5 {
		t.Errorf("n %d, d %d, k %d, class counts %v", m.N, m.D, m.K, m.ClassCounts)
	}
	for _, key := range strings.Fields(`nc1_pinv nc1_trace_ratio cdnv nc2_w nc2_means_etf nc2_means_etf_centred nc2_means_of nc2_norm_cv nc2_cos_deviation
		nc3_gram nc3_direct nc4_bias nc4_ncc_mismatch numerical_rank cosine_margin_mean cosine_margin_min cosine_margin_max nc2_rank_d nc3_rank_d accuracy
		memorization_redrawn memorization_flipped memorization_mean memorization_normalised dilation rank_between trace_within trace_between nc5_ood`) {
		_, has := m.Measures[key]
		reason, lacks := m.Missing[key]
		if has == lacks || lacks && reason == "" {
			t.Errorf("%s: measured %v, missing %v because %q", key, has, lacks, reason)
		}
		if _, ok := m.Conventions[key]; ok != has {
			t.Errorf("%s: convention given is %v, measured %v", key, ok, has)
		}
	}
	if v := m.Measures["nc1_pinv"]; !(math.Abs(v-0.0194315640) <= 1e-9) {
		t.Errorf("nc1_pinv is %g", v)
	}
	if m.Quantiles["0"] != m.Measures["cosine_margin_min"] || m.Quantiles["1"] != m.Measures["cosine_margin_max"] || len(m.PerClass["within_trace"]) != 4 {
		t.Errorf("margin quantiles %v, per class %v", m.Quantiles, m.PerClass["within_trace"])
	}
}

func TestMeasureLayersAndChoice(t *testing.T) {
	m := measureJSON(t, formula, "--layers", "feat*", "--measures", "nc1_pinv,cdnv", "--imbalance", "class")
	if len(m.Measures) != 2 || m.Measures["cdnv"] <= 0 {
		t.Errorf("asked for two measures, got %v", m.Measures)
	}
	path := filepath.Join(t.TempDir(), "page.html")
	code, stdout, stderr := call(t, "measure", "--all", "../featurefiles/testdata/torch.pt", "--html", path)
	if code != exitOK || !strings.Contains(stdout, "nc1_pinv") || stderr != "" {
		t.Fatalf("exit code %d, %q, %q", code, stdout, stderr)
	}
	for _, want := range []string{"NC1", "NC2", "NC3", "NC4", "0.0194316", "Not measured", "dilation, test_nc1_trace_ratio, test_nc4_ncc_mismatch, test_accuracy, test_ncc_accuracy: no test features were given", "nc5_ood, ood_auroc_msp, ood_auroc_max_logit, ood_auroc_energy, ood_auroc_neco, ood_auroc_mahalanobis: no out-of-distribution features were given", "4 classes of 5"} {
		if !strings.Contains(strings.Join(strings.Fields(stdout), " "), want) { // lines are broken
			t.Errorf("the table lacks %q:\n%s", want, stdout)
		}
	}
}

// TestMeasureFiles reads page and CSV back.
func TestMeasureFiles(t *testing.T) {
	dir := t.TempDir()
	page, rows := filepath.Join(dir, "a.html"), filepath.Join(dir, "a.csv")
	m := measureJSON(t, formula, "--html", page, "--csv", rows)
	f, err := os.Open(rows)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	found, margins := 0, 0
	for _, row := range table[1:] {
		v, err := strconv.ParseFloat(row[3], 64)
		if want, ok := m.Measures[row[2]]; ok && row[1] == "" {
			if found++; err != nil || v != want {
				t.Errorf("CSV: %s is %s, want %g", row[2], row[3], want)
			}
		}
		if strings.HasPrefix(row[2], "cosine_margin_sorted_") {
			margins++
		}
	}
	if found != len(m.Measures) || margins != 20 {
		t.Errorf("CSV: %d of %d measures, %d of 20 margins", found, len(m.Measures), margins)
	}
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for key, v := range m.Measures {
		want := `data-key="` + key + `"><td class="key">` + key + `</td><td class="value">` + strconv.FormatFloat(v, 'g', 6, 64) + "</td>"
		if !bytes.Contains(html, []byte(want)) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for _, figure := range []string{"plane", "gram", "classes", "decisions", "spectrum", "margins"} {
		if !bytes.Contains(html, []byte(`data-figure="`+figure+`"`)) {
			t.Errorf("the page lacks the figure %s", figure)
		}
	}
	if outside := regexp.MustCompile(`(src|href)="(https?:|//|figures/)`).Find(html); outside != nil || bytes.Contains(html, []byte("<script")) {
		t.Errorf("the page is not self-contained: %s", outside)
	}
	if n := bytes.Count(html, []byte(`data-series="class-`)); n != 8 { // four classes in two panels
		t.Errorf("%d clouds of samples, want 8", n)
	}
}

// TestMeasureBeyondOneMachine goes from states of shards to the numbers of the whole.
func TestMeasureBeyondOneMachine(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	whole := measureJSON(t, formula)
	measureJSON(t, formula, "--state-out", at("first.ncs"))
	merged := measureJSON(t, "--merge", at("first.ncs"), "--state-out", at("means.ncs"))
	if v := merged.Measures["nc1_pinv"]; !(math.Abs(v-whole.Measures["nc1_pinv"]) <= 1e-13) {
		t.Errorf("nc1_pinv of the merged state is %g, want %g", v, whole.Measures["nc1_pinv"])
	}
	code, _, stderr := call(t, "measure", formula, "--means", at("means.ncs"), "--state-out", at("second.ncs"))
	if code != exitOK {
		t.Fatal(stderr)
	}
	both := measureJSON(t, "--merge", at("second.ncs"), "--means", at("means.ncs"), "--weights", "../featurefiles/testdata/weight.npy", "--bias", "../featurefiles/testdata/bias.npy",
		"--state-out", at("both.ncs"))
	measureJSON(t, "--merge", at("both.ncs"), "--means", at("means.ncs"), "--weights", "../featurefiles/testdata/weight.npy", "--bias", "../featurefiles/testdata/bias.npy")
	for _, key := range []string{"accuracy", "cosine_margin_mean", "nc4_ncc_mismatch", "nc3_gram"} {
		if v, ok := both.Measures[key]; !ok || !(math.Abs(v-whole.Measures[key]) <= 1e-13) {
			t.Errorf("%s of both passes is %g (%q), want %g", key, v, both.Missing[key], whole.Measures[key])
		}
	}
}

func TestMeasureWrongCalls(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{}, exitUsage, "nothing to measure"},
		{[]string{"--features", "a0.npy", "a1.npy", "--labels", "y.npy"}, exitUsage, "must be quoted"},
		{[]string{formula, "--measures", "nc9"}, exitUsage, "nc9"},
		{[]string{formula, "--means", "x.ncs"}, exitUsage, "--state-out"},
		{[]string{"-", formula}, exitUsage, "leave out the other files"},
		{[]string{formula, "--state-out", "x.ncs", "--layers", "l*"}, exitUsage, "leave out --layers"},
		{[]string{formula, "--rcond", "1"}, exitUsage, "--rcond 1: a share of the largest eigenvalue"},
		{[]string{formula, "--rcond=-1e-3"}, exitUsage, "from 0 (not chosen) to below 1"},
		{[]string{formula, "--rcond", "NaN"}, exitUsage, "--rcond NaN"},
		{[]string{formula, "--null=-1"}, exitUsage, "--null -1: a number of shuffles, 0 to 1000"},
		{[]string{formula, "--null", "1001"}, exitUsage, "0 to 1000"},
		{[]string{formula, "--feature-key", "h"}, exitUsage, "did you mean"},
		{[]string{"gone.npz"}, exitUsage, "gone.npz"},
		{[]string{"--merge", formula}, exitFailed, "numpy.npz"},
	} {
		code, stdout, stderr := call(t, append([]string{"measure"}, c.args...)...)
		if code != c.code || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: exit code %d, %q, %q; want %d and %q", c.args, code, stdout, stderr, c.code, c.want)
		}
	}
}

// TestMeasureStandardInput pipes npy records.
func TestMeasureStandardInput(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdin := os.Stdin
	os.Stdin = r
	defer func() { os.Stdin = stdin }()
	for _, name := range []string{"features_fortran_big.npy", "labels_i2.npy"} {
		b, err := os.ReadFile(filepath.Join("../featurefiles/testdata", name))
		if err == nil {
			_, err = w.Write(b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	m := measureJSON(t, "-", "--weights", "../featurefiles/testdata/weight.npy")
	if v := m.Measures["nc1_pinv"]; !(math.Abs(v-0.0194315640) <= 1e-9) || m.Measures["nc3_gram"] == 0 {
		t.Errorf("nc1_pinv is %g, nc3_gram %g", v, m.Measures["nc3_gram"])
	}
}

// TestMeasureSaysWhereThePageIs: in place of how to make one; -q says neither.
func TestMeasureSaysWhereThePageIs(t *testing.T) {
	file, err := filepath.Abs("../featurefiles/testdata/torch.pt")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		args []string
		last string
	}{{nil, ", --html page.html draws them"}, {[]string{"--html", "own.html"}, "page: own.html; --all shows all"}, {[]string{"--html", "own.html", "-q"}, "accuracy"}} {
		out, _ := called(t, exitOK, append([]string{"measure", file}, c.args...)...)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if last := lines[len(lines)-1]; !strings.Contains(last, c.last) {
			t.Errorf("%q ends in %q", c.args, last)
		}
	}
}
