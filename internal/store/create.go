package store

import (
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// newSuffix follows the name of a database that is being created, and precedes the number of the creating process.
const newSuffix = ".new-"

// create creates the database at path unless the file exists. It is created under another name and renamed when complete: a process
// that is killed meanwhile leaves no lab, and the next one starts again.
func create(path string) error {
	sweepNew(path)
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return nil // prepare reports what is wrong with it, if anything
	}
	made := path + newSuffix + strconv.Itoa(os.Getpid()) + "-" + rand.Text()[:8]
	defer removeDatabase(made)
	db, err := openDatabase(made, writing)
	if err != nil {
		return err
	}
	err = prepare(db, made)
	atStep("new database")
	if err := closeWhole(db, made, err); err != nil {
		return err
	}
	atStep("whole database")
	err = os.Link(made, path)
	switch {
	case err == nil:
		atStep("named")
		return syncDir(filepath.Dir(path))
	case errors.Is(err, os.ErrExist): // another process was faster
		return nil
	case errors.Is(err, syscall.EPERM) || errors.Is(err, errors.ErrUnsupported):
		return nil // a file system without links: prepare creates the database in place
	}
	return fmt.Errorf("store: making the lab: %w", err)
}

// closeWhole closes a database after its log has been merged into the file, which then may get another name. To close it would do that, too, but
// does not say whether it was done.
func closeWhole(db *sql.DB, path string, err error) error {
	if err == nil {
		if _, err = db.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
			err = fmt.Errorf("store: %s: %w", path, err)
		}
	}
	return errors.Join(err, db.Close())
}

// sweepNew removes databases that processes of this host were creating when they were killed.
func sweepNew(path string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return // opening the database reports that
	}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), filepath.Base(path)+newSuffix)
		maker, _, _ := strings.Cut(rest, "-")
		if pid, err := strconv.Atoi(maker); ok && err == nil && ended(pid, "") {
			os.Remove(filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
}

// removeDatabase removes a database with the files that SQLite keeps next to it.
func removeDatabase(path string) {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		os.Remove(path + suffix)
	}
}

// makeFolders makes a folder and those above it, and the names of the new ones durable.
func makeFolders(dir string) error {
	var made []string
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, os.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		made = append(made, at)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("store: making the lab: %w", err)
	}
	for _, folder := range slices.Backward(made) {
		if err := syncDir(filepath.Dir(folder)); err != nil {
			return err
		}
	}
	return nil
}

// syncDir makes the entries of a folder durable, where folders can be synced.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) && !os.IsPermission(err) {
		return fmt.Errorf("store: syncing %s: %w", path, err)
	}
	return nil
}
