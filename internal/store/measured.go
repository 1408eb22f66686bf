package store

import (
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Measured says where values of a run come from that were measured after it had ended.
type Measured struct {
	Epoch           int64
	Values          int // how many numbers
	Made            time.Time
	Version, Kernel string // of the program that measured
	Source          string // what was measured, below the run's folder
}

// NotDoneError is returned for a run that has not finished, where only finished ones can be meant.
type NotDoneError struct {
	Hash   string
	Status Status
}

func (e *NotDoneError) Error() string {
	return fmt.Sprintf("store: run %.12s is %s, not done", e.Hash, e.Status)
}

// AddMeasured adds values to a finished run, with where they come from, in one transaction. What the run has stays as it is; a value that
// it lacks for a reason is replaced by one. It returns how many numbers were added.
func (l *Lab) AddMeasured(hash string, rows []Value, p Program, source string) (added int, err error) {
	var fresh map[Key]int64
	err = l.writePatiently(func(tx *sql.Tx) error {
		var run int64
		var status Status
		if err := l.missing(hash, tx.QueryRow("SELECT id, status FROM run WHERE hash = ?", hash).Scan(&run, &status)); err != nil {
			return err
		}
		if status != Done {
			return &NotDoneError{hash, status}
		}
		fresh = map[Key]int64{}
		ids, err := l.seriesIDs(tx, rows, fresh)
		if err != nil {
			return err
		}
		lacking, reasons, err := lacks(tx, run, rows, ids)
		if err != nil {
			return err
		}
		for _, r := range lacking {
			if r.value != nil {
				added++
			}
		}
		if err := insertRows(tx, lacking); err != nil {
			return err
		}
		return noteMeasured(tx, lacking, reasons, l.now().UnixMilli(), p, source)
	})
	if err != nil {
		return 0, err
	}
	l.learn(fresh)
	return added, nil
}

// lacks returns the rows that tell a run something new, and for each why the run had no value, if it had a row.
func lacks(tx *sql.Tx, run int64, rows []Value, ids []int64) (list []row, reasons []sql.NullString, err error) {
	has, err := tx.Prepare("SELECT missing FROM value WHERE run = ? AND series = ? AND step = ?")
	if err != nil {
		return nil, nil, err
	}
	defer has.Close()
	for i, v := range rows {
		value, missing := cell(v)
		var why sql.NullString
		switch err := has.QueryRow(run, ids[i], v.Step).Scan(&why); {
		case errors.Is(err, sql.ErrNoRows), err == nil && why.Valid && value != nil:
			list, reasons = append(list, row{run, ids[i], v.Step, v.Step, value, missing}), append(reasons, why)
		case err != nil:
			return nil, nil, err
		}
	}
	return list, reasons, nil
}

func noteMeasured(tx *sql.Tx, rows []row, reasons []sql.NullString, now int64, p Program, source string) error {
	note, err := tx.Prepare("INSERT OR REPLACE INTO measured (run, series, step, made, version, kernel, source, instead) VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	defer note.Close()
	for i, r := range rows {
		if _, err := note.Exec(r.run, r.series, r.step, now, p.Version, p.Kernel, source, reasons[i]); err != nil {
			return err
		}
	}
	return nil
}

// measuredLater is the first schema that knows of values that were measured later.
const measuredLater = 5

// MeasuredLater returns where values of a run come from that were measured after it had ended, by epoch.
func (r *Reader) MeasuredLater(hash string) ([]Measured, error) {
	if r.schema < measuredLater {
		return nil, nil
	}
	return collect(r, func(scan func(...any) error) (m Measured, err error) {
		var made int64
		err = scan(&m.Epoch, &m.Values, &made, &m.Version, &m.Kernel, &m.Source)
		m.Made = time.UnixMilli(made)
		return m, err
	}, `SELECT step, count(value), made, version, kernel, source FROM measured JOIN value USING (run, series, step)
		WHERE run = (SELECT id FROM run WHERE hash = ?) GROUP BY step, made, version, kernel, source HAVING count(value) > 0 ORDER BY step, made`, hash)
}
