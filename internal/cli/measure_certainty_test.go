package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
)

// certain is what JSON says beside the values.
type certain struct {
	Finding       string
	Measures      map[string]float64
	Uncertainty   map[string]float64
	InputRounding map[string]float64 `json:"input_rounding"`
	Reason        map[string]string
	Null          map[string]struct{ Low, Median, High float64 }
	Directions    []float64
}

func measureCertain(t *testing.T, args ...string) certain {
	t.Helper()
	var m certain
	measureInto(t, &m, args...)
	for key, v := range m.Measures {
		u, ok := m.Uncertainty[key]
		given, known := m.InputRounding[key]
		if !ok || !known || !(u >= 0) || !(given >= 0) {
			t.Errorf("measure %q: %s = %g has uncertainty %g (%v), input rounding %g (%v)", args, key, v, u, ok, given, known)
		}
	}
	if len(m.Measures) == 0 || m.Finding == "" {
		t.Errorf("measure %q: %d measures, finding %q", args, len(m.Measures), m.Finding)
	}
	return m
}

// features writes features (n×d) of type T and labels.
func writeFeatures[T float32 | float64](t *testing.T, path string, h []T, d int, labels []int64) string {
	t.Helper()
	var b bytes.Buffer
	err := arrayfile.WriteNPZ(&b, []arrayfile.Array{arrayfile.Of("features", []int{len(labels), d}, h), arrayfile.Of("labels", []int{len(labels)}, labels)})
	if err == nil {
		err = os.WriteFile(path, b.Bytes(), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// heavySet is 20 classes of 100 in 16 coordinates, one a thousand times larger than the others, as numbers of float32.
func heavySet() (h []float32, labels []int64) {
	r := rand.New(rand.NewPCG(5, 0))
	means := make([]float64, 20*16)
	for i := range means {
		means[i] = r.NormFloat64()
	}
	for i := range 2000 {
		labels = append(labels, int64(i/100))
		for j := range 16 {
			x := means[i/100*16+j] + 2*r.NormFloat64()
			if j == 0 {
				x = 3000*means[i/100*16] + 30*r.NormFloat64()
			}
			h = append(h, float32(x))
		}
	}
	return h, labels
}

// Identical numbers give the same document in either type, and NC1 of noise beside a heavy coordinate is not called collapsed. A
// chosen cut that changes it is said in words.
func TestMeasureHeavyCoordinate(t *testing.T) {
	dir := t.TempDir()
	h, labels := heavySet()
	wide := make([]float64, len(h))
	for i, x := range h {
		wide[i] = float64(x)
	}
	single := measureCertain(t, writeFeatures(t, filepath.Join(dir, "single.npz"), h, 16, labels))
	double := measureCertain(t, writeFeatures(t, filepath.Join(dir, "double.npz"), wide, 16, labels))
	for key, v := range single.Measures {
		if double.Measures[key] != v || double.Uncertainty[key] != single.Uncertainty[key] {
			t.Errorf("%s: %g ± %g as float32, %g ± %g as float64", key, v, single.Uncertainty[key], double.Measures[key], double.Uncertainty[key])
		}
	}
	if nc1 := single.Measures["nc1_pinv"]; !(nc1 > 1) || single.Finding != double.Finding || !strings.HasPrefix(single.Finding, "No collapse") || single.Reason["nc1_pinv"] != "" {
		t.Errorf("NC1 %g, %q and %q, reason %q", nc1, single.Finding, double.Finding, single.Reason["nc1_pinv"])
	}
	if n, ok := single.Null["nc1_pinv"]; !ok || !(n.Low > 0 && n.Low <= n.Median && n.Median <= n.High) {
		t.Errorf("shuffled labels give %+v", n)
	}
	without := measureCertain(t, filepath.Join(dir, "single.npz"), "--null", "0")
	if len(without.Null) != 0 || without.Measures["nc1_pinv"] != single.Measures["nc1_pinv"] {
		t.Errorf("--null 0: null %v", without.Null)
	}
	checkCut(t, filepath.Join(dir, "single.npz"), "chosen rcond", "--rcond", "1e-4")
}

// checkCut measures what loses directions and expects that JSON, table and page say so in these words, and that nothing is called collapsed.
func checkCut(t *testing.T, file, words string, args ...string) {
	t.Helper()
	m := measureCertain(t, append([]string{file}, args...)...)
	if reason := m.Reason["nc1_pinv"]; !strings.Contains(reason, words) || !strings.Contains(reason, "directions") {
		t.Errorf("%q: NC1 is %g for the reason %q, want %q", args, m.Measures["nc1_pinv"], reason, words)
	}
	if strings.HasPrefix(m.Finding, "Collapsed") || !strings.Contains(m.Finding, "leaves them out") {
		t.Errorf("%q: %q", args, m.Finding)
	}
	page := filepath.Join(t.TempDir(), "a.html")
	code, table, stderr := call(t, append([]string{"measure", file, "--all", "--html", page}, args...)...)
	if code != exitOK {
		t.Fatal(stderr)
	}
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	tags := regexp.MustCompile(`<[^>]*>`)
	plain := strings.Join(strings.Fields(tags.ReplaceAllString(string(html), "")), " ")
	for where, text := range map[string]string{"table": strings.Join(strings.Fields(table), " "), "page": plain} {
		finding := m.Finding
		if where == "page" { // it stands in two sizes there
			finding = strings.Replace(finding, ": ", " ", 1)
		}
		if !strings.Contains(text, words) || !strings.Contains(text, finding) {
			t.Errorf("%q: the %s lacks %q or %q", args, where, words, m.Finding)
		}
	}
}

// Directions of class means that are no larger than the rounding of float32 are left out, which is said; NC1 without them is tiny, and
// is not called a collapse.
func TestMeasureCutByRounding(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 0))
	var h []float32
	var labels []int64
	for i := range 400 {
		c := i / 100
		labels = append(labels, int64(c))
		h = append(h, float32(1000*float64(c*c)+.01*r.NormFloat64()), float32(300*float64(c)+.01*r.NormFloat64()), float32(1+1e-9*r.NormFloat64()))
	}
	checkCut(t, writeFeatures(t, filepath.Join(t.TempDir(), "a.npz"), h, 3, labels), "rounding of the features")
}

// Features whose spread is their rounding: no verdict about them.
func TestMeasureNoVerdictWithinRounding(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 0))
	var h []float32
	var labels []int64
	for i := range 400 { // class means are one and a half roundings of 4096 apart, the spread is one
		c := i % 4
		labels = append(labels, int64(c))
		for j := range 6 {
			x := 4096 + 1e-4*r.NormFloat64()
			if j == c {
				x += 1.55 * 0x1p-11
			}
			h = append(h, float32(x))
		}
	}
	m := measureCertain(t, writeFeatures(t, filepath.Join(t.TempDir(), "a.npz"), h, 6, labels))
	if low := strings.ToLower(m.Finding); strings.HasPrefix(low, "collapsed") || !strings.Contains(low, "rounding") {
		t.Errorf("%q: NC1 %g ± %g + %g", m.Finding, m.Measures["nc1_pinv"], m.Uncertainty["nc1_pinv"], m.InputRounding["nc1_pinv"])
	}
	if m.Reason["nc1_pinv"] == "" {
		t.Error("NC1 has no reason")
	}
}

