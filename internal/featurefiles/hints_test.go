package featurefiles

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
)

// TestWhatToDoWithoutARole: what a file holds decides what an error says to do, and what it does not say.
func TestWhatToDoWithoutARole(t *testing.T) {
	of := func(name string, shape ...int) arrayfile.Array {
		n := 1
		for _, s := range shape {
			n *= s
		}
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(i % shape[len(shape)-1] % 3) // the last column of 12×5 is 1
			if i%5 == 4 {
				v[i] = float32(i / 5 % 4)
			}
		}
		return arrayfile.Of(name, shape, v)
	}
	fractions := of("A", 12, 6)
	for i := range fractions.Data {
		fractions.Data[i] = 0x3e
	}
	vectors := []arrayfile.Array{}
	for i := range 30 {
		vectors = append(vectors, of(fmt.Sprintf("image%d.png", i), 4))
	}
	for name, c := range map[string]struct {
		arrays    []arrayfile.Array
		want, not string
	}{
		"a model":                {[]arrayfile.Array{of("net.0.weight", 6, 4), of("net.0.bias", 6), of("net.2.weight", 3, 6), of("net.2.bias", 3)}, "this is a model, and features are what its last layer but one gives", "--features-key"},
		"a model of Keras":       {[]arrayfile.Array{of("layers.dense.vars.0", 4, 6), of("layers.dense.vars.1", 6), of("layers.dense_1.vars.0", 6, 3)}, "this is a model", "--layers"},
		"a weight and outputs":   {[]arrayfile.Array{of("net.0.weight", 6, 4), of("net.2.weight", 3, 6), of("p", 12, 6), of("q", 12, 6)}, "say which with --features-key NAME", "model"},
		"a class an array":       {[]arrayfile.Array{of("cat", 5, 6), of("dog", 7, 6)}, "if each array is one class, in Python: numpy.savez", "--features-key"},
		"equal heights":          {[]arrayfile.Array{of("p", 5, 6), of("q", 5, 6)}, "say which with --features-key NAME", "one class"},
		"a sample an array":      {vectors, "if each array is one sample, in Python: numpy.savez", "--features-key"},
		"layers in a group":      {[]arrayfile.Array{of("acts.conv1", 12, 2), of("acts.conv2", 12, 3), of("acts.pool", 12, 6), of("y", 12)}, "acts.conv1 … acts.pool are measured one by one with --layers 'acts.*'", "conv*"},
		"labels in the group":    {[]arrayfile.Array{of("all.conv1", 12, 2), of("all.conv2", 12, 3), of("all.pool", 12, 6), of("all.y", 12)}, "all.conv1 … all.conv2 are measured one by one with --layers 'all.conv*'", "pool are"},
		"labels in the last":     {[]arrayfile.Array{of("A", 12, 5)}, "if its last column holds them, in Python", "--labels"},
		"fractions in the last":  {[]arrayfile.Array{fractions}, "give them with --labels FILE", "last column"},
		"a matrix and a vector":  {[]arrayfile.Array{of("A", 12, 5), of("p", 12), of("q", 12)}, "say which with --labels-key NAME", "last column"},
		"only a vector too long": {[]arrayfile.Array{of("A", 12, 5), of("p", 13)}, "say which with --labels-key NAME", "last column"},
	} {
		path := npzOf(t, c.arrays)
		if _, err := Open(Request{Files: []string{path}}); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), c.not) {
			t.Errorf("%s: %v; want %q, not %q", name, err, c.want, c.not)
		}
	}
}

// TestFilesOfOneClassEach: several files of features without labels are told how they become one.
func TestFilesOfOneClassEach(t *testing.T) {
	dir := files(t, map[string]arrayfile.Array{"cat.npy": made()["h.npy"], "dog.npy": made()["few.npy"]})
	for request, want := range map[string]bool{"file=cat.npy file=dog.npy": true, "features=cat.npy features=dog.npy": true, "file=cat.npy": false, "features=cat.npy": false} {
		if _, err := Open(asked(dir, request)); err == nil || strings.Contains(err.Error(), "if each file is one class, in Python: numpy.savez") != want {
			t.Errorf("%s: %v", request, err)
		}
	}
}

// TestClassifierOfUnusualName: a checkpoint's last layer is named by its shape, also beside features, where none is taken without a word; its bias comes with it.
func TestClassifierOfUnusualName(t *testing.T) {
	const n, d, k = 12, 6, 4
	ones := func(name string, shape ...int) arrayfile.Array {
		size := 1
		for _, s := range shape {
			size *= s
		}
		return arrayfile.Of(name, shape, make([]float32, size))
	}
	bias, y := arrayfile.Of("net.2.bias", []int{k}, []float32{1, 2, 3, 4}), make([]int64, n)
	for i := range y {
		y[i] = int64(i % k)
	}
	save := func(name string, arrays ...arrayfile.Array) string {
		path := filepath.Join(t.TempDir(), name)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := arrayfile.WriteNPZ(f, arrays); err != nil {
			t.Fatal(err)
		}
		return path
	}
	features := save("h.npz", ones("features", n, d), arrayfile.Of("labels", []int{n}, y))
	model := save("net.npz", ones("net.0.weight", d, 9), ones("net.0.bias", d), ones("net.2.weight", k, d), bias)
	const hint = `--weights-key NAME (of features 6 wide: "net.2.weight")`
	beside := Request{Files: []string{features, model}}
	s, err := Open(beside)
	if err != nil || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], hint) {
		t.Errorf("beside features: %v, %v", s.Notes, err)
	}
	s.Close()
	own := Request{Files: []string{features}}
	own.From[Weights] = []string{model}
	if _, err := Open(own); err == nil || !strings.Contains(err.Error(), hint) {
		t.Errorf("by its flag: %v", err)
	}
	for _, req := range []Request{beside, own} {
		req.Keys[Weights] = "net.2.weight"
		s, err := Open(req)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Notes) != 0 || s.head == nil || s.head.bPart.name != "net.2.bias" || !slices.Equal(s.head.b, []float64{1, 2, 3, 4}) {
			t.Errorf("by its name: %v, %+v", s.Notes, s.head)
		}
		s.Close()
	}
	other := Request{Files: []string{features, save("b.npz", ones("kernel0", 9, d), ones("kernel", d, k), ones("head.bias", k))}}
	if _, err := Open(other); err == nil || !strings.Contains(err.Error(), `--weights-key NAME (of features 6 wide: "kernel" with --transpose-weights)`) {
		t.Errorf("a bias and a kernel: %v", err)
	}
	layers := Request{Files: []string{features}, Layers: "features"}
	if s, err := Open(layers); err != nil || len(s.Notes) != 0 {
		t.Errorf("layers without a classifier: %v, %v", s.Notes, err)
	} else {
		s.Close()
	}
}

// npzOf returns the path of an .npz file of these arrays.
func npzOf(t *testing.T, arrays []arrayfile.Array) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.npz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := arrayfile.WriteNPZ(f, arrays); err != nil {
		t.Fatal(err)
	}
	return path
}
