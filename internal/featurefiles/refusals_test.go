package featurefiles

import (
	"archive/zip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/measure"
)

// refusedUpTo calls do with ever larger budgets until it succeeds. Every other error is one of the budget; it returns them all.
func refusedUpTo(t *testing.T, do func(*arrayfile.Budget) error) (said string) {
	t.Helper()
	for limit := int64(1000); limit < 1<<30; limit += 1 + limit/30 {
		budget := arrayfile.NewBudget(limit)
		err := do(budget)
		if err == nil {
			return said
		}
		var over *arrayfile.BudgetError
		if !errors.As(err, &over) || strings.Contains(err.Error(), "closing files") {
			t.Fatalf("with %d bytes: %v", limit, err)
		}
		said += err.Error() + "\n"
	}
	t.Fatal("a gigabyte is too little")
	return ""
}

// TestEveryStepIsWithinTheBudget: whatever is left of it, what does not fit is refused with the name of its file.
func TestEveryStepIsWithinTheBudget(t *testing.T) {
	arrays := []arrayfile.Array{arrayfile.Of("labels", []int{2000}, make([]uint8, 2000))}
	for i := range 20 {
		arrays = append(arrays, arrayfile.Of(fmt.Sprint("f", i), []int{2000}, make([]float64, 2000)))
	}
	table := saved(t, "x.npz", archive(t, arrays, zip.Store))
	said := refusedUpTo(t, func(budget *arrayfile.Budget) error {
		s, err := Open(Request{Files: []string{table}, Budget: budget})
		if err == nil {
			err = s.Close()
		}
		return err
	})
	if !strings.Contains(said, "x.npz: 20 columns of 2000 values: ") {
		t.Errorf("columns are joined beyond the budget: %s", said)
	}
	states := manyStates(t, 3, 500)
	said = refusedUpTo(t, func(budget *arrayfile.Budget) error {
		_, err := Merge(Request{Files: states, Budget: budget})
		return err
	})
	for _, part := range []string{"a.ncs: this takes", "c.ncs: this takes"} {
		if !strings.Contains(said, part) {
			t.Errorf("%q is not among %s", part, said)
		}
	}
}

// TestALayerOfSomeFiles is refused: the rest of the samples would be left out without a word.
func TestALayerOfSomeFiles(t *testing.T) {
	dir := t.TempDir()
	x := make([]float32, 60)
	for i := range x {
		x[i] = float32(i % 13)
	}
	for i, layers := range [][]string{{"layer1", "layer2"}, {"layer2"}} {
		arrays := []arrayfile.Array{arrayfile.Of("labels", []int{20}, make([]uint8, 20))}
		for _, name := range layers {
			arrays = append(arrays, arrayfile.Of(name, []int{20, 3}, x))
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("part%d.npz", i)), archive(t, arrays, zip.Store), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err := Open(Request{Files: []string{filepath.Join(dir, "part0.npz"), filepath.Join(dir, "part1.npz")}, Layers: "layer*"})
	if err == nil || !strings.Contains(err.Error(), `layer "layer1" is in 1 of 2 files; `) || !strings.Contains(err.Error(), "part0.npz is the first that has it") {
		t.Error(err)
	}
}

// TestFeaturesTooLargeForSums: their file is named.
func TestFeaturesTooLargeForSums(t *testing.T) {
	const n = 20_000
	x, y := make([]float64, n), make([]uint8, n)
	for i := range x {
		x[i], y[i] = float64(i%3), uint8(i%2)
	}
	x[n-1], x[n-3] = 1.7e308, 1.7e308 // far from the rows that tell the size of the others
	dir := files(t, map[string]arrayfile.Array{"h.npy": arrayfile.Of("", []int{n, 1}, x), "y.npy": arrayfile.Of("", []int{n}, y)})
	set, err := Open(asked(dir, "features=h.npy labels=y.npy"))
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	_, err = set.Measure(0, measure.Options{})
	if large := (*measure.RangeError)(nil); !errors.As(err, &large) || !strings.Contains(err.Error(), "h.npy: ") {
		t.Error(err)
	}
}
