package outfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"collapse.example/collapse/internal/faulttest"
)

// TestEachPartTellsItsFailures: where several tries follow each other, each part by itself says why it fails, and what is not known is not taken for
// something else.
func TestEachPartTellsItsFailures(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	plant(t, dir, files{"in/file": "x", "out/file": "y", "mine/index.html": "mine"})
	link(t, "file", filepath.Join(dir, "in", "link"))
	folder, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	theirs := filepath.Join(dir, "out", "file")
	open, err := os.OpenFile(theirs, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	shown := handed(t, open)
	var foreign *ForeignError
	for name, part := range map[string]func() error{
		"a link": func() error {
			at := target{path: filepath.Join(dir, "in", "link")}
			err := at.step()
			if want := filepath.Join(dir, "in", "file"); err == nil && at.path != want || err != nil && at.path == want {
				return fmt.Errorf("it leads to %s, %w", at.path, err)
			}
			return err
		},
		"what is not there": func() error {
			found, err := (target{path: filepath.Join(dir, "in", "new")}).absent()
			if err == nil && found.path != filepath.Join(dir, "in", "new") {
				return errors.New("it is " + found.path)
			}
			return err
		},
		"beside inputs": func() error { return (&target{path: theirs}).outside([]string{filepath.Join(dir, "in")}) },
		"refused: among inputs": func() error {
			err := (&target{path: theirs}).outside([]string{filepath.Join(dir, "out")})
			if wrong := new(MisuseError); errors.As(err, &wrong) {
				return nil
			}
			return errors.Join(errors.New("it is not refused"), err)
		},
		"refused: over a file of a user": func() error {
			_, err := New(t.Context(), io.Discard).Folder("--out", filepath.Join(dir, "mine"), "a page", "index.html", "figures/a.svg")
			if errors.As(err, &foreign) {
				return nil
			}
			return errors.Join(errors.New("nothing is in the way"), err)
		},
		"a new file":             func() error { return probe(dir) },
		"a folder that is there": func() error { return takesFiles(dir) },
	} {
		faulttest.EachCall(t, syscall.EIO, part, func(call string, err error) {
			refused := strings.HasPrefix(name, "refused") // after whatever failed
			if !errors.Is(err, syscall.EIO) && !(refused && err == nil) {
				t.Errorf("%s, %s: %v", name, call, err)
			}
		})
	}
	n := 0
	if _, err := fmt.Sscanf(shown, "/dev/fd/%d", &n); err != nil {
		t.Fatal(err)
	}
	faulttest.EachCall(t, syscall.EIO, func() error {
		found, err := (target{}).descriptor(n)
		if err != nil && found.open != nil {
			t.Error("a descriptor that cannot be looked at stays open")
		}
		found.release()
		return err
	}, func(call string, err error) {
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("a descriptor, %s: %v", call, err)
		}
	})
	faulttest.EachCall(t, syscall.EIO, func() error {
		if _, own := descriptor(filepath.Join(dir, "1")); own {
			return errors.New("a file is a descriptor")
		}
		return nil
	}, func(call string, err error) {
		if err != nil {
			t.Errorf("%s: %v", call, err)
		}
	})
	if err := (&target{path: shown, open: open}).outside([]string{"/proc", "/dev"}); err != nil {
		t.Errorf("a descriptor is among inputs: %v", err)
	}
}

