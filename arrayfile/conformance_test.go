package arrayfile

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestConformance compares files of a folder, COLLAPSE_CONFORMANCE, with what a second reader found in them (scripts/conformance_files.py):
// no value may differ, and of the columns at most one in twenty may be refused.
func TestConformance(t *testing.T) {
	folder := os.Getenv("COLLAPSE_CONFORMANCE")
	if folder == "" {
		t.Skip("COLLAPSE_CONFORMANCE names no folder")
	}
	wants, err := filepath.Glob(filepath.Join(folder, "*.want.npz"))
	if err != nil || len(wants) == 0 {
		t.Fatalf("%d files to compare with: %v", len(wants), err)
	}
	type count struct{ files, equal, refused int }
	counts, reasons := map[string]*count{}, map[string]int{}
	equal, refused := 0, 0
	for _, want := range wants {
		path := strings.TrimSuffix(want, ".want.npz")
		writer, _, _ := strings.Cut(filepath.Base(path), "__")
		key := writer + " | " + filepath.Ext(path)
		if counts[key] == nil {
			counts[key] = &count{}
		}
		c := counts[key]
		c.files++
		same, why := conforms(t, path, want)
		c.equal, c.refused = c.equal+same, c.refused+len(why)
		equal, refused = equal+same, refused+len(why)
		for _, reason := range why {
			reasons[key+": "+reason]++
		}
	}
	var table strings.Builder
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		c := counts[key]
		fmt.Fprintf(&table, "| %s | %d | %d | %d |\n", key, c.files, c.equal, c.refused)
	}
	t.Logf("%d columns equal, %d refused\n| writer | format | files | columns equal | refused |\n|---|---|---|---|---|\n%s", equal, refused, table.String())
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		t.Logf("%d × %s", reasons[reason], reason)
	}
	if refused > (equal+refused)/20 {
		t.Errorf("%d of %d columns are refused", refused, equal+refused)
	}
}

// conforms returns how many columns are equal, and why others are refused.
func conforms(t *testing.T, path, want string) (same int, refused []string) {
	w, err := Open(want)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	f, err := Open(path)
	if err != nil {
		for range w.Headers() {
			refused = append(refused, strings.ReplaceAll(err.Error(), path, "FILE"))
		}
		return 0, refused
	}
	defer f.Close()
	for _, h := range w.Headers() {
		x, err := w.Load(h.Name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Load(h.Name)
		if err != nil {
			refused = append(refused, strings.ReplaceAll(err.Error(), path, "FILE"))
			continue
		}
		if err := differ(got, x); err != nil {
			t.Errorf("%s, %q: %v", filepath.Base(path), h.Name, err)
			continue
		}
		same++
	}
	return same, refused
}

// differ says how two arrays differ, beside their types and axes of length 1.
func differ(got, want Array) error {
	long := func(shape []int) string {
		return fmt.Sprint(slices.DeleteFunc(slices.Clone(shape), func(n int) bool { return n == 1 }))
	}
	if long(got.Shape) != long(want.Shape) {
		return fmt.Errorf("shape %v, want %v", got.Shape, want.Shape)
	}
	if want.Categories != nil || got.Categories != nil {
		a, err1 := got.Int64s()
		b, err2 := want.Int64s()
		for i := range a {
			if err1 != nil || err2 != nil || want.Categories == nil || got.Categories == nil || got.Categories[a[i]] != want.Categories[b[i]] {
				return fmt.Errorf("row %d: other words (%v, %v)", i, err1, err2)
			}
		}
		return nil
	}
	if !want.DType.IsFloat() && want.DType != Bool {
		a, err1 := got.Int64s()
		b, err2 := want.Int64s()
		if err1 == nil && err2 == nil {
			if !slices.Equal(a, b) {
				return fmt.Errorf("whole numbers differ")
			}
			return nil
		}
	}
	a, err1 := got.Float64s()
	b, err2 := want.Float64s()
	if err1 != nil || err2 != nil {
		return fmt.Errorf("%v, %v", err1, err2)
	}
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) && !(math.IsNaN(a[i]) && math.IsNaN(b[i])) {
			return fmt.Errorf("value %d is %v, want %v", i, a[i], b[i])
		}
	}
	return nil
}
