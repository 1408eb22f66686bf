package store

import (
	"bytes"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Finished is all that the tables of a lab know of a run that is done: what Lease.Adopt takes over in another lab.
type Finished struct {
	Run      Run
	rows     []EpochRows
	attempts []attempt
	later    []later
}

type attempt struct {
	generation, started int64
	host                string
	program             Program
}

// later is where a value comes from that was measured after the run had ended.
type later struct {
	key                     Key
	step, made              int64
	version, kernel, source string
	instead                 sql.NullString
}

// Finished reads a run that is done; *NotDoneError for any other. The lab may be a stranger's: what no program of this kind writes is an error.
func (r *Reader) Finished(hash string) (f Finished, err error) {
	if f.Run, err = r.Run(hash); err != nil {
		return f, err
	}
	if f.Run.Status != Done {
		return f, &NotDoneError{hash, f.Run.Status}
	}
	if err := f.plausible(); err != nil {
		return f, err
	}
	if f.rows, err = r.RowsAfter(hash, beforeAll); err != nil {
		return f, err
	}
	type place struct {
		key  Key
		step int64
	}
	has := map[place]bool{}
	for _, e := range f.rows {
		for _, v := range e.Rows {
			has[place{v.Key, v.Step}] = true
		}
	}
	f.attempts, err = collect(r, func(scan func(...any) error) (a attempt, err error) {
		p := &a.program
		return a, scan(&a.generation, &a.started, &a.host, &p.Version, &p.Kernel, &p.GOOS, &p.GOARCH, &p.GOAMD64, &p.CPU)
	}, `SELECT generation, started, host, version, kernel, goos, goarch, goamd64, cpu FROM attempt
		WHERE run = (SELECT id FROM run WHERE hash = ?) ORDER BY generation`, hash)
	if err == nil {
		err = f.plausibleAttempts()
	}
	if err != nil || r.schema < measuredLater {
		return f, err
	}
	f.later, err = collect(r, func(scan func(...any) error) (m later, err error) {
		k := &m.key
		if err := scan(&k.Series, &k.Split, &k.Layer, &k.Measure, &m.step, &m.made, &m.version, &m.kernel, &m.source, &m.instead); err != nil {
			return m, err
		}
		_, err = withinBounds(m.key, nil)
		return m, err
	}, `SELECT s.series, s.split, s.layer, s.measure, m.step, m.made, m.version, m.kernel, m.source, m.instead
		FROM measured m JOIN series s ON s.id = m.series WHERE m.run = (SELECT id FROM run WHERE hash = ?) ORDER BY s.id, m.step`, hash)
	if err != nil {
		return f, err
	}
	f.later = slices.DeleteFunc(f.later, func(m later) bool { return !has[place{m.key, m.step}] }) // measured since the rows were read
	return f, nil
}

// Bounds of what a run's row may say.
const (
	mostGenerations = 1 << 40
	latest          = 253402300799999 // the last millisecond of the year 9999
)

// plausible reports what no program of this kind writes.
func (f Finished) plausible() error {
	config, err := Canonical(json.RawMessage(f.Run.Config))
	if err != nil || !bytes.Equal(config, f.Run.Config) || Hash(f.Run.Kind, config) != f.Run.Hash {
		return errors.New("store: its configuration is not the one of its hash")
	}
	for _, words := range append(slices.Clone(f.Run.Tags), f.Run.Label) {
		if err := CheckWords(words); err != nil {
			return err
		}
	}
	if f.Run.Generation < 0 || f.Run.Generation > mostGenerations || !inTime(f.Run.Created.UnixMilli()) || f.Run.Finished.IsZero() || !inTime(f.Run.Finished.UnixMilli()) {
		return errors.New("store: its attempts or times are those of no run")
	}
	return nil
}

func inTime(ms int64) bool { return ms >= 0 && ms <= latest }

func (f Finished) plausibleAttempts() error {
	for _, a := range f.attempts {
		p := a.program
		for _, words := range []string{a.host, p.Version, p.Kernel, p.GOOS, p.GOARCH, p.GOAMD64, p.CPU} {
			if !oneLine(words, longestRemark) {
				return errors.New("store: its attempts name no program")
			}
		}
		if a.generation < 0 || a.generation > mostGenerations || !inTime(a.started) {
			return errors.New("store: its attempts or times are those of no run")
		}
	}
	return nil
}

// stagingPrefix begins the name of a folder in a lab, followed by the number of the process that fills it.
const stagingPrefix = ".merging-"

// Staging makes a folder in the lab for files of runs that Adopt puts in their places, and removes what killed processes left of theirs.
func (l *Lab) Staging() (dir string, remove func() error, err error) {
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return "", nil, fmt.Errorf("store: %w", err)
	}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), stagingPrefix)
		maker, _, _ := strings.Cut(rest, "-")
		if pid, err := strconv.Atoi(maker); ok && err == nil && ended(pid, "") {
			os.RemoveAll(filepath.Join(l.dir, e.Name()))
		}
	}
	dir = filepath.Join(l.dir, stagingPrefix+strconv.Itoa(os.Getpid())+"-"+rand.Text()[:8])
	if err := os.Mkdir(dir, 0o777); err != nil {
		return "", nil, fmt.Errorf("store: %w", err)
	}
	return dir, func() error { return os.RemoveAll(dir) }, nil
}

