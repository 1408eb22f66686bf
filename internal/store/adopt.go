package store

import (
	"database/sql"
	"fmt"
	"slices"
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

// Finished reads a run that is done; *NotDoneError for any other.
func (r *Reader) Finished(hash string) (f Finished, err error) {
	if f.Run, err = r.Run(hash); err != nil {
		return f, err
	}
	if f.Run.Status != Done {
		return f, &NotDoneError{hash, f.Run.Status}
	}
	if real := Hash(f.Run.Kind, f.Run.Config); real != hash {
		return f, fmt.Errorf("store: run %.12s of %s has the configuration of another run", hash, r.dir)
	}
	if f.rows, err = r.RowsAfter(hash, beforeAll); err != nil {
		return f, err
	}
	f.attempts, err = collect(r, func(scan func(...any) error) (a attempt, err error) {
		p := &a.program
		return a, scan(&a.generation, &a.started, &a.host, &p.Version, &p.Kernel, &p.GOOS, &p.GOARCH, &p.GOAMD64, &p.CPU)
	}, `SELECT generation, started, host, version, kernel, goos, goarch, goamd64, cpu FROM attempt
		WHERE run = (SELECT id FROM run WHERE hash = ?) ORDER BY generation`, hash)
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
	return f, err
}

// Adopt makes the leased run the one that was computed elsewhere, with the times and the programs of there, and gives up the lease, in one
// transaction. Earlier attempts at the run leave the tables; the caller has replaced their files.
func (c *Lease) Adopt(f Finished) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.lab.Moved(); err != nil {
		return err
	}
	fresh := map[Key]int64{}
	err := c.fenced(func(tx *sql.Tx) error {
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
		err = execute(tx, "UPDATE run SET status = ?, error = '', generation = ?, created = min(created, ?), finished = ?, remote = 0 WHERE id = ?",
			Done, generation, f.Run.Created.UnixMilli(), f.Run.Finished.UnixMilli(), c.run)
		if err != nil {
			return err
		}
		return execute(tx, "DELETE FROM claim WHERE run = ?", c.run)
	})
	if err == nil {
		c.givenUp = true
		c.lab.learn(fresh)
	}
	return err
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
