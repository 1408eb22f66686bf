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
	if l.reader != nil {
		l.reader.Close() // its file is gone: nothing to save
		l.reader = nil
	}
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
	err := l.reader.Close()
	l.reader, l.why = nil, goneError{errors.New("the server has stopped")}
	return err
}
