package featurefiles

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/measure"
)

// manyStates writes states of so many classes of one number each, all with labels of their own, and returns their names.
func manyStates(t *testing.T, states, k int) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for i := range states {
		m := measure.NewMoments(k, 1, true)
		m.Values = make([]int64, k)
		for c := range k {
			m.Values[c], m.Count[c], m.Mean[c] = int64(c*states+i), 1, float64(c)
		}
		var b bytes.Buffer
		if _, err := m.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, string(rune('a'+i))+".ncs")
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// TestStatesShareABudget: states that merge to more classes take what these take, and what does not fit is refused by name before it is read.
func TestStatesShareABudget(t *testing.T) {
	const k, size = 20_000, 20_000 * 32
	paths := manyStates(t, 4, k)
	merge := func(limit int64, paths ...string) (*OnePass, *arrayfile.Budget, error) {
		budget := arrayfile.NewBudget(limit)
		one, err := Merge(Request{Files: paths, Budget: budget})
		return one, budget, err
	}
	one, budget, err := merge(1<<30, paths...)
	if err != nil || one.Moments.K != 4*k {
		t.Fatal(one, err)
	}
	if used := budget.Used(); used < 4*size || used > 8*size {
		t.Errorf("four states of %d bytes took %d", size, used)
	}
	var over *arrayfile.BudgetError
	spent := allocated(func() { _, _, err = merge(2*size, paths...) })
	if !errors.As(err, &over) || !strings.Contains(err.Error(), "a.ncs: this takes") || spent > 1<<20 {
		t.Errorf("a state beyond the budget: %v, %d bytes were allocated", err, spent)
	}
	if _, _, err = merge(6*size, paths...); !errors.As(err, &over) {
		t.Errorf("four states beyond the budget of two: %v", err)
	}
	if _, err := ReadMoments(paths[0], nil, arrayfile.NewBudget(size)); !errors.As(err, &over) {
		t.Errorf("merged first passes beyond the budget: %v", err)
	}
	b, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	var same []string
	for i := range 8 { // of the same classes: they take no more than one, and the one that is read
		same = append(same, filepath.Join(t.TempDir(), string(rune('a'+i))+".ncs"))
		if err := os.WriteFile(same[i], b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if one, _, err := merge(6*size, same...); err != nil || one.Moments.Count[0] != 8 {
		t.Errorf("eight states of the same classes: %v", err)
	}
}
