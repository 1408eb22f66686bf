package store

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// trashPrefix marks folders that are being deleted. A folder is renamed at once; deleting it, which may take long, comes after.
const trashPrefix = ".trash-"

// noteRemoval records in a transaction that the folder of a run is void from its commit on. finishRemoval does the rest.
func noteRemoval(tx *sql.Tx, hash string) error {
	return execute(tx, "INSERT OR IGNORE INTO removal (folder) VALUES (?)", hash)
}

// moveAside renames the folder of a run if it was recorded as void. It runs in a write transaction, so that nobody fills a folder of
// that name meanwhile; if the commit fails, the record is still there and a renamed folder loses nothing.
func (l *Lab) moveAside(tx *sql.Tx, hash string) error {
	res, err := tx.Exec("DELETE FROM removal WHERE folder = ?", hash)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err
	}
	if err := noteRemoval(tx, trashPrefix+hash); err != nil {
		return err
	}
	err = l.trash(hash)
	atStep("moved aside")
	return err
}

// trash renames a folder below runs, if it exists.
func (l *Lab) trash(name string) error {
	from, to := filepath.Join(l.dir, "runs", name), filepath.Join(l.dir, "runs", trashPrefix+name)
	if _, err := os.Lstat(from); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := os.RemoveAll(to); err != nil { // left from an earlier removal that is still under way
		return err
	}
	return os.Rename(from, to)
}

// finishRemoval deletes the folder of a run that was recorded as void, whatever part of that is already done.
func (l *Lab) finishRemoval(hash string) error {
	if err := l.write(func(tx *sql.Tx) error { return l.moveAside(tx, hash) }); err != nil {
		return err
	}
	return l.emptyTrash(hash)
}

// emptyTrash deletes what moveAside left, and its record.
func (l *Lab) emptyTrash(hash string) error {
	path := filepath.Join(l.dir, "runs", trashPrefix+hash)
	atStep("before deleting")
	if err := os.RemoveAll(path); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	atStep("deleted")
	return l.write(func(tx *sql.Tx) error {
		if _, err := os.Lstat(path); err == nil { // another removal of the same run got this far
			return nil
		}
		return execute(tx, "DELETE FROM removal WHERE folder = ?", trashPrefix+hash)
	})
}

// finishRemovals finishes removals left by processes that were killed. Otherwise the table lists only those under way.
func (l *Lab) finishRemovals() error {
	folders, err := collect(l.Reader, func(scan func(...any) error) (name string, err error) { return name, scan(&name) }, "SELECT folder FROM removal")
	for _, folder := range folders {
		if err != nil { // such as a process that blocks all writers: do not repeat that for each
			return err
		}
		if hash, moved := strings.CutPrefix(folder, trashPrefix); moved {
			err = l.emptyTrash(hash)
		} else {
			err = l.finishRemoval(folder)
		}
	}
	return err
}

// Remove deletes a run, given by its whole hash, with its values and files. *NotFoundError; *HeldError if a process that may be
// alive works on it.
//
// The tables change first: a process killed meanwhile leaves either the whole run, or files that are deleted when the lab is next opened.
func (l *Lab) Remove(hash string) error {
	err := l.write(func(tx *sql.Tx) error {
		if err := l.freeRun(tx, hash); err != nil {
			return err
		}
		if err := execute(tx, "DELETE FROM run WHERE hash = ?", hash); err != nil {
			return err
		}
		atStep("removing")
		return noteRemoval(tx, hash)
	})
	if err != nil {
		return err
	}
	atStep("removed")
	return l.finishRemoval(hash)
}

// Leftovers returns the names of what lies below runs without being the folder of a run, and of databases whose creation was cut
// short: killed processes leave such files.
func (r *Reader) Leftovers() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(r.dir, "runs"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("store: %w", err)
	}
	known, err := collectMap[string, bool](r, "SELECT hash, true FROM run")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && !known[e.Name()] {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// GC deletes every directory under runs that belongs to no run, such as one that a killed Remove left, and returns their names.
func (l *Lab) GC() ([]string, error) {
	var names, gone []string
	// During a write transaction no process can add a run, whose directory comes after its row.
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
			trash := e.Name()
			if !strings.HasPrefix(trash, trashPrefix) {
				trash = trashPrefix + trash
				if err := l.trash(e.Name()); err != nil {
					return err
				}
			}
			gone = append(gone, trash)
		}
		return nil
	})
	for _, name := range gone {
		err = errors.Join(err, os.RemoveAll(filepath.Join(l.dir, "runs", name)))
	}
	if err != nil {
		return names, fmt.Errorf("store: cleaning up: %w", err)
	}
	return names, nil
}
