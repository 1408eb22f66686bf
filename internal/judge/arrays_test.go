package judge_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
)

// save writes arrays, some of them changed; nil leaves one out.
func save(t *testing.T, path string, arrays []arrayfile.Array, change map[string]*arrayfile.Array) {
	t.Helper()
	var kept []arrayfile.Array
	for _, a := range arrays {
		if c, changed := change[a.Name]; !changed {
			kept = append(kept, a)
		} else if c != nil {
			kept = append(kept, *c)
		}
	}
	var b bytes.Buffer
	if err := arrayfile.WriteNPZ(&b, kept); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func drawMatrix(r *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = r.NormFloat64()
	}
	return out
}

func drawLabels(r *rand.Rand, n, k int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(r.IntN(k))
		if i < k { // none is empty
			out[i] = int32(i)
		}
	}
	return out
}

// finalArrays are features of n and m samples of k classes with d numbers each.
func finalArrays(r *rand.Rand, n, m, d, k int) []arrayfile.Array {
	redrawn := make([]uint8, n)
	for i := range redrawn {
		redrawn[i] = uint8(r.IntN(2))
	}
	return []arrayfile.Array{
		arrayfile.Of("train_h", []int{n, d}, drawMatrix(r, n*d)), arrayfile.Of("train_observed", []int{n}, drawLabels(r, n, k)), arrayfile.Of("train_true", []int{n}, drawLabels(r, n, k)),
		arrayfile.Of("train_redrawn", []int{n}, redrawn), arrayfile.Of("test_h", []int{m, d}, drawMatrix(r, m*d)), arrayfile.Of("test_true", []int{m}, drawLabels(r, m, k)),
		arrayfile.Of("weight", []int{k, d}, drawMatrix(r, k*d)), arrayfile.Of("bias", []int{k}, drawMatrix(r, k)), arrayfile.Of("train_samples", nil, []int64{int64(n + 7)}), arrayfile.Of("test_samples", nil, []int64{int64(m)}),
	}
}

func floatsOf(t *testing.T, arrays []arrayfile.Array, name string) []float64 {
	t.Helper()
	for _, a := range arrays {
		if a.Name == name {
			v, err := a.Float64s()
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	return nil
}

func intsOf(t *testing.T, arrays []arrayfile.Array, name string) (out []int) {
	t.Helper()
	for _, v := range floatsOf(t, arrays, name) {
		out = append(out, int(v))
	}
	return out
}

// TestFeaturesAreReadAsWritten reads drawn features and compares their means and spreads with plain sums.
func TestFeaturesAreReadAsWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 46))
	for range 40 {
		d, k := 1+r.IntN(4), 2+r.IntN(3)
		n, m := k+3+r.IntN(20), k+r.IntN(9)
		arrays, dir := finalArrays(r, n, m, d, k), t.TempDir()
		save(t, rundir.Dir(dir).FinalFeatures(), arrays, nil)
		f, err := judge.LoadFeatures(dir)
		if err != nil {
			t.Fatal(err)
		}
		if f.D != d || f.K != k || f.TrainN != n+7 || f.TestN != m || !slices.Equal(f.TrainH, floatsOf(t, arrays, "train_h")) || !slices.Equal(f.TestH, floatsOf(t, arrays, "test_h")) ||
			!slices.Equal(f.Weight, floatsOf(t, arrays, "weight")) || !slices.Equal(f.Bias, floatsOf(t, arrays, "bias")) || !slices.Equal(f.Observed, intsOf(t, arrays, "train_observed")) ||
			!slices.Equal(f.True, intsOf(t, arrays, "train_true")) || !slices.Equal(f.TestTrue, intsOf(t, arrays, "test_true")) {
			t.Fatalf("%+v", f)
		}
		for i, v := range intsOf(t, arrays, "train_redrawn") {
			if f.Redrawn[i] != (v == 1) || f.Corrupted(i) != (f.Observed[i] != f.True[i]) || judge.Labels32(f.True)[i] != int32(f.True[i]) {
				t.Fatalf("sample %d: %+v", i, f)
			}
		}
		samePlaces(t, f)
	}
}

