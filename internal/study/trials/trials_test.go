package trials

import (
	"context"
	"fmt"
	"math"
	"net"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"collapse.example/collapse/internal/faulttest"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/search"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/coordinator"
	"collapse.example/collapse/internal/study/studytest"
	"collapse.example/collapse/internal/study/worker"
	"collapse.example/collapse/internal/train"
)

var must = studytest.Must

// TestMain lets the test binary play a search that is killed.
func TestMain(m *testing.M) {
	defer faulttest.InMemory()()
	faulttest.Main(m, map[string]func([]string) error{"searcher": roleSearcher})
}

func tinyFile(t *testing.T) *study.File {
	t.Helper()
	f, err := study.ParseFile("tiny.toml", []byte(studytest.SearchFile), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func computeSearch(ctx context.Context, lab *store.Lab, watch func(coordinator.Event)) error {
	f, err := study.ParseFile("tiny.toml", []byte(studytest.SearchFile), nil, 0)
	if err != nil {
		return err
	}
	_, err = Run(ctx, lab, f, coordinator.Options{Slots: 1, Threads: 1, Watch: watch})
	return err
}

// roleSearcher computes the tiny search in the lab args[0].
func roleSearcher(args []string) error {
	lab, err := store.Open(args[0], store.Options{})
	if err != nil {
		return err
	}
	return computeSearch(context.Background(), lab, func(e coordinator.Event) {
		if e.Ended != nil {
			fmt.Println("ended", e.Ended.Hash)
		}
	})
}

func searchLab(t *testing.T) *store.Lab {
	t.Helper()
	lab, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lab.Close() })
	return lab
}

// TestRoundsShareASession: the queue is opened once for all rounds, so that workers elsewhere stay.
func TestRoundsShareASession(t *testing.T) {
	f, err := study.ParseFile("tiny.toml", []byte(studytest.SearchFile), []string{"search.trials=6", "search.batch=2", "search.schedule=\"full\""}, 0)
	must(t, err)
	lab := searchLab(t)
	opened := 0
	s, err := Run(t.Context(), lab, f, coordinator.Options{Slots: 2, Threads: 2, Listen: "127.0.0.1:0", Token: "secret", Logf: func(format string, _ ...any) {
		if strings.HasPrefix(format, coordinator.Announcement) {
			opened++
		}
	}})
	must(t, err)
	found, err := Look(lab.Reader, f)
	must(t, err)
	if opened != 1 || s.Done != s.Runs || len(found) == 0 || len(found[0].Rows) != 6 || len(found[0].Final) == 0 {
		t.Errorf("the queue was opened %d times; %+v, %+v", opened, s, found)
	}
}

// TestASearchBetweenRoundsHasNotEnded, though all its runs have; one that is over has.
func TestASearchBetweenRoundsHasNotEnded(t *testing.T) {
	lab, f := searchLab(t), tinyFile(t)
	p, err := planOf(lab.Reader, f, nil)
	must(t, err)
	_, err = study.Save(lab, f.Name, f.Title, f.Source, p.items)
	must(t, err)
	for _, item := range p.items {
		lease, _, err := lab.Lease(item.Spec)
		must(t, err)
		must(t, lease.Finish())
	}
	s, err := lab.Study(f.Name)
	must(t, err)
	if ended, err := Ended(lab.Reader, s); ended || err != nil || s.Open() != 0 {
		t.Errorf("after the first round: ended %v, %d runs open, %v", ended, s.Open(), err)
	}
	whole := searchLab(t)
	must(t, computeSearch(t.Context(), whole, nil))
	s, err = whole.Study(f.Name)
	must(t, err)
	if ended, err := Ended(whole.Reader, s); !ended || err != nil {
		t.Errorf("after the last round: ended %v, %v", ended, err)
	}
	s.Source = "[study]\n"
	if ended, err := Ended(whole.Reader, s); !ended || err != nil {
		t.Errorf("a grid: %v, %v", ended, err)
	}
}

