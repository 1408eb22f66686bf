//go:build unix

package outfile

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFoldersAreRefusedBeforeTheWork: a command learns what is in the way, or that a list is none, when it names its outputs.
func TestFoldersAreRefusedBeforeTheWork(t *testing.T) {
	name := func(dir string, files ...string) error {
		_, err := New(t.Context(), io.Discard).Folder("--out", dir, "a page", files...)
		return err
	}
	dir := t.TempDir()
	pages(t, dir, files{"index.html": "page", "figures/a.svg": "a"})
	if err := errors.Join(name(dir, "index.html", "figures/a.svg", "figures/new.svg"), name(filepath.Join(dir, "new"), "index.html")); err != nil {
		t.Errorf("what the program wrote is in its way: %v", err)
	}
	plant(t, dir, files{"index.html": "edited", "figures/mine.svg": "mine"})
	var foreign *ForeignError
	if err := name(dir, "index.html", "figures/a.svg", "figures/mine.svg"); !errors.As(err, &foreign) || !slices.Equal(foreign.Names, []string{"index.html", "figures/mine.svg"}) || foreign.Unlisted {
		t.Errorf("%v", err)
	}
	if err := name(t.TempDir(), "index.html"); err != nil {
		t.Errorf("an empty folder: %v", err)
	}
	plain := t.TempDir()
	plant(t, plain, files{"index.html": "mine"})
	if err := name(plain, "index.html"); !errors.As(err, &foreign) || !foreign.Unlisted {
		t.Errorf("%v", err)
	}
	plant(t, dir, files{ListName: "no list"})
	var list *ListError
	if err := name(dir, "index.html"); !errors.As(err, &list) {
		t.Errorf("%v", err)
	}
	above := t.TempDir()
	plant(t, above, files{"runs/1/x": "", "lab.sqlite": ""})
	var wrong *MisuseError
	for _, inside := range []string{"runs", "runs/1", "runs/new/page"} {
		if err := name(filepath.Join(above, inside)); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "is in the lab") {
			t.Errorf("%s: %v", inside, err)
		}
	}
	if err := name(filepath.Join(above, "page")); err != nil {
		t.Errorf("a page beside the folders of a lab: %v", err)
	}
}

// TestManyFilesInTheWay: five are named and the others counted.
func TestManyFilesInTheWay(t *testing.T) {
	err := &ForeignError{Names: []string{"a", "b", "c", "d", "e"}, folder: "out"}
	five := filepath.Join("out", "a") + ", " + filepath.Join("out", "b") + ", " + filepath.Join("out", "c") + ", " + filepath.Join("out", "d") + ", " + filepath.Join("out", "e")
	if words := err.Error(); !strings.Contains(words, five+". Nothing was written") {
		t.Error(words)
	}
	err.Names = append(err.Names, "f", "g")
	if words := err.Error(); !strings.Contains(words, five+" and 2 more files. Nothing") || strings.Contains(words, filepath.Join("out", "f")) {
		t.Error(words)
	}
}

// TestFilesBesideInputs: no file of a folder of inputs is overwritten, also through links; new ones there, and those of a folder beside it
// with a longer name, are written.
func TestFilesBesideInputs(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, files{"runs/1/x": "", "runs2/x": ""})
	link(t, "runs", filepath.Join(dir, "link"))
	for name, refuse := range map[string]bool{"runs/new": false, "runs/1/x": true, "link/1/x": true, "runs2/x": false, "runs2/new": false, "new": false} {
		o := New(t.Context(), io.Discard)
		o.ReadsBelow(filepath.Join(dir, "link"))
		f, err := o.File("--csv", filepath.Join(dir, name))
		var wrong *MisuseError
		if got := errors.As(err, &wrong); got != refuse || !refuse && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			if err := f.Write(text("rows")); err != nil {
				t.Error(err)
			}
			holds(t, filepath.Join(dir, name), "rows")
		}
	}
}

// TestNamesWithoutAFolder are in the working directory.
func TestNamesWithoutAFolder(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	link(t, "target", "link")
	mustPut(t, "new", "first")
	mustPut(t, "new", "second")
	mustPut(t, "link", "through")
	holds(t, filepath.Join(dir, "new"), "second")
	holds(t, filepath.Join(dir, "target"), "through")
	alone(t, dir, "link", "new", "target")
}

// TestWhatIsStandardOutput: a name of the file that standard output goes to is standard output; /dev/null, which holds nothing, is not.
func TestWhatIsStandardOutput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	hold(t, path, "", 0o644)
	for name, of := range map[string]struct {
		to     string
		asked  string
		stdout bool
	}{"the same": {path, path, true}, "another": {path, path + "2", false}, "a dash": {path, "-", true}, "null": {os.DevNull, os.DevNull, false}} {
		to, err := os.OpenFile(of.to, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer to.Close()
		f, err := New(t.Context(), to).File("--csv", of.asked)
		if err != nil || f.Stdout() != of.stdout {
			t.Errorf("%s: %v, %v", name, f.Stdout(), err)
		}
	}
	var none *File
	if none.Stdout() || none.Write(text("x")) != nil {
		t.Error("an output that was not asked for is written")
	}
}