// The CSV file has uncertainty, null and reason beside every value, as JSON has them.
func TestMeasureCSVCertainty(t *testing.T) {
	dir := t.TempDir()
	h, labels := heavySet()
	rows := filepath.Join(dir, "a.csv")
	m := measureCertain(t, writeFeatures(t, filepath.Join(dir, "a.npz"), h, 16, labels), "--rcond", "1e-4", "--csv", rows)
	b, err := os.ReadFile(rows)
	if err != nil {
		t.Fatal(err)
	}
	table, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range table[0] {
		column[name] = i
	}
	nulls, reasons, found := 0, 0, 0
	for _, row := range table[1:] {
		key := row[column["key"]]
		if _, ok := m.Measures[key]; !ok || row[column["class"]] != "" {
			continue
		}
		found++
		number := func(name string) float64 {
			v, err := strconv.ParseFloat(row[column[name]], 64)
			if err != nil {
				t.Errorf("%s: %s is %q", key, name, row[column[name]])
			}
			return v
		}
		if number("uncertainty") != m.Uncertainty[key] || number("input_rounding") != m.InputRounding[key] || row[column["reason"]] != m.Reason[key] {
			t.Errorf("%s: %v", key, row)
		}
		if n, ok := m.Null[key]; ok {
			nulls++
			if number("null_low") != n.Low || number("null_median") != n.Median || number("null_high") != n.High {
				t.Errorf("%s: null of %v, want %+v", key, row, n)
			}
		} else if row[column["null_median"]] != "" {
			t.Errorf("%s has a null in the CSV file", key)
		}
		if m.Reason[key] != "" {
			reasons++
		}
	}
	if found != len(m.Measures) || nulls == 0 || nulls != len(m.Null) || reasons == 0 {
		t.Errorf("%d of %d measures, %d of %d nulls, %d reasons", found, len(m.Measures), nulls, len(m.Null), reasons)
	}
}