// TestANewFolderIsMadeWholeOrNotAtAll, whichever call fails.
func TestANewFolderIsMadeWholeOrNotAtAll(t *testing.T) {
	above := t.TempDir()
	dir := filepath.Join(above, "out")
	page := files{"index.html": "new", "figures/a.svg": "a"}
	faulttest.EachCall(t, syscall.EIO, func() error { return At(dir, "a page").Write(func(f *Files) error { return putAll(f, page) }) }, func(call string, err error) {
		kind, _, _ := strings.Cut(call, ",")
		got := snapshot(t, above)
		switch {
		case err == nil && (got["out/index.html"] != "new" || got["out/figures/a.svg"] != "a"):
			t.Errorf("%s: no error, and there is %q", call, got)
		case err != nil && !errors.Is(err, syscall.EIO) && kind != "fstatat":
			t.Errorf("%s: %v", call, err)
		case err == nil && (kind == "fsync" || kind == "mkdirat" || kind == "renameat"):
			t.Errorf("%s: no error", call)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	})
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("no figure today")
	err := At(dir, "a page").Write(func(f *Files) error {
		err := f.Put("figures/a.svg", func(w io.Writer) error { return errors.Join(text("half")(w), failed) })
		if !errors.Is(err, failed) || !strings.HasPrefix(err.Error(), "writing "+filepath.Join(dir, "figures", "a.svg")+": ") {
			t.Errorf("%v", err)
		}
		return err
	})
	if _, there := os.Stat(dir); !errors.Is(err, failed) || !errors.Is(there, fs.ErrNotExist) {
		t.Errorf("%v; the folder: %v", err, there)
	}
}

// putAll puts figures, then the index.
func putAll(f *Files, page files) error {
	for _, name := range []string{"figures/a.svg", "index.html"} {
		if err := f.PutBytes(name, []byte(page[name])); err != nil {
			return err
		}
	}
	return nil
}

// TestAFullDiskIsNotGoneAround: a folder that takes no new file for want of room does not make the file be written in place; a name that is taken is
// tried again.
func TestAFullDiskIsNotGoneAround(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "old")
	for errno, tells := range map[syscall.Errno]bool{syscall.ENOSPC: true, syscall.EEXIST: false} {
		opens := 0
		hold(t, path, "old", 0o640)
		faulttest.EachCall(t, errno, func() error { return Write(path, []byte("new")) }, func(call string, err error) {
			if strings.HasPrefix(call, "openat") {
				opens++
				if errors.Is(err, errno) != tells || !tells && err != nil {
					t.Errorf("%s, %v: %v", call, errno, err)
				}
				holds(t, path, map[bool]string{true: "old", false: "new"}[tells])
				alone(t, dir, "old")
			}
			hold(t, path, "old", 0o640)
		})
		if opens == 0 {
			t.Errorf("%v: nothing is opened", errno)
		}
	}
	faulttest.EachCall(t, syscall.EEXIST, func() error {
		f, err := createIn(dir, 0o600)
		if err != nil {
			return err
		}
		return errors.Join(f.Close(), os.Remove(f.Name()))
	}, func(call string, err error) {
		if strings.HasPrefix(call, "openat") && err != nil {
			t.Errorf("%s: %v", call, err)
		}
	})
}

// TestDescriptorsThatAreHandedOver: those of standard output and error count also if they are closed on exec; without room for one more there is an error.
func TestDescriptorsThatAreHandedOver(t *testing.T) {
	for n := 1; n <= 2; n++ {
		flags, err := unix.FcntlInt(uintptr(n), unix.F_GETFD, 0)
		mode, err2 := unix.FcntlInt(uintptr(n), unix.F_GETFL, 0)
		if err != nil || err2 != nil || mode&unix.O_ACCMODE == unix.O_RDONLY {
			t.Skipf("descriptor %d cannot be written: %v", n, err)
		}
		if _, err := unix.FcntlInt(uintptr(n), unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
			t.Fatal(err)
		}
		f, err := duplicate(n)
		_, back := unix.FcntlInt(uintptr(n), unix.F_SETFD, flags)
		if err := errors.Join(err, back); err != nil {
			t.Fatalf("descriptor %d: %v", n, err)
		}
		if fd := int(f.Fd()); fd < 3 {
			t.Errorf("descriptor %d is duplicated as %d", n, fd)
		}
		f.Close()
	}
	var wrong *MisuseError
	if f, err := duplicate(1 << 20); !errors.As(err, &wrong) || f != nil {
		t.Errorf("a descriptor that is not open: %v", err)
	}
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	low := old
	low.Cur = 4
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	f, err := duplicate(1)
	if back := unix.Setrlimit(unix.RLIMIT_NOFILE, &old); back != nil {
		t.Fatal(back)
	}
	if !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.EINVAL) || f != nil {
		t.Errorf("no room for another descriptor: %v, %v", f, err)
	}
}

// TestCausesLoseNamesOfTheSystemAlone: what a caller has put before an error stays.
func TestCausesLoseNamesOfTheSystemAlone(t *testing.T) {
	path, link := &fs.PathError{Op: "open", Path: "temporary", Err: syscall.EIO}, &os.LinkError{Op: "rename", Old: "temporary", New: "x", Err: syscall.EIO}
	for want, err := range map[string]error{
		"input/output error":                               path,
		"input/output error ":                              link,
		"input/output error  ":                             &fs.PathError{Err: &os.LinkError{Err: path}},
		"a figure: open temporary: input/output error":     fmt.Errorf("a figure: %w", path),
		"a figure: rename temporary x: input/output error": fmt.Errorf("a figure: %w", link),
		"plain": errors.New("plain"),
	} {
		if got := cause(err); got == nil || got.Error() != strings.TrimSpace(want) {
			t.Errorf("%v: %v, want %s", err, got, want)
		}
	}
	broken := errors.New("a broken pipe")
	if err := content([]byte("x"))(brokenWriter{broken}); !errors.Is(err, broken) {
		t.Errorf("content: %v", err)
	}
}

type brokenWriter struct{ err error }

func (b brokenWriter) Write([]byte) (int, error) { return 0, b.err }
