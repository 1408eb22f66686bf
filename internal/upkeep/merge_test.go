package upkeep

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

func untold(done, all int) {}

// TestAMergeBringsFinishedRunsHome with all that they have, times and programs included, in place of what was begun here.
func TestAMergeBringsFinishedRunsHome(t *testing.T) {
	there, here := newLab(t), newLab(t)
	var runs []string
	for seed := range uint64(3) {
		runs = append(runs, trained(t, there, tiny(seed)).Run)
	}
	kept := trained(t, here, tiny(0)).Run
	before, err := here.Run(kept)
	must(t, err)
	halfway(t, here, tiny(1), 5, train.Options{})
	halfway(t, there, tiny(4), 3, train.Options{})
	later := []store.Value{{Key: store.Key{Series: "epoch", Split: "train", Measure: "late"}, Step: 12, Value: 0.5}}
	if n, err := there.AddMeasured(runs[2], later, store.Program{Version: "v9", Kernel: "k"}, "features"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	m, err := Merge(t.Context(), here, there.Reader, false, untold)
	if err != nil || len(m.Runs) != 2 || m.Here != 1 || m.Unfinished != 1 || m.Files == 0 || len(m.Busy)+len(m.Restarted) > 0 {
		t.Fatalf("%+v, %v", m, err)
	}
	for _, hash := range runs[1:] {
		if d := difference(content(t, here.Reader, hash), content(t, there.Reader, hash)); d != "" {
			t.Errorf("run %.12s differs in %s", hash, d)
		}
		is, err1 := here.Run(hash)
		was, err2 := there.Run(hash)
		if err1 != nil || err2 != nil || is.Status != store.Done || !is.Finished.Equal(was.Finished) || !is.Started.Equal(was.Started) || is.Created.After(was.Created) || is.Program != was.Program || is.LastEpoch != was.LastEpoch || !slices.Equal(is.Tags, was.Tags) {
			t.Errorf("%+v, there %+v, %v, %v", is, was, err1, err2)
		}
		if is.Generation < was.Generation {
			t.Errorf("the generation fell from %d to %d", was.Generation, is.Generation)
		}
	}
	if found, err := here.MeasuredLater(runs[2]); err != nil || len(found) != 1 || found[0].Version != "v9" || found[0].Source != "features" {
		t.Errorf("%+v, %v", found, err)
	}
	if after, err := here.Run(kept); err != nil || after.Generation != before.Generation || !after.Finished.Equal(before.Finished) {
		t.Errorf("the run that was here became %+v, %v", after, err)
	}
	wantSound(t, here)
	if m, err = Merge(t.Context(), here, there.Reader, false, untold); err != nil || len(m.Runs) > 0 || m.Here != 3 {
		t.Errorf("again: %+v, %v", m, err)
	}
}

// wantSound fails the test if a lab's runs do not have all that they must.
func wantSound(t *testing.T, lab *store.Lab) {
	t.Helper()
	found, err := Check(lab.Reader, nil)
	if err != nil || !found.Whole() {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestAMergeOfNumbers leaves files there, and says so beside the run.
func TestAMergeOfNumbers(t *testing.T) {
	there, here := newLab(t), newLab(t)
	hash := trained(t, there, tiny(1)).Run
	halfway(t, here, tiny(1), 5, train.Options{})
	m, err := Merge(t.Context(), here, there.Reader, true, untold)
	if err != nil || !slices.Equal(m.Runs, []string{hash}) {
		t.Fatalf("%+v, %v", m, err)
	}
	dir := rundir.Dir(here.RunDir(hash))
	if !dir.HasRowsOnly() {
		t.Error("nothing says that files are missing")
	}
	if _, err := os.Stat(dir.CheckpointsDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("checkpoints of another attempt are here: %v", err)
	}
	wantSound(t, here)
	third := newLab(t) // from a lab that has the numbers alone
	if _, err := Merge(t.Context(), third, here.Reader, false, untold); err != nil || !rundir.Dir(third.RunDir(hash)).HasRowsOnly() {
		t.Error(err)
	}
	wantSound(t, third)
}

// TestAMergeLeavesRunsThatAreComputedHere and those that were started over there meanwhile.
func TestAMergeLeavesRunsThatAreComputedHere(t *testing.T) {
	there, here := newLab(t), newLab(t)
	held, restarted := trained(t, there, tiny(1)).Run, trained(t, there, tiny(2)).Run
	run, err := there.Run(held)
	must(t, err)
	lease, _, err := here.Lease(specOf(run))
	must(t, err)
	tell := func(done, all int) {
		if done == 0 {
			run, err := there.Run(restarted)
			must(t, err)
			again, _, err := there.Again(specOf(run))
			must(t, err)
			must(t, again.Interrupt())
		}
	}
	m, err := Merge(t.Context(), here, there.Reader, false, tell)
	if err != nil || len(m.Runs) > 0 || !slices.Equal(m.Busy, []string{held}) || !slices.Equal(m.Restarted, []string{restarted}) {
		t.Errorf("%+v, %v", m, err)
	}
	must(t, lease.Interrupt())
	if _, err := Merge(t.Context(), here, here.Reader, false, untold); err == nil || !strings.Contains(err.Error(), "is this lab") {
		t.Error(err)
	}
}

// TestAMergeThatIsCutShort leaves no run that is called done and is not whole, and the next one goes on.
func TestAMergeThatIsCutShort(t *testing.T) {
	there, here := newLab(t), newLab(t)
	for seed := range uint64(3) {
		trained(t, there, tiny(seed))
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	m, err := Merge(ctx, here, there.Reader, false, func(done, all int) {
		if done == 2 {
			stop() // while it copies
		}
	})
	if !errors.Is(err, context.Canceled) || len(m.Runs) != 2 {
		t.Errorf("%+v, %v", m, err)
	}
	wantSound(t, here)
	if m, err = Merge(t.Context(), here, there.Reader, false, untold); err != nil || len(m.Runs) != 1 || m.Here != 2 {
		t.Errorf("%+v, %v", m, err)
	}
	wantSound(t, here)
}

func specOf(run store.Run) store.Spec {
	return store.Spec{Kind: run.Kind, Config: json.RawMessage(run.Config)}
}

// TestAMergeThatFailsLeavesWhatWasHere: rows, checkpoints and status of a run stay when its files there cannot be read, when nothing can be written, and
// when another process has taken the lease.
func TestAMergeThatFailsLeavesWhatWasHere(t *testing.T) {
	there, here := newLab(t), newLab(t)
	hash := trained(t, there, tiny(1)).Run
	halfway(t, here, tiny(1), 7, train.Options{})
	before, was := content(t, here.Reader, hash), run(t, here, hash)
	unchanged := func(what string) {
		t.Helper()
		if d := difference(content(t, here.Reader, hash), before); d != "" {
			t.Errorf("%s: %s has changed", what, d)
		}
		if is := run(t, here, hash); is.Status != was.Status || is.Error != was.Error || is.Generation != was.Generation || !is.Finished.Equal(was.Finished) {
			t.Errorf("%s: %+v, before %+v", what, is, was)
		}
		entries, err := os.ReadDir(here.Dir())
		must(t, err)
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".merging-") {
				t.Errorf("%s: %s is left", what, e.Name())
			}
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Merge(ctx, here, there.Reader, false, untold); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	unchanged("stopped")
	query(t, there, "UPDATE run SET generation = 9223372036854775807")
	m, err := Merge(t.Context(), here, there.Reader, false, untold)
	if err != nil || len(m.Runs) > 0 || len(m.Refused) != 1 || !strings.Contains(m.Refused[0].Why, "attempts or times") {
		t.Errorf("%+v, %v", m, err)
	}
	unchanged("refused")
	query(t, there, "UPDATE run SET generation = 1")
	query(t, here, "CREATE TRIGGER full BEFORE INSERT ON value BEGIN SELECT raise(ABORT, 'disk full'); END")
	if m, err = Merge(t.Context(), here, there.Reader, false, untold); err == nil || len(m.Runs) > 0 {
		t.Errorf("%+v, %v", m, err)
	}
	query(t, here, "DROP TRIGGER full")
	unchanged("a full disk")
	third := newLab(t)
	query(t, third, "CREATE TRIGGER full BEFORE INSERT ON value BEGIN SELECT raise(ABORT, 'disk full'); END")
	if _, err = Merge(t.Context(), third, there.Reader, false, untold); err == nil {
		t.Error("a full disk")
	}
	if list, err := third.List(store.Filter{}); err != nil || len(list) > 0 {
		t.Errorf("a run that was not taken is here: %+v, %v", list, err)
	}
}

func run(t *testing.T, lab *store.Lab, hash string) store.Run {
	t.Helper()
	r, err := lab.Run(hash)
	must(t, err)
	return r
}

// query changes a lab's tables as only a stranger would.
func query(t *testing.T, lab *store.Lab, text string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(lab.Dir(), "lab.sqlite"))
	must(t, err)
	defer db.Close()
	_, err = db.Exec(text)
	must(t, err)
}

// TestWhatAStrangersLabMaySayOfARun: each is refused, and the others come.
func TestWhatAStrangersLabMaySayOfARun(t *testing.T) {
	for what, change := range map[string]string{
		"a configuration with a blank": "UPDATE run SET config = ' ' || config, hash = 'HASH' WHERE id = 1",
		"another configuration":        "UPDATE run SET config = '{\"run\":{\"seed\":99}}' WHERE id = 1",
		"a tag of two lines":           "INSERT INTO tag SELECT 1, 'a' || char(10) || char(27) || '[2J'",
		"an end that never was":        "UPDATE run SET finished = NULL WHERE id = 1",
		"an end in the year 300000":    "UPDATE run SET finished = 9223372036854775 WHERE id = 1",
		"an attempt without a bound":   "UPDATE attempt SET generation = 9223372036854775807 WHERE run = 1",
		"a host of two lines":          "UPDATE attempt SET host = 'a' || char(10) WHERE run = 1",
	} {
		there, here := newLab(t), newLab(t)
		trained(t, there, tiny(1))
		trained(t, there, tiny(2))
		first := run(t, there, firstOf(t, there))
		fake := store.Hash(store.Train, append([]byte(" "), first.Config...))
		query(t, there, strings.Replace(change, "HASH", fake, 1))
		if strings.Contains(change, "HASH") {
			must(t, os.Rename(there.RunDir(first.Hash), there.RunDir(fake)))
		}
		m, err := Merge(t.Context(), here, there.Reader, false, untold)
		if err != nil || len(m.Runs) != 1 || len(m.Refused) != 1 {
			t.Errorf("%s: %+v, %v", what, m, err)
		}
		if list, err := here.List(store.Filter{}); err != nil || len(list) != 1 || len(list[0].Tags) > 0 {
			t.Errorf("%s: %+v, %v", what, list, err)
		}
		wantSound(t, here)
	}
}

// firstOf is the run with the number 1.
func firstOf(t *testing.T, lab *store.Lab) string {
	t.Helper()
	list, err := lab.List(store.Filter{})
	must(t, err)
	return list[len(list)-1].Hash
}

// TestARunThatIsComputedAgainHasItsFiles: nothing says any more that they were left behind.
func TestARunThatIsComputedAgainHasItsFiles(t *testing.T) {
	there, here := newLab(t), newLab(t)
	hash := trained(t, there, tiny(1)).Run
	halfway(t, here, tiny(1), 3, train.Options{})
	must(t, os.WriteFile(rundir.Dir(here.RunDir(hash)).RowsOnly(), nil, 0o666)) // as a kill may leave it
	trained(t, here, tiny(1))
	if rundir.Dir(here.RunDir(hash)).HasRowsOnly() {
		t.Error("its files are here, and are said to be missing")
	}
	must(t, os.RemoveAll(rundir.Dir(here.RunDir(hash)).CheckpointsDir()))
	if found, err := Check(here.Reader, nil); err != nil || found.Whole() {
		t.Errorf("its checkpoints are gone: %+v, %v", found, err)
	}
}