// samePlaces compares class means of clean samples, the spread about them and the ratio of their norms.
func samePlaces(t *testing.T, f *judge.Features) {
	t.Helper()
	mean, counts := f.CleanMeans()
	smallest, largest, empty := math.Inf(1), 0.0, false
	for c := range f.K {
		want, n, spread := make([]float64, f.D), 0, 0.0
		for i := range f.True {
			if f.True[i] == c && f.Observed[i] == c {
				n++
				for j := range want {
					want[j] += f.TrainH[i*f.D+j]
				}
			}
		}
		square := 0.0
		for j := range want {
			want[j] /= float64(max(n, 1))
			square += want[j] * want[j]
			if !(math.Abs(mean[c][j]-want[j]) < 1e-12) {
				t.Fatalf("class %d: %v, want %v", c, mean[c], want)
			}
		}
		empty = empty || n == 0
		smallest, largest = math.Min(smallest, math.Sqrt(square)), math.Max(largest, math.Sqrt(square))
		for i := range f.True {
			if f.True[i] == c && f.Observed[i] == c {
				distance := 0.0
				for j := range want {
					distance += math.Pow(f.TrainH[i*f.D+j]-want[j], 2)
				}
				spread += math.Sqrt(distance) / float64(n)
			}
		}
		got := f.Spread(f.TrainH, f.True, c, mean[c], func(i int) bool { return !f.Corrupted(i) })
		if counts[c] != n || math.IsNaN(got) != (n == 0) || math.Abs(got-spread) > 1e-12 {
			t.Fatalf("class %d of %d: spread %g, want %g of %d", c, counts[c], got, spread, n)
		}
	}
	r := judge.Run{Run: store.Run{Kind: store.Train, Status: store.Done}, Noise: .1}
	r.SetFeatures(f, "")
	if s := judge.JudgeRun(&r); s.DegenerateKnown == empty || !empty && !(math.Abs(s.NormRatio-smallest/largest) < 1e-12) || s.Degenerate != (!empty && smallest/largest < .1) {
		t.Fatalf("ratio %g, degenerate %v of %v; want %g, a class is empty: %v", s.NormRatio, s.Degenerate, s.DegenerateKnown, smallest/largest, empty)
	}
	kept(t, judge.JudgeRun(&r), f)
}

// kept compares values computed from features with their definitions.
func kept(t *testing.T, s *judge.JudgedRun, f *judge.Features) {
	t.Helper()
	centre, counts := f.Means(f.TestH, f.TestTrue, nil)
	spread, classes := 0.0, 0.0
	for c := range f.K {
		if counts[c] > 0 {
			spread, classes = spread+f.Spread(f.TestH, f.TestTrue, c, centre[c], nil), classes+1
		}
	}
	sum, n := 0.0, 0.0
	for i := range f.True {
		if a, b := centre[f.True[i]], centre[f.Observed[i]]; f.Corrupted(i) {
			along, whole := 0.0, 0.0
			for j := range f.D {
				along, whole = along+(f.TrainH[i*f.D+j]-a[j])*(b[j]-a[j]), whole+(b[j]-a[j])*(b[j]-a[j])
			}
			sum, n = sum+along/whole, n+1
		}
	}
	for name, want := range map[string]float64{"kept.test_spread": spread / classes, "kept.memorized_way": sum / n} {
		if v, err := s.Value(name, 1); (err != nil) != math.IsNaN(want) || err == nil && !(math.Abs(v-want) <= 1e-9*(1+math.Abs(want))) {
			t.Fatalf("%s: %g, %v, want %g", name, v, err, want)
		}
	}
}

