package featurefiles

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/measure"
)

// shards cuts a problem's samples, shuffled over classes, into parts in one folder.
func shardFiles(t *testing.T, p problem, cuts ...int) (dir string, order []int) {
	t.Helper()
	arrays := map[string]arrayfile.Array{"w.npy": arrayfile.Of("", []int{p.k, p.d}, p.w), "b.npy": arrayfile.Of("", []int{p.k}, p.b)}
	n := p.k * p.n
	for i := range n {
		order = append(order, i*7%n)
	}
	from := 0
	for s, to := range append(cuts, n) {
		var h []float64
		var y []int64
		for _, i := range order[from:to] {
			h, y = append(h, p.h[i*p.d:(i+1)*p.d]...), append(y, p.y[i])
		}
		arrays[fmt.Sprintf("h-%d.npy", s)], arrays[fmt.Sprintf("y-%d.npy", s)] = arrayfile.Of("", []int{to - from, p.d}, h), arrayfile.Of("", []int{to - from}, y)
		from = to
	}
	return files(t, arrays), order
}

func TestShardsAreOneSetInNaturalOrder(t *testing.T) {
	p := problems()[0]
	cuts := []int{1, 2, 5, 6, 7, 8, 9, 10, 11, 13, 17} // h-10 must follow h-9
	dir, order := shardFiles(t, p, cuts...)
	set, err := Open(asked(dir, "features=h-*.npy labels=y-*.npy weights=w.npy bias=b.npy"))
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	for at, i := range order {
		if set.train[at] != int32(p.y[i]) {
			t.Fatalf("sample %d has label %d, want that of sample %d, %d", at, set.train[at], i, p.y[i])
		}
	}
	r, err := set.Measure(0, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "shards", r, p.want, 0, 1e-9)
	if got, row := set.Columns[0].train.locate(12); !strings.HasSuffix(got.path, "h-9.npy") || row != 1 {
		t.Errorf("sample 12 is row %d of %s, want 1 of h-9.npy", row, got.path)
	}
}

func TestNaturalOrder(t *testing.T) {
	names := []string{"a10", "a9", "a009", "a1b2", "a1b10", "a", "b", "a1"}
	slices.SortFunc(names, natural)
	if got := strings.Join(names, " "); got != "a a1 a1b2 a1b10 a9 a009 a10 b" {
		t.Errorf("sorted: %s", got)
	}
}

func TestLabelValues(t *testing.T) {
	const n = 12
	h := make([]float64, n*3)
	for i := range h {
		h[i] = math.Sin(float64(i))
	}
	for _, c := range []struct {
		labels  func(i int) int64
		k       int // of a classifier, 0: none
		classes int
		wantK   int
		values  string
	}{
		{func(i int) int64 { return int64(i % 3) }, 0, 0, 3, "[]"},
		{func(i int) int64 { return int64(i%3) + 1 }, 0, 0, 3, "[1 2 3]"},
		{func(i int) int64 { return int64(i%3) + 1 }, 3, 0, 3, "[1 2 3]"},
		{func(i int) int64 { return int64(i%3) + 1 }, 4, 0, 4, "[]"},
		{func(i int) int64 { return int64(i%3)*1e12 + 7 }, 0, 0, 3, "[7 1000000000007 2000000000007]"},
		{func(i int) int64 { return int64(i%2)*2 - 1 }, 0, 0, 2, "[-1 1]"},
		{func(i int) int64 { return int64(i%2)*2 - 1 }, 2, 0, 2, "[-1 1]"},
		{func(i int) int64 { return int64(i%3)*1e12 + 5 }, 3, 0, 3, "[5 1000000000005 2000000000005]"},
		{func(i int) int64 { return int64(i%2) * 2 }, 0, 0, 2, "[0 2]"},
		{func(i int) int64 { return int64(i%2) * 2 }, 0, 5, 5, "[]"},
	} {
		y := make([]int64, n)
		for i := range y {
			y[i] = c.labels(i)
		}
		arrays := map[string]arrayfile.Array{"h.npy": arrayfile.Of("", []int{n, 3}, h), "y.npy": arrayfile.Of("", []int{n}, y)}
		request := fmt.Sprintf("features=h.npy labels=y.npy classes=%d", c.classes)
		if c.k > 0 {
			arrays["w.npy"] = arrayfile.Of("", []int{c.k, 3}, make([]float64, 3*c.k))
			request += " weights=w.npy"
		}
		set, err := Open(asked(files(t, arrays), request))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(set.Values); set.K != c.wantK || got != c.values {
			t.Errorf("labels %v with K=%d, --classes %d: %d classes %s, want %d %s", y, c.k, c.classes, set.K, got, c.wantK, c.values)
		}
		for i, class := range set.train {
			if v := set.table.all()[class]; v != y[i] {
				t.Errorf("sample %d is of class %d, label %d, want %d", i, class, v, y[i])
			}
		}
		set.Close()
	}
}
