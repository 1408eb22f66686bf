package store

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestProgressSeesWhoWorksAndHowFar(t *testing.T) {
	l := open(t, t.TempDir())
	a, _, err := l.Lease(Spec{Kind: Train, Config: map[string]int{"a": 1}})
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := l.Lease(Spec{Kind: Train, Config: map[string]int{"a": 2}})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.AppendEpoch(3, []Value{{Key: Key{Series: "epoch", Measure: "loss"}, Step: 3, Value: 1}}); err != nil {
		t.Fatal(err)
	}
	if err := b.Finish(); err != nil {
		t.Fatal(err)
	}
	got, err := l.Progress([]string{b.Hash})
	if err != nil {
		t.Fatal(err)
	}
	want := []RunProgress{{a.Hash, Running, 3}, {b.Hash, Done, 0}}
	if !reflect.DeepEqual(got.Active, want) || got.Runs != 2 {
		t.Errorf("got %+v, want %+v of 2 runs", got, want)
	}
	if got, err = l.Progress(nil); err != nil || len(got.Active) != 1 {
		t.Errorf("without names: %+v, %v; want the leaseed run alone", got, err)
	}
}

func TestRunCountsCountEveryRunUnderItsStudyOrTag(t *testing.T) {
	l := open(t, t.TempDir())
	spec := func(i int, tags ...string) Spec {
		return Spec{Kind: Train, Config: map[string]int{"a": i}, Tags: tags}
	}
	for _, s := range []Spec{spec(1, "x"), spec(2, "x"), spec(3)} {
		if _, err := l.Ensure(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.SaveStudy("s", "", "", []Member{{Spec: spec(2, "x")}, {Spec: spec(4)}}); err != nil {
		t.Fatal(err)
	}
	c, _, err := l.Lease(spec(4))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Finish(); err != nil {
		t.Fatal(err)
	}
	counted, err := l.RunCounts()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, ty := range counted {
		got[ty.Study+"|"+ty.Tag+"|"+string(ty.Status)] += ty.Runs
		if ty.Newest.IsZero() || (ty.Status == Done) != (ty.Timed == 1) {
			t.Errorf("%+v: no time, or timed wrongly", ty)
		}
	}
	want := map[string]int{"|x|pending": 1, "||pending": 1, "s||pending": 1, "s||done": 1}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for filter, n := range map[picked]int{{study: "s"}: 2, {loose: true}: 1} {
		runs, err := l.List(Filter{Study: filter.study, Loose: filter.loose})
		if err != nil || len(runs) != n {
			t.Errorf("%+v: %d runs, %v; want %d", filter, len(runs), err, n)
		}
	}
}

// picked is the part of a Filter under test that can be a map's key.
type picked struct {
	study string
	loose bool
}

func TestPickReadsSomeMeasures(t *testing.T) {
	l := open(t, t.TempDir())
	c, _, err := l.Lease(Spec{Kind: Train, Config: map[string]int{}})
	if err != nil {
		t.Fatal(err)
	}
	key := func(split, measure string) Key { return Key{Series: "epoch", Split: split, Measure: measure} }
	rows := []Value{{Key: key("test", "b"), Step: 1, Value: 2}, {Key: key("train", "a"), Step: 1, Value: 1}, {Key: key("train", "b"), Step: 1, Missing: "why"}}
	if err := c.AppendEpoch(1, rows); err != nil {
		t.Fatal(err)
	}
	got, err := l.Pick(c.Hash, []string{"b", "none"})
	if err != nil || !reflect.DeepEqual(got, []Value{rows[0], rows[2]}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestNewestReadsLastEpochs compares with what is last among all values, for series that end at different epochs.
func TestNewestReadsLastEpochs(t *testing.T) {
	l := open(t, t.TempDir())
	var hashes []string
	for run := range 2 {
		c, _, err := l.Lease(Spec{Kind: Train, Config: map[string]int{"a": run}})
		if err != nil {
			t.Fatal(err)
		}
		for epoch := int64(1); epoch <= 5; epoch++ {
			rows := []Value{{Key: Key{Series: "epoch", Split: "train", Measure: "loss"}, Step: epoch, Value: float64(epoch)},
				{Key: Key{Series: "epoch", Split: "train", Layer: "l1", Measure: "loss"}, Step: epoch, Value: 7}, // of an inner layer
				{Key: Key{Series: "iteration", Measure: "loss"}, Step: 100 * epoch, Value: 1}}
			if epoch%2 == 0 {
				rows = append(rows, Value{Key: Key{Series: "epoch", Measure: "dilation"}, Step: epoch, Missing: "no classes"})
			}
			if err := c.AppendEpoch(epoch, rows); err != nil {
				t.Fatal(err)
			}
		}
		hashes = append(hashes, c.Hash)
	}
	want := []Value{{Key: Key{Series: "epoch", Measure: "dilation"}, Step: 4, Missing: "no classes"},
		{Key: Key{Series: "epoch", Split: "train", Measure: "loss"}, Step: 5, Value: 5}}
	for _, asked := range [][]string{{hashes[0]}, {hashes[1], strings.Repeat("0", 64), hashes[0]}} {
		got, err := l.NewestEach(asked, []string{"dilation", "loss", "none"})
		if err != nil || len(got) != len(asked) {
			t.Fatalf("%d runs of %d, %v", len(got), len(asked), err)
		}
		for i, hash := range asked {
			if slices.Contains(hashes, hash) != (got[i] != nil) || got[i] != nil && !reflect.DeepEqual(got[i], want) {
				t.Fatalf("run %d of %d: got %+v", i, len(asked), got[i])
			}
		}
	}
}

func TestSinceReadsLaterEpochsAlone(t *testing.T) {
	l := open(t, t.TempDir())
	for run := range 2 { // another run's values are not read
		c, _, err := l.Lease(Spec{Kind: Train, Config: map[string]int{"a": run}})
		if err != nil {
			t.Fatal(err)
		}
		for epoch := int64(1); epoch <= 5; epoch++ {
			rows := []Value{{Key: Key{Series: "epoch", Split: "train", Measure: "loss"}, Step: epoch, Value: float64(epoch)},
				{Key: Key{Series: "epoch", Measure: "dilation"}, Step: epoch, Missing: "no classes"},
				{Key: Key{Series: "iteration", Measure: "loss"}, Step: 100 * epoch, Value: 1}}
			if err := c.AppendEpoch(epoch, rows); err != nil {
				t.Fatal(err)
			}
		}
		if run == 0 {
			continue
		}
		for _, measures := range [][]string{nil, {"loss"}, {}, {"null"}} {
			var want []Value
			all, err := l.Values(c.Hash)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range all {
				if v.Series == "epoch" && v.Step > 3 && (measures == nil || slices.Contains(measures, v.Measure)) {
					want = append(want, v)
				}
			}
			if got, err := l.Since(c.Hash, 3, measures); err != nil || !slices.Equal(got, want) || measures == nil && len(got) != 4 {
				t.Errorf("of %q: %v, %v; want %v", measures, got, err, want)
			}
		}
	}
}

func TestCancelTakesARunFromItsProcess(t *testing.T) {
	l := open(t, t.TempDir())
	spec := Spec{Kind: Train, Config: map[string]int{}}
	c, _, err := l.Lease(spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Cancel(c.Hash); err != nil {
		t.Fatal(err)
	}
	if err := c.Beat(); !errors.Is(err, ErrLost) {
		t.Errorf("the process learns %v, want ErrLost", err)
	}
	if run, err := l.Run(c.Hash); err != nil || run.Status != Interrupted {
		t.Errorf("the run is %v, %v", run.Status, err)
	}
	again, _, err := l.Lease(spec)
	if err != nil {
		t.Fatalf("a cancelled run cannot be resumed: %v", err)
	}
	if err := again.Finish(); err != nil {
		t.Fatal(err)
	}
	if err := l.Cancel(c.Hash); err == nil {
		t.Error("a finished run was cancelled")
	}
	var missing *NotFoundError
	if err := l.Cancel("00"); !errors.As(err, &missing) {
		t.Errorf("an unknown run: %v", err)
	}
}
