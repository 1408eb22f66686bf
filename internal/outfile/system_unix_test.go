//go:build unix

package outfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMain lets the test binary play a program: "write PATH WORDS" writes like a command does. Tests run in a folder of their own, which
// must be empty afterwards: an output whose name loses its folder would otherwise land beside the sources.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "write" {
		f, err := New(context.Background(), os.Stdout).File("--csv", os.Args[2])
		if err == nil {
			err = f.Write(text(os.Args[3]))
		}
		if err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(inOwnFolder(m.Run))
}

// inOwnFolder runs the tests in an empty folder and returns their exit code, or 1 if they left something there.
func inOwnFolder(run func() int) int {
	dir, err := os.MkdirTemp("", "outfile")
	if err == nil {
		defer os.RemoveAll(dir)
		err = os.Chdir(dir)
	}
	if err != nil {
		os.Stderr.WriteString(err.Error())
		return 1
	}
	code := run()
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		fmt.Fprintf(os.Stderr, "left in the working directory: %v %v\n", left, err)
		return 1
	}
	return code
}

// program is the test binary writing words to a path.
func program(t *testing.T, path, words string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exec.CommandContext(t.Context(), self, "write", path, words)
}

func TestUmask(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		umask int
		want  os.FileMode
	}{{0o077, 0o600}, {0o022, 0o644}, {0o002, 0o664}} {
		old := syscall.Umask(c.umask)
		path := filepath.Join(dir, c.want.String())
		err := put(t, path, "x")
		syscall.Umask(old)
		info, errStat := os.Stat(path)
		if err != nil || errStat != nil || info.Mode().Perm() != c.want {
			t.Errorf("umask %o: %v, %v, %v; want %v", c.umask, info.Mode(), err, errStat, c.want)
		}
	}
}

func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("mkfifo: %v", err)
	}
	words := strings.Repeat("more than a pipe holds; ", 10_000)
	read := make(chan string)
	go func() {
		b, err := os.ReadFile(path)
		if err != nil {
			b = []byte(err.Error())
		}
		read <- string(b)
	}()
	mustPut(t, path, words)
	if got := <-read; got != words {
		t.Errorf("%d bytes came through, want %d", len(got), len(words))
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is now %v (%v)", info.Mode(), err)
	}
}

// TestPipeWithoutReader checks that Ctrl-C ends the wait for a reader, and a write that nobody reads.
func TestPipeWithoutReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("mkfifo: %v", err)
	}
	for _, reader := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		f, err := New(ctx, io.Discard).File("--csv", path)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() {
			done <- f.Write(func(w io.Writer) error {
				_, err := w.Write(make([]byte, 1<<20)) // in one piece
				return err
			})
		}()
		if reader {
			r, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if _, err := r.Read(make([]byte, 1)); err != nil { // then the write is under way
				t.Fatal(err)
			}
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("with a reader %v: %v, want that it was cancelled", reader, err)
		}
	}
}

func TestDevices(t *testing.T) {
	for _, dev := range []string{"/dev/null", "/dev/full"} {
		before, err := os.Lstat(dev)
		if err != nil {
			t.Skipf("%s: %v", dev, err)
		}
		err = put(t, dev, "x")
		if full := dev == "/dev/full"; full && (!errors.Is(err, syscall.ENOSPC) || !strings.HasPrefix(err.Error(), "--csv /dev/full: ")) || !full && err != nil {
			t.Errorf("%s: %v", dev, err)
		}
		if after, err := os.Lstat(dev); err != nil || !os.SameFile(before, after) {
			t.Fatalf("%s was replaced (%v)", dev, err)
		}
	}
}

// TestNode makes a device node of its own, a second /dev/null.
func TestNode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "node")
	if err := unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))); err != nil {
		t.Skipf("device nodes cannot be made here (root in a container without CAP_MKNOD, or no root): %v", err)
	}
	err := put(t, path, "x")
	if errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EPERM) {
		t.Skipf("device nodes in %s cannot be opened (mounted nodev): %v", filepath.Dir(path), err)
	}
	if err != nil {
		t.Error(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		t.Errorf("the node is now %v (%v)", info.Mode(), err)
	}
}

