package store

import (
	"cmp"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"sort"
	"testing"

	"pgregory.net/rapid"
)

func TestValuesAreKeptExactly(t *testing.T) {
	l := open(t, t.TempDir())
	c := leased(t, l, spec(1))
	key := func(measure string) Key { return Key{"epoch", "train", "", measure} }
	rows := []Value{
		{key("a"), 1, 0.1, ""},
		{key("a"), 2, math.Inf(1), ""},
		{key("a"), 3, math.SmallestNonzeroFloat64, ""},
		{key("a"), 4, -math.MaxFloat64, ""},
		{key("b"), 1, 0, "class 3 is empty"},
		{key("b"), 2, math.NaN(), ""},
		{Key{"curve", "", "layer 2", "a"}, -5, 1, ""},
	}
	must(t, c.AppendEpoch(1, rows))
	got, err := l.Values(c.Hash)
	must(t, err)
	want := slices.Clone(rows)
	want[1] = Value{key("a"), 2, 0, "the value was infinite"}
	want[4].Value = 0
	want[5] = Value{key("b"), 2, 0, "the value was not a number (NaN)"}
	want = append(want[6:], want[:6]...) // sorted by key: "curve" is before "epoch"
	if !slices.Equal(got, want) {
		t.Fatalf("got %v\nwant %v", got, want)
	}
	points, err := l.Series(c.Hash, key("b"))
	must(t, err)
	if !slices.Equal(points, []Point{{1, 0, "class 3 is empty"}, {2, 0, "the value was not a number (NaN)"}}) {
		t.Fatalf("series b: %v", points)
	}
	if points, err = l.Series(c.Hash, key("none")); err != nil || points != nil {
		t.Fatalf("an unknown series: %v, %v", points, err)
	}
	keys, err := l.Keys(c.Hash)
	must(t, err)
	if !slices.Equal(keys, []Key{{"curve", "", "layer 2", "a"}, key("a"), key("b")}) {
		t.Fatalf("keys %v", keys)
	}
}

