package faulttest

import (
	"os"
	"path/filepath"
	"testing"
)

// Enterable lets every user enter and list a temporary folder of the test, whatever the umask. It skips the test if a folder above, which is not the
// test's own, is closed.
func Enterable(t *testing.T, dir string) {
	t.Helper()
	for above := filepath.Clean(dir); ; above = filepath.Dir(above) {
		info, err := os.Stat(above)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&1 == 0 {
			if above == filepath.Clean(os.TempDir()) || len(above) < len(os.TempDir()) {
				t.Skipf("%s is closed to other users (%v): set TMPDIR to an open folder", above, info.Mode())
			}
			if err := os.Chmod(above, info.Mode().Perm()|0o555); err != nil {
				t.Fatal(err)
			}
		}
		if above == filepath.Dir(above) {
			return
		}
	}
}
