package outfile

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// files are names with slashes, and what they hold.
type files map[string]string

// writePage writes a folder as commands write pages: the index last.
func writePage(ctx context.Context, dir string, page files) error {
	to, err := New(ctx, io.Discard).Folder("--out", dir, "a page")
	if err != nil {
		return err
	}
	return to.Write(func(f *Files) error {
		names := slices.SortedFunc(maps.Keys(page), func(a, b string) int {
			return strings.Compare(strings.ReplaceAll(a, "index.html", "~"), strings.ReplaceAll(b, "index.html", "~"))
		})
		for _, name := range names {
			if err := f.PutBytes(name, []byte(page[name])); err != nil {
				return err
			}
		}
		return nil
	})
}

func pages(t *testing.T, dir string, page files) {
	t.Helper()
	if err := writePage(t.Context(), dir, page); err != nil {
		t.Fatal(err)
	}
}

// plant makes files of a user.
func plant(t *testing.T, dir string, of files) {
	t.Helper()
	for name, words := range of {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		hold(t, filepath.Join(dir, name), words, 0o644)
	}
}

func link(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Skip(err)
	}
}

// snapshot is all that is below a folder: contents, links, folders.
func snapshot(t *testing.T, dir string) files {
	t.Helper()
	all := files{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		name = filepath.ToSlash(name)
		switch {
		case d.IsDir():
			all[name+"/"] = ""
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			all[name], err = os.Readlink(path)
			return err
		}
		text, err := os.ReadFile(path)
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func same(t *testing.T, dir string, before files) {
	t.Helper()
	if after := snapshot(t, dir); !maps.Equal(after, before) {
		t.Errorf("the folder has changed:\n%q\nwas\n%q", after, before)
	}
}

func listed(t *testing.T, dir string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, ListName))
	if err != nil {
		t.Fatal(err)
	}
	l, kind, err := parseList(text)
	if err != nil || kind != "a page" {
		t.Fatal(kind, err)
	}
	for name, sums := range l {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || len(sums) != 1 || sums[0] != sha256.Sum256(b) {
			t.Errorf("%s is not as the list says: %v", name, err)
		}
	}
	return slices.Sorted(maps.Keys(l))
}

