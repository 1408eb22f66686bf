package store

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
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

// inRuns gives do the folder runs, out of which nothing leads. Only names that isFolder knows are ever renamed or removed there.
func (r *Reader) inRuns(do func(runs *os.Root) error) error {
	if err := ownFiles(r.dir); err != nil {
		return err
	}
	runs, err := os.OpenRoot(filepath.Join(r.dir, "runs"))
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer runs.Close()
	return do(runs)
}

// trash renames the folder of a run, if it exists.
func (l *Lab) trash(hash string) error {
	if !isHash(hash) {
		panic("store: a folder that is no run's is to be moved aside")
	}
	return l.inRuns(func(runs *os.Root) error {
		if _, err := runs.Lstat(hash); errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err := runs.RemoveAll(trashPrefix + hash); err != nil { // left from an earlier removal that is still under way
			return err
		}
		return runs.Rename(hash, trashPrefix+hash)
	})
}

// removeTrash deletes what trash left.
func (l *Lab) removeTrash(hash string) error {
	if !isHash(hash) {
		panic("store: a folder that is no run's is to be deleted")
	}
	return l.inRuns(func(runs *os.Root) error { return runs.RemoveAll(trashPrefix + hash) })
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
	if err := l.removeTrash(hash); err != nil {
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

// removals lists the folders that are to be deleted.
func (r *Reader) removals() ([]string, error) {
	return collect(r, func(scan func(...any) error) (name string, err error) { return name, scan((*folderColumn)(&name)) }, "SELECT folder FROM removal")
}

// finishRemovals finishes removals left by processes that were killed. Otherwise the table lists only those under way.
func (l *Lab) finishRemovals() error {
	folders, err := l.removals()
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

// Leftovers returns the names of the folders below runs that belong to no run, as killed processes leave them, and of what is there
// besides: the program has not made that, and leaves it alone.
func (r *Reader) Leftovers() (left, foreign []string, err error) {
	known, err := collectMap[string, bool](r, "SELECT hash, true FROM run")
	if err != nil {
		return nil, nil, err
	}
	var entries []fs.DirEntry
	err = r.inRuns(func(runs *os.Root) (err error) {
		entries, err = fs.ReadDir(runs.FS(), ".")
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	for _, e := range entries {
		switch {
		case e.IsDir() && known[e.Name()]:
		case e.IsDir() && isFolder(e.Name()):
			left = append(left, e.Name())
		default:
			foreign = append(foreign, e.Name())
		}
	}
	return left, foreign, nil
}

// GC deletes every folder under runs that belongs to no run, such as one that a killed Remove left, and returns their names. What has
// another name than a run's folder is not the program's.
func (l *Lab) GC() ([]string, error) {
	var names []string
	// During a write transaction no process can add a run, whose directory comes after its row.
	err := l.write(func(*sql.Tx) error {
		left, _, err := l.Leftovers()
		for _, name := range left {
			names = append(names, name)
			if isHash(name) {
				if err := l.trash(name); err != nil {
					return err
				}
			}
		}
		return err
	})
	for _, name := range names {
		err = errors.Join(err, l.removeTrash(strings.TrimPrefix(name, trashPrefix)))
	}
	if err != nil {
		return names, fmt.Errorf("store: cleaning up: %w", err)
	}
	return names, nil
}
