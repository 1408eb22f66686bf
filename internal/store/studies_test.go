package store

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func members(seeds ...int) []Member {
	var list []Member
	for _, s := range seeds {
		list = append(list, Member{Spec: spec(s), Note: fmt.Sprintf("seed %d", s), Payload: fmt.Sprintf("run.seed = %d\n", s)})
	}
	return list
}

func TestStudiesShareRuns(t *testing.T) {
	l := open(t, t.TempDir())
	must(t, l.SaveStudy("a", "First", "text", members(1, 2, 3)))
	must(t, l.SaveStudy("b", "", "", members(4, 3)))
	c := leased(t, l, spec(3))
	must(t, c.Finish())
	c = leased(t, l, spec(2))
	must(t, c.Fail(errors.New("no luck")))
	leased(t, l, spec(1))
	a, err := l.Study("a")
	must(t, err)
	if a.Runs != 3 || a.Counts[Done] != 1 || a.Counts[Failed] != 1 || a.Counts[Running] != 1 || a.Open() != 1 || a.Title != "First" || a.Source != "text" || a.Cancelled {
		t.Errorf("%+v", a)
	}
	runs, err := l.StudyRuns("b")
	must(t, err)
	if len(runs) != 2 || runs[0].Note != "seed 4" || runs[0].Status != Pending || runs[1].Status != Done || runs[1].Finished.IsZero() ||
		runs[1].Payload != "run.seed = 3\n" || runs[1].Kind != Train || runs[1].Position != 2 {
		t.Errorf("%+v", runs)
	}
	failed, err := l.StudyRuns("a", Failed)
	if err != nil || len(failed) != 1 || failed[0].Error != "no luck" || failed[0].Hash != Hash(Train, []byte(`{"seed":2}`)) {
		t.Errorf("%+v, %v", failed, err)
	}
	last, err := l.RecentOfStudy("a", Failed, 1)
	if err != nil || len(last) != 1 || last[0].Status == Running {
		t.Errorf("%+v, %v", last, err)
	}
	all, err := l.Studies()
	if err != nil || len(all) != 2 || all[0].Name != "b" {
		t.Errorf("%+v, %v", all, err)
	}
	both, alone := Hash(Train, []byte(`{"seed":3}`)), Hash(Train, []byte(`{"seed":1}`))
	of, err := l.Memberships([]string{both, alone, "00"})
	if err != nil || !maps.Equal(of, map[string]Membership{both: {"b", "seed 3"}, alone: {"a", "seed 1"}}) {
		t.Errorf("%v, %v", of, err)
	}
	// The list is replaced, the runs stay.
	must(t, l.SaveStudy("a", "First", "text", members(5)))
	if a, err = l.Study("a"); err != nil || a.Runs != 1 {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := l.Run(failed[0].Hash); err != nil {
		t.Error(err)
	}
	if titles, err := l.StudyTitles(); err != nil || !maps.Equal(titles, map[string]string{"a": "First"}) {
		t.Errorf("%v, %v", titles, err)
	}
	must(t, l.RemoveStudy("b"))
	var missing *StudyNotFoundError
	if _, err := l.Study("b"); !errors.As(err, &missing) {
		t.Errorf("a removed study: %v", err)
	}
	if err := l.CancelStudy("b"); !errors.As(err, &missing) {
		t.Errorf("cancelling it: %v", err)
	}
}

// changesOfStudies is how often users have changed the studies that are there.
func changesOfStudies(t *testing.T, l *Lab) (n int64) {
	t.Helper()
	must(t, l.db.QueryRow("SELECT coalesce(sum(revision), 0) FROM study").Scan(&n))
	return n
}

// TestNoTwoChangesOfStudiesLookLikeNone: a study that is removed, made anew or renamed beside one that is cancelled, in one moment.
func TestNoTwoChangesOfStudiesLookLikeNone(t *testing.T) {
	for name, change := range map[string]func(l *Lab) error{
		"another removed":  func(l *Lab) error { return errors.Join(l.RemoveStudy("b"), l.CancelStudy("a")) },
		"another replaced": func(l *Lab) error { return errors.Join(l.RemoveStudy("b"), l.SaveStudy("c", "", "", members(3))) },
		"itself replaced":  func(l *Lab) error { return errors.Join(l.RemoveStudy("a"), l.SaveStudy("a", "", "", members(3))) },
		"renamed":          func(l *Lab) error { return errors.Join(l.RemoveStudy("b"), l.RenameStudy("a", "b", "")) },
	} {
		l := open(t, t.TempDir())
		must(t, l.SaveStudy("a", "", "", members(1, 2)))
		must(t, l.SaveStudy("b", "", "", members(1)))
		time.Sleep(2 * time.Millisecond) // studies are made at different times
		before, err := l.StudyRevision()
		must(t, err)
		must(t, change(l))
		if after, err := l.StudyRevision(); err != nil || after == before {
			t.Errorf("%s: %q before and after, %v", name, after, err)
		}
	}
}

func TestCancelRetryAndRevision(t *testing.T) {
	l := open(t, t.TempDir())
	must(t, l.SaveStudy("a", "", "", members(1, 2)))
	before, err := l.StudyRevision()
	must(t, err)
	c := leased(t, l, spec(1))
	must(t, c.Fail(errors.New("no luck")))
	must(t, l.CancelStudy("a"))
	a, err := l.Study("a")
	must(t, err)
	if !a.Cancelled {
		t.Error("not cancelled")
	}
	n, err := l.RetryStudy("a")
	if err != nil || n != 1 {
		t.Errorf("%d runs to retry, %v", n, err)
	}
	a, err = l.Study("a")
	if err != nil || a.Cancelled || a.Counts[Interrupted] != 1 || a.Counts[Failed] != 0 {
		t.Errorf("%+v, %v", a, err)
	}
	if after, err := l.StudyRevision(); err != nil || after == before || changesOfStudies(t, l) != 3 {
		t.Errorf("revision %q after three changes, %v", after, err)
	}
}

// TestCancelledRunsStayOutOfTheirStudies follows one run and its study's revision through every way to stop and resume it.
func TestCancelledRunsStayOutOfTheirStudies(t *testing.T) {
	l := open(t, t.TempDir())
	must(t, l.SaveStudy("a", "", "", members(1, 2)))
	must(t, l.SaveStudy("b", "", "", members(1)))
	hash := leased(t, l, spec(1)).Hash
	revision := int64(2)
	state := func(what string, cancelled bool, grown int64, err error) {
		t.Helper()
		must(t, err)
		run, err := l.Run(hash)
		must(t, err)
		of, err := l.StudyRuns("b")
		must(t, err)
		now := changesOfStudies(t, l)
		if run.Status != Interrupted || run.Cancelled() != cancelled || of[0].Cancelled() != cancelled || now != revision+grown {
			t.Errorf("%s: %s %q, cancelled %v and %v, revision %d after %d", what, run.Status, run.Error, run.Cancelled(), of[0].Cancelled(), now, revision)
		}
		revision = now
	}
	state("cancel", true, 2, l.Cancel(hash))
	if err := l.Cancel(hash); err == nil {
		t.Error("cancelled twice")
	}
	state("release", false, 2, l.Release(hash))
	state("cancel what waits", true, 2, l.Cancel(hash))
	_, err := l.RetryStudy("b")
	state("retry what failed", true, 1, err)
	state("another study", true, 1, l.SaveStudy("c", "", "", members(2)))
	state("open", false, 1, l.OpenStudy("b"))
	state("cancel again", true, 2, l.Cancel(hash))
	state("save", false, 1, l.SaveStudy("b", "", "", members(1)))
	c := leased(t, l, spec(1))
	if err := l.Release(hash); err == nil {
		t.Error("a running run was released")
	}
	must(t, c.Fail(errors.New("no luck")))
	state("release what failed", false, 2, l.Release(hash))
	state("cancel once more", true, 2, l.Cancel(hash))
	leased(t, l, spec(1))
	if run, err := l.Run(hash); err != nil || run.Status != Running || run.Error != "" {
		t.Errorf("leaseed: %s %q, %v", run.Status, run.Error, err)
	}
}

func TestRowsGoFromLabToLab(t *testing.T) {
	from, to := open(t, t.TempDir()), open(t, t.TempDir())
	a := leased(t, from, spec(1))
	must(t, a.AppendEpoch(1, epochRows(3, 1)))
	must(t, a.AppendEpoch(2, append(epochRows(2, 2), Value{Key: Key{"epoch", "", "", "bad"}, Step: 2, Value: math.NaN()})))
	must(t, a.AppendEpoch(5, epochRows(100, 5)))
	later, err := from.RowsAfter(a.Hash, 1)
	if err != nil || len(later) != 2 || later[0].Epoch != 2 || len(later[0].Rows) != 3 || later[1].Epoch != 5 || len(later[1].Rows) != 100 {
		t.Fatalf("%d epochs, %v", len(later), err)
	}
	all, err := from.RowsAfter(a.Hash, -1)
	must(t, err)
	b, other := leased(t, to, spec(1)), leased(t, to, spec(2))
	var parts []Part
	for _, e := range all {
		parts = append(parts, Part{b, e}, Part{other, e})
	}
	lost, err := to.AppendAll(parts)
	if err != nil || len(lost) != 0 {
		t.Fatal(lost, err)
	}
	want, err := from.Values(a.Hash)
	must(t, err)
	for _, c := range []*Lease{b, other} {
		got, err := to.Values(c.Hash)
		run, err2 := to.Run(c.Hash)
		if err != nil || err2 != nil || !slices.Equal(got, want) || len(got) != 106 || run.LastEpoch != 5 {
			t.Errorf("%d values, want %d; last epoch %d; %v %v", len(got), len(want), run.LastEpoch, err, err2)
		}
	}
}

func TestAppendAllLeavesOutWhatIsLost(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	kept, gone := leased(t, l, spec(1)), leased(t, l, spec(2))
	_, err := l.db.Exec("UPDATE claim SET generation = 9 WHERE run = ?", gone.run)
	must(t, err)
	rows := EpochRows{Epoch: 1, Rows: epochRows(4, 1)}
	lost, err := l.AppendAll([]Part{{gone, rows}, {kept, rows}})
	if err != nil || len(lost) != 1 || lost[0] != gone {
		t.Fatal(lost, err)
	}
	select {
	case <-gone.Lost():
	default:
		t.Error("the lost lease does not know")
	}
	a, err1 := l.Values(kept.Hash)
	b, err2 := l.Values(gone.Hash)
	if err1 != nil || err2 != nil || len(a) != 4 || len(b) != 0 {
		t.Errorf("%d and %d values, want 4 and none; %v %v", len(a), len(b), err1, err2)
	}
}

// TestABeatIsNoEpoch: a part without rows shows that its lease lives, and says nothing about epochs.
func TestABeatIsNoEpoch(t *testing.T) {
	now := newClock()
	l := openAt(t, t.TempDir(), Options{Now: now.Now})
	c := leased(t, l, spec(1))
	must(t, c.AppendEpoch(2, rowsOf(1, 2)))
	now.pass(time.Second)
	lost, err := l.AppendAll([]Part{{c, EpochRows{Epoch: 9}}})
	must(t, err)
	var beat int64
	must(t, l.db.QueryRow("SELECT heartbeat FROM claim").Scan(&beat))
	if run, err := l.Run(c.Hash); err != nil || len(lost) != 0 || run.LastEpoch != 2 || beat != now.Now().UnixMilli() {
		t.Errorf("the newest epoch is %d, the beat of %d, lost %d, %v", run.LastEpoch, beat, len(lost), err)
	}
}

func TestRemoteGeneration(t *testing.T) {
	l := open(t, t.TempDir())
	c := leased(t, l, spec(1))
	if g, err := l.Remote(c.Hash); g != 0 || err != nil {
		t.Errorf("%d, %v", g, err)
	}
	must(t, c.SetRemote(77))
	if g, err := l.Remote(c.Hash); g != 77 || err != nil {
		t.Errorf("%d, %v", g, err)
	}
	must(t, l.SetRemote(c.Hash, 80))
	must(t, l.ForgetRemotes(80))
	if g, err := l.Remote(c.Hash); g != 80 || err != nil {
		t.Errorf("%d, %v", g, err)
	}
	must(t, l.ForgetRemotes(79))
	if g, err := l.Remote(c.Hash); g != 0 || err != nil {
		t.Errorf("%d, %v", g, err)
	}
	must(t, l.SetRemote(c.Hash, 80))
	must(t, c.Finish())
	must(t, l.ForgetRemotes(79))
	if g, err := l.Remote(c.Hash); g != 80 || err != nil {
		t.Errorf("of a run that is done: %d, %v", g, err)
	}
	var missing *NotFoundError
	if _, err := l.Remote("nothing"); !errors.As(err, &missing) {
		t.Errorf("%v", err)
	}
}

// bigLab is a lab with one study of 100,000 runs and 10 million values, made once and kept in the
// folder that COLLAPSE_BIG_LAB names.
func bigLab(b *testing.B) *Lab {
	dir := os.Getenv("COLLAPSE_BIG_LAB")
	if dir == "" {
		b.Skip("COLLAPSE_BIG_LAB is not set: a folder for a lab of some 400 MB")
	}
	_, err := os.Stat(filepath.Join(dir, "lab.sqlite"))
	l, err2 := Open(dir, Options{})
	if err2 != nil {
		b.Fatal(err2)
	}
	b.Cleanup(func() { l.Close() })
	if err == nil {
		return l
	}
	for _, query := range []string{
		`CREATE TEMP TABLE n AS WITH RECURSIVE up (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM up WHERE value < 100000) SELECT value FROM up`,
		`INSERT INTO study (id, name, title, source, status, created) VALUES (1, 'big', '', '', 'open', 1)`,
		`INSERT INTO series (id, series, split, layer, measure) SELECT value, 'epoch', 'train', '', 'm' || value FROM n WHERE value <= 20`,
		`INSERT INTO run (id, hash, kind, config, status, created, finished, last_epoch)
			SELECT value, printf('%064x', value * 7919), 'train', '{"data":{"noise":0.25,"train_digest":"' || printf('%064x', value) || '"},"run":{"seed":' || value || '}}',
			CASE value % 10 WHEN 0 THEN 'pending' WHEN 1 THEN 'failed' WHEN 2 THEN 'running' ELSE 'done' END, value, CASE WHEN value % 10 IN (0, 2) THEN NULL ELSE value END, 5
			FROM n`,
		`INSERT INTO study_run (study, position, run, note, payload) SELECT 1, id, id, 'noise 0.25, seed ' || id, 'run.seed = ' || id FROM run`,
		`INSERT INTO value (run, series, step, epoch, value) SELECT r.id, s.id, e.value, e.value, 0.5 FROM run r, series s, n e WHERE e.value <= 5`,
	} {
		if _, err := l.db.Exec(query); err != nil {
			b.Fatal(query, err)
		}
	}
	return l
}

// BenchmarkStatus is what `collapse study status` asks of a large lab.
func BenchmarkStatus(b *testing.B) {
	l := bigLab(b)
	for b.Loop() {
		s, err := l.Study("big")
		running, err1 := l.RecentOfStudy("big", Running, 10)
		failed, err2 := l.RecentOfStudy("big", Failed, 10)
		last, err3 := l.RecentOfStudy("big", Done, 10)
		if err := errors.Join(err, err1, err2, err3); err != nil || s.Runs != 100_000 || s.Counts[Done] != 70_000 || len(running) != 10 || len(failed) != 10 || len(last) != 10 {
			b.Fatalf("%+v, %v", s.Counts, err)
		}
	}
}

// BenchmarkAppendAll stores what 100 workers send, an epoch or several of each in a transaction, with a reader at work.
func BenchmarkAppendAll(b *testing.B) {
	for _, epochs := range []int64{1, 16} {
		b.Run(fmt.Sprintf("epochs=%d", epochs), func(b *testing.B) { appendAll(b, epochs) })
	}
}

func appendAll(b *testing.B, epochs int64) {
	l := open(b, b.TempDir())
	var leases []*Lease
	for i := range 100 {
		c, _, err := l.Lease(spec(i))
		if err != nil {
			b.Fatal(err)
		}
		leases = append(leases, c)
	}
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
				l.Series(leases[7].Hash, epochRows(1, 0)[0].Key)
			}
		}
	}()
	stored, last := 0, int64(0)
	for b.Loop() {
		var parts []Part
		for epoch := last + 1; epoch <= last+epochs; epoch++ {
			for _, c := range leases {
				parts = append(parts, Part{Lease: c, EpochRows: EpochRows{Epoch: epoch, Rows: epochRows(50, epoch)}})
				stored += 50
			}
		}
		last += epochs
		if lost, err := l.AppendAll(parts); err != nil || len(lost) > 0 {
			b.Fatal(lost, err)
		}
	}
	b.ReportMetric(float64(stored)/b.Elapsed().Seconds(), "rows/s")
}

// TestRunsThatNobodyBeganGoWithTheirStudy, unless another study has them, or somebody has described them; what was begun stays.
func TestRunsThatNobodyBeganGoWithTheirStudy(t *testing.T) {
	l := open(t, t.TempDir())
	must(t, l.SaveStudy("a", "", "", members(1, 2, 3, 4, 5, 6, 7)))
	must(t, l.SaveStudy("b", "", "", members(2)))
	must(t, l.Tag(hashOf(3), "mine"))
	must(t, l.SetLabel(hashOf(4), "mine, too"))
	must(t, leased(t, l, spec(5)).Finish())
	must(t, leased(t, l, spec(6)).Fail(errors.New("no luck")))
	before, err := l.StudyRevision()
	must(t, err)
	must(t, l.SaveStudy("a", "", "", members(7, 8)))
	if after, err := l.StudyRevision(); err != nil || after == before {
		t.Errorf("%q before and after, %v", after, err)
	}
	for n, stays := range map[int]bool{1: false, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true} {
		if _, err := l.Run(hashOf(n)); IsNotFound(err) == stays || err != nil && !IsNotFound(err) {
			t.Errorf("run %d: %v, wanted that it stays: %v", n, err, stays)
		}
	}
}
