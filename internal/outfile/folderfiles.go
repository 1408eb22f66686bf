package outfile

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Files takes what a folder shall hold. Everything is written beside first, and takes its place, in the order of Put, when all of it is
// whole: what shows the others, such as a page, is put last. It is safe for concurrent use.
type Files struct {
	*spooled
	below string // a folder inside the folder, with a slash at its end
}

// spooled is a folder that is being written.
type spooled struct {
	inside
	to    *Folder
	dir   string // a folder in the folder, for new files
	old   list
	mu    sync.Mutex
	made  int
	order []string
	puts  map[string]newFile
	kept  map[string]bool
	lock  *os.File
	first bool // the folder was not there before
}

// newFile is what is put.
type newFile struct {
	spool string
	sum   digest
}

// spoolName begins the name of a folder for new files.
const spoolName = ".collapse-new-"

// left is after what time without a new file such a folder belongs to a process that was killed.
const left = time.Hour

// live are the folders of this process that are being written.
var live sync.Map

// Write makes the folder hold the files that fill puts, and of those that the program wrote there before none but these. What the program
// did not write stays. If fill fails, or the disk is full, the folder is as it was.
func (f *Folder) Write(fill func(*Files) error) error {
	if f == nil {
		return nil
	}
	s, err := f.begin()
	if err != nil {
		return f.named(err)
	}
	defer s.end()
	if err := fill(&Files{s, ""}); err != nil {
		return err
	}
	return f.named(s.commit())
}

// Add puts one more file into the folder.
func (f *Folder) Add(name string, data []byte) error {
	return f.Write(func(files *Files) error {
		for name := range files.old {
			files.Keep(name)
		}
		return files.PutBytes(name, data)
	})
}

// begin opens the folder, once other processes that write it have ended, and a folder in it for new files.
func (f *Folder) begin() (*spooled, error) {
	_, missing := os.Stat(f.path)
	if err := os.MkdirAll(f.path, 0o777); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(f.path)
	if err != nil {
		return nil, err
	}
	s := &spooled{inside: inside{root, f.of.ctx}, to: f, puts: map[string]newFile{}, kept: map[string]bool{}, first: missing != nil}
	if s.lock, err = root.Open("."); err == nil {
		err = lockFolder(f.of.ctx, s.lock)
	}
	if err == nil {
		s.old, err = s.list(f.kind)
	}
	if err == nil {
		err = s.makeRoom()
	}
	if err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

// makeRoom makes the folder for new files.
func (s *spooled) makeRoom() error {
	writing.RLock()
	defer writing.RUnlock()
	s.sweep()
	s.dir = spoolName + strconv.FormatUint(rand.Uint64(), 36)
	if err := s.root.Mkdir(s.dir, 0o777); err != nil {
		return fmt.Errorf("the folder takes no new file: %w", cause(err))
	}
	live.Store(s, nil)
	return nil
}

// sweep removes what processes left that were killed. It is not needed for what follows.
func (s *spooled) sweep() {
	entries, _ := fs.ReadDir(s.root.FS(), ".")
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.IsDir() && strings.HasPrefix(e.Name(), spoolName) && time.Since(info.ModTime()) > left {
			_ = s.root.RemoveAll(e.Name())
		}
	}
}

// end removes what is not needed any more.
func (s *spooled) end() {
	writing.RLock()
	defer writing.RUnlock()
	live.Delete(s)
	if s.dir != "" {
		_ = s.root.RemoveAll(s.dir)
	}
	if s.lock != nil {
		_ = s.lock.Close()
	}
	_ = s.root.Close()
	if s.first {
		_ = os.Remove(s.to.path) // nothing was written, if it is empty
	}
}

// Path is the name that a file will have.
func (f *Files) Path(name string) string {
	return filepath.Join(f.to.path, filepath.FromSlash(f.below+name))
}

// Below are the files of a folder inside the folder.
func (f *Files) Below(name string) *Files { return &Files{f.spooled, f.below + name + "/"} }

// Listed reports whether the program wrote a file of that name.
func (f *Files) Listed(name string) bool { return len(f.old[f.below+name]) > 0 }

// Keep says that a file which the program wrote before stays.
func (f *Files) Keep(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept[f.below+name] = true
}

// PutBytes is Put for a file that is whole in memory.
func (f *Files) PutBytes(name string, data []byte) error {
	return f.Put(name, content(data))
}

// Put takes a file; name may have slashes.
func (f *Files) Put(name string, write func(io.Writer) error) error {
	if err := f.put(f.below+name, write); err != nil {
		return fmt.Errorf("writing %s: %w", f.Path(name), cause(err))
	}
	return nil
}

func (s *spooled) put(name string, write func(io.Writer) error) error {
	if !listable(name) {
		return fmt.Errorf("the name %q does not stand for a file in a folder", name)
	}
	sum := sha256.New()
	spool, err := s.spool(func(w io.Writer) error { return write(io.MultiWriter(w, sum)) })
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, again := s.puts[name]; !again {
		s.order = append(s.order, name)
	}
	s.puts[name] = newFile{spool, digest(sum.Sum(nil))}
	return nil
}

// spool writes a new file and returns its name.
func (s *spooled) spool(write func(io.Writer) error) (name string, err error) {
	writing.RLock()
	defer writing.RUnlock()
	s.mu.Lock()
	s.made++
	name = path.Join(s.dir, strconv.Itoa(s.made))
	s.mu.Unlock()
	to, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return "", err
	}
	if err = buffered(s.ctx, to, write); err == nil {
		err = flush(to)
	}
	return name, errors.Join(err, cause(to.Close()))
}
