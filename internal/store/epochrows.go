package store

import (
	"cmp"
	"database/sql"
	"errors"
	"slices"
)

// EpochRows are the rows that one transaction of a run wrote.
type EpochRows struct {
	Epoch int64
	Rows  []Value
}

// RowsAfter returns a run's rows of epochs later than epoch, by epoch. Passing each to Lease.AppendEpoch of another lab makes a
// copy.
func (r *Reader) RowsAfter(hash string, epoch int64) ([]EpochRows, error) {
	var all []EpochRows
	_, err := collect(r, func(scan func(...any) error) (struct{}, error) {
		var e int64
		var v Value
		var x sql.NullFloat64
		err := scan(&e, &v.Series, &v.Split, &v.Layer, &v.Measure, &v.Step, &x, &v.Missing)
		v.Value, v.Missing = finite(x.Float64, v.Missing)
		if n := len(all); n == 0 || all[n-1].Epoch != e {
			all = append(all, EpochRows{Epoch: e})
		}
		last := &all[len(all)-1]
		last.Rows = append(last.Rows, v)
		_, err = withinBounds(v.Key, err)
		return struct{}{}, err
	}, `SELECT v.epoch, s.series, s.split, s.layer, s.measure, v.step, v.value, coalesce(v.missing, '')
		FROM value v JOIN series s ON s.id = v.series
		WHERE v.run = (SELECT id FROM run WHERE hash = ?) AND v.epoch > ?
		ORDER BY v.epoch, s.id, v.step`, hash, epoch)
	return all, err
}

// Part is what AppendAll writes under one lease; without rows it is only a heartbeat.
type Part struct {
	Lease *Lease
	EpochRows
}

// AppendAll does AppendEpoch for many leases in one transaction. A part whose lease is lost is skipped, and its lease returned.
func (l *Lab) AppendAll(parts []Part) (lost []*Lease, err error) {
	leases := heldLeases(parts)
	for _, c := range leases {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.givenUp {
			panic("store: write through a lease that was given up")
		}
	}
	var fresh map[Key]int64
	err = l.writePatiently(func(tx *sql.Tx) error {
		held := map[*Lease]bool{}
		for _, c := range leases {
			err := c.fence(tx)
			if err != nil && !errors.Is(err, ErrLost) {
				return err
			}
			held[c] = err == nil
		}
		lost, fresh = nil, map[Key]int64{}
		for c, ok := range held {
			if !ok {
				lost = append(lost, c)
			}
		}
		kept := slices.DeleteFunc(slices.Clone(parts), func(p Part) bool { return !held[p.Lease] })
		for _, p := range kept {
			if len(p.Rows) > 0 {
				if err := noteEpoch(tx, p.Lease, p.Epoch); err != nil {
					return err
				}
			}
		}
		return l.insertParts(tx, kept, fresh)
	})
	if err != nil {
		return nil, err
	}
	for _, c := range lost {
		c.lose()
	}
	l.learn(fresh)
	return lost, nil
}

// insertParts writes the rows of parts whose leases still hold. Keys that are new to the lab go to fresh: see learn.
func (l *Lab) insertParts(tx *sql.Tx, parts []Part, fresh map[Key]int64) error {
	var rows []row
	for _, p := range parts {
		ids, err := l.seriesIDs(tx, p.Rows, fresh)
		if err != nil {
			return err
		}
		rows = appendRows(rows, p.Lease.run, p.Epoch, p.Rows, ids)
	}
	return insertRows(tx, rows)
}

// heldLeases lists the leases of the parts once each, in the same order for all callers.
func heldLeases(parts []Part) []*Lease {
	var leases []*Lease
	for _, p := range parts {
		leases = append(leases, p.Lease)
	}
	slices.SortFunc(leases, func(a, b *Lease) int {
		return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.Generation, b.Generation))
	})
	return slices.Compact(leases)
}

// noteEpoch records the newest epoch for which a run has rows.
func noteEpoch(tx *sql.Tx, c *Lease, epoch int64) error {
	return execute(tx, "UPDATE run SET last_epoch = max(?, coalesce(last_epoch, ?)) WHERE id = ?", epoch, epoch, c.run)
}

// SetRemote records the generation of the worker elsewhere whose rows come next under this lease.
func (c *Lease) SetRemote(generation uint64) error {
	return c.write(func(tx *sql.Tx) error {
		return execute(tx, "UPDATE run SET remote = ? WHERE id = ?", int64(generation), c.run)
	})
}

// SetRemote is Lease.SetRemote for the coordinator of the lab's studies while it does not hold the run's lease.
func (l *Lab) SetRemote(hash string, generation uint64) error {
	return l.write(func(tx *sql.Tx) error {
		return execute(tx, "UPDATE run SET remote = ? WHERE hash = ?", int64(generation), hash)
	})
}

// ForgetRemotes resets generations recorded by SetRemote to 0 if they are above a given one and their run has not ended: they belong
// to a queue that is gone.
func (l *Lab) ForgetRemotes(above uint64) error {
	return l.write(func(tx *sql.Tx) error {
		return execute(tx, "UPDATE run SET remote = 0 WHERE status IN (?, ?, ?) AND remote > ?", Pending, Running, Interrupted, int64(above))
	})
}

// Remote returns what SetRemote recorded last, 0 if nothing.
func (r *Reader) Remote(hash string) (uint64, error) {
	var g int64
	err := r.db.QueryRowContext(r.ctx, "SELECT remote FROM run WHERE hash = ?", hash).Scan(&g)
	return uint64(g), r.explain(r.missing(hash, err))
}

// beforeAll comes before every epoch.
const beforeAll = -1

// TakeRows replaces the rows of this run by those of another, for the given series and steps up to last. This run then continues
// from there.
func (c *Lease) TakeRows(from string, last int64, series ...string) error {
	list, err := c.lab.Values(from)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(v Value) bool { return !slices.Contains(series, v.Series) || v.Step > last })
	slices.SortStableFunc(list, func(a, b Value) int { return cmp.Compare(a.Step, b.Step) })
	if err := c.DeleteAfter(beforeAll); err != nil {
		return err
	}
	for len(list) > 0 {
		step := list[0].Step
		n := leading(list, func(v Value) bool { return v.Step == step })
		if err := c.AppendEpoch(step, list[:n]); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}
