package featurefiles

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
)

// Files of several models are told from shards where that can be told.
func TestSeveralModels(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, arrays ...arrayfile.Array) {
		var b bytes.Buffer
		err := arrayfile.WriteNPZ(&b, arrays)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	a, b := newCloud(100, 5, 4, 1), newCloud(100, 5, 4, 2)
	named := func(name string, c cloud) arrayfile.Array { return arrayfile.Of(name, []int{c.n, c.d}, c.h) }
	labels := func(y []int64) arrayfile.Array { return arrayfile.Of("labels", []int{len(y)}, y) }
	weight := func(c cloud) arrayfile.Array { return arrayfile.Of("weight", []int{c.k, c.d}, c.w) }
	sorted := slices.Sorted(slices.Values(a.y))
	cycle := slices.Clone(a.y)
	for i := range cycle {
		cycle[i] = int64(i*3%8) / 2 // 0 1 3 0 2 3 1 2, again and again
	}
	narrow := cloud{n: 100, d: 4, h: a.h[:400]}
	put("a.npz", named("features", a), labels(a.y))
	put("other.npz", named("features", b), labels(a.y))
	put("again.npz", named("features", a), labels(a.y))
	put("name.npz", named("embeddings", b), labels(b.y))
	put("narrow.npz", named("features", narrow), labels(b.y))
	put("wa.npz", named("features", a), labels(a.y), weight(a))
	put("wb.npz", named("features", b), labels(b.y), weight(b))
	put("shard.npz", named("features", b), labels(b.y))
	put("sorted-a.npz", named("features", a), labels(sorted))
	put("sorted-b.npz", named("features", b), labels(sorted))
	put("cycle-a.npz", named("features", a), labels(cycle))
	put("cycle-b.npz", named("features", b), labels(cycle))
	for request, want := range map[string]string{
		"file=a.npz file=other.npz":           "the same 100 labels in the same order, and other features: they are several models or layers",
		"file=a.npz file=again.npz":           "the same features and labels: their samples would count twice",
		"file=a.npz file=name.npz":            `"features" in`,
		"file=a.npz file=narrow.npz":          "differ in width",
		"file=wa.npz file=wb.npz":             "files of different models are measured one by one",
		"file=a.npz file=shard.npz":           "",
		"file=wa.npz file=shard.npz":          "", // a classifier in one shard serves all
		"file=sorted-a.npz file=sorted-b.npz": "",
		"file=cycle-a.npz file=cycle-b.npz":   "",
		"features=a.npz features=other.npz":   "", // named as shards
	} {
		set, err := Open(asked(dir, request))
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", request, err, want)
			}
		} else if err != nil {
			t.Errorf("%s: %v", request, err)
		}
		if err != nil {
			continue
		}
		if notes := fmt.Sprint(set.Notes); strings.HasPrefix(request, "file") && !strings.Contains(notes, "2 files are measured together, as shards of one set") {
			t.Errorf("%s: notes %s", request, notes)
		}
		set.Close()
	}
}

// The number of orders is a multinomial coefficient; regular orders are those that shards share by design.
func TestOrders(t *testing.T) {
	if got := orders([]int64{5, 5, 7, 7, 9}); !(math.Abs(got-math.Log2(30)) <= 1e-12) { // 5!/(2! 2! 1!)
		t.Errorf("%g, want log2 30", got)
	}
	for want, list := range map[bool][][]int64{
		true:  {{0, 0, 1, 1, 2}, {2, 2, 0, 1}, {0, 1, 2, 0, 1, 2}, {0, 1, 2, 0, 1, 2, 0, 1}, {3, 1, 1, 3, 1, 1, 3}},
		false: {{0, 1, 0, 2}, {0, 1, 2, 1, 0, 1, 2}, {0, 0, 1, 0, 0, 2, 0, 0, 1}},
	} {
		for _, labels := range list {
			if regular(labels) != want {
				t.Errorf("%v: regular %t", labels, !want)
			}
		}
	}
}
