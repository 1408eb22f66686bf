package arrayfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFilesThatCannotBeMapped: closed, not open for reading, or with a page that cannot be read although nothing about the file has changed.
func TestFilesThatCannotBeMapped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, []byte("some bytes"), 0o666); err != nil {
		t.Fatal(err)
	}
	writing, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mapFile(writing, path, "numbers"); !errors.Is(err, syscall.EACCES) || !strings.Contains(err.Error(), "mapping "+path+" into memory") {
		t.Error(err)
	}
	writing.Close()
	if _, err := mapFile(writing, path, "numbers"); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mapFile(file, path, "numbers")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.changed(); err != nil {
		t.Errorf("nothing has changed: %v", err)
	}
	var fault *ChangedError
	if err := m.fault(); !errors.As(err, &fault) || fault.Was != 10 || fault.Is != 10 || fault.Path != path || !fault.Modified.Equal(fault.WasModified) {
		t.Errorf("%+v", fault)
	}
	if err := m.close(); err != nil {
		t.Fatal(err)
	}
	if err := m.changed(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a closed file: %v", err)
	}
}

// TestSafetensorsHeadersHaveALimit: readers refuse longer ones, so none is written.
func TestSafetensorsHeadersHaveALimit(t *testing.T) {
	for length, long := range map[int]bool{maxSafetensorsHeader - 100: false, maxSafetensorsHeader: true} {
		err := WriteSafetensors(io.Discard, nil, map[string]string{"note": strings.Repeat("x", length)})
		if got := err != nil && strings.Contains(err.Error(), "is above the format's limit of"); got != long || err != nil && !got {
			t.Errorf("%d bytes: %v", length, err)
		}
	}
}
