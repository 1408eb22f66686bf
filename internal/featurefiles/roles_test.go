package featurefiles

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/reporttest"
	"collapse.example/collapse/measure"
)

// TestEveryRole measures test features, noise masks and out-of-distribution features from one file and from
// flags, against the same arrays in memory.
func TestEveryRole(t *testing.T) {
	p := problems()[1]
	n := p.k * p.n
	test := append([]float64(nil), p.h...)
	observed, redrawn := append([]int64(nil), p.y...), make([]bool, n)
	var in measure.Input[float64]
	for i := range test {
		test[i] += .1 * math.Sin(float64(i))
	}
	for i := 0; i < n; i += 7 {
		observed[i], redrawn[i] = (p.y[i]+1)%int64(p.k), true
	}
	redrawn[1] = true // drawn anew, and kept by chance
	as32 := func(y []int64) (out []int32) {
		for _, v := range y {
			out = append(out, int32(v))
		}
		return out
	}
	in.Train, in.Test = measure.Memory(p.h, p.d, as32(observed)), measure.Memory(test, p.d, as32(p.y))
	in.W, in.B, in.True, in.Redrawn, in.OOD = p.w, p.b, as32(p.y), redrawn, &measure.Rows[float64]{H: test[:5*p.d], D: p.d}
	want, err := measure.Measure(in, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"dilation", "test_accuracy", "memorization_redrawn", "memorization_flipped", "nc5_ood"} {
		if _, ok := want.Measures.Get(key); !ok {
			t.Fatalf("%s is missing: %s", key, want.Missing[key])
		}
	}
	arrays := []arrayfile.Array{
		arrayfile.Of("train_h", []int{n, p.d}, p.h), arrayfile.Of("train_observed", []int{n}, observed), arrayfile.Of("weight", []int{p.k, p.d}, p.w), arrayfile.Of("bias", []int{p.k}, p.b),
		arrayfile.Of("test_h", []int{n, p.d}, test), arrayfile.Of("test_true", []int{n}, p.y), arrayfile.Of("train_true", []int{n}, p.y),
		arrayfile.Of("train_redrawn", []int{n}, redrawn), arrayfile.Of("ood", []int{5, p.d}, test[:5*p.d]),
	}
	near(t, "one file", measured(t, write(t, "npz", arrays), measure.Options{}), maps.Collect(want.Measures.All()), 1e-12, 1e-15)
	near(t, "flags", measured(t, write(t, "flags", arrays), measure.Options{}), maps.Collect(want.Measures.All()), 1e-12, 1e-15)
}

// TestXAndY: X is the features where no array has a usual name, and not where one has.
func TestXAndY(t *testing.T) {
	p := problems()[0]
	x, y := encoded("X", []int{p.k * p.n, p.d}, p.h, arrayfile.F64, false, false), encoded("y", []int{p.k * p.n}, labelsOf(p.y), arrayfile.I64, false, false)
	want := measured(t, write(t, "npz", p.arrays(arrayfile.F64, arrayfile.I64, false, false)[:2]), measure.Options{})
	near(t, "X and y", measured(t, write(t, "npz", []arrayfile.Array{x, y}), measure.Options{}), maps.Collect(want.Measures.All()), 0, 0)
	inputs := encoded("x", []int{p.k * p.n, 1}, make([]float64, p.k*p.n), arrayfile.F64, false, false)
	all := append(p.arrays(arrayfile.F64, arrayfile.I64, false, false)[:2], inputs)
	near(t, "inputs beside features", measured(t, write(t, "npz", all), measure.Options{}), maps.Collect(want.Measures.All()), 0, 0)
}

// TestTestFileBringsItsLabels: --test-features of a file with features and labels needs no --test-labels.
func TestTestFileBringsItsLabels(t *testing.T) {
	p := problems()[0]
	arrays := p.arrays(arrayfile.F64, arrayfile.I64, false, false)
	req := write(t, "npz", arrays)
	req.From[TestFeatures] = req.Files
	near(t, "test file", measured(t, req, measure.Options{}), map[string]float64{"test_accuracy": 1, "dilation": math.Sqrt(p.want["nc1_pinv"])}, 0, 1e-9)
}

