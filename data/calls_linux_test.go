package data

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"collapse.example/collapse/internal/faulttest"
)

// TestEveryFailedCallOfADownloadIsTold lets each system call fail by which a file is stored, checked, unpacked and put in its place, and by which a
// folder is locked: there is an error that says so, what has its final name is whole, and asked again it is there.
func TestEveryFailedCallOfADownloadIsTold(t *testing.T) {
	content := someBytes(3000)
	archive := tarball(t, map[string][]byte{"a.bin": content, "b.bin": someBytes(500)}, "a.bin", "b.bin")
	members := []member{{"a.bin", 3000}, {"b.bin", 500}}
	served := content
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "x", time.Time{}, bytes.NewReader(served))
	}))
	defer server.Close()
	file := RemoteFile{Name: "x", Size: 3000, SHA256: sumOf(content), URLs: []string{server.URL}}
	from := func(dir string) error {
		return (&getter{file: file}).from(t.Context(), server.URL, filepath.Join(dir, "part"))
	}
	var disk *diskError
	for name, c := range map[string]struct {
		prepare func(dir string)
		do      func(dir string) error
		whole   map[string]int // names and sizes
		around  string         // calls after whose failure there is another way
		syncs   int
		disk    bool // the error says that another address is of no use
	}{
		"storing": {func(dir string) { write(t, filepath.Join(dir, "part"), someBytes(9)) }, func(dir string) error {
			g := &getter{file: file}
			return g.store(filepath.Join(dir, "part"), 5, bytes.NewReader(content[5:]))
		}, nil, "fstatat fstat", 1, true},
		"too much": {func(dir string) {}, func(dir string) error {
			g := &getter{file: file}
			if err := g.store(filepath.Join(dir, "part"), 0, bytes.NewReader(append(bytes.Clone(content), 1))); err == nil || errors.Is(err, syscall.EIO) {
				return err
			} else if !errors.Is(err, errFinal) || partSize(filepath.Join(dir, "part")) != 0 {
				return errors.New("a longer file is taken")
			}
			return nil
		}, nil, "fstatat fstat", 0, true},
		"a longer piece of another file": {func(dir string) {
			served = content
			write(t, filepath.Join(dir, "part"), someBytes(3001))
		}, from, nil, "fstatat fstat", 1, true},
		"another file": {func(dir string) { served = bytes.Repeat([]byte{1}, 3000) }, func(dir string) error {
			if err := from(dir); err == nil || errors.Is(err, syscall.EIO) {
				return err
			} else if !strings.Contains(err.Error(), "what it serves has 3000 bytes and SHA-256") || partSize(filepath.Join(dir, "part")) != 0 {
				return fmt.Errorf("another file is taken: %w", err)
			}
			return nil
		}, nil, "fstatat fstat", 1, true},
		"fetching": {func(dir string) { served = content }, func(dir string) error {
			got, err := (&getter{file: file, folder: dir}).get(t.Context())
			if err == nil && got.State != Fetched {
				err = errors.New("it was there")
			}
			return err
		}, map[string]int{"x": 3000}, "fstatat fstat", 2, false},
		"unpacking": {func(dir string) { write(t, filepath.Join(dir, "archive"), archive) }, func(dir string) error { return unpack(filepath.Join(dir, "archive"), dir, members) },
			map[string]int{"a.bin": 3000, "b.bin": 500}, "unlinkat fstat fstatat", 2, false},
		"checking": {func(dir string) { write(t, filepath.Join(dir, "x"), content) }, func(dir string) error {
			there, err := (&getter{file: file, folder: dir}).there()
			if err == nil && !there {
				err = errors.New("it is not there")
			}
			return err
		}, nil, "fstat", 0, false},
		"looking": {func(dir string) {
			write(t, filepath.Join(dir, "a.bin"), content)
			write(t, filepath.Join(dir, "b.bin"), someBytes(500))
		}, func(dir string) error {
			there, err := (&getter{file: RemoteFile{members: members}, folder: dir}).there()
			if err == nil && !there {
				err = errors.New("it is not there")
			}
			return err
		}, nil, "", 0, false},
		"locking": {func(string) {}, func(dir string) error {
			unlock, err := lockFolder(dir)
			if err == nil {
				unlock()
			}
			return err
		}, nil, "unlinkat", 0, false},
		"settling": {func(string) {}, syncDir, nil, "", 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			above := t.TempDir()
			dir := filepath.Join(above, "dir")
			reset := func() {
				if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o777)); err != nil {
					t.Fatal(err)
				}
				c.prepare(dir)
			}
			reset()
			failures, syncs := 0, 0
			faulttest.EachCall(t, syscall.EIO, func() error { return c.do(dir) }, func(call string, err error) {
				kind, _, _ := strings.Cut(call, ",")
				if kind == "fsync" {
					syncs++
				}
				switch {
				case err == nil && !strings.Contains(c.around, kind):
					t.Errorf("%s: no error", call)
				case err != nil && (!errors.Is(err, syscall.EIO) && name != "locking" || c.disk && !errors.As(err, &disk)):
					t.Errorf("%s: %v", call, err)
				case err != nil:
					failures++
				}
				for name, size := range c.whole {
					if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Size() != int64(size) {
						t.Errorf("%s: %s has %d bytes", call, name, info.Size())
					}
				}
				if left, _ := filepath.Glob(filepath.Join(dir, "*.new")); len(left) > 0 && kind != "unlinkat" && kind != "renameat" {
					t.Errorf("%s: left over: %q", call, left)
				}
				reset()
			})
			if failures < 1 || syncs != c.syncs {
				t.Errorf("%d failures are told, and there are %d syncs, want %d", failures, syncs, c.syncs)
			}
		})
	}
}

