package outfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"collapse.example/collapse/internal/faulttest"
)

// asNobody runs do on a thread whose file accesses have the rights of nobody, in a folder that everybody may enter.
func asNobody(t *testing.T, dir string, do func()) {
	t.Helper()
	faulttest.Enterable(t, dir)
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSGID, nobody, 0, 0)
		_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, nobody, 0, 0)
		now, _, _ := syscall.RawSyscall(syscall.SYS_SETFSUID, ^uintptr(0), 0, 0)
		if now != nobody {
			done <- errors.New("the thread is still root's")
			return
		}
		do()
		done <- nil
	}()
	if err := <-done; err != nil {
		t.Skip(err)
	}
}

// smallDisk mounts a file system of its own.
func smallDisk(t *testing.T, flags uintptr, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", flags, options); err != nil {
		t.Skipf("a file system cannot be mounted here (it needs CAP_SYS_ADMIN): %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

func TestReadOnlyDisk(t *testing.T) {
	dir := smallDisk(t, unix.MS_RDONLY, "")
	path := filepath.Join(dir, "a.csv")
	if _, err := New(t.Context(), io.Discard).File("--csv", path); !errors.Is(err, unix.EROFS) || !strings.HasPrefix(err.Error(), "--csv "+path) {
		t.Errorf("%v, want a read-only file system", err)
	}
	if _, err := New(t.Context(), io.Discard).Folder("--out", filepath.Join(dir, "a", "b"), "a page"); !errors.Is(err, unix.EROFS) {
		t.Errorf("%v, want a read-only file system", err)
	}
}

// TestFullDisk fills a disk under a file that is replaced and under one that is written in place.
func TestFullDisk(t *testing.T) {
	for _, links := range []bool{false, true} {
		dir := smallDisk(t, 0, "size=64k")
		path := filepath.Join(dir, "a.csv")
		hold(t, path, "old", 0o644)
		names := []string{"a.csv"}
		if links {
			if err := os.Link(path, filepath.Join(dir, "b.csv")); err != nil {
				t.Fatal(err)
			}
			names = append(names, "b.csv")
		}
		err := put(t, path, strings.Repeat("x", 1<<20))
		if !errors.Is(err, syscall.ENOSPC) || !strings.HasPrefix(err.Error(), "--csv "+path) || strings.Contains(err.Error(), ".collapse-") {
			t.Errorf("links %v: %v, want that the disk is full", links, err)
		}
		holds(t, path, "old")
		alone(t, dir, names...)
	}
}

// TestFullDiskUnderAFolder has room for the old page or the new one, but not for both.
func TestFullDiskUnderAFolder(t *testing.T) {
	dir := smallDisk(t, 0, "size=64k")
	page := filepath.Join(dir, "page")
	pages(t, page, files{"index.html": "old", "figures/a.svg": "a"})
	before := snapshot(t, dir)
	for _, path := range []string{page, filepath.Join(dir, "new")} {
		err := writePage(t.Context(), path, files{"figures/a.svg": "b", "figures/b.svg": strings.Repeat("x", 1<<20), "index.html": "new"})
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), filepath.Join(path, "figures", "b.svg")) || strings.Contains(err.Error(), spoolName) {
			t.Errorf("%v, want that the disk is full", err)
		}
		same(t, dir, before)
	}
	pages(t, page, files{"index.html": "new"})
	holds(t, filepath.Join(page, "index.html"), "new")
}

// TestFullDiskInPlace has room for the new content once, but not for the file that grows to it.
func TestFullDiskInPlace(t *testing.T) {
	dir := smallDisk(t, 0, "size=64k")
	path, from := filepath.Join(dir, "a"), filepath.Join(t.TempDir(), "spool")
	hold(t, path, "old", 0o644)
	hold(t, from, strings.Repeat("x", 1<<20), 0o644)
	if err := overwrite(path, from); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v, want that the disk is full", err)
	}
	holds(t, path, "old")
}

// TestMountedFile writes a file that is a mount of its own, as containers have them: it cannot be replaced.
func TestMountedFile(t *testing.T) {
	dir := t.TempDir()
	path, from := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	hold(t, path, "", 0o644)
	hold(t, from, "old", 0o644)
	if err := unix.Mount(from, path, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("a file cannot be mounted here (it needs CAP_SYS_ADMIN): %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(path, unix.MNT_DETACH) })
	mustPut(t, path, "new")
	holds(t, from, "new")
	alone(t, dir, "a", "b")
}

func TestAccessListStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	hold(t, path, "old", 0o644)
	if err := unix.Setxattr(path, "user.origin", []byte("a run"), 0); err != nil {
		t.Skipf("files have no attributes here: %v", err)
	}
	_ = unix.Setxattr(path, "trusted.first", []byte("the system's"), 0) // if this user may: one more in the list, before the user's
	mustPut(t, path, "new")
	holds(t, path, "new")
	value := make([]byte, 16)
	if n, err := unix.Getxattr(path, "user.origin", value); err != nil || string(value[:n]) != "a run" {
		t.Errorf("the file's attribute is %q (%v), want what it was", value[:max(n, 0)], err)
	}
}
