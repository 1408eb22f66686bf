package study

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"collapse.example/collapse/data"
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

// TestFilesAreReadOnce takes subsets by several seeds from files that are gone after the first.
func TestFilesAreReadOnce(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "mnist")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	const n = 40
	images := binary.BigEndian.AppendUint32(nil, 0x00000803)
	for _, v := range []uint32{n, 28, 28} {
		images = binary.BigEndian.AppendUint32(images, v)
	}
	labels := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 0x00000801), n)
	for i := range n {
		images = append(images, bytes.Repeat([]byte{byte(i)}, 28*28)...)
		labels = append(labels, byte(i%10))
	}
	for name, content := range map[string][]byte{"train-images-idx3-ubyte": images, "train-labels-idx1-ubyte": labels} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	of := func(seed uint64) data.Source {
		return data.Source{Name: "mnist", Root: root, Classes: 2, TrainPerClass: 2, Seed: seed}
	}
	want := map[uint64]string{}
	for seed := range uint64(5) {
		one, err := data.Open(of(seed), data.Train)
		if err != nil {
			t.Fatal(err)
		}
		want[seed] = one.Digest
	}
	c := &setCache{sets: map[setKey]*data.Set{}, most: 1 << 20}
	for seed := range uint64(5) {
		one, err := c.open(of(seed), data.Train)
		if err != nil {
			t.Fatal(err)
		}
		if one.Digest != want[seed] || one.N() != 4 {
			t.Errorf("seed %d: %d samples, %s, wanted %s", seed, one.N(), one.Digest, want[seed])
		}
		os.RemoveAll(dir)
	}
	if want[0] == want[1] && want[1] == want[2] {
		t.Error("the seeds choose the same samples")
	}
}
