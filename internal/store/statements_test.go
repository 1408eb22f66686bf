package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var errDisk = errors.New("the disk does not answer")

// failing is a lab's database of which one call fails: a statement that is prepared, executed or asked for a row, the begin or the end of
// a transaction.
type failing struct {
	driver.Connector
	armed  bool
	at, n  int
	garble bool // instead of failing, a row's columns are texts that are no numbers
	wrong  bool // such a row had numbers
	what   string
}

func (f *failing) fails(what string) bool {
	if !f.armed {
		return false
	}
	f.n++
	if f.n != f.at {
		return false
	}
	f.what = what
	return true
}

func (f *failing) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := f.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return failingConn{c.(sqliteConn), f}, nil
}

type failingConn struct {
	sqliteConn
	f *failing
}

func (c failingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if !c.f.garble && c.f.fails("preparing "+query) {
		return nil, errDisk
	}
	s, err := c.sqliteConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return failingStmt{s, query, c.f}, nil
}

func (c failingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if !c.f.garble && c.f.fails(query) {
		return nil, errDisk
	}
	return c.sqliteConn.ExecContext(ctx, query, args)
}

func (c failingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if !c.f.garble && c.f.fails(query) {
		return nil, errDisk
	}
	rows, err := c.sqliteConn.QueryContext(ctx, query, args)
	return failingRows{rows, query, c.f}, err
}

func (c failingConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if !c.f.garble && c.f.fails("begin") {
		return nil, errDisk
	}
	tx, err := c.sqliteConn.BeginTx(ctx, opts)
	return failingTx{tx, c.f}, err
}

type failingTx struct {
	driver.Tx
	f *failing
}

func (x failingTx) Commit() error {
	if !x.f.garble && x.f.fails("commit") {
		return errors.Join(errDisk, x.Tx.Rollback())
	}
	return x.Tx.Commit()
}

func (x failingTx) Rollback() error {
	err := x.Tx.Rollback()
	if !x.f.garble && x.f.fails("rollback") {
		return errors.Join(errDisk, err)
	}
	return err
}

type failingStmt struct {
	driver.Stmt
	query string
	f     *failing
}

