package powercut

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/longtest"
)

// Cut is what a disk may hold after the power failed.
type Cut struct {
	Dir  string   // the folder, in place of the recording's Root
	Said []string // what the process had said
}

// SaidLast is the rest of the last line that begins with a word; ok says whether there is one.
func (c Cut) SaidLast(word string) (rest string, ok bool) {
	for _, line := range slices.Backward(c.Said) {
		if line == word {
			return "", true
		}
		if rest, ok := strings.CutPrefix(line, word+" "); ok {
			return rest, true
		}
	}
	return "", false
}

// moment is a cut that may be made: after so many events.
type moment struct {
	after  int
	forget forgetting
}

// Cuts calls check with n disks, or with all that differ. Those after promises, renames and removals come first, the others as the seed says.
// A campaign gives other seeds (package longtest). If there are fewer than n, the test fails.
func (r *Recording) Cuts(t *testing.T, n int, check func(t *testing.T, c Cut)) {
	t.Helper()
	for _, seed := range longtest.Seeds(1, 1) {
		r.cuts(t, seed, n, check)
	}
}

func (r *Recording) cuts(t *testing.T, seed uint64, n int, check func(t *testing.T, c Cut)) {
	t.Helper()
	made := 0
	r.play(t, r.pick(t, seed, n), func(m moment, d *disk) {
		made++
		t.Run(fmt.Sprintf("%d of %d", m.after, len(r.events)), func(t *testing.T) {
			dir := t.TempDir()
			if err := d.forget(m.forget).write(dir); err != nil {
				t.Fatal(err)
			}
			check(t, Cut{dir, slices.Clone(d.said)})
			if t.Failed() {
				t.Logf("after event %d, %s; %s", m.after, r.describe(m.after-1), m.forget)
			}
		})
	})
	t.Logf("counted: %d power cuts", made)
	if made < n {
		t.Errorf("seed %d: only %d disks differ, wanted %d", seed, made, n)
	}
}

// describe names an event's paths.
func (r *Recording) describe(i int) string {
	words := r.events[i].call
	for _, arg := range r.events[i].args {
		if b, ok := text(arg); ok && len(b) < 300 {
			words += " " + string(b)
		} else if path, ok := annotation(arg); ok {
			words += " " + path
		}
	}
	return words
}

// play calls do with the disk at each moment; they are in order.
func (r *Recording) play(t *testing.T, moments []moment, do func(moment, *disk)) {
	t.Helper()
	d := newDisk(r.Root)
	d.named = r.Named
	done := 0
	for _, m := range moments {
		for ; done < m.after; done++ {
			if err := d.do(r.events[done], done); err != nil {
				t.Fatal(err)
			}
		}
		do(m, d)
	}
}

// repeats checks the recording: with nothing forgotten it gives what the process left.
func (r *Recording) repeats(t *testing.T) {
	t.Helper()
	r.play(t, []moment{{len(r.events), forgetting{"all", "all", 0}}}, func(m moment, d *disk) {
		got := d.forget(m.forget)
		want, err := read(r.Root)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range slices.Sorted(maps.Keys(want)) {
			content, there := got[path]
			if !there || string(content) != string(want[path]) && !strings.HasSuffix(path, "-shm") {
				t.Errorf("the recording does not repeat %s: %d bytes, wanted %d", path, len(content), len(want[path]))
			}
			delete(got, path)
		}
		for path := range got {
			t.Errorf("the recording has %s more than the folder", path)
		}
	})
	if t.Failed() {
		t.FailNow()
	}
}

// pick chooses moments whose disks differ, or after which more was promised.
func (r *Recording) pick(t *testing.T, seed uint64, n int) []moment {
	t.Helper()
	candidates := r.candidates(seed, n)
	rank := map[moment]int{}
	for i, m := range candidates {
		if _, twice := rank[m]; !twice {
			rank[m] = i
		}
	}
	inOrder := slices.SortedFunc(maps.Keys(rank), byTime)
	seen := map[string]bool{}
	var distinct []moment
	r.play(t, inOrder, func(m moment, d *disk) {
		if key := fmt.Sprint(len(d.said), d.forget(m.forget).sum()); !seen[key] {
			seen[key] = true
			distinct = append(distinct, m)
		}
	})
	slices.SortFunc(distinct, func(a, b moment) int { return cmp.Compare(rank[a], rank[b]) })
	distinct = distinct[:min(n, len(distinct))]
	slices.SortFunc(distinct, byTime)
	return distinct
}

func byTime(a, b moment) int {
	return cmp.Or(cmp.Compare(a.after, b.after), cmp.Compare(a.forget.String(), b.forget.String()))
}

// candidates are moments, the telling ones first.
func (r *Recording) candidates(seed uint64, n int) []moment {
	var list []moment
	for i, e := range r.events {
		switch {
		case e.speaks():
			list = append(list, moment{i + 1, forgetting{"none", "none", 0}})
		case strings.HasPrefix(e.call, "rename") || strings.HasPrefix(e.call, "link"):
			list = append(list, moment{i + 1, forgetting{"none", "all", 0}}, moment{i + 1, forgetting{"all", "last", 0}})
		case strings.HasPrefix(e.call, "unlink"):
			list = append(list, moment{i + 1, forgetting{"all", "last", 0}})
		}
	}
	list = append(list, moment{len(r.events), forgetting{"none", "none", 0}}, moment{len(r.events), forgetting{"none", "all", 0}})
	rng := rand.New(rand.NewPCG(seed, 1))
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	for range 6 * n {
		list = append(list, moment{1 + rng.IntN(len(r.events)), forgetting{ofWrites[rng.IntN(len(ofWrites))], ofNames[rng.IntN(len(ofNames))], rng.Uint64N(1000)}})
	}
	return list
}

// speaks reports whether the event is a line of standard output.
func (e event) speaks() bool { return strings.HasPrefix(e.call, "write") && descriptor(e.args[0]) == 1 }

// write makes the folder dir, which is there, hold the tree.
func (t tree) write(dir string) error {
	for _, path := range slices.Sorted(maps.Keys(t)) {
		to := filepath.Join(dir, filepath.FromSlash(path))
		var err error
		if t[path] == nil {
			err = os.MkdirAll(to, 0o777)
		} else {
			err = os.WriteFile(to, t[path], 0o666)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// read is a folder as a tree.
func read(dir string) (tree, error) {
	out := tree{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at := filepath.ToSlash(strings.TrimPrefix(path, dir))
		if d.IsDir() {
			out[at] = nil
			return nil
		}
		content, err := os.ReadFile(path)
		out[at] = append([]byte{}, content...)
		return err
	})
	return out, err
}
