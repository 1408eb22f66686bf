package featurefiles

import (
	"archive/zip"
	"bytes"
	"collapse.example/collapse/internal/featurefiles/decisiontest"
	"collapse.example/collapse/internal/reporttest"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/measure"
)

// cloud is n samples around class means, with a classifier that resembles these.
type cloud struct {
	n, d, k int
	h, w    []float64
	y       []int64
}

func newCloud(n, d, k int, seed uint64) cloud {
	rng := rand.New(rand.NewPCG(seed, 3))
	c := cloud{n: n, d: d, k: k, h: make([]float64, n*d), w: make([]float64, k*d), y: make([]int64, n)}
	means := make([]float64, k*d)
	for i := range means {
		means[i] = rng.NormFloat64()
		c.w[i] = means[i] + .3*rng.NormFloat64()
	}
	for i := range n {
		c.y[i] = int64(rng.IntN(k))
		if i < 2*k {
			c.y[i] = int64(i % k)
		}
		for j := range d {
			c.h[i*d+j] = means[int(c.y[i])*d+j] + .3*rng.NormFloat64()
		}
	}
	return c
}

func (c cloud) arrays() map[string]arrayfile.Array {
	return map[string]arrayfile.Array{"h.npy": arrayfile.Of("", []int{c.n, c.d}, c.h), "y.npy": arrayfile.Of("", []int{c.n}, c.y),
		"w.npy": arrayfile.Of("", []int{c.k, c.d}, c.w)}
}

// part is the samples [from, to) whose label is none of without.
func (c cloud) part(from, to int, without ...int64) (h []float64, y []int64) {
	for i := from; i < to; i++ {
		if !slices.Contains(without, c.y[i]) {
			h, y = append(h, c.h[i*c.d:(i+1)*c.d]...), append(y, c.y[i])
		}
	}
	return h, y
}

