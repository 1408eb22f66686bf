package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestALimitCountsWantedRuns: runs that are not wanted, or only look as if they were, do not take the places of others.
func TestALimitCountsWantedRuns(t *testing.T) {
	now := newClock()
	l := openAt(t, t.TempDir(), Options{Now: now.Now})
	for n, end := range []func(c *Lease) error{(*Lease).Finish, (*Lease).Interrupt, (*Lease).Interrupt, func(*Lease) error { return nil }, func(*Lease) error { return nil }} {
		now.pass(time.Minute)
		must(t, end(leased(t, l, spec(n))))
	}
	query(t, l, "UPDATE claim SET pid_started = 'long ago' WHERE run = (SELECT id FROM run WHERE hash = ?)", hashOf(4)) // its process has ended
	must(t, leased(t, l, spec(5)).Fail(errDisk))
	for _, c := range []struct {
		status Status
		limit  int
		want   []int
	}{{Done, 1, []int{0}}, {Failed, 1, []int{5}}, {Interrupted, 1, []int{4}}, {Interrupted, 2, []int{4, 2}}, {Interrupted, 0, []int{4, 2, 1}}, {Running, 1, []int{3}}, {Running, 9, []int{3}}, {"", 3, []int{5, 4, 3}}} {
		f := Filter{Limit: c.limit}
		if c.status != "" {
			f.Statuses = []Status{c.status}
		}
		runs, err := l.List(f)
		must(t, err)
		var got, want []string
		for _, run := range runs {
			got = append(got, run.Hash[:8])
		}
		for _, n := range c.want {
			want = append(want, hashOf(n)[:8])
		}
		if !slices.Equal(got, want) {
			t.Errorf("at most %d that are %q: %q, want %q", c.limit, c.status, got, want)
		}
	}
}

func TestFindByPrefix(t *testing.T) {
	l := open(t, t.TempDir())
	var hashes []string
	for i := range 40 {
		run, err := l.Ensure(spec(i))
		must(t, err)
		hashes = append(hashes, run.Hash)
	}
	for _, hash := range hashes {
		for n := range len(hash) + 1 {
			prefix := hash[:n]
			var want []string
			for _, h := range hashes {
				if strings.HasPrefix(h, prefix) {
					want = append(want, h)
				}
			}
			run, err := l.Find(strings.ToUpper(prefix))
			var several *AmbiguousError
			switch {
			case n == 0:
				if !errors.As(err, new(*NotFoundError)) {
					t.Fatalf("empty prefix: %v", err)
				}
			case len(want) == 1:
				if err != nil || run.Hash != hash {
					t.Fatalf("%s: %s, %v", prefix, run.Hash, err)
				}
			case !errors.As(err, &several) || len(several.Candidates) != len(want):
				t.Fatalf("%s: %v, want %d candidates", prefix, err, len(want))
			case !strings.Contains(err.Error(), want[0][:12]):
				t.Fatalf("%v does not show %s", err, want[0])
			}
		}
	}
	for _, prefix := range []string{"zz", "%", hashes[0] + "0", "0x12"} {
		if _, err := l.Find(prefix); !errors.As(err, new(*NotFoundError)) {
			t.Errorf("%q: %v", prefix, err)
		}
	}
}

func TestListFilters(t *testing.T) {
	now := newClock()
	l := openAt(t, t.TempDir(), Options{Now: now.Now})
	add := func(k Kind, n int, label string, tags ...string) {
		now.pass(1e6)
		_, err := l.Ensure(Spec{Kind: k, Config: map[string]any{"n": n}, Label: label, Tags: tags})
		must(t, err)
	}
	add(Train, 0, "a", "study 1")
	add(Train, 1, "b", "study 1", "study 2")
	add(Solve, 2, "b", "study 2")
	add(Measure, 3, "")
	add(Measure, 3, "late", "study 3") // an old run gains a tag, and a label as it has none
	add(Train, 0, "ignored")
	must(t, leased(t, l, Spec{Kind: Solve, Config: map[string]any{"n": 2}}).Finish())
	for _, c := range []struct {
		filter Filter
		want   string
	}{
		{Filter{}, "measure3 solve2 train1 train0"},
		{Filter{Limit: 2}, "measure3 solve2"},
		{Filter{Kinds: []Kind{Train, Measure}}, "measure3 train1 train0"},
		{Filter{Statuses: []Status{Done}}, "solve2"},
		{Filter{Statuses: []Status{Pending}, Tag: "study 1"}, "train1 train0"},
		{Filter{Tag: "study 2", Label: "b"}, "solve2 train1"},
		{Filter{Label: "late"}, "measure3"},
		{Filter{Label: "ignored"}, ""},
		{Filter{Tag: "study"}, ""},
	} {
		runs, err := l.List(c.filter)
		must(t, err)
		var got []string
		for _, run := range runs {
			got = append(got, strings.TrimSuffix(fmt.Sprintf("%s%s", run.Kind, strings.TrimPrefix(string(run.Config), `{"n":`)), "}"))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: got %v, want %s", c.filter, got, c.want)
		}
	}
}

func TestRemoveAndGC(t *testing.T) {
	l := open(t, t.TempDir())
	c := leased(t, l, spec(1))
	kept := leased(t, l, spec(2))
	must(t, c.AppendEpoch(0, epochRows(3, 0)))
	must(t, kept.AppendEpoch(0, epochRows(3, 0)))
	if err := l.Remove(c.Hash); !errors.As(err, new(*HeldError)) {
		t.Fatalf("removing a run at work: %v", err)
	}
	must(t, c.Finish())
	must(t, l.Remove(c.Hash))
	if err := l.Remove(c.Hash); !errors.As(err, new(*NotFoundError)) {
		t.Fatalf("removing twice: %v", err)
	}
	if _, err := os.Stat(c.Dir); !os.IsNotExist(err) {
		t.Errorf("its directory: %v", err)
	}
	var rows int
	must(t, l.db.QueryRow("SELECT (SELECT count(*) FROM value) * 100 + (SELECT count(*) FROM attempt)").Scan(&rows))
	if rows != 301 {
		t.Errorf("%d left, want 3 values and 1 attempt of the other run", rows)
	}

	runs := filepath.Join(l.Dir(), "runs")
	old, trash := hashOf(7), trashPrefix+hashOf(9)
	foreign := []string{".ssh", "0123", trashPrefix + "9", strings.ToUpper(hashOf(3))}
	for _, name := range append([]string{old, trash}, foreign...) {
		must(t, os.MkdirAll(filepath.Join(runs, name, "ckpt"), 0o777))
	}
	if left, others, err := l.Leftovers(); err != nil || !slices.Equal(left, []string{trash, old}) || len(others) != len(foreign) {
		t.Errorf("left over: %v, not the lab's: %v, %v", left, others, err)
	}
	names, err := l.GC()
	must(t, err)
	if slices.Sort(names); !slices.Equal(names, []string{trash, old}) {
		t.Errorf("collected %v", names)
	}
	for _, name := range append(foreign, kept.Hash) {
		if _, err := os.Stat(filepath.Join(runs, name)); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(runs); err != nil || len(left) != len(foreign)+1 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestConfigurationMustBeAnObject(t *testing.T) {
	l := open(t, t.TempDir())
	for _, config := range []any{nil, 1, "x", []byte(`[1]`), []byte(`{"a":1,"a":1}`)} {
		if _, err := l.Ensure(Spec{Kind: Train, Config: config}); err == nil {
			t.Errorf("%v was taken", config)
		}
	}
}