// TestFolderAgain: what is made again replaces, what is not made any more goes, what is as it shall be is not touched.
func TestFolderAgain(t *testing.T) {
	dir := t.TempDir()
	pages(t, dir, files{"index.html": "one", "figures/a.svg": "a", "figures/b.svg": "b", "runs/x/index.html": "x"})
	if got := listed(t, dir); !slices.Equal(got, []string{"figures/a.svg", "figures/b.svg", "index.html", "runs/x/index.html"}) {
		t.Errorf("listed: %q", got)
	}
	long := time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := errors.Join(os.Chtimes(filepath.Join(dir, "figures", "a.svg"), long, long), os.Chmod(filepath.Join(dir, "index.html"), 0o600)); err != nil {
		t.Fatal(err)
	}
	pages(t, dir, files{"index.html": "two", "figures/a.svg": "a"})
	holds(t, filepath.Join(dir, "index.html"), "two")
	if got := listed(t, dir); !slices.Equal(got, []string{"figures/a.svg", "index.html"}) {
		t.Errorf("listed: %q", got)
	}
	for name, ok := range map[string]func(os.FileInfo) bool{
		"figures/a.svg": func(i os.FileInfo) bool { return i.ModTime().Equal(long) },
		"index.html":    func(i os.FileInfo) bool { return i.Mode().Perm() == 0o600 },
	} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !ok(info) {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
	alone(t, dir, ListName, "figures", "index.html")
	alone(t, filepath.Join(dir, "figures"), "a.svg")
	if err := At(dir, "a page").Add("result.json", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if got := listed(t, dir); !slices.Equal(got, []string{"figures/a.svg", "index.html", "result.json"}) {
		t.Errorf("listed: %q", got)
	}
}

// TestWhatAUserOwns writes a page into folders that hold files of a user: what is in the way is named, and nothing is written; what is not,
// stays.
func TestWhatAUserOwns(t *testing.T) {
	page := files{"index.html": "new", "figures/a.svg": "a", "figures/b.svg": "b"}
	older := files{"index.html": "old", "figures/a.svg": "a", "figures/gone.svg": "gone"}
	for name, c := range map[string]struct {
		before  files // written by the program
		prepare func(t *testing.T, dir string)
		inWay   []string
		stays   files
	}{
		"a page of another program":     {prepare: func(t *testing.T, dir string) { plant(t, dir, files{"index.html": "mine"}) }, inWay: []string{"index.html"}},
		"some figures":                  {prepare: func(t *testing.T, dir string) { plant(t, dir, files{"figures/a.svg": "mine", "figures/b.svg": "too"}) }, inWay: []string{"figures/a.svg", "figures/b.svg"}},
		"files that are not in the way": {older, func(t *testing.T, dir string) { plant(t, dir, files{"figures/mine.svg": "mine", ".git/HEAD": "x"}) }, nil, files{"figures/mine.svg": "mine", ".git/HEAD": "x"}},
		"the same files, not listed":    {prepare: func(t *testing.T, dir string) { plant(t, dir, page) }},
		"an older page, not listed":     {prepare: func(t *testing.T, dir string) { plant(t, dir, older) }, inWay: []string{"index.html"}},
		"a page that was changed since": {older, func(t *testing.T, dir string) { plant(t, dir, files{"index.html": "edited"}) }, []string{"index.html"}, nil},
		"an old figure that was changed": {older, func(t *testing.T, dir string) { plant(t, dir, files{"figures/gone.svg": "edited"}) }, nil,
			files{"figures/gone.svg": "edited"}},
		"a page that was removed": {older, func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, "index.html")) }, nil, nil},
		"a folder for a file":     {prepare: func(t *testing.T, dir string) { plant(t, dir, files{"figures/a.svg/x": "mine"}) }, inWay: []string{"figures/a.svg"}},
		"a file for a folder":     {prepare: func(t *testing.T, dir string) { plant(t, dir, files{"figures": "mine"}) }, inWay: []string{"figures/a.svg", "figures/b.svg"}},
		"a link for a file": {older, func(t *testing.T, dir string) {
			os.Remove(filepath.Join(dir, "index.html"))
			link(t, "../outside/index.html", filepath.Join(dir, "index.html"))
		}, []string{"index.html"}, nil},
		"a link to nothing": {prepare: func(t *testing.T, dir string) {
			os.Mkdir(dir, 0o777)
			link(t, "../outside/new", filepath.Join(dir, "index.html"))
		}, inWay: []string{"index.html"}},
		"a link for a folder": {older, func(t *testing.T, dir string) {
			os.RemoveAll(filepath.Join(dir, "figures"))
			link(t, "../outside", filepath.Join(dir, "figures"))
		},
			[]string{"figures/a.svg", "figures/b.svg"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			above := t.TempDir()
			dir := filepath.Join(above, "out")
			plant(t, filepath.Join(above, "outside"), files{"index.html": "old", "gone.svg": "gone"}) // as the list has them
			if c.before != nil {
				pages(t, dir, c.before)
			}
			c.prepare(t, dir)
			before := snapshot(t, above)
			err := writePage(t.Context(), dir, page)
			if len(c.inWay) > 0 {
				var foreign *ForeignError
				if !errors.As(err, &foreign) || !slices.Equal(foreign.Names, c.inWay) || foreign.Unlisted != (c.before == nil) || !strings.HasPrefix(err.Error(), "--out "+dir) || !strings.Contains(err.Error(), "another folder") {
					t.Errorf("%v, want that %q are in the way", err, c.inWay)
				}
				same(t, above, before)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := maps.Clone(page)
			maps.Copy(want, c.stays)
			got := snapshot(t, dir)
			maps.DeleteFunc(got, func(name, _ string) bool { return strings.HasSuffix(name, "/") || name == ListName })
			if !maps.Equal(got, want) {
				t.Errorf("there is %q, want %q", got, want)
			}
			if got := listed(t, dir); !slices.Equal(got, slices.Sorted(maps.Keys(page))) {
				t.Errorf("listed: %q", got)
			}
		})
	}
}

// TestTheLastOfTwoFilesOfANameCounts, in the place of the first.
func TestTheLastOfTwoFilesOfANameCounts(t *testing.T) {
	dir := t.TempDir()
	err := At(dir, "a page").Write(func(f *Files) error {
		for _, name := range []string{"a", "b", "a"} {
			if err := f.PutBytes(name, []byte(name+" again")); err != nil {
				return err
			}
		}
		return f.PutBytes("a", []byte("last"))
	})
	if err != nil {
		t.Fatal(err)
	}
	holds(t, filepath.Join(dir, "a"), "last")
	if got := listed(t, dir); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("listed: %q", got)
	}
	alone(t, dir, ListName, "a", "b")
}

// TestFolderNeverTakesAnInput: a file of the folder that the command reads is neither replaced nor removed.
func TestFolderNeverTakesAnInput(t *testing.T) {
	dir := t.TempDir()
	pages(t, dir, files{"index.html": "old", "figures/fit.csv": "1"})
	before := snapshot(t, dir)
	for _, page := range []files{{"index.html": "new"}, {"index.html": "new", "figures/fit.csv": "2"}} {
		o := New(t.Context(), io.Discard)
		o.Reads(filepath.Join(dir, "figures", "fit.csv"))
		to, err := o.Folder("--out", dir, "a page", "index.html")
		if err != nil {
			t.Fatal(err)
		}
		var wrong *MisuseError
		err = to.Write(func(f *Files) error {
			for name, words := range page {
				if err := f.PutBytes(name, []byte(words)); err != nil {
					return err
				}
			}
			return nil
		})
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "reads that file") {
			t.Errorf("%v, want that the command reads it", err)
		}
		same(t, dir, before)
	}
}
