package store

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"collapse.example/collapse/internal/jail"
)

// Lease is the right to write to one run, held by one process at a time. Each lease of a run has a higher generation than the one
// before; a write by an older generation changes nothing and returns ErrLost. Files are not protected by it: call Beat before
// renaming a checkpoint into place.
//
// Its methods may be called from any goroutine. The first call of Finish, Fail or Interrupt counts: calling one of them again does
// nothing, so `defer lease.Interrupt()` is fine; writing afterwards panics.
type Lease struct {
	Hash       string
	Dir        string // RunDir(Hash), which exists
	Generation int64

	lab  *Lab
	run  int64 // its row number
	lost chan struct{}

	mu      sync.Mutex // held for a whole write, so that giving up and beating do not overlap
	givenUp bool
	isLost  bool
}

// Ensure adds the run to the lab as Pending if it is missing, adds the tags it lacks, and returns its row. The label of an existing
// run is kept, unless it is empty.
func (l *Lab) Ensure(s Spec) (Run, error) {
	config, err := s.check()
	if err != nil {
		return Run{}, err
	}
	var run Run
	err = l.write(func(tx *sql.Tx) error {
		_, run, err = l.ensure(tx, s, config)
		return err
	})
	return run, err
}

// check returns the canonical configuration.
func (s Spec) check() ([]byte, error) {
	if !s.Kind.known() {
		panic("store: unknown kind of run")
	}
	config, err := Canonical(s.Config)
	if err == nil && config[0] != '{' {
		err = fmt.Errorf("store: configuration: want a JSON object, found %.20s", config)
	}
	return config, err
}

func (l *Lab) ensure(tx *sql.Tx, s Spec, config []byte) (int64, Run, error) {
	hash := Hash(s.Kind, config)
	err := execute(tx, `INSERT INTO run (hash, kind, config, status, label, created) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (hash) DO UPDATE SET label = excluded.label WHERE label = ''`,
		hash, s.Kind, string(config), Pending, s.Label, l.now().UnixMilli())
	if err != nil {
		return 0, Run{}, err
	}
	for _, name := range s.Tags {
		if err := execute(tx, `INSERT INTO tag (run, name) SELECT id, ? FROM run WHERE hash = ? ON CONFLICT DO NOTHING`, name, hash); err != nil {
			return 0, Run{}, err
		}
	}
	return scanRun(tx.QueryRow(selectRun+"WHERE hash = ?", hash).Scan)
}

// Lease makes this process the one that works on the run, and adds the run if the lab lacks it.
//
// It returns ErrDone if the run is already finished, *HeldError if another process works on it. A lease is taken over from a process
// that is seen to be dead on this host, or that has been silent for Options.Stale, or whose heartbeat is further than that in the
// future. The Run, valid in all three cases, is the row as it was before: its Status, LastEpoch and Program tell how far an earlier
// attempt got, and where (Ensure tells without leasing). Rows of an earlier attempt stay until Lease.DeleteAfter.
func (l *Lab) Lease(s Spec) (*Lease, Run, error) { return l.lease(s, false) }

// Again is Lease for a new attempt at a run in any state, done or not: its values, attempts and files are deleted.
func (l *Lab) Again(s Spec) (*Lease, Run, error) { return l.lease(s, true) }

func (l *Lab) lease(s Spec, again bool) (*Lease, Run, error) {
	config, err := s.check()
	if err == nil {
		err = l.Moved()
	}
	if err != nil {
		return nil, Run{}, err
	}
	var c *Lease
	var before Run
	var voidFolder bool
	err = l.writePatiently(func(tx *sql.Tx) error {
		var id int64
		if id, before, err = l.ensure(tx, s, config); err != nil {
			return err
		}
		if err := l.free(tx, id, before.Hash); err != nil {
			return err
		}
		if before.Status == Done && !again {
			return ErrDone
		}
		if voidFolder, err = l.void(tx, id, before.Hash, again); err != nil {
			return err
		}
		c = &Lease{Hash: before.Hash, Dir: l.RunDir(before.Hash), Generation: before.Generation + 1, lab: l, run: id, lost: make(chan struct{})}
		return l.take(tx, c, s.Program)
	})
	if err != nil {
		return nil, before, err
	}
	atStep("claimed")
	if voidFolder {
		if err := l.finishRemoval(before.Hash); err != nil {
			return nil, before, errors.Join(err, c.Interrupt())
		}
	}
	if err := l.makeFolder(before.Hash); err != nil {
		return nil, before, errors.Join(fmt.Errorf("store: %w", err), c.Interrupt())
	}
	return c, before, nil
}

