package store

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// trashPrefix marks directories on their way out: renamed while the tables change, deleted after.
const trashPrefix = ".trash-"

// trashed is a run's directory that was moved aside. The zero value is none.
type trashed struct{ home, now string }

// trash moves a run's directory aside, if there is one.
func (l *Lab) trash(name string) (trashed, error) {
	home := filepath.Join(l.dir, "runs", name)
	if _, err := os.Lstat(home); errors.Is(err, os.ErrNotExist) {
		return trashed{}, nil
	}
	now, err := os.MkdirTemp(filepath.Join(l.dir, "runs"), trashPrefix)
	if err != nil {
		return trashed{}, err
	}
	if err := os.Rename(home, filepath.Join(now, name)); err != nil {
		return trashed{}, errors.Join(err, os.Remove(now))
	}
	return trashed{home: home, now: now}, nil
}

func (t trashed) putBack() error {
	if t.now == "" {
		return nil
	}
	return errors.Join(os.Rename(filepath.Join(t.now, filepath.Base(t.home)), t.home), os.Remove(t.now))
}

func (t trashed) remove() error {
	if t.now == "" {
		return nil
	}
	return os.RemoveAll(t.now)
}

// Remove deletes a run, given by its whole hash, with its values and files. *NotFoundError;
// *HeldError if a process that may be alive works on it.
func (l *Lab) Remove(hash string) error {
	var trash trashed
	err := l.write(func(tx *sql.Tx) error {
		var id int64
		err := tx.QueryRow("SELECT id FROM run WHERE hash = ?", hash).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return &NotFoundError{Prefix: hash, Dir: l.dir}
		}
		if err != nil {
			return err
		}
		if err := l.free(tx, id, hash); err != nil {
			return err
		}
		if _, err := tx.Exec("DELETE FROM run WHERE id = ?", id); err != nil {
			return err
		}
		trash, err = l.trash(hash)
		return err
	})
	if err != nil {
		return errors.Join(err, trash.putBack())
	}
	return trash.remove()
}

// GC deletes every directory under runs that belongs to no run, such as one a killed Remove left,
// and returns their names.
func (l *Lab) GC() ([]string, error) {
	var names []string
	var gone []trashed
	// Within a write transaction no process can add a run; its directory comes after its row.
	err := l.write(func(tx *sql.Tx) error {
		entries, err := os.ReadDir(filepath.Join(l.dir, "runs"))
		if err != nil {
			return err
		}
		for _, e := range entries {
			var known bool
			if err := tx.QueryRow("SELECT EXISTS (SELECT 1 FROM run WHERE hash = ?)", e.Name()).Scan(&known); err != nil {
				return err
			}
			if known || !e.IsDir() {
				continue
			}
			names = append(names, e.Name())
			if strings.HasPrefix(e.Name(), trashPrefix) {
				gone = append(gone, trashed{now: filepath.Join(l.dir, "runs", e.Name())})
				continue
			}
			t, err := l.trash(e.Name())
			gone = append(gone, t)
			if err != nil {
				return err
			}
		}
		return nil
	})
	for _, t := range gone {
		err = errors.Join(err, t.remove())
	}
	if err != nil {
		return names, fmt.Errorf("store: cleaning up: %w", err)
	}
	return names, nil
}
