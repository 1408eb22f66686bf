package store

import (
	"math"
	"testing"
)

// TestInfiniteValuesAreMissing reads a lab of an earlier version, which stored infinite values, in every way that values are read.
func TestInfiniteValuesAreMissing(t *testing.T) {
	l := open(t, t.TempDir())
	c := leased(t, l, spec(1))
	k := Key{"epoch", "train", "", "m"}
	must(t, c.AppendEpoch(1, []Value{{k, 1, 1, ""}, {k, 2, 2, ""}, {k, 3, math.Inf(-1), ""}}))
	_, err := l.db.Exec("UPDATE value SET value = iif(step = 1, 9e999, -9e999) WHERE step < 3")
	must(t, err)
	check := func(how string, n int, x float64, missing string) {
		t.Helper()
		if n != 3 || x != 0 || missing != "the value was infinite" {
			t.Errorf("%s: %d values, %v, %q", how, n, x, missing)
		}
	}
	for how, read := range map[string]func() ([]Value, error){
		"Values": func() ([]Value, error) { return l.Values(c.Hash) },
		"Pick":   func() ([]Value, error) { return l.Pick(c.Hash, []string{"m"}) },
		"Since":  func() ([]Value, error) { return l.Since(c.Hash, 0, nil) },
		"RowsAfter": func() ([]Value, error) {
			epochs, err := l.RowsAfter(c.Hash, 0)
			if err != nil || len(epochs) != 1 {
				t.Fatalf("%v, %v", epochs, err)
			}
			return epochs[0].Rows, nil
		},
	} {
		values, err := read()
		must(t, err)
		for _, v := range values {
			check(how, len(values), v.Value, v.Missing)
		}
	}
	newest, err := l.NewestEach([]string{c.Hash}, []string{"m"})
	must(t, err)
	if len(newest[0]) != 1 || newest[0][0].Value != 0 || newest[0][0].Missing != "the value was infinite" {
		t.Errorf("Newest: %+v", newest)
	}
	points, err := l.Series(c.Hash, k)
	must(t, err)
	for _, p := range points {
		check("Series", len(points), p.Value, p.Missing)
	}
}