// TestSocketsAreNoFiles: a name that cannot be written says what it is.
func TestSocketsAreNoFiles(t *testing.T) {
	dir, err := os.MkdirTemp("", "s") // names of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var wrong *MisuseError
	if err := put(t, path, "x"); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "is a socket") {
		t.Error(err)
	}
}

// TestPipesOfOthers: what is written to a named pipe arrives, its end is the reader's end, and errors name the pipe.
func TestPipesOfOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("mkfifo: %v", err)
	}
	read := make(chan string)
	go func() {
		b, err := os.ReadFile(path)
		if err != nil {
			b = []byte(err.Error())
		}
		read <- string(b)
	}()
	p, err := Pipe(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(p, "words"); err != nil {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if got := <-read; got != "words" {
		t.Errorf("%q came through", got)
	}
	if err := p.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
	if _, err := Pipe(t.Context(), path+"2"); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), path+"2: ") {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := Pipe(ctx, path); !errors.Is(err, context.DeadlineExceeded) { // nobody reads
		t.Error(err)
	}
}

// TestALockedFolderIsWaitedFor: until the other process is done, or the command is told to stop.
func TestALockedFolderIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	s, err := At(dir, "a page").begin()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if err := writePage(ctx, dir, files{"index.html": "x"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a folder that another process writes: %v", err)
	}
	released := time.AfterFunc(30*time.Millisecond, s.end)
	defer released.Stop()
	pages(t, dir, files{"index.html": "x"})
	holds(t, filepath.Join(dir, "index.html"), "x")
}

// TestFilesKnowTheirFolder: what was written before is known by name, also below a folder, and the list keeps its mode.
func TestFilesKnowTheirFolder(t *testing.T) {
	dir := t.TempDir()
	pages(t, dir, files{"index.html": "one", "runs/1/a.svg": "a"})
	if err := os.Chmod(filepath.Join(dir, ListName), 0o600); err != nil {
		t.Fatal(err)
	}
	err := At(dir, "a page").Write(func(f *Files) error {
		below := f.Below("runs").Below("1")
		if !f.Listed("index.html") || f.Listed("a.svg") || !below.Listed("a.svg") || below.Listed("index.html") {
			t.Error("files of the program are not known")
		}
		if got, want := below.Path("a.svg"), filepath.Join(dir, "runs", "1", "a.svg"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		below.Keep("a.svg")
		below.Keep("never.svg")
		return f.PutBytes("index.html", []byte("two"))
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := listed(t, dir); !slices.Equal(got, []string{"index.html", "runs/1/a.svg"}) {
		t.Errorf("listed: %q", got)
	}
	if info, err := os.Stat(filepath.Join(dir, ListName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the list has mode %v, %v", info.Mode(), err)
	}
}

// TestAnExitTakesAllAlong: a program that exits while it writes two folders leaves nothing in either.
func TestAnExitTakesAllAlong(t *testing.T) {
	dirs := []string{t.TempDir(), t.TempDir()}
	for _, dir := range dirs {
		s, err := At(dir, "a page").begin()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.put("index.html", text("new")); err != nil {
			t.Fatal(err)
		}
		defer s.end()
	}
	Finish()
	writing.Unlock()
	for _, dir := range dirs {
		alone(t, dir)
	}
}

// TestListsAreBounded: a list of more than 16 MiB, and one that is no file, are none of this program's.
func TestListsAreBounded(t *testing.T) {
	dir := t.TempDir()
	hold(t, filepath.Join(dir, ListName), header+"a page\n", 0o644)
	if err := os.Truncate(filepath.Join(dir, ListName), mostList+1); err != nil {
		t.Fatal(err)
	}
	if err := writePage(t.Context(), dir, files{"index.html": "x"}); !errors.Is(err, errNoList) {
		t.Errorf("a long list: %v", err)
	}
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, ListName), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := writePage(t.Context(), folder, files{"index.html": "x"}); !errors.Is(err, errNoList) {
		t.Errorf("a folder for a list: %v", err)
	}
}

// TestFullDevicesAreTold, by their name and as a descriptor that a shell handed over.
func TestFullDevicesAreTold(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, name := range []string{"/dev/full", "/dev/fd/3"} {
		cmd := program(t, name, "rows")
		cmd.ExtraFiles = []*os.File{full}
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "--csv "+name+": no space left on device") {
			t.Errorf("%s: %q, %v", name, out, err)
		}
	}
}
