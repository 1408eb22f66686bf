//go:build unix

package arrayfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// changing writes an .npy of n numbers and opens it.
func changing(t *testing.T, n int) (string, *File) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "h.npy")
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(i)
	}
	writeNPY(t, path, values)
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return path, f
}

func writeNPY(t *testing.T, path string, values []float32) {
	t.Helper()
	w, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(WriteNPY(w, Of("", []int{len(values)}, values)), w.Close()); err != nil {
		t.Fatal(err)
	}
}

// wantChanged checks that err is a *ChangedError that names the file.
func wantChanged(t *testing.T, err error, words ...string) {
	t.Helper()
	var changed *ChangedError
	if !errors.As(err, &changed) {
		t.Fatalf("error %v; want a *ChangedError", err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}

func TestChangedSinceOpened(t *testing.T) {
	const n = 3000
	for name, c := range map[string]struct {
		change func(t *testing.T, path string)
		want   string
	}{
		"cut by a byte":  {func(t *testing.T, path string) { truncate(t, path, 4*n+127) }, "12128 bytes at first, 12127 now"},
		"cut to nothing": {func(t *testing.T, path string) { truncate(t, path, 0) }, "12128 bytes at first, 0 now"},
		"cut, with the old time": {func(t *testing.T, path string) {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			truncate(t, path, 500)
			if err := os.Chtimes(path, time.Time{}, info.ModTime()); err != nil {
				t.Fatal(err)
			}
		}, "12128 bytes at first, 500 now"},
		"longer": {func(t *testing.T, path string) { truncate(t, path, 1<<20) }, "1048576 now"},
		"overwritten": {func(t *testing.T, path string) {
			overwrite(t, path)
		}, "last written at"},
		"removed, then cut": {func(t *testing.T, path string) {
			w, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			if err := errors.Join(os.Remove(path), w.Truncate(5)); err != nil {
				t.Fatal(err)
			}
		}, "5 now"},
	} {
		t.Run(name, func(t *testing.T) {
			path, f := changing(t, n)
			if err := f.Changed(); err != nil {
				t.Fatal(err)
			}
			c.change(t, path)
			wantChanged(t, f.Changed(), path, c.want)
		})
	}
}

func truncate(t *testing.T, path string, size int64) {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

// overwrite writes other numbers of the same size, at a later time, since clocks of file systems are coarse.
func overwrite(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.WriteAt([]byte{1, 2, 3, 4}, info.Size()-4)
	if err := errors.Join(err, w.Close(), os.Chtimes(path, time.Time{}, info.ModTime().Add(time.Millisecond))); err != nil {
		t.Fatal(err)
	}
}

// A file whose name now belongs to another file is still what was opened.
func TestReplacedIsNotChanged(t *testing.T) {
	path, f := changing(t, 3000)
	writeNPY(t, path+".new", []float32{7})
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	if err := f.Changed(); err != nil {
		t.Error(err)
	}
	a, err := f.Load("")
	if v, _ := a.Float32s(); err != nil || len(v) != 3000 || v[2999] != 2999 {
		t.Errorf("%v, %d numbers", err, len(v))
	}
}

// If a file changes while it is parsed, the error says so, and nothing stays open.
func TestParsingAFileThatChanges(t *testing.T) {
	path, _ := changing(t, 3000)
	m, err := mapped(path, "an array")
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err = m.parse(func() error { truncate(t, path, 100); return broken })
	wantChanged(t, err, path, "100 now")
	wantReleased(t, m)
	if m, err = mapped(path, "an array"); err != nil {
		t.Fatal(err)
	}
	if err := m.parse(func() error { return broken }); !errors.Is(err, broken) || !strings.Contains(err.Error(), "(in "+path+")") {
		t.Errorf("a broken file: %v", err)
	}
	wantReleased(t, m)
	truncate(t, path, 0)
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), path+" is empty") {
		t.Errorf("an empty file: %v", err)
	}
}

// wantReleased checks that a closed mapping has released its descriptor and its place in the list of live mappings.
func wantReleased(t *testing.T, m *mapping) {
	t.Helper()
	if _, err := m.file.Stat(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the file is still open (%v)", err)
	}
	mappings.Lock()
	defer mappings.Unlock()
	if _, lives := mappings.live[m]; lives {
		t.Error("the mapping is still told of faults")
	}
}

func TestReadOfAFileThatChanges(t *testing.T) {
	path, _ := changing(t, 3000)
	if err := Read(path, func(*File) error { return nil }); err != nil {
		t.Fatal(err)
	}
	own := errors.New("own")
	if err := Read(path, func(*File) error { return own }); !errors.Is(err, own) {
		t.Errorf("error %v, want that of the function", err)
	}
	err := Read(path, func(*File) error { overwrite(t, path); return own })
	wantChanged(t, err, path)
	if err := Read(path, func(*File) error { truncate(t, path, 100); return nil }); err == nil {
		t.Error("a cut file was read")
	}
	if err := Read(path, func(*File) error { return nil }); err == nil || !strings.Contains(err.Error(), "(in "+path+")") {
		t.Errorf("a broken file: %v", err)
	}
}
