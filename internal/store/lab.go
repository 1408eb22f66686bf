package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"collapse.example/collapse/internal/inputfile"
	"collapse.example/collapse/internal/jail"
)

// busyWait is how long a writer waits for another process's transaction, and a reader for a recovery. Tests wait less.
var busyWait = 10 * time.Second

// writing are the parameters of a connection that writes. Its temporary tables stay in memory, so that a write opens no file: it must
// not fail because this process has too many open.
const writing = "_txlock=immediate&_pragma=foreign_keys(1)&_pragma=synchronous(full)&_pragma=temp_store(memory)"

// stale is the default of Options.Stale.
const stale = time.Minute

// Options change how a lab is opened. The zero value is right for programs.
type Options struct {
	// Now is the clock of leases and time stamps. Default time.Now.
	Now func() time.Time
	// Stale is the silence after which a lease may be taken over from a process that is not known to be dead. Default 60 s;
	// heartbeats come every sixth of it.
	Stale time.Duration
	// Context ends the waiting of leases, and of writes through them, for another process that holds the lab's write lock, which a
	// suspended process may do indefinitely. Default context.Background().
	Context context.Context
	// Waiting is called from time to time with what such a write waits for. May be nil.
	Waiting func(*BusyError)
}

// Lab is a lab opened for writing, over one connection. It is also a Reader. Its methods may be called from any goroutine.
type Lab struct {
	*Reader
	db    *sql.DB
	now   func() time.Time
	stale time.Duration
	self  process
	ctx   context.Context

	waiting func(*BusyError)

	mu   sync.Mutex
	keys map[Key]int64 // committed rows of table series, which never change
}

// Reader reads a lab; any number of processes may do so while others write. Every method is one short read transaction, so it sees
// each epoch whole or not at all, and holds nothing when it returns.
type Reader struct {
	dir        string
	path       string      // of the database
	file       os.FileInfo // the database as it was opened; nil if it could not be looked at
	db         *sql.DB
	ctx        context.Context // of every query: ends with Interrupt
	interrupt  context.CancelFunc
	statements sync.Map // query → its *sql.Stmt: SQLite takes longer to parse most queries than to answer them
	names      atomic.Pointer[map[int64]Key]
	schema     int // of the file; that of this program if a Lab is open
}

