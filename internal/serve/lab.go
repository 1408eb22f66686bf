package serve

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"collapse.example/collapse/internal/store"
)

// lab is a lab that may be created, vanish or be replaced while it is served.
type lab struct {
	dir string

	mu     sync.RWMutex
	reader *store.Reader // nil while there is no lab
	file   os.FileInfo   // the file that reader has open
	why    error         // why reader is nil
	opened int           // counts readers

	watching sync.Mutex
	watch    *store.Watch // of reader; nil until it is needed
	changes  int          // that watch has seen
}

// version tells states of the lab apart: as long as it is the same, so is everything in the lab's tables.
type version struct{ opened, changes int }

// version is the state of the lab that work, to which read has lent the reader, will find, or an earlier one.
func (l *lab) version() (version, error) {
	l.watching.Lock()
	defer l.watching.Unlock()
	if l.watch == nil {
		watch, err := l.reader.Watch()
		if err != nil {
			return version{}, err
		}
		l.watch = watch
		l.changes++
	}
	changed, err := l.watch.Changed()
	if changed {
		l.changes++
	}
	return version{l.opened, l.changes}, err
}

// forget closes the reader, if there is one. The caller holds mu.
func (l *lab) forget() (err error) {
	if l.watch != nil {
		err = l.watch.Close()
		l.watch = nil
	}
	if l.reader != nil {
		err = errors.Join(err, l.reader.Close())
		l.reader = nil
	}
	return err
}

// goneError says that there is no lab to read.
type goneError struct{ error }

func (e goneError) Unwrap() error { return e.error }

func openLab(dir string) *lab {
	l := &lab{dir: dir}
	l.check()
	return l
}

// check opens the lab if it exists, and closes one that is no longer the file of that name.
func (l *lab) check() {
	now, err := os.Stat(filepath.Join(l.dir, "lab.sqlite"))
	l.mu.RLock()
	same := err == nil && l.reader != nil && os.SameFile(now, l.file)
	l.mu.RUnlock()
	if same {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget() // its file is gone: nothing to save
	if errors.Is(err, os.ErrNotExist) {
		l.why = goneError{fmt.Errorf("there is no lab in %s now; collapse demo, train and study run make one (with the same --lab), and this page continues once there is one", l.dir)}
		return
	}
	if err != nil {
		l.why = goneError{err}
		return
	}
	if l.reader, l.why = store.OpenReader(l.dir); l.why != nil {
		l.reader, l.why = nil, goneError{l.why}
		return
	}
	l.file = now
	l.opened++
}

// read lends the reader for one short task.
func (l *lab) read(work func(*store.Reader) error) error {
	l.check()
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.reader == nil {
		return l.why
	}
	return work(l.reader)
}

// ofLab is what one short task finds in the lab.
func ofLab[T any](l *lab, work func(*store.Reader) (T, error)) (found T, err error) {
	err = l.read(func(r *store.Reader) (err error) {
		found, err = work(r)
		return err
	})
	return found, err
}

// interrupt ends what is being read, with an error.
func (l *lab) interrupt() {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.reader != nil {
		l.reader.Interrupt()
	}
}

func (l *lab) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reader == nil {
		return nil
	}
	l.why = goneError{errors.New("the server has stopped")}
	return l.forget()
}