// TestRowsAgainstAModel appends and deletes epochs of two runs at random and compares the lab with
// a map.
func TestRowsAgainstAModel(t *testing.T) {
	dir := t.TempDir()
	trial := 0
	rapid.Check(t, func(t *rapid.T) {
		trial++
		l, err := Open(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		type cell struct {
			key  Key
			step int64
		}
		type stored struct {
			value float64
			epoch int64
		}
		leases, models := make([]*Lease, 2), []map[cell]stored{{}, {}}
		for i := range leases {
			if leases[i], _, err = l.Lease(spec(10*trial + i)); err != nil {
				t.Fatal(err)
			}
		}
		for range rapid.IntRange(1, 6).Draw(t, "writes") {
			which, epoch := rapid.IntRange(0, 1).Draw(t, "run"), rapid.Int64Range(-1, 5).Draw(t, "epoch")
			c, model := leases[which], models[which]
			if rapid.Bool().Draw(t, "delete") {
				err = c.DeleteAfter(epoch)
				for k, v := range model {
					if v.epoch > epoch {
						delete(model, k)
					}
				}
			} else {
				epochs := make([]EpochRows, rapid.IntRange(1, 3).Draw(t, "epochs")) // which meet in steps: the last stays
				for j := range epochs {
					rows := make([]Value, rapid.SampledFrom([]int{0, 1, 5, chunk - 1, chunk, chunk + 1, 3 * chunk}).Draw(t, "rows"))
					for i := range rows {
						rows[i] = Value{Key: Key{"s", "", fmt.Sprint(i % 7), "m"}, Step: int64(i/7) + epoch, Value: float64(100*epoch) + float64(i)}
						model[cell{rows[i].Key, rows[i].Step}] = stored{rows[i].Value, epoch}
					}
					epochs[j] = EpochRows{epoch, rows}
					epoch++
				}
				err = c.AppendEpochs(epochs)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for i, model := range models {
			var want []Value
			for k, v := range model {
				want = append(want, Value{Key: k.key, Step: k.step, Value: v.value})
			}
			sort.Slice(want, func(i, j int) bool {
				return want[i].Layer < want[j].Layer || want[i].Layer == want[j].Layer && want[i].Step < want[j].Step
			})
			got, err := l.Values(leases[i].Hash)
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("run %d: got %v, %v\nwant %v", i, got, err, want)
			}
		}
	})
}

func TestResumeDeletesLaterEpochs(t *testing.T) {
	l := open(t, t.TempDir())
	c := leased(t, l, spec(1))
	for e := range int64(5) {
		must(t, c.AppendEpoch(e, epochRows(3, e)))
	}
	for _, step := range []struct {
		after, last int64
		rows        int
	}{{9, 4, 15}, {2, 2, 9}, {0, 0, 3}} {
		must(t, c.DeleteAfter(step.after))
		run, err := l.Run(c.Hash)
		must(t, err)
		values, err := l.Values(c.Hash)
		must(t, err)
		if run.LastEpoch != step.last || !run.HasEpochs || len(values) != step.rows {
			t.Fatalf("after epoch %d: %+v with %d rows", step.after, run, len(values))
		}
	}
	must(t, c.DeleteAfter(-1))
	if run, err := l.Run(c.Hash); err != nil || run.HasEpochs {
		t.Fatalf("%+v, %v", run, err)
	}
}

func TestAnEpochThatFailsLeavesNothing(t *testing.T) {
	l := open(t, t.TempDir())
	c := leased(t, l, spec(1))
	// The last row breaks the transaction after the others and their new keys went in.
	_, err := l.db.Exec(`CREATE TRIGGER full BEFORE INSERT ON value WHEN new.step = 99 BEGIN SELECT raise(ABORT, 'disk full'); END`)
	must(t, err)
	rows := append(epochRows(100, 1), Value{Key: Key{"epoch", "", "", "last"}, Step: 99})
	if err := c.AppendEpoch(1, rows); err == nil {
		t.Fatal("no error")
	}
	values, err := l.Values(c.Hash)
	must(t, err)
	if len(values) != 0 {
		t.Fatalf("%d rows of a failed epoch", len(values))
	}
	// Keys added by the broken transaction must not be remembered.
	must(t, c.AppendEpoch(1, rows[:100]))
	if values, err = l.Values(c.Hash); err != nil || len(values) != 100 {
		t.Fatalf("%d rows, %v", len(values), err)
	}
}

func TestTheViewsAreTidy(t *testing.T) {
	l := open(t, t.TempDir())
	c := leased(t, l, spec(1))
	must(t, c.AppendEpoch(0, []Value{{Key{"epoch", "test", "fc", "nc1_pinv"}, 3, 0.25, ""}}))
	var run, series, split, layer, measure, kernel string
	var step int64
	var value float64
	var missing sql.NullString
	must(t, l.Reader.db.QueryRow("SELECT run, series, step, split, layer, measure, value, missing FROM tidy").
		Scan(&run, &series, &step, &split, &layer, &measure, &value, &missing))
	got := fmt.Sprint(run, series, step, split, layer, measure, value, missing.Valid)
	if want := fmt.Sprint(c.Hash, "epoch", 3, "test", "fc", "nc1_pinv", 0.25, false); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	must(t, l.Reader.db.QueryRow("SELECT kernel FROM runs WHERE hash = ?", c.Hash).Scan(&kernel))
	if kernel != "generic" {
		t.Errorf("kernel %q", kernel)
	}
}

// TestManyRunsAtOnce reads values of three runs, one of which the lab lacks.
func TestManyRunsAtOnce(t *testing.T) {
	l := open(t, t.TempDir())
	a, b := leased(t, l, spec(1)), leased(t, l, spec(2))
	key := func(split, measure string) Key { return Key{"epoch", split, "", measure} }
	must(t, a.AppendEpoch(1, []Value{{key("train", "x"), 1, 2, ""}, {key("test", "x"), 1, 0, "none"}, {key("train", "y"), 1, 7, ""}}))
	must(t, a.AppendEpoch(2, []Value{{key("train", "x"), 2, 0.5, ""}}))
	must(t, b.AppendEpoch(1, []Value{{key("train", "x"), 1, 30, ""}}))
	hashes := []string{b.Hash, "nobody", a.Hash}
	got, err := l.PickEach(hashes, []string{"x", "z"})
	must(t, err)
	for i, hash := range hashes {
		want, err := l.Pick(hash, []string{"x", "z"})
		must(t, err)
		slices.SortFunc(got[i], func(a, b Value) int { return cmp.Or(compareKeys(a.Key, b.Key), cmp.Compare(a.Step, b.Step)) })
		if !slices.Equal(got[i], want) {
			t.Errorf("%s: %v, want %v", hash, got[i], want)
		}
	}
	if len(got[2]) != 3 || len(got[1]) != 0 {
		t.Errorf("%v", got)
	}
	sums, err := l.SumEach(hashes, key("train", "x"))
	must(t, err)
	if !slices.Equal(sums, []float64{30, 0, 2.5}) {
		t.Errorf("sums %v", sums)
	}
	if none, err := l.SumEach(hashes, key("train", "z")); err != nil || !slices.Equal(none, []float64{0, 0, 0}) {
		t.Errorf("of an unknown series: %v, %v", none, err)
	}
}
