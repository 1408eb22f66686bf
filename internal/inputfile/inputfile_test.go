//go:build unix

package inputfile

import (
	"errors"
	"io/fs"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead(t *testing.T) {
	path := write(t, "file", "twelve bytes")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, link} {
		if b, err := Read(p, 12); err != nil || string(b) != "twelve bytes" {
			t.Errorf("%s: %q, %v", p, b, err)
		}
	}
	var large *SizeError
	if _, err := Read(path, 11); !errors.As(err, &large) || large.Size != 12 || large.Limit != 11 {
		t.Errorf("a file above the limit: %v", err)
	}
	if b, err := Read(write(t, "empty", ""), 0); err != nil || len(b) != 0 {
		t.Errorf("an empty file: %q, %v", b, err)
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none"), 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestReadOfUnknownSize: files of /proc say that they have no byte.
func TestReadOfUnknownSize(t *testing.T) {
	const path = "/proc/self/status"
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Skip("no file of unknown size here")
	}
	b, err := Read(path, Line)
	if err != nil || !strings.Contains(string(b), "Pid:") {
		t.Errorf("%q, %v", b, err)
	}
	var large *SizeError
	if _, err := Read(path, 10); !errors.As(err, &large) || large.Size != 11 || large.Limit != 10 {
		t.Errorf("more than 10 bytes of it: %v", err)
	}
	if b, err := Read(path, math.MaxInt64); err != nil || !strings.Contains(string(b), "Pid:") {
		t.Errorf("without a limit: %q, %v", b, err)
	}
}

// TestReadOfLessThanItsSize: files of /sys say that they have a page.
func TestReadOfLessThanItsSize(t *testing.T) {
	const path = "/sys/kernel/mm/transparent_hugepage/enabled"
	info, err := os.Stat(path)
	if err != nil || info.Size() < 1000 {
		t.Skip("no file that holds less than its size here")
	}
	if b, err := Read(path, info.Size()); err != nil || !strings.Contains(string(b), "never") || int64(len(b)) == info.Size() {
		t.Errorf("%q, %v", b, err)
	}
}

// TestFilesThatCannotBeRead gives the reason of the system, when a file is opened and when it is read.
func TestFilesThatCannotBeRead(t *testing.T) {
	shut := write(t, "shut", "x")
	if err := os.Chmod(shut, 0); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 { // who may read it; root may not read what is only written
		shut = "/proc/sys/vm/compact_memory"
	}
	for path, want := range map[string]error{shut: syscall.EACCES, "/proc/self/mem": syscall.EIO} {
		if _, err := os.Stat(path); err != nil {
			t.Logf("no such file here: %v", err)
			continue
		}
		if b, err := Read(path, 1000); !errors.Is(err, want) {
			t.Errorf("%s: %q, %v; want %v", path, b, err, want)
		}
	}
}

func TestCheck(t *testing.T) {
	path := write(t, "file", "twelve bytes")
	if err := Check(path, 12); err != nil {
		t.Errorf("a file of its limit: %v", err)
	}
	var large *SizeError
	if err := Check(path, 11); !errors.As(err, &large) || large.Path != path || large.Size != 12 || large.Limit != 11 {
		t.Errorf("a file above the limit: %v", err)
	}
	if err := Check(path+"x", 11); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestNothingStaysOpen counts the descriptors of the process.
func TestNothingStaysOpen(t *testing.T) {
	count := func() int {
		open, err := os.ReadDir("/dev/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(open)
	}
	path := write(t, "file", "twelve bytes")
	Read(path, 12) // what the runtime opens for the first file stays
	before := count()
	for range 20 {
		Read(path, 12)
		Read(path, 11)
		Check(path, 12)
		Check(path, 11)
	}
	if after := count(); after > before+5 {
		t.Errorf("%d descriptors are open, %d were before", after, before)
	}
}

// TestReplacedMeanwhile opens a name that is a file at one time and a pipe at another: it opens a file, or refuses, and never waits.
func TestReplacedMeanwhile(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(at("file"), nil, 0o600), syscall.Mkfifo(at("pipe"), 0o600)); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan error)
	turn := func() (err error) {
		for i := 0; err == nil; i++ {
			select {
			case <-stop:
				return nil
			default:
				err = errors.Join(os.Symlink([]string{"file", "pipe"}[i%2], at("next")), os.Rename(at("next"), at("name")))
			}
		}
		return err
	}
	if err := os.Symlink("file", at("name")); err != nil {
		t.Fatal(err)
	}
	go func() { stopped <- turn() }()
	changes, before := 0, true
	for end := time.Now().Add(time.Second); changes < 300 && time.Now().Before(end); {
		f, err := Open(at("name"))
		var wrong *KindError
		if opened := err == nil; opened != before {
			changes, before = changes+1, opened
		}
		if err != nil {
			if !errors.As(err, &wrong) || wrong.Mode&fs.ModeNamedPipe == 0 {
				t.Fatal(err)
			}
			continue
		}
		if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
			t.Fatalf("opened %v, %v", info.Mode(), err)
		}
		f.Close()
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// TestWhatIsNoFile: nothing of this is waited for or read.
func TestWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	pipe, socket := filepath.Join(dir, "pipe"), filepath.Join(dir, "s")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for path, word := range map[string]string{pipe: "a pipe", socket: "a socket", dir: "a directory", "/dev/zero": "a device"} {
		var wrong *KindError
		_, err := Read(path, 1<<40)
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), path+" is "+word) || !strings.Contains(err.Error(), "want a regular file") {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if hint := strings.Contains(err.Error(), "write what the pipe gives to a file first"); hint != (path == pipe) {
			t.Errorf("%s: a hint for pipes %v: %v", path, hint, err)
		}
		if _, err := Open(path); !errors.As(err, &wrong) {
			t.Errorf("opening %s: %v", path, err)
		}
		if err := Check(path, 1<<40); !errors.As(err, &wrong) {
			t.Errorf("checking %s: %v", path, err)
		}
	}
	if err := (&KindError{"name", fs.ModeIrregular}).Error(); !strings.HasPrefix(err, "name is not a regular file; want") {
		t.Error(err)
	}
}
