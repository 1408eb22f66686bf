package measure

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestLargest against sorting all.
func TestLargest(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{0, 1, farRows, farRows + 1, 5 * farRows, 5000} {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(r.IntN(40)) // with ties
		}
		want := make([]int, n)
		for i := range want {
			want[i] = i
		}
		order := func(i, j int) int { return i - j }
		slices.SortStableFunc(want, func(i, j int) int { return int(x[j] - x[i]) })
		if got := largest(x, order); !slices.Equal(got, want[:min(n, farRows)]) {
			t.Errorf("of %d numbers %v, want %v", n, got, want[:min(n, farRows)])
		}
	}
}

// TestFarthestRowsBelongToTheirState: a file that claims more samples than its farthest rows allow is refused, and so is one whose rows are
// wider apart than its scatter: it has no null.
func TestFarthestRowsBelongToTheirState(t *testing.T) {
	m := NewMoments(2, 1, true)
	if err := AddRows(m, nil, []float64{1, 2, 4, 8, 3, 3, 3, 1, 2, 5, 1, 2}, []int32{0, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1}); err != nil {
		t.Fatal(err)
	}
	body := slices.Clone(written(t, m))
	body = body[:len(body)-sha256.Size]
	binary.LittleEndian.PutUint64(body[stateHeader+8:], 70)
	if _, err := ReadState(seal(body)); err == nil || !strings.Contains(err.Error(), "farthest rows") {
		t.Errorf("70 samples in the first class, 12 farthest rows: %v", err)
	}
	if r, err := m.Report(nil, nil, Options{Null: 9}); err != nil || len(r.Null) == 0 {
		t.Fatalf("no null of whole moments: %v", err)
	}
	m.Far[0] = 1e6
	read, err := ReadState(written(t, m))
	if err != nil || !bytes.Equal(written(t, read.Moments), written(t, m)) {
		t.Fatal(err)
	}
	if r, err := read.Moments.Report(nil, nil, Options{Null: 9}); err != nil || len(r.Null) > 0 {
		t.Errorf("a null from rows beyond the scatter: %v, %v", r.Null, err)
	}
}
