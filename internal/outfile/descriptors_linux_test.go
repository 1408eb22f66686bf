package outfile

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"collapse.example/collapse/internal/faulttest"
)

// opened counts the descriptors of this process.
func opened(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(list)
}

// handed is a descriptor as a shell hands it over: it stays open in programs that are called.
func handed(t *testing.T, f *os.File) string {
	t.Helper()
	fd, err := unix.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return "/dev/fd/" + strconv.Itoa(fd)
}

// TestNothingStaysOpen: whatever is asked for, written or refused, the process has as many files open afterwards as before.
func TestNothingStaysOpen(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	plant(t, dir, files{"in": "features", "old": "old", "lab/lab.sqlite": "", "lab/runs/r/x": ""})
	pages(t, at("page"), files{"index.html": "first"})
	folder, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	input, err := os.OpenFile(at("in"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	socket, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(ends[0])
	defer unix.Close(ends[1])
	if err := syscall.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	toFolder, toInput, toSocket := handed(t, folder), handed(t, input), "/dev/fd/"+strconv.Itoa(ends[0])
	stopped, stop := context.WithCancel(t.Context())
	stop()
	write := func(ctx context.Context, path string) error {
		o := New(ctx, io.Discard)
		o.Reads(at("in"))
		o.ReadsBelow(at("lab/runs"))
		f, err := o.File("--csv", path)
		if err != nil {
			return err
		}
		return f.Write(text("words"))
	}
	for name, c := range map[string]struct {
		do    func() error
		cause string
	}{
		"a file":                   {func() error { return write(t.Context(), at("old")) }, ""},
		"a socket":                 {func() error { return write(t.Context(), toSocket) }, ""},
		"a folder":                 {func() error { return write(t.Context(), toFolder) }, "is open for reading only"},
		"an input":                 {func() error { return write(t.Context(), toInput) }, "this command reads that file"},
		"an input in a lab":        {func() error { return write(t.Context(), at("lab/runs/r/x")) }, "this command reads what "},
		"a lab":                    {func() error { return put(t, at("lab/runs/r/new"), "x") }, "is in the lab"},
		"a pipe that nobody reads": {func() error { return write(stopped, at("pipe")) }, "context canceled"},
		"a name of a socket":       {func() error { return write(t.Context(), at("s")) }, "is a socket"},
		"a page": {func() error {
			return writePage(t.Context(), at("page"), files{"index.html": "x", "figures/a.svg": "a"})
		}, ""},
		"a stopped page": {func() error { return writePage(stopped, at("page"), files{"index.html": "y"}) }, "context canceled"},
		"a page over an input": {func() error {
			o := New(t.Context(), io.Discard)
			o.Reads(at("page/index.html"))
			to, err := o.Folder("--out", at("page"), "a page")
			if err != nil {
				return err
			}
			return to.Write(func(f *Files) error { return f.PutBytes("index.html", []byte("z")) })
		}, "this command reads that file"},
		"another name of standard output": {func() error {
			f, err := New(t.Context(), input).File("--csv", toInput)
			if err == nil && !f.Stdout() {
				err = errors.New("it is not standard output")
			}
			return errors.Join(err, errors.New("standard output"))
		}, "standard output"},
		"an input as standard output": {func() error {
			o := New(t.Context(), input)
			o.Reads(at("in"))
			_, err := o.File("--csv", "-")
			return err
		}, "this command reads that file"},
		"a page over a descriptor": {func() error {
			shown := at("linked/index.html")
			if err := errors.Join(os.RemoveAll(at("linked")), os.Mkdir(at("linked"), 0o777), os.Symlink(toInput, shown)); err != nil {
				return err
			}
			return writePage(t.Context(), at("linked"), files{"index.html": "x"})
		}, "in the way"},
		"a page of another kind": {func() error {
			_, err := New(t.Context(), io.Discard).Folder("--out", at("page"), "results", "x")
			return err
		}, "says that this folder holds a page"},
		"a page that is named": {func() error {
			_, err := New(t.Context(), io.Discard).Folder("--out", at("page"), "a page", "index.html")
			return err
		}, ""},
	} {
		for range 2 { // the first time something may be opened for good
			before := opened(t)
			err := c.do()
			if (err == nil) != (c.cause == "") || err != nil && !strings.Contains(err.Error(), c.cause) {
				t.Errorf("%s: %v, want %q", name, err, c.cause)
			}
			if after := opened(t); after != before && c.cause != "" {
				t.Errorf("%s: %d files were open, and now %d", name, before, after)
			}
		}
	}
}

// TestDescriptorsOfOthers: what another process has open is written through, and a file is emptied before; a name that is gone meanwhile is told.
func TestDescriptorsOfOthers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	hold(t, path, "longer than what comes", 0o644)
	to, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	cmd := exec.Command("sleep", "600")
	cmd.Stdout = to
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	theirs := "/proc/" + strconv.Itoa(cmd.Process.Pid) + "/fd/1"
	for { // until the other program runs
		if target, err := os.Readlink(theirs); err != nil {
			t.Skip(err)
		} else if target == path {
			break
		}
	}
	mustPut(t, theirs, "words")
	holds(t, path, "words")
	f, err := New(t.Context(), io.Discard).File("--csv", theirs)
	if err != nil {
		t.Fatal(err)
	}
	half := errors.New("no more")
	err = f.Write(func(w io.Writer) error { return errors.Join(text(strings.Repeat("x", 1<<17))(w), half) }) // what is written through is there
	if got, read := os.ReadFile(path); !errors.Is(err, half) || len(got) == 0 || strings.Trim(string(got), "x") != "" {
		t.Errorf("%v; the file has %d bytes, %v", err, len(got), read)
	}
	faulttest.EachCall(t, syscall.EIO, func() error {
		found, err := resolve(theirs)
		if err == nil && (!found.opaque && found.path != path || found.info == nil) {
			t.Errorf("%+v", found)
		}
		return err
	}, func(call string, err error) {
		if err != nil && !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", call, err)
		}
	})
	mustPut(t, theirs, "words")
	if err := errors.Join(cmd.Process.Kill(), func() error { cmd.Wait(); return nil }()); err != nil {
		t.Fatal(err)
	}
	if err := f.Write(text("more")); err == nil || !strings.HasPrefix(err.Error(), "--csv "+theirs+": ") {
		t.Errorf("the process has ended: %v", err)
	}
	holds(t, path, "words")
	if _, err := Pipe(t.Context(), filepath.Join(dir, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a pipe that is missing: %v", err)
	}
	socket, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if f, err := openThrough(t.Context(), filepath.Join(dir, "s")); !errors.Is(err, syscall.ENXIO) || f != nil {
		t.Errorf("a socket is opened: %v, %v", f, err)
	}
}

// TestOpenInputs: a file that the command has open under a name of its own, as standard input is, is not written.
func TestOpenInputs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in")
	hold(t, path, "features", 0o644)
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	o := New(t.Context(), io.Discard)
	o.ReadsOpen("standard input", in)
	var wrong *MisuseError
	if _, err := o.File("--csv", path); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "this command reads that file (standard input)") {
		t.Errorf("%v", err)
	}
	in.Close()
	closed := New(t.Context(), in)
	closed.ReadsOpen("standard input", in)
	if _, err := closed.File("--csv", path); err != nil {
		t.Errorf("a file that is closed is in the way: %v", err)
	}
	later := filepath.Join(filepath.Dir(path), "later")
	to, err := os.Create(later)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Dup(int(to.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	f, err := o.File("--csv", "/dev/fd/"+strconv.Itoa(fd))
	if err := errors.Join(err, unix.Close(fd), to.Close()); err != nil {
		t.Fatal(err)
	}
	if err := f.Write(text("words")); err != nil { // to what it was when it was named
		t.Errorf("a descriptor that was closed meanwhile: %v", err)
	}
	holds(t, later, "words")
	if f, err := o.Folder("--out", "", "a page"); f != nil || err != nil {
		t.Errorf("a folder that was not asked for: %v, %v", f, err)
	}
	if got := joined("", "name"); got != "name" {
		t.Error(got)
	}
}

// TestDisksThatCannotSync, as some network disks, are no error; disks that fail are (TestEveryFailedCallIsTold).
func TestDisksThatCannotSync(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	for _, errno := range []syscall.Errno{syscall.EINVAL, syscall.ENOTSUP} {
		syncs := 0
		faulttest.EachCall(t, errno, func() error { return put(t, path, errno.Error()) }, func(call string, err error) {
			if strings.HasPrefix(call, "fsync") {
				if syncs++; err != nil {
					t.Errorf("%s, %v: %v", call, errno, err)
				}
				holds(t, path, errno.Error())
			}
		})
		if syncs == 0 {
			t.Error("nothing is synced")
		}
	}
}

// TestWhatCannotBeLookedAtIsTold: each failed call of following links, and of reading what is in a folder, is the error; nothing is taken for missing.
func TestWhatCannotBeLookedAtIsTold(t *testing.T) {
	dir := t.TempDir()
	pages(t, dir, files{"index.html": "x", "figures/a.svg": "a"})
	link(t, "index.html", filepath.Join(dir, "link"))
	link(t, "link", filepath.Join(dir, "links"))
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	in := inside{root, t.Context()}
	for name, look := range map[string]func() error{
		"links": func() error {
			f, err := resolve(filepath.Join(dir, "links"))
			if err == nil && (f.path != filepath.Join(dir, "index.html") || f.info == nil) {
				err = errors.New("it leads to " + f.path)
			}
			return err
		},
		"a list": func() error { _, err := in.list("a page"); return err },
		"a file": func() error { _, err := in.look("figures/a.svg"); return err },
		"writing": func() error {
			f := target{path: filepath.Join(dir, "index.html")}
			if f.info, _ = os.Stat(f.path); f.info == nil {
				return syscall.EIO
			}
			return f.writable()
		},
	} {
		faulttest.EachCall(t, syscall.EIO, look, func(call string, err error) {
			if !errors.Is(err, syscall.EIO) && !strings.HasPrefix(call, "fstat,") && (name != "links" || err != nil) {
				t.Errorf("%s, %s: %v", name, call, err)
			}
		})
	}
}

// TestNamesOfDescriptors: those of this process, spelled as the system spells them, and no others.
func TestNamesOfDescriptors(t *testing.T) {
	if _, err := os.Stat("/proc/thread-self/fd"); err != nil {
		t.Skip(err)
	}
	here := filepath.Join(t.TempDir(), "fd")
	link(t, "/dev/fd", here)
	for name, want := range map[string]int{
		"/dev/fd/0": 0, "/dev/fd/1": 1, "/dev/fd/17": 17, "/proc/self/fd/3": 3, "/proc/thread-self/fd/4": 4, "/proc/" + strconv.Itoa(os.Getpid()) + "/fd/5": 5, here + "/6": 6,
		"/dev/fd/-1": -1, "/dev/fd/01": -1, "/dev/fd/+1": -1, "/dev/fd/x": -1, "/dev/fd/1x": -1, "/dev/fd": -1, "/proc/1/fd/1": -1, "/tmp/1": -1, "1": -1, "/nowhere/1": -1,
		"/proc/self/fdinfo/1": -1,
	} {
		if n, own := descriptor(name); own != (want >= 0) || own && n != want {
			t.Errorf("%s: %d, %v; want %d", name, n, own, want)
		}
	}
	for name, want := range map[string]bool{"/proc/1/fd/1": true, "/proc/1/task/1/fd/1": true, "/proc/1/fdinfo/1": false, "/tmp/1": false, "/nowhere/1": false} {
		if got := inDescriptors(name); got != want {
			if _, err := os.Stat(filepath.Dir(name)); err == nil || !want { // another user's process may be closed to us
				t.Errorf("%s is a descriptor of a process: %v", name, got)
			}
		}
	}
}

// TestWhatAFileHas: names beside the one, attributes that a user gave it; one that is not there has nothing.
func TestWhatAFileHas(t *testing.T) {
	dir := t.TempDir()
	hold(t, filepath.Join(dir, "a"), "", 0o644)
	if hasList(filepath.Join(dir, "missing")) || hasList(filepath.Join(dir, "a")) {
		t.Error("a plain file has a list of who may use it, or a missing one")
	}
	folder, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if err := lockFolder(t.Context(), folder); err != nil {
		t.Fatal(err)
	}
	other, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := lockFolder(stopped, other); !errors.Is(err, context.Canceled) {
		t.Errorf("a folder that is locked: %v", err)
	}
	locked := At(dir, "a page")
	locked.of = New(stopped, io.Discard)
	if s, err := locked.begin(); !errors.Is(err, context.Canceled) || s != nil {
		t.Errorf("a folder that is locked is written: %v", err)
	}
	alone(t, dir, "a")
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, err := (inside{root, stopped}).look("a"); !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "a: ") {
		t.Errorf("a look that is stopped: %v", err)
	}
}