// Open opens the lab in dir for writing, creates it if there is none, and finishes removals that a killed process began. It refuses
// a network file system, a lab of a newer version (*NewerError), a lab.sqlite that is not a lab, and what OpenReader refuses.
func Open(dir string, opt Options) (*Lab, error) {
	if err := refuseNetwork(dir); err != nil {
		return nil, err
	}
	if err := ownFiles(dir); err != nil {
		return nil, err
	}
	if err := makeFolders(filepath.Join(dir, "runs")); err != nil {
		return nil, err
	}
	path := databasePath(dir)
	if err := regularFiles(path); err != nil {
		return nil, err
	}
	if err := create(path); err != nil {
		return nil, err
	}
	db, err := openDatabase(path, writing)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := prepare(db, path); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	r, err := OpenReader(dir)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	l := newLab(r, db, opt)
	// What cannot be finished now stays recorded for the next time; `collapse runs check` lists it.
	var foreign *ForeignRowError
	if err := l.finishRemovals(); errors.As(err, &foreign) {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func newLab(r *Reader, db *sql.DB, opt Options) *Lab {
	l := &Lab{Reader: r, db: db, now: opt.Now, stale: cmp.Or(opt.Stale, stale), self: thisProcess(), ctx: cmp.Or(opt.Context, context.Background()),
		waiting: opt.Waiting, keys: map[Key]int64{}}
	if l.now == nil {
		l.now = time.Now
	}
	if l.waiting == nil {
		l.waiting = func(*BusyError) {}
	}
	return l
}

// prepare makes an opened file ready for writing.
func prepare(db *sql.DB, path string) error {
	all := steps()
	if _, err := version(db, path, len(all)); needsWritableDir(err) {
		return readOnly(err, path)
	} else if err != nil {
		return err
	}
	if err := checkSchema(context.Background(), db, path, all); err != nil {
		return err
	}
	// Switching to WAL needs exclusive use of the file and does not wait for it by itself, which matters when two processes create
	// the same lab.
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		_, err := db.Exec("PRAGMA journal_mode = WAL")
		if err == nil {
			break
		}
		if !isBusy(err) {
			return readOnly(err, path)
		}
		if time.Since(start) > busyWait {
			return busy(path, err)
		}
	}
	atStep("write-ahead log")
	if err := migrate(db, path, all); err != nil {
		return err
	}
	return writable(db, path)
}

// writable reports early what SQLite otherwise reports at the first change: it opens a file without write permission for reading.
func writable(db *sql.DB, path string) error {
	tx, err := db.Begin()
	if isBusy(err) { // then it can be written to
		return nil
	}
	if err == nil {
		err = tx.Rollback()
	}
	if err != nil {
		return readOnly(err, path)
	}
	return nil
}

// readOnly explains SQLite's refusals to write.
func readOnly(err error, path string) error {
	if needsWritableDir(err) {
		return fmt.Errorf("store: %s cannot be written to: may this user write the file and its folder, and is the disk not mounted read-only? (%w)", path, err)
	}
	return fmt.Errorf("store: %s: %w", path, err)
}

// OpenReader opens the lab in dir, which must exist, for reading. A lab in a read-only directory can be read, too, if its last
// writer closed it. It refuses links in the place of the lab's own files (*jail.LinkError) and tables that are not those of this
// program (*SchemaError).
func OpenReader(dir string) (*Reader, error) {
	path := databasePath(dir)
	if _, err := os.Stat(path); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("store: there is no lab in %s (%w); --lab or COLLAPSE_LAB sets its folder, and the first run creates it", dir, err)
		}
		return nil, fmt.Errorf("store: %w", err)
	}
	if err := errors.Join(ownFiles(dir), regularFiles(path)); err != nil {
		return nil, err
	}
	all := steps()
	known := len(all)
	db, err := openDatabase(path, "mode=ro")
	if err != nil {
		return nil, err
	}
	v, err := version(db, path, known)
	if needsWritableDir(err) && emptyOrMissing(path+"-wal") {
		db.Close()
		if db, err = openDatabase(path, "mode=ro&immutable=1"); err != nil {
			return nil, err
		}
		v, err = version(db, path, known)
	}
	if err == nil && v == 0 && isEmpty(db) {
		db.Close()
		if err := finishCreation(dir); err != nil {
			return nil, err
		}
		return OpenReader(dir)
	}
	if err == nil && v < readable {
		err = fmt.Errorf("store: %s has schema %d, older than this program's %d; any command that writes, such as `collapse runs gc`, brings it up to date", path, v, known)
	}
	if err == nil {
		err = checkSchema(context.Background(), db, path, all)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return newReader(dir, path, db, v), nil
}

func newReader(dir, path string, db *sql.DB, schema int) *Reader {
	ctx, interrupt := context.WithCancel(context.Background())
	r := &Reader{dir: dir, path: path, db: db, ctx: ctx, interrupt: interrupt, schema: schema}
	if info, err := os.Stat(path); err == nil {
		r.file = info
	}
	return r
}

// Interrupt ends the queries under way, and all later ones, with an error.
func (r *Reader) Interrupt() { r.interrupt() }

// ownFiles refuses links among the lab's own files, but for those that this user allows.
func ownFiles(dir string) error {
	if err := jail.Top(dir, "lab.sqlite", "runs", "queue"); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// finishCreation turns an empty file, left by a process that was killed while creating a lab, into a lab.
func finishCreation(dir string) error {
	l, err := Open(dir, Options{})
	if err != nil {
		return fmt.Errorf("%s is empty, as a process leaves it that was killed while it made the lab, and cannot be made whole: %w", databasePath(dir), err)
	}
	return l.Close()
}

// readable is the oldest schema that can be read without migration: later additions only matter to writers.
const readable = 2

func emptyOrMissing(path string) bool {
	info, err := os.Stat(path)
	return errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0
}

// regularFiles refuses a database, or a log of one, that is not a regular file: SQLite would wait for a pipe.
func regularFiles(path string) error {
	for _, p := range []string{path, path + "-wal", path + "-shm", path + "-journal"} {
		if info, err := os.Stat(p); err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("store: %w", &inputfile.KindError{Path: p, Mode: info.Mode()})
		}
	}
	return nil
}

func databasePath(dir string) string { return filepath.Join(dir, "lab.sqlite") }

// Dir returns the directory of the lab.
func (r *Reader) Dir() string { return r.dir }

// RunDir returns the directory for a run's files. It exists once the run has been leased.
func (r *Reader) RunDir(hash string) string { return filepath.Join(r.dir, "runs", hash) }

// Close closes the lab for reading.
func (r *Reader) Close() error {
	r.interrupt()
	return r.db.Close()
}

// Close closes the lab. Leases that are still held stay, and look dead once the process has ended.
func (l *Lab) Close() error { return errors.Join(l.Reader.Close(), l.db.Close()) }
