package powercut

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// forgetting says what of the writes and of the names that were not synced is on the disk nevertheless.
type forgetting struct {
	writes string // all, none, prefix, size or some
	names  string // all, none, last, one, butone or some
	seed   uint64
}

var (
	ofWrites = []string{"all", "none", "prefix", "size", "some"}
	ofNames  = []string{"all", "none", "last", "one", "butone", "some"}
)

func (f forgetting) String() string {
	return fmt.Sprintf("of unsynced writes %s, of unsynced names %s, seed %d", f.writes, f.names, f.seed)
}

// pending is an unsynced change of a folder.
type pending struct {
	folder *node
	name   string
	when   int
}

// survey lists what is not synced below a folder, whatever names survive: changes of folders, in a fixed order.
func (n *node) survey(seen map[*node]bool) (list []pending) {
	if seen[n] || !n.folder {
		return nil
	}
	seen[n] = true
	below := maps.Clone(n.lasting)
	for _, e := range n.renames {
		list = append(list, pending{n, e.name, e.when})
	}
	for _, name := range slices.Sorted(maps.Keys(below)) {
		list = append(list, below[name].survey(seen)...)
	}
	for _, e := range n.renames {
		if e.to != nil {
			list = append(list, e.to.survey(seen)...)
		}
	}
	return list
}

// choose says which changes of folders are on the disk.
func (f forgetting) choose(list []pending, rng *rand.Rand) map[pending]bool {
	chosen := map[pending]bool{}
	one, last := -1, -1
	if len(list) > 0 {
		one = rng.IntN(len(list))
		last = slices.MaxFunc(list, func(a, b pending) int { return cmp.Compare(a.when, b.when) }).when
	}
	for i, p := range list {
		chosen[p] = f.names == "all" || f.names == "last" && p.when == last || f.names == "one" && i == one || f.names == "butone" && i != one || f.names == "some" && rng.IntN(2) == 0
	}
	for changed := true; changed; { // the half of a rename that takes a name away needs the other
		changed = false
		for _, p := range list {
			for _, e := range p.folder.renames {
				if e.with == nil || e.when != p.when || e.name != p.name || !chosen[p] {
					continue
				}
				made := pending{e.with, e.at, e.when}
				if unsynced := slices.Contains(list, made); unsynced && !chosen[made] {
					chosen[made], changed = true, true
				}
			}
		}
	}
	return chosen
}

// tree is what a disk holds: contents by path, nil for folders.
type tree map[string][]byte

// forget is what the disk holds after it has forgotten.
func (d *disk) forget(f forgetting) tree {
	rng := rand.New(rand.NewPCG(f.seed, 0))
	chosen := f.choose(d.root.survey(map[*node]bool{}), rng)
	out := tree{}
	contents := map[*node][]byte{} // a file with two names has one content
	var walk func(n *node, at string)
	walk = func(n *node, at string) {
		if !n.folder {
			if _, known := contents[n]; !known {
				contents[n] = n.remembered(f.writes, rng)
			}
			out[at] = contents[n]
			return
		}
		out[at] = nil
		names := maps.Clone(n.lasting)
		for _, e := range n.renames {
			if chosen[pending{n, e.name, e.when}] {
				e.put(names)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			walk(names[name], at+"/"+name)
		}
	}
	walk(d.root, "")
	return out
}

// remembered is a file's content; never nil.
func (n *node) remembered(how string, rng *rand.Rand) []byte {
	content := append([]byte{}, n.safe...)
	switch how {
	case "all":
		return append([]byte{}, n.now...)
	case "size": // the size of the new data without the data
		if len(n.now) > len(content) {
			content = resize(content, int64(len(n.now)))
		}
	case "prefix":
		if len(n.writes) == 0 {
			break
		}
		until := rng.IntN(len(n.writes))
		for _, w := range n.writes[:until] {
			content = w.apply(content)
		}
		if w := n.writes[until]; len(w.data) > 0 {
			if part := w.data[:rng.IntN(len(w.data))]; len(part) > 0 {
				content = write{at: w.at, data: part}.apply(content)
			}
		}
	case "some":
		for _, w := range n.writes {
			if rng.IntN(2) == 0 {
				content = w.apply(content)
			}
		}
	}
	return content
}

// sum identifies a tree.
func (t tree) sum() string {
	h := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(t)) {
		fmt.Fprintf(h, "%s\x00%d\x00%t\x00", path, len(t[path]), t[path] == nil)
		h.Write(t[path])
	}
	return string(h.Sum(nil))
}