// Adopt makes the leased run the one that was computed elsewhere, with the times and the programs of there and the files of the folder staged,
// and gives up the lease, in one transaction. What earlier attempts left goes. After an error all is as it was, and the lease is still held.
func (c *Lease) Adopt(f Finished, staged string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Hash != f.Run.Hash {
		return errors.New("store: the lease is that of another run")
	}
	if err := c.lab.Moved(); err != nil {
		return err
	}
	fresh, in := map[Key]int64{}, exchange{lab: c.lab, hash: c.Hash, staged: staged}
	err := c.fenced(func(tx *sql.Tx) error {
		if err := in.undo(); err != nil {
			return err
		}
		clear(fresh)
		if err := c.adoptTables(tx, f, fresh); err != nil {
			return err
		}
		return in.do(tx) // while nobody else can lease the run
	})
	if err != nil {
		return errors.Join(err, in.undo())
	}
	c.givenUp = true
	c.lab.learn(fresh)
	return c.lab.emptyTrash(c.Hash)
}

// exchange puts a staged folder in the place of a run's.
type exchange struct {
	lab          *Lab
	hash, staged string
	aside, in    bool
}

func (x *exchange) do(tx *sql.Tx) error {
	if err := noteRemoval(tx, trashPrefix+x.hash); err != nil {
		return err
	}
	x.aside = true
	if err := x.lab.trash(x.hash); err != nil {
		return err
	}
	atStep("moved aside")
	err := x.lab.inRuns(func(runs *os.Root) error { return os.Rename(x.staged, filepath.Join(runs.Name(), x.hash)) })
	x.in = err == nil
	return err
}

func (x *exchange) undo() error {
	return x.lab.inRuns(func(runs *os.Root) (err error) {
		if x.in {
			err = os.Rename(filepath.Join(runs.Name(), x.hash), x.staged)
			x.in = err != nil
		}
		if x.aside && err == nil {
			err = runs.Rename(trashPrefix+x.hash, x.hash)
			x.aside = false
		}
		return err
	})
}

// Release gives the lease up as if it had never been taken: before is the run as Lease returned it. A run that the lab did not have goes.
func (c *Lease) Release(before Run, had bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	finished := sql.NullInt64{Int64: before.Finished.UnixMilli(), Valid: !before.Finished.IsZero()}
	err := c.fenced(func(tx *sql.Tx) error {
		if !had {
			return execute(tx, "DELETE FROM run WHERE id = ? AND id NOT IN (SELECT run FROM study_run)", c.run)
		}
		if err := execute(tx, "DELETE FROM attempt WHERE run = ? AND generation = ?", c.run, c.Generation); err != nil {
			return err
		}
		if err := execute(tx, "UPDATE run SET status = ?, error = ?, finished = ?, generation = ? WHERE id = ?", storedStatus(before), before.Error, finished, before.Generation, c.run); err != nil {
			return err
		}
		return execute(tx, "DELETE FROM claim WHERE run = ?", c.run)
	})
	if err == nil || errors.Is(err, ErrLost) {
		c.givenUp = true
	}
	if err == nil && !had {
		c.lab.inRuns(func(runs *os.Root) error { return runs.Remove(c.Hash) }) // the empty folder that Lease made
	}
	return err
}

// storedStatus is the status of a run whose process may have been killed, as tables have it while nobody computes it.
func storedStatus(before Run) Status {
	if before.Status == Running {
		return Interrupted
	}
	return before.Status
}

// adoptTables replaces what the tables have of the run.
func (c *Lease) adoptTables(tx *sql.Tx, f Finished, fresh map[Key]int64) error {
	if err := clearRun(tx, c.run); err != nil {
		return err
	}
	if err := c.adoptRows(tx, f, fresh); err != nil {
		return err
	}
	generation, err := c.adoptAttempts(tx, f)
	if err != nil {
		return err
	}
	for _, name := range f.Run.Tags {
		if err := execute(tx, "INSERT INTO tag (run, name) VALUES (?, ?) ON CONFLICT DO NOTHING", c.run, name); err != nil {
			return err
		}
	}
	err = execute(tx, "UPDATE run SET label = iif(label = '', ?, label), status = ?, error = '', generation = ?, created = min(created, ?), finished = ?, remote = 0 WHERE id = ?",
		f.Run.Label, Done, generation, f.Run.Created.UnixMilli(), f.Run.Finished.UnixMilli(), c.run)
	if err != nil {
		return err
	}
	return execute(tx, "DELETE FROM claim WHERE run = ?", c.run)
}

func (c *Lease) adoptRows(tx *sql.Tx, f Finished, fresh map[Key]int64) error {
	var parts []Part
	for _, e := range f.rows {
		parts = append(parts, Part{c, e})
	}
	if err := c.lab.insertParts(tx, parts, fresh); err != nil {
		return err
	}
	if f.Run.HasEpochs {
		if err := noteEpoch(tx, c, f.Run.LastEpoch); err != nil {
			return err
		}
	}
	for _, m := range f.later {
		ids, err := c.lab.seriesIDs(tx, []Value{{Key: m.key}}, fresh)
		if err != nil {
			return err
		}
		err = execute(tx, "INSERT INTO measured (run, series, step, made, version, kernel, source, instead) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			c.run, ids[0], m.step, m.made, m.version, m.kernel, m.source, m.instead)
		if err != nil {
			return err
		}
	}
	return nil
}

// adoptAttempts returns the run's generation, which never becomes smaller: the last attempt has it.
func (c *Lease) adoptAttempts(tx *sql.Tx, f Finished) (generation int64, err error) {
	attempts := slices.Clone(f.attempts)
	generation = c.Generation
	if n := len(attempts); n > 0 {
		generation = max(generation, attempts[n-1].generation)
		attempts[n-1].generation = generation
	}
	for _, a := range attempts {
		p := a.program
		err := execute(tx, "INSERT INTO attempt (run, generation, started, host, version, kernel, goos, goarch, goamd64, cpu) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			c.run, a.generation, a.started, a.host, p.Version, p.Kernel, p.GOOS, p.GOARCH, p.GOAMD64, p.CPU)
		if err != nil {
			return 0, err
		}
	}
	return generation, nil
}
