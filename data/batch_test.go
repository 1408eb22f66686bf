package data

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func newBatches(t interface {
	Helper()
	Fatal(...any)
}, n, size int, drop bool, seed uint64) *Batches {
	t.Helper()
	b, err := NewBatches(n, size, drop, seed)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// deal returns the batches of an epoch.
func deal(b *Batches, epoch int) (batches [][]int32) {
	b.Start(epoch)
	for idx := b.Next(); idx != nil; idx = b.Next() {
		batches = append(batches, slices.Clone(idx))
	}
	return batches
}

func TestBatchesGolden(t *testing.T) {
	b := newBatches(t, 12, 12, false, 7)
	for epoch, want := range [][]int32{{6, 9, 1, 3, 5, 10, 8, 4, 2, 11, 0, 7}, {4, 5, 0, 1, 3, 11, 9, 10, 2, 6, 7, 8}} { // port
		if got := deal(b, epoch)[0]; !slices.Equal(got, want) {
			t.Errorf("epoch %d: %v, want %v", epoch, got, want)
		}
	}
}

func TestBatchesProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 400).Draw(t, "n")
		drop := rapid.Bool().Draw(t, "drop")
		size := rapid.IntRange(1, 50).Draw(t, "size")
		if drop {
			size = min(size, n)
		}
		seed := rapid.Uint64().Draw(t, "seed")
		b := newBatches(t, n, size, drop, seed)
		if b.Next() != nil {
			t.Fatal("a batch before the first epoch")
		}
		deal(b, 3)
		got := deal(b, 5)
		if again := deal(newBatches(t, n, size, drop, seed), 5); !slices.EqualFunc(got, again, slices.Equal) {
			t.Fatal("an epoch depends on those before it")
		}
		if len(got) != b.Steps() {
			t.Fatalf("%d batches, Steps is %d", len(got), b.Steps())
		}
		for i, batch := range got {
			if full := len(batch) == size; !full && (drop || i < len(got)-1) {
				t.Fatalf("batch %d has %d of %d", i, len(batch), size)
			}
		}
		all := slices.Concat(got...)
		slices.Sort(all)
		if len(slices.Compact(all)) != len(all) || all[0] < 0 || int(all[len(all)-1]) >= n {
			t.Fatal("an epoch repeats or invents a sample")
		}
		if want := n - map[bool]int{true: n % size}[drop]; len(all) != want {
			t.Fatalf("an epoch has %d samples, want %d", len(all), want)
		}
	})
}

func TestBatchesErrors(t *testing.T) {
	for want, c := range map[string]struct {
		n, size int
		drop    bool
	}{"0 samples": {0, 4, false}, "batch size is 0": {4, 0, false}, "drop_last leaves no batch": {4, 5, true}} {
		if _, err := NewBatches(c.n, c.size, c.drop, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want an error with %q", c, err, want)
		}
	}
}

func TestBatchesDoNotAllocate(t *testing.T) {
	b := newBatches(t, 1000, 64, false, 1)
	epoch := 0
	if n := testing.AllocsPerRun(10, func() {
		epoch++
		b.Start(epoch)
		for b.Next() != nil {
		}
	}); n != 0 {
		t.Errorf("an epoch allocates %v times", n)
	}
}
