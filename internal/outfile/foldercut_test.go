package outfile

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestFolderCutShort: if the process ends between two files, the old index is there, and the next call mends the rest.
func TestFolderCutShort(t *testing.T) {
	dir := t.TempDir()
	pages(t, dir, files{"index.html": "old", "figures/a.svg": "a"})
	s, err := At(dir, "a page").begin()
	if err != nil {
		t.Fatal(err)
	}
	for name, words := range map[string]string{"figures/a.svg": "b", "index.html": "new"} {
		if err := s.put(name, text(words)); err != nil {
			t.Fatal(err)
		}
	}
	s.order = []string{"figures/a.svg", "index.html"}
	c, err := s.compare()
	if err != nil {
		t.Fatal(err)
	}
	first, err := s.spoolList(s.known(c))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.root.Remove(s.puts["index.html"].spool); err != nil { // what would be renamed last
		t.Fatal(err)
	}
	if err := s.apply(c, first, "no list"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	s.end()
	holds(t, filepath.Join(dir, "index.html"), "old")
	holds(t, filepath.Join(dir, "figures", "a.svg"), "b")
	pages(t, dir, files{"index.html": "newest", "figures/a.svg": "c"})
	if got := listed(t, dir); len(got) != 2 {
		t.Errorf("listed: %q", got)
	}
}

// TestFolderThatIsNotWritten: an error, or a context that ends, leaves the folder as it was, also one that was not there.
func TestFolderThatIsNotWritten(t *testing.T) {
	above := t.TempDir()
	dir := filepath.Join(above, "out")
	failed := errors.New("no page today")
	fill := func(f *Files) error {
		if err := f.PutBytes("index.html", []byte("new")); err != nil {
			t.Fatal(err)
		}
		return failed
	}
	if err := At(dir, "a page").Write(fill); !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
	alone(t, above)
	pages(t, dir, files{"index.html": "old"})
	before := snapshot(t, above)
	if err := At(dir, "a page").Write(fill); !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	to, err := New(ctx, io.Discard).Folder("--out", dir, "a page", "index.html")
	if err != nil {
		t.Fatal(err)
	}
	err = to.Write(func(f *Files) error { defer stop(); return f.PutBytes("index.html", []byte("new")) })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := At(dir, "a page").Write(func(f *Files) error { return f.PutBytes("../x", nil) }); err == nil {
		t.Error("a file outside the folder was taken")
	}
	if err := At(dir, "a page").Add("../x", nil); err == nil || !strings.Contains(err.Error(), "does not stand for a file in a folder") {
		t.Errorf("a file outside the folder was added: %v", err)
	}
	same(t, above, before)
	var none *Folder
	if err := none.Write(fill); err != nil {
		t.Error(err)
	}
}

// TestLeftovers: new files of a process that was killed go, those of one that lives stay; a program that exits takes its own along.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	old, young := filepath.Join(dir, spoolName+"old"), filepath.Join(dir, spoolName+"young")
	plant(t, dir, files{spoolName + "old/1": "x", spoolName + "young/1": "x"})
	if err := os.Chtimes(old, time.Now(), time.Now().Add(-2*left)); err != nil {
		t.Fatal(err)
	}
	pages(t, dir, files{"index.html": "old"})
	alone(t, dir, ListName, filepath.Base(young), "index.html")
	s, err := At(dir, "a page").begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.put("index.html", text("new")); err != nil {
		t.Fatal(err)
	}
	Finish()
	writing.Unlock()
	alone(t, dir, ListName, filepath.Base(young), "index.html")
	s.end()
}