func (s failingStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if !s.f.garble && s.f.fails(s.query) {
		return nil, errDisk
	}
	return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

func (s failingStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if !s.f.garble && s.f.fails(s.query) {
		return nil, errDisk
	}
	rows, err := s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
	return failingRows{rows, s.query, s.f}, err
}

type failingRows struct {
	driver.Rows
	query string
	f     *failing
}

func (r failingRows) Next(to []driver.Value) error {
	if !r.f.garble && r.f.fails("a row of "+r.query) {
		return errDisk
	}
	err := r.Rows.Next(to)
	if err == nil && r.f.garble && r.f.fails("a row of "+r.query) {
		for i, v := range to {
			switch v.(type) {
			case int64, float64:
				r.f.wrong = true
			}
			to[i] = "no number"
		}
	}
	return err
}

// studied is a lab with a study of two runs, of which one is done, and a third run; its databases fail as f says.
func studied(t *testing.T, f *failing) *Lab {
	t.Helper()
	l := open(t, t.TempDir())
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(l.SaveStudy("study", "a title", "source", []Member{{Spec: spec(1), Note: "one"}, {Spec: spec(2), Note: "two"}, {Spec: spec(4), Note: "four"}}))
	must(l.SetRemark("study", "words"))
	must(l.SaveStudy("old", "", "", nil))
	must(l.ArchiveStudy("old", true))
	must(l.TagStudy("study", []string{"mine"}, nil))
	for n := 1; n <= 3; n++ {
		c, _, err := l.Lease(spec(n))
		must(err)
		must(c.AppendEpochs([]EpochRows{{1, rowsOf(n, 1)}, {2, rowsOf(n, 2)}}))
		if n == 1 {
			must(c.Finish())
		} else {
			must(c.Interrupt())
		}
	}
	must(l.Tag(hashOf(1), "tag"))
	_, _, err := l.Lease(spec(4)) // by a process that has ended
	must(err)
	_, err = l.db.Exec("UPDATE claim SET pid_started = 'long ago'")
	must(err)
	_, err = l.AddMeasured(hashOf(1), []Value{{Key: Key{"epoch", "train", "", "vci"}, Step: 2, Value: 1}}, Program{Version: "1"}, "ckpt/2")
	must(err)
	reads, err := connector(databasePath(l.dir), writing)
	must(err)
	f.Connector = reads
	db := sql.OpenDB(f)
	t.Cleanup(func() { db.Close() })
	l.db.Close()
	l.Reader.db.Close()
	l.db, l.Reader.db = db, db
	l.statements.Clear()
	return l
}

func rowsOf(n int, epoch int64) []Value {
	var rows []Value
	for _, m := range []string{"loss", "nc1"} {
		rows = append(rows, Value{Key: Key{"epoch", "train", "", m}, Step: epoch, Value: float64(n) + float64(epoch)/8})
	}
	return rows
}

// each calls do with every call failing in turn.
func (f *failing) each(t *testing.T, l *Lab, name string, do func() error, after func(what string, err error)) {
	t.Helper()
	for f.at = 1; ; f.at++ {
		l.statements.Clear()
		l.names.Store(nil)
		clear(l.keys)
		f.n, f.wrong, f.armed = 0, false, true
		err := do()
		f.armed = false
		if f.n < f.at {
			if err != nil {
				t.Errorf("%s: no call fails, and %v", name, err)
			}
			if f.at == 1 && !f.garble {
				t.Errorf("%s makes no calls", name)
			}
			return
		}
		after(fmt.Sprintf("%s, call %d: %.60s", name, f.at, f.what), err)
	}
}

// readings are the questions that a lab answers.
func readings(t *testing.T) map[string]func(l *Lab) error {
	one, two := hashOf(1), hashOf(2)
	loss := Key{"epoch", "train", "", "loss"}
	some := func(n int, err error) error {
		if err == nil && n == 0 {
			return errors.New("an empty answer")
		}
		return err
	}
	return map[string]func(l *Lab) error{
		"run":        func(l *Lab) error { r, err := l.Run(one); return some(len(r.Hash), err) },
		"studytags":  func(l *Lab) error { r, err := l.StudyTags(); return some(len(r), err) },
		"archived":   func(l *Lab) error { r, err := l.ArchivedStudies(); return some(len(r), err) },
		"find":       func(l *Lab) error { r, err := l.Find(one[:20]); return some(len(r.Hash), err) },
		"list":       func(l *Lab) error { r, err := l.List(Filter{Study: "study"}); return some(len(r), err) },
		"attempts":   func(l *Lab) error { r, err := l.Attempts(one); return some(len(r), err) },
		"values":     func(l *Lab) error { r, err := l.Values(one); return some(len(r), err) },
		"keys":       func(l *Lab) error { r, err := l.Keys(one); return some(len(r), err) },
		"series":     func(l *Lab) error { r, err := l.Series(one, loss); return some(len(r), err) },
		"rows after": func(l *Lab) error { r, err := l.RowsAfter(one, 0); return some(len(r), err) },
		"outline":    func(l *Lab) error { r, _, err := l.Outline(one); return some(len(r), err) },
		"progress":   func(l *Lab) error { p, err := l.Progress([]string{one}); return some(p.Runs*len(p.Active), err) },
		"counts":     func(l *Lab) error { r, err := l.RunCounts(); return some(len(r), err) },
		"newest": func(l *Lab) error {
			r, err := l.NewestEach([]string{one}, []string{"loss"})
			return some(len(slices.Concat(r...)), err)
		},
		"pick": func(l *Lab) error { r, err := l.Pick(one, []string{"loss"}); return some(len(r), err) },
		"pick each": func(l *Lab) error {
			r, err := l.PickEach([]string{one, two}, []string{"loss"})
			return some(len(slices.Concat(r...)), err)
		},
		"sums":         func(l *Lab) error { r, err := l.SumEach([]string{one}, loss); return some(len(r), err) },
		"since":        func(l *Lab) error { r, err := l.Since(one, 0, []string{"loss"}); return some(len(r), err) },
		"steps":        func(l *Lab) error { r, err := l.RowsPerStep(one, "epoch", []string{}); return some(len(r), err) },
		"missing":      func(l *Lab) error { r, err := l.MissingSteps(one, loss, 1, 1, 4); return some(len(r), err) },
		"studies":      func(l *Lab) error { r, err := l.Studies(); return some(len(r), err) },
		"study":        func(l *Lab) error { r, err := l.Study("study"); return some(len(r.Name), err) },
		"titles":       func(l *Lab) error { r, err := l.StudyTitles(); return some(len(r), err) },
		"notes":        func(l *Lab) error { r, err := l.StudyNotes("study"); return some(len(r), err) },
		"memberships":  func(l *Lab) error { r, err := l.Memberships([]string{one}); return some(len(r), err) },
		"study's runs": func(l *Lab) error { r, err := l.StudyRuns("study"); return some(len(r), err) },
		"recent":       func(l *Lab) error { r, err := l.RecentOfStudy("study", Done, 3); return some(len(r), err) },
		"versions":     func(l *Lab) error { r, err := l.StudyVersions("study"); return some(len(r), err) },
		"revision":     func(l *Lab) error { n, err := l.StudyRevision(); return some(len(n), err) },
		"remark":       func(l *Lab) error { r, err := l.Remark("study"); return some(len(r), err) },
		"remote":       func(l *Lab) error { _, err := l.Remote(one); return err },
		"later":        func(l *Lab) error { r, err := l.MeasuredLater(one); return some(len(r), err) },
		"infinite":     func(l *Lab) error { _, _, err := l.Infinite(one); return err },
		"foreign runs": func(l *Lab) error { _, err := l.foreignRuns(); return err },
		"removals":     func(l *Lab) error { _, err := l.foreignRemovals(); return err },
		"long texts":   func(l *Lab) error { _, err := l.longTexts(); return err },
		"not its own":  func(l *Lab) error { _, err := l.foreignFiles(); return err },
		"damage":       func(l *Lab) error { _, err := l.Damage(); return err },
		"held":         func(l *Lab) error { return l.Held(one) },
		"leftovers":    func(l *Lab) error { _, _, err := l.Leftovers(); return err },
		"kept":         func(l *Lab) error { _, _, err := l.Kept(two, 1); return err },
		"watch": func(l *Lab) error {
			w, err := l.Watch()
			if err == nil {
				w.Close()
			}
			return err
		},
	}
}

// TestNoAnswerHidesAFailure asks a lab everything while each call to its database fails in turn: there is an error that says why, never
// a part of the answer. Then numbers are no numbers, as in a damaged or hostile file.
func TestNoAnswerHidesAFailure(t *testing.T) {
	f := &failing{}
	l := studied(t, f)
	questions := readings(t)
	for _, name := range slices.Sorted(maps.Keys(questions)) {
		ask := func() error { return questions[name](l) }
		f.garble = false
		f.each(t, l, name, ask, func(what string, err error) {
			if !errors.Is(err, errDisk) {
				t.Errorf("%s fails: %v", what, err)
			}
		})
		f.garble = true
		f.each(t, l, name, ask, func(what string, err error) {
			if f.wrong && err == nil {
				t.Errorf("%s has no numbers, and there is no error", what)
			}
		})
		if n := l.Reader.db.Stats().InUse; n != 0 {
			t.Errorf("%s: %d connections are still in use", name, n)
		}
	}
}

// tables is all that a lab's tables hold.
func tables(t *testing.T, l *Lab) string {
	t.Helper()
	db, err := openDatabase(databasePath(l.dir), writing)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var all strings.Builder
	for _, table := range []string{"run", "tag", "attempt", "claim", "series", "value", "study", "study_run", "removal", "remark", "measured"} {
		rows, err := db.Query("SELECT * FROM " + table)
		if err != nil {
			t.Fatal(err)
		}
		columns, _ := rows.Columns()
		for rows.Next() {
			cells, into := make([]any, len(columns)), make([]any, len(columns))
			for i := range cells {
				into[i] = &cells[i]
			}
			if err := rows.Scan(into...); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&all, table, cells)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}

// changes are what can be asked of a lab, each in one transaction.
func changes(t *testing.T) map[string]func(l *Lab, c *Lease) error {
	one, two := hashOf(1), hashOf(2)
	return map[string]func(l *Lab, c *Lease) error{
		"ensure":      func(l *Lab, _ *Lease) error { s := spec(9); s.Tags = []string{"a"}; _, err := l.Ensure(s); return err },
		"append":      func(_ *Lab, c *Lease) error { return c.AppendEpoch(3, many(3)) },
		"append many": func(_ *Lab, c *Lease) error { return c.AppendEpochs([]EpochRows{{3, rowsOf(3, 3)}, {4, rowsOf(3, 4)}}) },
		"append all": func(l *Lab, c *Lease) error {
			lost, err := l.AppendAll([]Part{{c, EpochRows{3, rowsOf(3, 3)}}})
			return errors.Join(err, none(len(lost)))
		},
		"delete after": func(_ *Lab, c *Lease) error { return c.DeleteAfter(1) },
		"beat":         func(_ *Lab, c *Lease) error { return c.Beat() },
		"collect": func(l *Lab, _ *Lease) error {
			if err := os.MkdirAll(l.RunDir(hashOf(7)), 0o777); err != nil {
				return err
			}
			_, err := l.GC()
			return err
		},
		"release":      func(l *Lab, _ *Lease) error { return l.Release(two) },
		"work":         func(l *Lab, _ *Lease) error { return l.write(forgetWork) },
		"drop":         func(l *Lab, _ *Lease) error { return (&Snapshot{lab: l}).Drop(one) },
		"restart":      func(l *Lab, _ *Lease) error { return (&Snapshot{lab: l}).Restart(one) },
		"finish":       func(_ *Lab, c *Lease) error { return c.Finish() },
		"fail":         func(_ *Lab, c *Lease) error { return c.Fail(errors.New("reason")) },
		"interrupt":    func(_ *Lab, c *Lease) error { return c.Interrupt() },
		"remote":       func(_ *Lab, c *Lease) error { return c.SetRemote(7) },
		"lab's remote": func(l *Lab, _ *Lease) error { return l.SetRemote(two, 7) },
		"forget":       func(l *Lab, _ *Lease) error { return l.ForgetRemotes(0) },
		"save study": func(l *Lab, _ *Lease) error {
			return l.SaveStudy("other", "t", "s", []Member{{Spec: spec(1)}, {Spec: spec(8)}})
		},
		"cancel": func(l *Lab, _ *Lease) error { return l.Cancel(two) },
		"reopen": func(l *Lab, _ *Lease) error { return l.Tidy(one, func() error { return nil }) },
		"label":  func(l *Lab, _ *Lease) error { return l.SetLabel(one, "label") },
		"tag":    func(l *Lab, _ *Lease) error { return l.Tag(one, "another") },
		"untag":  func(l *Lab, _ *Lease) error { return l.Untag(one, "tag") },
		"remark": func(l *Lab, _ *Lease) error { return l.SetRemark("study", "others") },
		"measured": func(l *Lab, _ *Lease) error {
			_, err := l.AddMeasured(one, many(2), Program{Version: "1", Kernel: "generic"}, "features/2")
			return err
		},
		"no remark":  func(l *Lab, _ *Lease) error { return l.SetRemark("study", "") },
		"stop study": func(l *Lab, _ *Lease) error { return l.CancelStudy("study") },
		"open study": func(l *Lab, _ *Lease) error { return l.OpenStudy("study") },
		"retry":      func(l *Lab, _ *Lease) error { _, err := l.RetryStudy("study"); return err },
		"no study":   func(l *Lab, _ *Lease) error { return l.RemoveStudy("study") },
		"archive":    func(l *Lab, _ *Lease) error { return l.ArchiveStudy("study", true) },
		"rename":     func(l *Lab, _ *Lease) error { return l.RenameStudy("study", "renamed", "s") },
	}
}

func none(n int) error {
	if n > 0 {
		return errors.New("a lease is lost")
	}
	return nil
}

// many are more rows than one statement takes.
func many(epoch int64) (rows []Value) {
	for i := range int64(2*chunk + 3) {
		rows = append(rows, Value{Key: Key{"epoch", "train", "", fmt.Sprint("m", i)}, Step: epoch, Value: float64(i)})
	}
	return rows
}

// TestAChangeIsWholeOrNone lets each call of every change fail in turn: there is an error that says why, and the tables are as they were.
// Asked again, the change is made.
func TestAChangeIsWholeOrNone(t *testing.T) {
	all := changes(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f := &failing{}
		l := studied(t, f)
		now := time.Now()
		l.now = func() time.Time { return now }
		c, _, err := l.Lease(spec(3))
		if err != nil {
			t.Fatal(err)
		}
		before := tables(t, l)
		f.each(t, l, name, func() error { return all[name](l, c) }, func(what string, err error) {
			if !errors.Is(err, errDisk) {
				t.Errorf("%s fails: %v", what, err)
			}
			if now := tables(t, l); now != before {
				t.Fatalf("%s fails, and the lab has changed:\n%s\nwas\n%s", what, now, before)
			}
		})
		if name != "beat" && name != "reopen" && name != "retry" && name != "open study" && name != "forget" && name != "collect" && tables(t, l) == before {
			t.Errorf("%s changes nothing", name)
		}
	}
}

// TestTakingAndFinishingTellEveryFailure: rows that are taken from another run, and a copy that gets its name, are several transactions; each failed
// call of them is the error, and a copy that is not finished is no lab.
func TestTakingAndFinishingTellEveryFailure(t *testing.T) {
	f := &failing{}
	l := studied(t, f)
	c, _, err := l.Lease(spec(3))
	if err != nil {
		t.Fatal(err)
	}
	f.each(t, l, "taking rows", func() error { return c.TakeRows(hashOf(1), 2, "epoch") }, func(what string, err error) {
		if !errors.Is(err, errDisk) {
			t.Errorf("%s fails: %v", what, err)
		}
	})
	if rows, err := l.Values(c.Hash); err != nil || len(rows) != 5 { // one was measured later
		t.Errorf("%d rows are taken, %v", len(rows), err)
	}
	for at := 1; ; at++ {
		f := &failing{}
		l := studied(t, f)
		l.Reader.dir = t.TempDir() // where the copy would get its name
		f.at, f.armed = at, true
		err := (&Snapshot{Reader: l.Reader, lab: l, part: l.path}).Finish()
		if f.n < at {
			if err != nil {
				t.Errorf("no call fails: %v", err)
			}
			if at < 4 {
				t.Errorf("finishing makes %d calls", f.n)
			}
			break
		}
		if _, named := os.Stat(databasePath(l.dir)); !errors.Is(err, errDisk) || !errors.Is(named, os.ErrNotExist) {
			t.Errorf("call %d fails: %v; the copy: %v", at, err, named)
		}
	}
}

// TestWhatAnAttemptSays: when it began, where and with which program.
func TestWhatAnAttemptSays(t *testing.T) {
	now := newClock()
	l := openAt(t, t.TempDir(), Options{Now: now.Now})
	c := leased(t, l, spec(1))
	must(t, c.AppendEpoch(1, []Value{{Key: Key{Series: "epoch", Measure: "a"}, Step: 1, Value: math.Inf(-1)}, {Key: Key{Series: "epoch", Measure: "b"}, Step: 1, Value: math.Inf(1)}}))
	list, err := l.Attempts(c.Hash)
	if err != nil || len(list) != 1 || !list[0].Started.Equal(now.Now()) || list[0].Generation != 1 || list[0].Host == "" || list[0].Program != spec(1).Program {
		t.Errorf("%+v, %v", list, err)
	}
	values, err := l.Values(c.Hash)
	if err != nil || len(values) != 2 || values[0].Missing != infinite || values[1].Missing != infinite || values[0].Value != 0 {
		t.Errorf("infinite values are %+v, %v", values, err)
	}
	if n, first, err := l.Infinite(c.Hash); n != 0 || first != 0 || err != nil {
		t.Errorf("%d infinite values are stored, %v", n, err)
	}
}

// TestLeasingIsWholeOrNone: a lease that fails is none, so that the run can be leased, and its folder is there afterwards.
func TestLeasingIsWholeOrNone(t *testing.T) {
	for name, lease := range map[string]func(l *Lab) (*Lease, Run, error){
		"claim":   func(l *Lab) (*Lease, Run, error) { return l.Lease(spec(2)) },
		"again":   func(l *Lab) (*Lease, Run, error) { return l.Again(spec(1)) },
		"new run": func(l *Lab) (*Lease, Run, error) { return l.Lease(spec(7)) },
	} {
		f := &failing{}
		l := studied(t, f)
		var c *Lease
		f.each(t, l, name, func() (err error) { c, _, err = lease(l); return err }, func(what string, err error) {
			if !errors.Is(err, errDisk) || c != nil {
				t.Fatalf("%s fails: %v, %v", what, c, err)
			}
			if held := l.Held(hashOf(2)); held != nil {
				t.Fatalf("%s fails, and the run is held: %v", what, held)
			}
		})
		if _, err := filepath.EvalSymlinks(c.Dir); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if rows, err := l.Values(c.Hash); err != nil || (len(rows) > 0) != (name == "claim") {
			t.Errorf("%s: %d rows, %v", name, len(rows), err)
		}
	}
}