// alone measures the samples without the given labels, with classes numbered anew and their rows of W alone.
func (c cloud) alone(t *testing.T, opt measure.Options, without ...int64) *measure.Report {
	t.Helper()
	var place []int
	var w []float64
	for k := range c.k {
		if !slices.Contains(without, int64(k)) {
			place, w = append(place, k), append(w, c.w[k*c.d:(k+1)*c.d]...)
		}
	}
	h, y := c.part(0, c.n, without...)
	labels := make([]int32, len(y))
	for i, v := range y {
		labels[i] = int32(slices.Index(place, int(v)))
	}
	r, err := measure.Measure(measure.Input[float64]{Train: measure.Memory(h, c.d, labels), W: w}, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sameBut compares all measures of want but those where all rows of W compete.
func sameBut(t *testing.T, what string, got, want *measure.Report, tolerance float64, not ...string) {
	t.Helper()
	compared := 0
	for key, v := range want.Measures.All() {
		if slices.Contains(append(not, measure.KeyAccuracy, measure.KeyNC4NCCMismatch), key) {
			continue
		}
		if g, ok := got.Measures.Get(key); !ok || !(math.Abs(g-v) <= tolerance*(1+math.Abs(v))) {
			t.Errorf("%s: %s is %.17g (missing %q), want %.17g", what, key, g, got.Missing[key], v)
		}
		compared++
	}
	if compared < 15 {
		t.Errorf("%s: only %d measures compared", what, compared)
	}
}

func said(left []measure.LeftOut) string {
	var words []string
	for _, l := range left {
		words = append(words, fmt.Sprintf("%s %q %s, %d of %d", l.Split, l.Labels, l.Reason, l.Samples, l.Count))
	}
	return strings.Join(words, "; ")
}

// A classifier with rows for classes that have no sample, too few, or a label to ignore: as if these were not there.
func TestLeftOutOfFiles(t *testing.T) {
	c := newCloud(120, 7, 6, 1)
	h, y := c.part(0, c.n, 3)
	labels := slices.Clone(y)
	for i := range 10 {
		labels[len(y)-1-i] = -100
	}
	c.h, c.y, c.n = h, labels, len(labels)
	dir := files(t, c.arrays())
	r := measured(t, asked(dir, "features=h.npy labels=y.npy weights=w.npy ignore-label=-100 ignore-label=2"), measure.Options{})
	sameBut(t, "left out", r, c.alone(t, measure.Options{}, -100, 2, 3), 0)
	twos := 0
	for _, v := range labels {
		if v == 2 {
			twos++
		}
	}
	if got, want := said(r.LeftOut), fmt.Sprintf("train [\"-100\" \"2\"] ignored label, %d of 2; train [\"3\"] no sample, 0 of 1", 10+twos); got != want {
		t.Errorf("left out: %s; want %s", got, want)
	}
	if r.K != 4 || !slices.Equal(r.Classes, []int{0, 1, 4, 5}) {
		t.Errorf("K %d, classes %v", r.K, r.Classes)
	}
	set, err := Open(asked(dir, "features=h.npy labels=y.npy weights=w.npy ignore-label=-100 ignore-label=2"))
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	rows, class, err := set.Sample(0, r, 30, 10)
	if err != nil || len(class) != 30 || len(rows) != 30*7 || slices.Max(class) != 3 || slices.Min(class) != 0 {
		t.Errorf("a sample of %d numbers, classes %v, %v", len(rows), class, err)
	}
}

// text is words as numpy stores them: bytes of fixed width.
func text(width int, words []string) (data []byte) {
	for _, w := range words {
		data = append(append(data, w...), make([]byte, width-len(w))...)
	}
	return data
}

// Labels of text are class names in alphabetical order; beside a classifier somebody has to say whose its rows are.
func TestTextLabels(t *testing.T) {
	c := newCloud(60, 5, 3, 2)
	names := []string{"ant", "bee", "cow"}
	words := make([]string, c.n)
	for i, v := range c.y {
		words[i] = names[v]
	}
	dir := files(t, c.arrays())
	if err := os.WriteFile(filepath.Join(dir, "t.npy"), decisiontest.NPY("|S5", "60,", text(5, words)), 0o644); err != nil {
		t.Fatal(err)
	}
	req := asked(dir, "features=h.npy labels=t.npy weights=w.npy class-names=ant,bee,cow")
	set, err := Open(req)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(set.Values, names) {
		t.Errorf("values %q", set.Values)
	}
	set.Close()
	if _, err := Open(asked(dir, "features=h.npy labels=t.npy classes=4")); err == nil || !strings.Contains(err.Error(), "t.npy: the labels are 3 words, and --classes says 4 classes; pass --class-names") {
		t.Errorf("a class without a name: %v", err)
	}
	if set, err = Open(asked(dir, "features=h.npy labels=t.npy classes=3")); err != nil || !slices.Equal(set.Values, names) {
		t.Fatalf("as many classes as words: %v", err)
	}
	set.Close()
	sameBut(t, "text", measured(t, req, measure.Options{}), c.alone(t, measure.Options{}), 0)
	// The same words are other rows: no sample is classified as labelled any more, and samples are the same.
	turned := measured(t, asked(dir, "features=h.npy labels=t.npy weights=w.npy class-names=bee,cow,ant"), measure.Options{})
	if a, b := reporttest.Of(turned.Measures, "nc3_gram"), reporttest.Of(c.alone(t, measure.Options{}).Measures, "nc3_gram"); !(math.Abs(a-b) > 1e-3) {
		t.Errorf("nc3_gram is %g whatever the order of the names", a)
	}
	r := measured(t, asked(dir, "features=h.npy labels=t.npy ignore-label=bee"), measure.Options{Measures: []string{"nc1_pinv"}})
	if want := reporttest.Of(c.alone(t, measure.Options{}, 1).Measures, "nc1_pinv"); reporttest.Of(r.Measures, "nc1_pinv") != want || !strings.Contains(said(r.LeftOut), `["bee"] ignored label`) {
		t.Errorf("without bees: %g, want %g; %s", reporttest.Of(r.Measures, "nc1_pinv"), want, said(r.LeftOut))
	}
	for request, want := range map[string]string{
		"features=h.npy labels=t.npy weights=w.npy":                     "the labels are words, and nothing says which row of the classifier is whose; pass --class-names",
		"features=h.npy labels=t.npy weights=w.npy class-names=ant,bee": "hold \"cow\", which is none of --class-names (ant, bee)",
		"features=h.npy labels=y.npy class-names=ant,bee":               "since --class-names has 2 classes",
		"features=h.npy labels=t.npy class-names=ant,bee,cow classes=4": "--classes 4, and --class-names has 3",
		"features=t.npy labels=y.npy":                                   `text, such as "ant"; want numbers`,
		"features=h.npy labels=y.npy corrupted=t.npy":                   "is text; want 0 or 1",
		"features=h.npy labels=y.npy weights=t.npy":                     "t.npy",
	} {
		if set, err := Open(asked(dir, request)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", request, err, want)
			if err == nil {
				set.Close()
			}
		}
	}
}

// A head with one logit is told how to become one of two classes.
func TestOneLogit(t *testing.T) {
	c := newCloud(40, 5, 2, 3)
	arrays := c.arrays()
	arrays["one.npy"] = arrayfile.Of("", []int{1, c.d}, make([]float64, c.d))
	set, err := Open(asked(files(t, arrays), "features=h.npy labels=y.npy weights=one.npy"))
	if err == nil || !strings.Contains(err.Error(), "one.npy has one row") || !strings.Contains(err.Error(), "np.vstack([-W, W]) / 2") {
		t.Errorf("%v", err)
	}
	if err == nil {
		set.Close()
	}
}

// An array that cannot be read is named with its reason, not denied.
func TestUnreadableArrays(t *testing.T) {
	for _, x := range []struct{ name, descr, want string }{
		{"labels", "|O", "(labels): the labels cannot be read: arrayfile: npy: object arrays hold pickled Python"},
		{"features", "<c16", "(features): the features cannot be read: arrayfile: npy: complex numbers"},
		{"features", "<f16", "(features): the features cannot be read: arrayfile: npy: floats of more than 64 bits"},
		{"true_labels", "<M8", "(true_labels): the true labels cannot be read"},
		{"weight", "|O", "(weight): the classifier weight cannot be read"},
	} {
		path := filepath.Join(t.TempDir(), "a.npz")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		z := zip.NewWriter(f)
		for name, file := range map[string][]byte{"features": decisiontest.NPY("<f4", "2, 1", make([]byte, 8)), "labels": decisiontest.NPY("|u1", "2,", []byte{0, 1}), x.name: decisiontest.NPY(x.descr, "2,", make([]byte, 32))} {
			w, err := z.Create(name + ".npy")
			if err == nil {
				_, err = w.Write(file)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(z.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
		req := Request{Files: []string{path}}
		for _, key := range []string{"", x.name} { // by its usual name, and asked for by name
			for _, r := range []Role{Features, Labels, Weights} {
				if roles[r].usual[0] == x.name {
					req.Keys[r] = key
				}
			}
			set, err := Open(req)
			if err == nil {
				set.Close()
			}
			if err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("%s of %s: %v, want %q", x.name, x.descr, err, x.want)
			}
		}
	}
}

// States carry label values: shards that lack classes, ignored labels, and rows of the classifier by value.
func TestStatesLeaveOut(t *testing.T) {
	c := newCloud(150, 5, 7, 4)
	for i := range c.y {
		if c.y[i] == 4 && i > 14 { // class 4 has two samples
			c.y[i] = 1
		}
		if c.y[i] == 2 {
			c.y[i] = 70
		}
	}
	arrays := c.arrays()
	spans := [][2]int{{0, 40}, {40, 110}, {110, 150}}
	for s, span := range spans {
		h, y := c.part(span[0], span[1])
		arrays[fmt.Sprintf("h%d.npy", s)], arrays[fmt.Sprintf("y%d.npy", s)] = arrayfile.Of("", []int{len(y), c.d}, h), arrayfile.Of("", []int{len(y)}, y)
	}
	dir := files(t, arrays)
	write := func(name string, m *measure.Moments, s *measure.SecondPass) {
		var b bytes.Buffer
		var err error
		if s != nil {
			_, err = s.WriteTo(&b)
		} else {
			_, err = m.WriteTo(&b)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for s := range spans { // the middle shard does not ignore yet: the merge does
		request := fmt.Sprintf("features=h%d.npy labels=y%d.npy", s, s)
		if s != 1 {
			request += " ignore-label=70"
		}
		set, err := Open(asked(dir, request))
		if err != nil {
			t.Fatal(err)
		}
		one, err := set.OnePass(0, measure.Options{})
		if err != nil {
			t.Fatal(err)
		}
		write(fmt.Sprintf("a%d.ncs", s), one.Moments, nil)
		if s == 0 {
			r, err := one.Report(measure.Options{})
			if err != nil || !strings.Contains(said(r.LeftOut), `["70"] ignored label`) {
				t.Errorf("one pass: %v, left out %s", err, said(r.LeftOut))
			}
		}
		set.Close()
	}
	opt := measure.Options{MinCount: 3}
	merged, err := Merge(asked(dir, "file=a0.ncs file=a1.ncs file=a2.ncs ignore-label=70 weights=w.npy"))
	if err != nil {
		t.Fatal(err)
	}
	one, err := merged.Report(opt)
	if err != nil {
		t.Fatal(err)
	}
	want := c.alone(t, opt, 70, 2, 4)
	once := []string{"nc1_pinv", "ncc_accuracy", "cosine_margin_mean", "cosine_margin_min", "cosine_margin_max", "numerical_rank", "vci", "feature_rank", "feature_stable_rank"}
	sameBut(t, "merged", one, want, 1e-11, once...)
	if got := said(one.LeftOut); !strings.Contains(got, `["4"] fewer than 3 samples, 2 of 1`) || !strings.Contains(got, `["70"] ignored label`) {
		t.Errorf("left out of the merge: %s", got)
	}
	if r, err := merged.Report(measure.Options{}); err != nil || !strings.Contains(r.Missing["nc1_pinv"], "pooled scatter") {
		t.Errorf("nc1_pinv from a scatter that ignored samples are part of: %g, %q, %v", reporttest.Of(r.Measures, "nc1_pinv"), r.Missing["nc1_pinv"], err)
	}
	if _, err := Merge(asked(dir, "file=a1.ncs weights=w.npy")); err == nil || !strings.Contains(err.Error(), "samples of label 70") || !strings.Contains(err.Error(), "--ignore-label=70") {
		t.Errorf("a negative label beside a classifier: %v", err)
	}
	write("means.ncs", merged.Moments, nil)
	means, err := ReadMoments(filepath.Join(dir, "means.ncs"), []string{"70"}, arrayfile.NewFileBudget())
	if err != nil {
		t.Fatal(err)
	}
	for s := range spans {
		req := asked(dir, fmt.Sprintf("features=h%d.npy labels=y%d.npy weights=w.npy ignore-label=70", s, s))
		req.Means = means
		set, err := Open(req)
		if err != nil {
			t.Fatal(err)
		}
		second, err := set.SecondPass(0, means, opt)
		if err != nil {
			t.Fatal(err)
		}
		write(fmt.Sprintf("b%d.ncs", s), nil, second)
		set.Close()
	}
	req := asked(dir, "file=b0.ncs file=b1.ncs file=b2.ncs weights=w.npy ignore-label=70")
	req.Means = means
	both, err := Merge(req)
	if err != nil {
		t.Fatal(err)
	}
	two, err := both.Report(opt)
	if err != nil {
		t.Fatal(err)
	}
	sameBut(t, "second passes", two, want, 1e-11, "numerical_rank", "vci", "feature_rank", "feature_stable_rank")
	whole := measured(t, asked(dir, "features=h.npy labels=y.npy weights=w.npy ignore-label=70"), opt)
	for _, key := range []string{"accuracy", "nc4_ncc_mismatch"} {
		if a, b := reporttest.Of(two.Measures, key), reporttest.Of(whole.Measures, key); !(math.Abs(a-b) <= 1e-14) || b == 0 {
			t.Errorf("%s: %g of states, %g of the whole", key, a, b)
		}
	}
}

// A stream leaves out what it is told to.
func TestStreamLeavesOut(t *testing.T) {
	c := newCloud(90, 5, 4, 5)
	labels := slices.Clone(c.y)
	for i := range labels {
		if labels[i] == 2 {
			labels[i] = -100
		}
	}
	for _, classifier := range []bool{false, true} {
		var b bytes.Buffer
		for at := 0; at < c.n; at += 9 {
			put(t, &b, arrayfile.Of("", []int{9, c.d}, c.h[at*c.d:(at+9)*c.d]))
			put(t, &b, arrayfile.Of("", []int{9}, labels[at:at+9]))
		}
		req := Request{IgnoreLabels: []string{"-100"}}
		if classifier {
			req.From[Weights] = []string{filepath.Join(files(t, c.arrays()), "w.npy")}
		}
		whole := b.Bytes()
		one, err := Stream(bytes.NewReader(whole), req, measure.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := one.Report(measure.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := c.alone(t, measure.Options{}, 2)
		for _, key := range []string{"nc1_pinv", "trace_within", "nc2_means_etf_centred"} {
			if g, v := reporttest.Of(r.Measures, key), reporttest.Of(want.Measures, key); !(math.Abs(g-v) <= 1e-11*v) {
				t.Errorf("classifier %t: %s is %g, want %g", classifier, key, g, v)
			}
		}
		if classifier && !(math.Abs(reporttest.Of(r.Measures, "nc3_gram")-reporttest.Of(want.Measures, "nc3_gram")) <= 1e-12) {
			t.Errorf("nc3_gram is %g, want %g", reporttest.Of(r.Measures, "nc3_gram"), reporttest.Of(want.Measures, "nc3_gram"))
		}
		if got := said(r.LeftOut); !strings.Contains(got, `["-100"] ignored label`) {
			t.Errorf("left out: %s", got)
		}
		req.IgnoreLabels = nil
		if _, err := Stream(bytes.NewReader(whole), req, measure.Options{}); classifier && (err == nil || !strings.Contains(err.Error(), "label -100")) {
			t.Errorf("a negative label beside a classifier: %v", err)
		}
		req.IgnoreLabels = []string{"-100", "0", "1", "3"}
		one, err = Stream(bytes.NewReader(whole), req, measure.Options{})
		if err == nil {
			_, err = one.Report(measure.Options{})
		}
		if err == nil || !strings.Contains(err.Error(), "nothing is left") && !strings.Contains(err.Error(), "found 0") {
			t.Errorf("everything ignored: %v", err)
		}
	}
}