// TestDescriptors writes to descriptors that a shell would hand over.
func TestDescriptors(t *testing.T) {
	if _, err := os.Stat("/dev/fd/0"); err != nil {
		t.Skipf("no /dev/fd: %v", err)
	}
	dir := t.TempDir()
	for _, name := range []string{"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/proc/thread-self/fd/1"} {
		if _, err := os.Lstat(name); err != nil {
			continue // no /proc
		}
		cmd := program(t, name, "rows")
		if out, err := cmd.Output(); err != nil || string(out) != "rows" {
			t.Errorf("%s: %q, %v; want rows through the pipe", name, out, err)
		}
	}
	third, err := os.OpenFile(filepath.Join(dir, "log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer third.Close()
	if _, err := third.WriteString("before;"); err != nil {
		t.Fatal(err)
	}
	cmd := program(t, "/dev/fd/3", "rows")
	cmd.ExtraFiles = []*os.File{third}
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("/dev/fd/3: %v, %s", err, out)
	}
	holds(t, third.Name(), "before;rows")
	for n, words := range map[string]string{"/dev/fd/0": "open for reading only", "/dev/fd/3": "was not open when the program started", "/dev/fd/9": "was not open when the program started"} {
		if out, err := program(t, n, "rows").CombinedOutput(); err == nil || !strings.Contains(string(out), "--csv "+n+": descriptor") || !strings.Contains(string(out), words) {
			t.Errorf("%s: %v, %q; want %q", n, err, out, words)
		}
	}
	alone(t, dir, "log")
}

// TestOwnDescriptors refuses descriptors that the program itself has opened, such as a database.
func TestOwnDescriptors(t *testing.T) {
	if _, err := os.Stat("/dev/fd/0"); err != nil {
		t.Skipf("no /dev/fd: %v", err)
	}
	path := filepath.Join(t.TempDir(), "database")
	hold(t, path, "rows", 0o644)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var wrong *MisuseError
	if err := put(t, "/dev/fd/"+strconv.Itoa(int(f.Fd())), "x"); !errors.As(err, &wrong) {
		t.Errorf("%v, want a refusal", err)
	}
	holds(t, path, "rows")
}

// plainUser runs do with the rights of a user who owns nothing: root heeds no modes.
func plainUser(t *testing.T, dir string, do func()) {
	t.Helper()
	if os.Getuid() != 0 {
		do()
		return
	}
	asNobody(t, dir, do)
}

func TestReadOnlyFolder(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, "shut", name) }
	if err := os.Mkdir(filepath.Join(dir, "shut"), 0o755); err != nil {
		t.Fatal(err)
	}
	hold(t, at("open"), "old, and longer", 0o666)
	hold(t, at("closed"), "old", 0o444)
	if err := os.Chmod(filepath.Join(dir, "shut"), 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Join(dir, "shut"), 0o755)
	spool := filepath.Join(dir, "temporary") // the ordinary folder of temporary files may be closed to others
	if err := os.Mkdir(spool, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(spool, 0o777); err != nil {
		t.Fatal(err)
	}
	plainUser(t, dir, func() {
		t.Setenv("TMPDIR", spool)
		for name, words := range map[string]string{"new": "takes no new file", "closed": "permission denied"} {
			_, err := New(t.Context(), io.Discard).File("--csv", at(name))
			if !errors.Is(err, syscall.EACCES) || !strings.HasPrefix(err.Error(), "--csv "+at(name)) || !strings.Contains(err.Error(), words) {
				t.Errorf("%s: %v, want %q", name, err, words)
			}
		}
		if _, err := New(t.Context(), io.Discard).Folder("--out", at("new/deep"), "a page"); !errors.Is(err, syscall.EACCES) {
			t.Errorf("a folder in it: %v, want permission denied", err)
		}
		if err := writePage(t.Context(), filepath.Dir(at("index.html")), files{"index.html": "new"}); !errors.Is(err, syscall.EACCES) || !strings.Contains(err.Error(), "takes no new file") {
			t.Errorf("a page in it: %v, want permission denied", err)
		}
		if err := put(t, at("open"), "new"); err != nil { // written in place
			t.Error(err)
		}
		t.Setenv("TMPDIR", filepath.Join(dir, "none"))
		err := put(t, at("open"), "newer")
		if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "its folder takes no new file, nor does that of temporary files, "+filepath.Join(dir, "none")) {
			t.Errorf("without a folder of temporary files: %v", err)
		}
	})
	holds(t, at("open"), "new")
	holds(t, at("closed"), "old")
	alone(t, filepath.Join(dir, "shut"), "closed", "open")
}

// TestOneAtATime writes a folder that is being written: the second waits, and then knows what the first wrote.
func TestOneAtATime(t *testing.T) {
	dir := t.TempDir()
	began, done := make(chan bool), make(chan error, 1)
	go func() {
		<-began
		done <- At(dir, "a page").Add("second", []byte("2"))
	}()
	err := At(dir, "a page").Write(func(f *Files) error {
		close(began)
		select {
		case err := <-done:
			t.Error("the second did not wait")
			done <- err
		case <-time.After(30 * time.Millisecond):
		}
		return f.PutBytes("first", []byte("1"))
	})
	if err := errors.Join(err, <-done); err != nil {
		t.Fatal(err)
	}
	holds(t, filepath.Join(dir, "first"), "1")
	alone(t, dir, ListName, "first", "second")
	waiting, stop := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer stop()
	err = At(dir, "a page").Write(func(f *Files) error { return writePage(waiting, dir, files{"index.html": "late"}) })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want that waiting ends with the context", err)
	}
}

// TestOwnerStays lets root write a file of another user, and another user a file of root's.
func TestOwnerStays(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("files of other users need root")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	theirs, roots := filepath.Join(dir, "theirs"), filepath.Join(dir, "roots")
	hold(t, theirs, "old", 0o640)
	hold(t, roots, "old", 0o666)
	if err := os.Chown(theirs, nobody, nobody); err != nil {
		t.Skipf("chown: %v", err)
	}
	group := filepath.Join(dir, "group")
	hold(t, group, "old", 0o640)
	if err := os.Chown(group, 0, nobody); err != nil {
		t.Skipf("chown: %v", err)
	}
	mustPut(t, group, "new")
	if info, err := os.Stat(group); err != nil || info.Sys().(*syscall.Stat_t).Gid != nobody {
		t.Errorf("the file's group is another: %v, %v", info, err)
	}
	if err := os.Remove(group); err != nil {
		t.Fatal(err)
	}
	mustPut(t, theirs, "new")
	plainUser(t, dir, func() {
		if err := put(t, roots, "new"); err != nil {
			t.Error(err)
		}
	})
	for path, want := range map[string]uint32{theirs: nobody, roots: 0} {
		holds(t, path, "new")
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Sys().(*syscall.Stat_t).Uid; got != want {
			t.Errorf("%s belongs to %d, want %d as before", path, got, want)
		}
	}
	if info, err := os.Stat(theirs); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v (%v), want 0640 as before", info.Mode(), err)
	}
	alone(t, dir, "roots", "theirs")
}

const nobody = 65534
