package arrayfile

import (
	"os"
	"path/filepath"
	"testing"
	"unsafe"
)

// TestAMappingIsKeptForTheSameFile: its numbers are those of the file as it is, and another file, another size and the end of keeping get
// or leave none.
func TestAMappingIsKeptForTheSameFile(t *testing.T) {
	if err := KeepMapped(true); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { KeepMapped(false) })
	dir := t.TempDir()
	path, other := filepath.Join(dir, "h.npy"), filepath.Join(dir, "other.npy")
	read := func(path string, first float32) (at uintptr) {
		t.Helper()
		m, err := mapped(path, "an array")
		if err != nil {
			t.Fatal(err)
		}
		at = uintptr(unsafe.Pointer(unsafe.SliceData(m.memory)))
		if got := *(*float32)(unsafe.Pointer(&m.memory[128])); got != first || len(m.memory) != int(m.size) {
			t.Errorf("%s begins with %g in %d bytes; want %g in %d", path, got, len(m.memory), first, m.size)
		}
		if err := m.close(); err != nil {
			t.Fatal(err)
		}
		return at
	}
	holds := func(path string) bool { return kept.memory != nil && samePath(t, kept.info, path) }
	writeNPY(t, path, []float32{1, 2, 3})
	at := read(path, 1)
	writeNPY(t, path, []float32{4, 5, 6}) // into the same file
	if again := read(path, 4); again != at || !holds(path) {
		t.Errorf("the same file was mapped anew: at %x, then at %x", at, again)
	}
	writeNPY(t, path, make([]float32, 5000))
	read(path, 0)
	writeNPY(t, other, []float32{7})
	if read(other, 7); !holds(other) {
		t.Error("the mapping of the file before is kept, not that of the last")
	}
	if err := KeepMapped(false); err != nil || kept.memory != nil {
		t.Errorf("%v; a mapping is left", err)
	}
	if read(path, 0); kept.memory != nil {
		t.Error("a mapping is kept that nobody asked to keep")
	}
}

func samePath(t *testing.T, info os.FileInfo, path string) bool {
	t.Helper()
	now, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return os.SameFile(info, now)
}