// TestFeaturesOfOtherShapesAreRefused changes one array at a time, of features and of frames; the error names what is wrong.
func TestFeaturesOfOtherShapesAreRefused(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 46))
	const n, m, d, k = 6, 5, 2, 3
	final, frame := finalArrays(r, n, m, d, k), frameArrays(r, n, d, k)
	cases := func(name string, rows int, matrix, optional bool) map[string]*arrayfile.Array {
		of := func(shape ...int) *arrayfile.Array {
			size := 1
			for _, s := range shape {
				size *= s
			}
			a := arrayfile.Of(name, shape, make([]float64, size))
			return &a
		}
		if !matrix {
			out := map[string]*arrayfile.Array{"elements": of(rows + 1), "elements; ": of(rows - 1)}
			if !optional {
				out[name] = nil
			}
			return out
		}
		return map[string]*arrayfile.Array{"wanted samples × features": of(rows * d), "wanted samples × features ": of(rows, 0), "wide": of(rows, d+1), name: nil}
	}
	dir := t.TempDir()
	for name, of := range map[string]struct {
		rows             int
		matrix, optional bool
	}{"train_h": {n, true, false}, "test_h": {m, true, false}, "weight": {k, true, false}, "bias": {k, false, true}, "train_observed": {n, false, false}, "train_true": {n, false, false}, "test_true": {m, false, false}, "train_redrawn": {n, false, false}} {
		for want, a := range cases(name, of.rows, of.matrix, of.optional) {
			save(t, rundir.Dir(dir).FinalFeatures(), final, map[string]*arrayfile.Array{name: a})
			if f, err := judge.LoadFeatures(dir); err == nil || f != nil || !strings.Contains(err.Error(), strings.TrimSpace(strings.Split(want, ";")[0])) {
				t.Errorf("%s, %q: %v", name, want, err)
			}
		}
	}
	for name, of := range map[string]struct {
		rows             int
		matrix, optional bool
	}{"h": {n, true, false}, "means": {k, true, false}, "weight": {k, true, false}, "bias": {k, false, true}, "observed": {n, false, false}, "true": {n, false, false}, "counts": {k, false, false}} {
		for want, a := range cases(name, of.rows, of.matrix, of.optional) {
			save(t, rundir.Dir(dir).Frame(3), frame, map[string]*arrayfile.Array{name: a})
			if f, err := judge.ReadFrame(dir, 3); err == nil || f != nil || !strings.Contains(err.Error(), strings.TrimSpace(strings.Split(want, ";")[0])) || !strings.Contains(err.Error(), "epoch 3") {
				t.Errorf("%s, %q: %v", name, want, err)
			}
		}
	}
	more := arrayfile.Of("weight", []int{k + 1, d}, make([]float64, (k+1)*d))
	save(t, rundir.Dir(dir).Frame(3), frame, map[string]*arrayfile.Array{"weight": &more})
	if _, err := judge.ReadFrame(dir, 3); err == nil || !strings.Contains(err.Error(), "weight has 4 rows; wanted a row for each of 3 classes") {
		t.Error(err)
	}
	for _, label := range []int32{-1, k} {
		bad := arrayfile.Of("test_true", []int{m}, []int32{0, 1, 2, 0, label})
		save(t, rundir.Dir(dir).FinalFeatures(), final, map[string]*arrayfile.Array{"test_true": &bad})
		if _, err := judge.LoadFeatures(dir); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("test_true[4] is %d; wanted a class from 0 to 2", label)) {
			t.Error(err)
		}
	}
	fewer := arrayfile.Of("train_samples", nil, []int64{n - 1}) // than were saved: not so
	save(t, rundir.Dir(dir).FinalFeatures(), final, map[string]*arrayfile.Array{"train_samples": &fewer, "test_samples": nil, "bias": nil})
	if f, err := judge.LoadFeatures(dir); err != nil || f.TrainN != n || f.TestN != m || f.Bias != nil {
		t.Errorf("%+v, %v", f, err)
	}
}

// frameArrays are a frame of m samples.
func frameArrays(r *rand.Rand, m, d, k int) []arrayfile.Array {
	counts := make([]int64, k)
	for i := range counts {
		counts[i] = int64(r.IntN(4)) * 10
	}
	return []arrayfile.Array{arrayfile.Of("h", []int{m, d}, drawMatrix(r, m*d)), arrayfile.Of("observed", []int{m}, drawLabels(r, m, k)), arrayfile.Of("true", []int{m}, drawLabels(r, m, k)),
		arrayfile.Of("means", []int{k, d}, drawMatrix(r, k*d)), arrayfile.Of("counts", []int{k}, counts), arrayfile.Of("weight", []int{k, d}, drawMatrix(r, k*d)), arrayfile.Of("bias", []int{k}, drawMatrix(r, k))}
}

