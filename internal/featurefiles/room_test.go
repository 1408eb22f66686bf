package featurefiles

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
)

// allocated returns the bytes that f allocates, freed or not.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func saved(t *testing.T, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSmallFilesOfMuchMemory: files of some 10 kB that ask for ten times the budget and more, each in another way, are refused before they get them.
func TestSmallFilesOfMuchMemory(t *testing.T) {
	const n, limit = 1_500_000, 64 << 20
	few := everyRole()[:2]
	zeros := make([]uint8, 8*n)
	var layers []arrayfile.Array
	for _, name := range []string{"layer1", "layer2", "layer3", "layer4", "layer5", "layer6", "layer7"} {
		layers = append(layers, arrayfile.Of(name, []int{20, 2 * n / 20}, make([]float32, 2*n)))
	}
	classes := Request{Classes: 2_000_000_000}
	for name, c := range map[string]struct {
		arrays []arrayfile.Array
		req    Request
		want   string
	}{
		"samples":    {[]arrayfile.Array{arrayfile.Of("features", []int{n, 1}, zeros[:n]), arrayfile.Of("labels", []int{n}, zeros[:n])}, Request{}, "(labels): 1500000 samples: this takes"},
		"width":      {[]arrayfile.Array{arrayfile.Of("features", []int{20, 250_000}, zeros[:5_000_000]), few[1]}, Request{}, "(labels): measuring 2 classes of width 250000: this takes"},
		"classifier": {append(few[:2:2], arrayfile.Of("weight", []int{8 * n / 3, 3}, zeros)), Request{}, "(weight): a classifier of"},
		"one array of each role": {[]arrayfile.Array{arrayfile.Of("features", []int{20, 8 * n / 20}, zeros), few[1], arrayfile.Of("test_features", []int{20, 8 * n / 20}, zeros),
			arrayfile.Of("ood", []int{20, 8 * n / 20}, zeros), arrayfile.Of("weight", []int{20, 8 * n / 20}, zeros)}, Request{}, "this takes"},
		"layers":  {append(layers, few[1]), Request{Layers: "layer*"}, "this takes 12 MB of memory on top of the 6"},
		"classes": {few, classes, "--classes 2000000000: measuring 2000000000 classes of width 3: this takes 192 GB of memory"},
	} {
		path := saved(t, "x.npz", archive(t, c.arrays, zip.Deflate))
		c.req.Files = []string{path}
		budget := arrayfile.NewBudget(limit)
		c.req.Budget = budget
		var err error
		spent := allocated(func() {
			var s *Set
			if s, err = Open(c.req); err == nil {
				s.Close()
			}
		})
		var over *arrayfile.BudgetError
		if !errors.As(err, &over) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "limit is 67.1 MB") {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
		if spent > limit+16<<20 {
			t.Errorf("%s: %d bytes were allocated", name, spent)
		}
		if budget.Used() != 0 {
			t.Errorf("%s: %d bytes of the budget are kept", name, budget.Used())
		}
	}
}

// TestSetsShareABudget: what one holds the other lacks, until it is closed.
func TestSetsShareABudget(t *testing.T) {
	path := saved(t, "x.npz", archive(t, everyRole(), zip.Deflate))
	one, err := Open(Request{Files: []string{path}, Budget: arrayfile.NewBudget(1 << 20)})
	if err != nil {
		t.Fatal(err)
	}
	need := one.lib.budget.Used()
	if err := one.Close(); err != nil || need < 3*48*20 {
		t.Fatalf("a set took %d bytes, %v", need, err)
	}
	all := arrayfile.NewBudget(3 * need / 2)
	if one, err = Open(Request{Files: []string{path}, Budget: all.Part(need)}); err != nil {
		t.Fatal(err)
	}
	var over *arrayfile.BudgetError
	if _, err := Open(Request{Files: []string{path}, Budget: all.Part(need)}); !errors.As(err, &over) || !over.Shared {
		t.Errorf("a second set beside the first: %v", err)
	}
	if err := one.Close(); err != nil || all.Used() != 0 {
		t.Errorf("after Close %d bytes are in use, %v", all.Used(), err)
	}
	two, err := Open(Request{Files: []string{path}, Budget: all.Part(need)})
	if err != nil {
		t.Fatalf("after the first was closed: %v", err)
	}
	if err := two.Close(); err != nil {
		t.Error(err)
	}
}
