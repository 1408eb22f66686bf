package study

import (
	"testing"

	"collapse/data"
)

// TestSetsAreKept opens more data sets than fit: the most recently used stay, both splits of one set stay in any case, and the
// content of a set does not depend on whether it was kept.
func TestSetsAreKept(t *testing.T) {
	of := func(seed uint64) data.Source {
		return data.Source{Name: "glyphs", Classes: 2, TrainPerClass: 10, TestPerClass: 10, Seed: seed}
	}
	one, err := data.Open(of(1), data.Train)
	if err != nil {
		t.Fatal(err)
	}
	c := &setCache{sets: map[setKey]*data.Set{}, most: 3*size(one) + 1}
	open := func(seed uint64, split data.Split) *data.Set {
		t.Helper()
		s, err := c.open(of(seed), split)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first, second := open(1, data.Train), open(2, data.Train)
	open(3, data.Train)
	if open(1, data.Train) != first {
		t.Error("a set that fits was opened again")
	}
	open(4, data.Train) // the second goes: the first was used since
	if open(1, data.Train) != first {
		t.Error("the second most recently used set did not stay")
	}
	if again := open(2, data.Train); again == second || again.Digest != second.Digest {
		t.Error("the set that had to go is still there, or has changed")
	}
	if len(c.sets) != 3 || len(c.used) != 3 || c.bytes != 3*size(one) {
		t.Errorf("%d sets, %d in order, %d bytes", len(c.sets), len(c.used), c.bytes)
	}
	c.most = 0
	train, test := open(5, data.Train), open(5, data.Test)
	if open(5, data.Train) != train || open(5, data.Test) != test || len(c.sets) != 2 {
		t.Errorf("%d sets stay of one data set", len(c.sets))
	}
}
