package faulttest

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// SmallDisk mounts a disk of 24 MB on the folder dir until the test ends.
func SmallDisk(t *testing.T, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can mount a small disk to fill up")
	}
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		err = syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=24m")
	}
	if errors.Is(err, syscall.EPERM) {
		t.Skip("root may not mount a small disk here")
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
}

// FillDisk leaves not one byte free in dir.
func FillDisk(t *testing.T, dir string) (release func()) {
	t.Helper()
	path := filepath.Join(dir, "ballast")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}
