//go:build unix

package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"collapse.example/collapse/internal/inputfile"
)

// TestDatabaseThatIsNoFile puts a pipe in place of a lab's database or of its log. SQLite would wait for somebody to write to it.
func TestDatabaseThatIsNoFile(t *testing.T) {
	for _, name := range []string{"lab.sqlite", "lab.sqlite-wal", "lab.sqlite-shm", "lab.sqlite-journal"} {
		dir := t.TempDir()
		if name != "lab.sqlite" {
			l, err := Open(dir, Options{})
			if err := errors.Join(err, l.Close()); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(dir, name)
		os.Remove(path)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skipf("mkfifo: %v", err)
		}
		opened := make(chan error, 2)
		go func() {
			_, err := Open(dir, Options{})
			opened <- err
			_, err = OpenReader(dir)
			opened <- err
		}()
		for range 2 {
			select {
			case err := <-opened:
				var kind *inputfile.KindError
				if !errors.As(err, &kind) || !strings.Contains(err.Error(), path+" is a pipe") {
					t.Errorf("%s: %v, want that it is a pipe", name, err)
				}
			case <-time.After(30 * time.Second):
				t.Fatalf("%s: opening the lab waits", name)
			}
		}
	}
}