// A search whose process is killed again and again does the same as one that runs undisturbed: the same runs with the same values.
func TestAKilledSearchGoesOn(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	whole := searchLab(t)
	if err := computeSearch(t.Context(), whole, nil); err != nil {
		t.Fatal(err)
	}
	want, err := Look(whole.Reader, tinyFile(t))
	if err != nil {
		t.Fatal(err)
	}
	lab := searchLab(t)
	for range 3 {
		cmd, lines := faulttest.Play(t, "searcher", lab.Dir())
		for range 6 {
			faulttest.Heard(t, lines, "ended ")
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
	}
	if s, err := lab.Study("tiny"); err != nil || s.Counts[store.Done] < 18 {
		t.Fatalf("after three kills: %v, %v", s.Counts, err)
	}
	if err := computeSearch(t.Context(), lab, nil); err != nil {
		t.Fatal(err)
	}
	got, err := Look(lab.Reader, tinyFile(t))
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		for _, side := range []Found{got[i], want[i]} { // trained on everything, they have no validation; NaN differs from itself
			for k := range side.Final {
				if !math.IsNaN(side.Final[k].Value) {
					t.Errorf("a final run has the value %g", side.Final[k].Value)
				}
				side.Final[k].Value = 0
			}
		}
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("place %d: %+v\nwanted %+v", i, got[i], want[i])
		}
	}
	judgeFound(t, whole, want)
}

func judgeFound(t *testing.T, lab *store.Lab, found []Found) {
	t.Helper()
	if len(found) != 2 || found[0].Where != "loss ce" || found[1].Where != "loss ls" {
		t.Fatalf("places: %+v", found)
	}
	for _, f := range found {
		if len(f.Rows) != 7 || f.Best < 0 || f.Rows[f.Best].Epochs != 9 || f.Default == nil || f.Default.Epochs != 9 {
			t.Fatalf("%s: %d trials, best %d, default %v", f.Where, len(f.Rows), f.Best, f.Default)
		}
		if !(f.Spent > 9 && f.Spent < f.Whole) || f.Whole != 63 {
			t.Errorf("%s: spent %d of %d", f.Where, f.Spent, f.Whole)
		}
		for _, r := range f.Rows {
			if math.IsNaN(r.Value) || f.Rows[f.Best].Epochs == r.Epochs && r.Value < f.Rows[f.Best].Value {
				t.Errorf("%s: trial %d has %g, the best %g", f.Where, r.Number, r.Value, f.Rows[f.Best].Value)
			}
			smoothed := slices.ContainsFunc(r.Settings, func(s string) bool { return strings.HasPrefix(s, "loss.smoothing=") })
			if smoothed != (f.Where == "loss ls") {
				t.Errorf("%s: settings %q", f.Where, r.Settings)
			}
		}
		if len(f.Final) != 4 || f.Final[0].Role != study.RoleBest || !slices.Equal(f.Final[0].Settings, f.Rows[f.Best].Settings) {
			t.Errorf("%s: final runs %+v", f.Where, f.Final)
		}
		promoted := 0
		for _, r := range f.Rows {
			if r.From == "" {
				continue
			}
			promoted++
			sameBeginning(t, lab, r.From, r.Hash)
		}
		if promoted == 0 {
			t.Errorf("%s: nothing went on", f.Where)
		}
	}
	run, err := lab.Run(found[0].Final[0].Hash)
	if err != nil {
		t.Fatal(err)
	}
	if cfg, err := train.FromCanonical(run.Config); err != nil || cfg.Data.Validation != 0 || cfg.Run.Epochs != 2 {
		t.Errorf("the final run: %+v, %v", cfg, err)
	}
}

// sameBeginning checks that a promoted run holds the very rows of the rung before, including times of day: it continued from there.
func sameBeginning(t *testing.T, lab *store.Lab, from, hash string) {
	t.Helper()
	key := store.Key{Series: "epoch", Measure: "images_per_s"}
	a, err := lab.Series(from, key)
	if err != nil {
		t.Fatal(err)
	}
	b, err := lab.Series(hash, key)
	if err != nil {
		t.Fatal(err)
	}
	if len(a) == 0 || len(b) <= len(a) || !slices.Equal(a, b[:len(a)]) {
		t.Errorf("run %.12s does not go on from %.12s", hash, from)
	}
}

