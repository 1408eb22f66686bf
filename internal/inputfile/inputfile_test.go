//go:build unix

package inputfile

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
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
	if _, err := Read(path, 10); !errors.As(err, &large) {
		t.Errorf("more than 10 bytes of it: %v", err)
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
		if _, err := Read(path, 1<<40); !errors.As(err, &wrong) || !strings.Contains(err.Error(), path+" is "+word) || !strings.Contains(err.Error(), "want a regular file") {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := Open(path); !errors.As(err, &wrong) {
			t.Errorf("opening %s: %v", path, err)
		}
		if err := Check(path, 1<<40); !errors.As(err, &wrong) {
			t.Errorf("checking %s: %v", path, err)
		}
	}
}