func TestLayers(t *testing.T) {
	p := problems()[0]
	n := p.k * p.n
	arrays := p.arrays(arrayfile.F64, arrayfile.I64, false, false)
	for _, i := range []int{10, 2} {
		arrays = append(arrays, arrayfile.Of(fmt.Sprintf("layer%d.out", i), []int{n, 2}, p.h[:2*n]))
	}
	req := write(t, "npz", arrays)
	req.Layers = "layer*"
	set, err := Open(req)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	var names []string
	for i, c := range set.Columns {
		names = append(names, fmt.Sprintf("%s/%d/%v", c.Name, c.D, c.Classifier))
		r, err := set.Measure(i, measure.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, has := r.Measures.Get("nc3_gram"); has != c.Classifier {
			t.Errorf("%s: nc3_gram measured is %v: the classifier belongs to the features alone", c.Name, has)
		}
	}
	if got := strings.Join(names, " "); got != "layer2.out/2/false layer10.out/2/false features/6/true" {
		t.Errorf("columns %s", got)
	}
}

// TestTransposedWeights: a classifier stored d×K gives the same measures with the flag.
func TestTransposedWeights(t *testing.T) {
	p := problems()[0]
	arrays := p.arrays(arrayfile.F64, arrayfile.I64, false, false)
	turned := make([]float64, len(p.w))
	for c := range p.k {
		for j := range p.d {
			turned[j*p.k+c] = p.w[c*p.d+j]
		}
	}
	arrays[2] = arrayfile.Of("weight", []int{p.d, p.k}, turned)
	req := write(t, "npz", arrays)
	if _, err := Open(req); err == nil || !strings.Contains(err.Error(), "--transpose-weights") {
		t.Errorf("without the flag: %v", err)
	}
	req.TransposeWeights = true
	near(t, "transposed", measured(t, req, measure.Options{}), p.want, 0, 1e-9)
}

// TestTransposedFeatures measures train and test features that are stored d×N, in either order of their numbers, in one file and in several.
func TestTransposedFeatures(t *testing.T) {
	p := problems()[0]
	n := len(p.y)
	turned := make([]float64, len(p.h))
	for i := range n {
		for j := range p.d {
			turned[j*n+i] = p.h[i*p.d+j]
		}
	}
	h, test := arrayfile.Of("features", []int{p.d, n}, turned), arrayfile.Of("test_features", []int{p.d, n}, p.h)
	test.Fortran = true
	y := arrayfile.Of("labels", []int{n}, p.y)
	req := write(t, "npz", []arrayfile.Array{h, y, arrayfile.Of("weight", []int{p.k, p.d}, p.w), test, arrayfile.Of("test_labels", []int{n}, p.y)})
	req.TransposeFeatures = true
	near(t, "transposed", measured(t, req, measure.Options{}), map[string]float64{"nc1_pinv": p.want["nc1_pinv"], "dilation": math.Sqrt(p.want["nc1_pinv"]), "test_accuracy": 1}, 0, 1e-9)
	dir := files(t, map[string]arrayfile.Array{"h.npy": h, "y.npy": y})
	near(t, "npy", measured(t, asked(dir, "features=h.npy labels=y.npy transpose-features="), measure.Options{}), map[string]float64{"nc1_pinv": p.want["nc1_pinv"]}, 0, 1e-9)
}

// TestNarrowFeaturesBesideAFloat64Classifier: what counts as zero is a matter of the features alone. Their class means lie in
// a plane up to 1e-9 in a coordinate that is shared with larger numbers, which float32 features cannot tell from rounding.
func TestNarrowFeaturesBesideAFloat64Classifier(t *testing.T) {
	const k, n, d = 4, 3, 3
	h, y := make([]float32, k*n*d), make([]int64, k*n)
	for i := range y {
		y[i] = int64(i % k)
		h[i*d+0], h[i*d+1] = []float32{1, -1, 0, 0}[y[i]], []float32{0, 0, 1, -1}[y[i]]
		h[i*d+2] = 1 + 1e-9*[]float32{1, 1, -1, -1}[y[i]]
	}
	for _, c := range []struct {
		weight arrayfile.Array
		want   float64
	}{
		{arrayfile.Of("weight", []int{k, d}, make([]float32, k*d)), 2}, {arrayfile.Of("weight", []int{k, d}, make([]float64, k*d)), 2},
	} {
		r := measured(t, write(t, "npz", []arrayfile.Array{arrayfile.Of("h", []int{k * n, d}, h), arrayfile.Of("y", []int{k * n}, y), c.weight}), measure.Options{})
		if got := reporttest.Of(r.Measures, "rank_between"); got != c.want {
			t.Errorf("classifier of %v: rank %g, want %g", c.weight.DType, got, c.want)
		}
	}
}
