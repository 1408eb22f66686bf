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

// TestStatesThatMergeToMoreThanTheBudget: each fits alone; what they grow to, and the room to measure it, may not.
func TestStatesThatMergeToMoreThanTheBudget(t *testing.T) {
	states := manyStates(t, 20, 100)
	said := refusedUpTo(t, func(budget *arrayfile.Budget) error {
		_, err := Merge(Request{Files: states, Budget: budget})
		return err
	})
	for _, part := range []string{"t.ncs: this takes", "the states: 2000 classes of width 1: this takes"} {
		if !strings.Contains(said, part) {
			t.Errorf("%q is not among %s", part, said)
		}
	}
}

// TestTextWhereNumbersBelong is named with its array.
func TestTextWhereNumbersBelong(t *testing.T) {
	text := func(shape ...int) part {
		a := arrayfile.Array{Header: arrayfile.Header{Name: "t", DType: arrayfile.I64, Shape: shape, Categories: []string{"a"}}}
		return part{path: "x.mat", name: "t", label: "t", Array: a}
	}
	const cause = "the elements are text; numbers are wanted"
	c := &classifier{wPart: text(2, 3)}
	err := c.weights(&Request{Budget: arrayfile.NewBudget(1000)}, 3, "x.mat")
	if err == nil || !strings.Contains(err.Error(), "x.mat") || !strings.HasSuffix(err.Error(), cause) {
		t.Errorf("weights: %v", err)
	}
	number := text(4)
	number.Array = arrayfile.Of("n", []int{4}, make([]float64, 4))
	f := &finder{lib: library{budget: arrayfile.NewBudget(1000)}}
	if _, err := f.joined([]part{number, text(4)}, "h"); err == nil || !strings.HasSuffix(err.Error(), cause) {
		t.Errorf("columns: %v", err)
	}
	if _, err := newSource[float32](&matrix{parts: []part{number}}); err == nil || !strings.Contains(err.Error(), "axes of features") {
		t.Errorf("features of one axis: %v", err)
	}
}

// TestAnErrorAndOneOfClosing are told in this order.
func TestAnErrorAndOneOfClosing(t *testing.T) {
	first := errors.New("first")
	if err := joinClose(first, errors.New("second")); !errors.Is(err, first) || err.Error() != "first (and closing files: second)" {
		t.Error(err)
	}
	if err := joinClose(first, nil); err != first {
		t.Error(err)
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