// While a trial continues from a rung, its result there stands; if it then fails, it has failed.
func TestATrialUnderWayKeepsWhatItReached(t *testing.T) {
	row := func(epochs int, status store.Status, reached int, value float64) Row {
		return Row{Trial: study.Trial{Role: study.RoleTrial, Number: 3, Epochs: epochs}, Status: status, Reached: reached, Value: value}
	}
	asked, done, running := row(3, store.Pending, 0, math.NaN()), row(3, store.Done, 3, 0.5), row(9, store.Running, 4, math.NaN())
	failed, atOnce := row(9, store.Failed, 5, math.NaN()), row(9, store.Failed, 0, math.NaN())
	for name, c := range map[string]struct {
		rows          []Row
		epochs, spent int
		status        store.Status
		best          int
	}{
		"promoted":          {[]Row{done, running}, 3, 3, store.Done, 0},
		"promoted, turned":  {[]Row{running, done}, 3, 3, store.Done, 0},
		"failed further on": {[]Row{done, failed}, 9, 5, store.Failed, -1},
		"failed at once":    {[]Row{done, atOnce}, 9, 3, store.Failed, -1},
		"turned":            {[]Row{atOnce, done}, 9, 3, store.Failed, -1},
		"nothing has ended": {[]Row{asked, running}, 9, 0, store.Running, -1},
	} {
		f := Found{Best: -1}
		for _, r := range c.rows {
			f.take(r)
		}
		f.conclude(study.GoalMax)
		if len(f.Rows) != 1 || f.Rows[0].Epochs != c.epochs || f.Rows[0].Status != c.status || f.Spent != c.spent || f.Best != c.best {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// A promoted trial continues from its checkpoint on any machine, and ends in the same values as in a single process.
func TestAPromotedTrialGoesOnElsewhere(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	whole, lab := searchLab(t), searchLab(t)
	must(t, computeSearch(t.Context(), whole, nil))
	free, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	o := coordinator.Options{Listen: free.Addr().String(), Token: "secret", Queue: studytest.QuickQueue()}
	must(t, free.Close())
	var url <-chan string
	o.Logf, url = studytest.Announced(t.Logf)
	ended := make(chan error, 1)
	go func() {
		_, err := Run(t.Context(), lab, tinyFile(t), o)
		ended <- err
	}()
	var mu sync.Mutex
	began := map[string]int{} // epochs that a run had when its worker began
	options := worker.Options{Slots: 2, Threads: 2, Scratch: t.TempDir(), Logf: t.Logf, Watch: func(hash string, p study.Progress) {
		mu.Lock()
		defer mu.Unlock()
		if _, known := began[hash]; !known {
			began[hash] = p.Epoch
		}
	}}
	studytest.InBackground(t, <-url, func(ctx context.Context, b *queue.Broker) error { return worker.Work(ctx, b, options) })
	must(t, <-ended)
	want, err := whole.StudyRuns("tiny")
	must(t, err)
	promoted := 0
	for _, run := range want {
		if a, b := studytest.Steady(t, lab, run.Hash), studytest.Steady(t, whole, run.Hash); a != b || len(a) < 100 {
			t.Errorf("%s: the values differ:\n%.300s\n%.300s", run.Note, a, b)
		}
		from := study.TrialOf(run.Payload).From
		if from == "" {
			continue
		}
		promoted++
		before, err := whole.Run(from)
		must(t, err)
		if got := began[run.Hash]; int64(got) != before.LastEpoch {
			t.Errorf("%s began after epoch %d; the rung before ended with %d", run.Note, got, before.LastEpoch)
		}
	}
	if promoted == 0 {
		t.Error("no trial was promoted")
	}
}

// A setting that depends on another one is shown, whether or not the first trial has it.
func TestFoundSettingsOfWhichSomeTrialsHaveNone(t *testing.T) {
	d := &study.Search{Space: []study.SearchParam{{Param: search.Param{Name: "lr"}}, {Param: search.Param{Name: "beta"}}, {Param: search.Param{Name: "gamma"}}}}
	rows := []Row{{Trial: study.Trial{Settings: []string{"lr=0.1"}}}, {Trial: study.Trial{Number: 1, Settings: []string{"lr=0.2", "beta=0.9"}}}}
	var names []string
	for _, p := range searchOf(d, Found{Rows: rows}).Params {
		names = append(names, p.Name)
	}
	if !slices.Equal(names, []string{"lr", "beta"}) {
		t.Errorf("%q", names)
	}
}