// States keep what uncertainty and null need, through merges, second passes and files of version 1.
func TestMeasureStatesKeepCertainty(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	single, labels := heavySet()
	h := make([]float64, len(single))
	for i, x := range single { // sums that round
		h[i] = float64(x)/3 + 1e4
	}
	r := rand.New(rand.NewPCG(8, 0))
	whole := measureCertain(t, writeFeatures(t, at("whole.npz"), h, 16, labels))
	for split := range 4 {
		var parts [2][]float64
		var names [2][]int64
		for i, c := range labels {
			p := r.IntN(2)
			parts[p], names[p] = append(parts[p], h[i*16:][:16]...), append(names[p], c)
		}
		for p := range 2 {
			measureCertain(t, writeFeatures(t, at("part"+strconv.Itoa(p)+".npz"), parts[p], 16, names[p]), "--state-out", at("state"+strconv.Itoa(p)+".ncs"))
		}
		if split%2 == 1 {
			toFirstVersion(t, at("state0.ncs"), 16)
		}
		merged := measureCertain(t, "--merge", at("state0.ncs"), at("state1.ncs"), "--state-out", at("means.ncs"))
		covers(t, "merged", merged, whole, 15)
		for p := range 2 {
			n := strconv.Itoa(p)
			if code, _, stderr := call(t, "measure", at("part"+n+".npz"), "--means", at("means.ncs"), "--state-out", at("second"+n+".ncs")); code != exitOK {
				t.Fatal(stderr)
			}
		}
		both := measureCertain(t, "--merge", at("second0.ncs"), at("second1.ncs"), "--means", at("means.ncs"))
		covers(t, "second passes", both, whole, 16)
		toFirstVersion(t, at("means.ncs"), 16)
		covers(t, "version 1", measureCertain(t, "--merge", at("means.ncs")), whole, 15)
	}
}

// covers fails unless got has the values of want to what both leave open, at least so many, and a null of NC1 like that of want.
func covers(t *testing.T, what string, got, want certain, least int) {
	t.Helper()
	found := 0
	for key, v := range got.Measures {
		w, ok := want.Measures[key]
		if !ok {
			continue
		}
		found++
		if !(math.Abs(v-w) <= got.Uncertainty[key]+want.Uncertainty[key]) {
			t.Errorf("%s: %s is %.17g ± %.2g, of the whole %.17g ± %.2g", what, key, v, got.Uncertainty[key], w, want.Uncertainty[key])
		}
	}
	if found < least {
		t.Errorf("%s: %d measures, want %d at least", what, found, least)
	}
	n, ok := got.Null["nc1_pinv"]
	if !ok || !(n.Median > want.Null["nc1_pinv"].Median/2 && n.Median < 2*want.Null["nc1_pinv"].Median) {
		t.Errorf("%s: null of NC1 %+v, of the whole %+v", what, n, want.Null["nc1_pinv"])
	}
	if !strings.HasPrefix(got.Finding, "No collapse") {
		t.Errorf("%s: %q", what, got.Finding)
	}
}

// toFirstVersion rewrites a first pass with a pooled scatter as version 1: another magic, no spread of coordinates.
func toFirstVersion(t *testing.T, path string, d int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(b[:4]) != "NCS2" || b[4] != 1 || b[8]&1 == 0 {
		t.Fatalf("%s is not a first pass of version 2 with a pooled scatter: % x", path, b[:12])
	}
	body := b[:len(b)-sha256.Size]
	if b[8]&16 != 0 { // version 1 knows no farthest rows, here 64
		b[8] &^= 16
		body = body[:len(body)-64*8*d]
	}
	pooled := 4 * d * (d + 1)
	first := append([]byte("NCS1"), body[4:len(body)-pooled-8*d]...)
	first = append(first, body[len(body)-pooled:]...)
	sum := sha256.Sum256(first)
	if err := os.WriteFile(path, append(first, sum[:]...), 0o644); err != nil {
		t.Fatal(err)
	}
}