// rowsOnly is the file in a run's folder that says that its other files were left behind (rundir.Dir.RowsOnly).
const rowsOnly = "rows-only"

// makeFolder makes the folder of a run, or makes sure that one that is there has no links that lead out of it.
func (l *Lab) makeFolder(hash string) error {
	if err := jail.Check(l.RunDir(hash)); err != nil {
		return err
	}
	return l.inRuns(func(runs *os.Root) error {
		if err := runs.MkdirAll(hash, 0o777); err != nil {
			return err
		}
		err := runs.Remove(filepath.Join(hash, rowsOnly)) // from now on its files are computed here
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	})
}

// void reports whether the folder of a run that is being leased has to be deleted: because the run starts over, or because a
// process that was to delete it was killed. The tables record this from the commit on, so the folder is never gone while they call
// the run done.
func (l *Lab) void(tx *sql.Tx, run int64, hash string, again bool) (bool, error) {
	if again {
		atStep("clearing")
		return true, errors.Join(clearRun(tx, run), noteRemoval(tx, hash))
	}
	var noted bool
	err := tx.QueryRow("SELECT EXISTS (SELECT 1 FROM removal WHERE folder = ?)", hash).Scan(&noted)
	return noted, err
}

// freeRun returns *NotFoundError if there is no such run, and *HeldError if a process that may be alive holds it.
func (l *Lab) freeRun(tx *sql.Tx, hash string) error {
	var id int64
	if err := l.missing(hash, tx.QueryRow("SELECT id FROM run WHERE hash = ?", hash).Scan(&id)); err != nil {
		return err
	}
	return l.free(tx, id, hash)
}

// free returns *HeldError if a process that may be alive holds the run.
func (l *Lab) free(tx *sql.Tx, run int64, hash string) error {
	return free(tx, run, hash, l.self, l.now(), l.stale)
}

func free(db querier, run int64, hash string, self process, now time.Time, stale time.Duration) error {
	var holder process
	var beat int64
	err := db.QueryRow("SELECT host, host_id, pid, pid_started, heartbeat FROM claim WHERE run = ?", run).
		Scan(&holder.host, &holder.hostID, &holder.pid, &holder.started, &beat)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	last := time.UnixMilli(beat)
	// A heartbeat from the future was written before the clock was set back: a living process has written another since, or will
	// within seconds. If a process was wrongly taken for dead, its writes change nothing.
	if silence := now.Sub(last); self.knowsDead(holder) || silence > stale || silence < -stale {
		return nil
	}
	return &HeldError{Hash: hash, Host: holder.host, PID: holder.pid, Heartbeat: last}
}

// clearRun deletes what earlier attempts at a run left in the tables.
func clearRun(tx *sql.Tx, run int64) error {
	for _, query := range []string{
		"DELETE FROM value WHERE run = ?", "DELETE FROM attempt WHERE run = ?", "UPDATE run SET last_epoch = NULL WHERE id = ?",
	} {
		if err := execute(tx, query, run); err != nil {
			return err
		}
	}
	return nil
}

// take records that this process works on c's run.
func (l *Lab) take(tx *sql.Tx, c *Lease, p Program) error {
	now := l.now().UnixMilli()
	err := execute(tx, "UPDATE run SET status = ?, error = '', finished = NULL, generation = ? WHERE id = ?", Running, c.Generation, c.run)
	if err != nil {
		return err
	}
	err = execute(tx, "INSERT OR REPLACE INTO claim (run, generation, host, host_id, pid, pid_started, heartbeat) VALUES (?, ?, ?, ?, ?, ?, ?)",
		c.run, c.Generation, l.self.host, l.self.hostID, l.self.pid, l.self.started, now)
	if err != nil {
		return err
	}
	return execute(tx, "INSERT INTO attempt (run, generation, started, host, version, kernel, goos, goarch, goamd64, cpu) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		c.run, c.Generation, now, l.self.host, p.Version, p.Kernel, p.GOOS, p.GOARCH, p.GOAMD64, p.CPU)
}