// TestFoldersThatCannotBeSynced, as on some network disks and on Windows, are no error.
func TestFoldersThatCannotBeSynced(t *testing.T) {
	dir := t.TempDir()
	for errno, told := range map[syscall.Errno]bool{syscall.EINVAL: false, syscall.ENOTSUP: false, syscall.EPERM: false, syscall.EIO: true, syscall.ENOSPC: true} {
		faulttest.EachCall(t, errno, func() error { return syncDir(dir) }, func(call string, err error) {
			if got := errors.Is(err, errno); strings.HasPrefix(call, "fsync") && got != told {
				t.Errorf("%s, %v: %v", call, errno, err)
			}
		})
	}
}

// TestAnswersThatAreRefused: bytes from another place, states that no second attempt mends, and those that one may.
func TestAnswersThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		from   string
		start  int64
		final  bool
		words  string
	}{
		"from the start":    {200, "", 0, false, ""},
		"what was asked":    {206, "bytes 7-9/10", 7, false, ""},
		"another place":     {206, "bytes 8-9/10", 0, true, `asked for bytes from 7 on, the server sends "bytes 8-9/10"`},
		"no place":          {206, "", 0, true, "asked for bytes from 7 on"},
		"nothing there":     {404, "", 0, true, "the server answers 404"},
		"another day":       {503, "", 0, false, "the server answers 503"},
		"the last of these": {500, "", 0, false, "the server answers 500"},
		"too often":         {429, "", 0, false, "the server answers 429"},
		"a range too far":   {416, "", 0, true, "the server answers 416"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if got := r.Header.Get("Range") + r.Header.Get("Accept-Encoding"); got != "bytes=7-identity" {
				t.Errorf("%s: asked for %q", name, got)
			}
			w.Header().Set("Content-Range", c.from)
			w.WriteHeader(c.status)
		}))
		g := &getter{}
		response, err := g.request(t.Context(), server.URL, 7)
		if err != nil {
			t.Fatal(err)
		}
		start, err := startOf(response, 7)
		response.Body.Close()
		server.Close()
		if start != c.start || (err == nil) != (c.words == "") || err != nil && !strings.Contains(err.Error(), c.words) || errors.Is(err, errFinal) != c.final {
			t.Errorf("%s: %d, %v", name, start, err)
		}
	}
	for _, address := range []string{"file:///etc/passwd", "ftp://x/y", "://", "x", ""} {
		if _, err := (&getter{}).request(context.Background(), address, 0); !errors.Is(err, errFinal) || !strings.Contains(err.Error(), "not an http address") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestTwoDownloadsOfAFolder: the second is told that the first is under way; after its end the folder is free, and nothing of the lock is left.
func TestTwoDownloadsOfAFolder(t *testing.T) {
	dir := t.TempDir()
	unlock, err := lockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockFolder(dir); err == nil || !strings.Contains(err.Error(), "another process is downloading into "+dir) {
		t.Errorf("the second: %v", err)
	}
	unlock()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
	if _, err := lockFolder(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	if unlock, err = lockFolder(dir); err != nil {
		t.Fatal(err)
	}
	unlock()
}

// TestEveryFailedCallOfReadingASetIsTold: of folders of images and of files; a set that was not read whole is none.
func TestEveryFailedCallOfReadingASetIsTold(t *testing.T) {
	images := writeFolder(t, map[string][]byte{"train/a/1.png": pngOf(8, 9, 1), "train/b/2.png": pngOf(8, 9, 2), "test/a/3.png": pngOf(8, 9, 3), "test/b/4.png": pngOf(8, 9, 4)})
	digits := t.TempDir()
	writeSet(t, filepath.Join(digits, "mnist"), 20, same, sameBytes)
	for name, src := range map[string]Source{"folder": {Name: "folder", Root: images}, "mnist": {Name: "mnist", Root: digits}} {
		whole, err := Open(src, Train)
		if err != nil {
			t.Fatal(err)
		}
		failures := 0
		faulttest.EachCall(t, syscall.EIO, func() error {
			s, err := Open(src, Train)
			if err == nil && (s.N() != whole.N() || s.Digest != whole.Digest) {
				err = errors.New("another set")
			}
			return err
		}, func(call string, err error) {
			kind, _, _ := strings.Cut(call, ",")
			switch {
			case err == nil && kind != "fstat": // which only tells how much room is needed
				t.Errorf("%s, %s: no error", name, call)
			case err != nil && !errors.Is(err, syscall.EIO) && kind != "fstatat": // what cannot be looked at counts as missing
				t.Errorf("%s, %s: %v", name, call, err)
			case err != nil:
				failures++
			}
		})
		if failures < 3 {
			t.Errorf("%s: %d failures are told", name, failures)
		}
	}
}

// TestWhatIsUnpackedIsWhole: fewer bytes than the archive says are no file.
func TestWhatIsUnpackedIsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := place(path, strings.NewReader("abc"), 5); err == nil || !strings.Contains(err.Error(), "3 bytes were unpacked; want 5") {
		t.Error(err)
	}
	if left, err := filepath.Glob(path + "*"); err != nil || len(left) > 0 {
		t.Errorf("%q, %v", left, err)
	}
}