// TestFramesAreReadAsWritten reads drawn frames; the global mean is that of all samples, of which a class has as many as it counts.
func TestFramesAreReadAsWritten(t *testing.T) {
	r, dir := rand.New(rand.NewPCG(10, 46)), t.TempDir()
	for _, epoch := range []int{12, 3, 100} {
		m, d, k := 3+r.IntN(9), 1+r.IntN(4), 2+r.IntN(2)
		arrays := frameArrays(r, m, d, k)
		save(t, rundir.Dir(dir).Frame(epoch), arrays, nil)
		f, err := judge.ReadFrame(dir, int64(epoch))
		if err != nil {
			t.Fatal(err)
		}
		if f.Epoch != int64(epoch) || f.D != d || f.K != k || !slices.Equal(f.H, floatsOf(t, arrays, "h")) || !slices.Equal(f.Means, floatsOf(t, arrays, "means")) || !slices.Equal(f.Weight, floatsOf(t, arrays, "weight")) ||
			!slices.Equal(f.Bias, floatsOf(t, arrays, "bias")) || !slices.Equal(f.Observed, intsOf(t, arrays, "observed")) || !slices.Equal(f.True, intsOf(t, arrays, "true")) || !slices.Equal(f.Counts, intsOf(t, arrays, "counts")) {
			t.Fatalf("%+v", f)
		}
		total := 0.0
		sum := make([]float64, d)
		for c, count := range f.Counts {
			total += float64(count)
			for j := range sum {
				sum[j] += float64(count) * f.Means[c*d+j]
			}
		}
		for j, v := range f.GlobalMean() {
			if want := sum[j] / math.Max(total, 1); !(math.Abs(v-want) < 1e-12) {
				t.Errorf("global mean %v of %v, want %g", f.GlobalMean(), f.Counts, want)
			}
		}
	}
	if epochs, err := judge.FilmEpochs(dir); err != nil || !slices.Equal(epochs, []int64{3, 12, 100}) {
		t.Errorf("epochs %v, %v", epochs, err)
	}
	if epochs, err := judge.FilmEpochs(t.TempDir()); err != nil || len(epochs) != 0 {
		t.Errorf("of no frames: %v, %v", epochs, err)
	}
	if _, err := judge.ReadFrame(dir, 4); err == nil || !strings.Contains(err.Error(), "epoch 4") {
		t.Errorf("a frame that is not there: %v", err)
	}
}

// TestDerivedValuesAndWhatTheyNeed: sums in units of distances, without which, and without sums, there are none.
func TestDerivedValuesAndWhatTheyNeed(t *testing.T) {
	m := judgetest.Common()
	m.Jitter = 0 // flipped 80, redrawn 88, mean 4 and 0.4 of them in units of distances
	for name, of := range map[string]struct {
		want    float64
		without map[string]string // measures of training samples, and what is said then
	}{
		"kept.memorization_scale_free": {8.8, map[string]string{"memorization_mean": "in units of the distance", "memorization_normalised": "in units of the distance"}},
		"kept.flipped_scale_free":      {8, map[string]string{"memorization_flipped": "no memorization of flipped samples", "memorization_mean": "in units of the distance"}},
		"kept.dilation_trace":          {.05 + .004*80, map[string]string{"nc1_trace_ratio": "no trace ratio"}},
		"kept.degenerate":              {0, map[string]string{"mean_norm_ratio": "no norms of class means"}},
	} {
		r := m.Run(t, "ce", .2, 1)
		if v, err := judge.JudgeRun(&r).Value(name, 1); err != nil || !(math.Abs(v-of.want) < 1e-12) {
			t.Errorf("%s: %g, %v, want %g", name, v, err, of.want)
		}
		for measure, want := range of.without {
			r := m.Run(t, "ce", .2, 1)
			for _, split := range []string{"train", "test", "clean"} {
				judgetest.Forget(&r, split, measure)
			}
			if v, err := judge.JudgeRun(&r).Value(name, 1); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s without %s: %g, %v", name, measure, v, err)
			}
		}
	}
	r := m.Run(t, "ce", .2, 1)
	judgetest.Forget(&r, "train", "memorization_redrawn")
	if v, err := judge.JudgeRun(&r).Value("kept.memorization_scale_free", 1); err != nil || !(math.Abs(v-8) < 1e-12) {
		t.Errorf("without redrawn samples: %g, %v", v, err)
	}
	judgetest.SetFinal(&r, "train", "memorization_mean", 0)
	if v, err := judge.JudgeRun(&r).Value("kept.flipped_scale_free", 1); err == nil {
		t.Errorf("of distances that are zero: %g", v)
	}
}
