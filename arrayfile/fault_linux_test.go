package arrayfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"unsafe"
)

// Reading a mapped file that was truncated by more than a page faults.
func TestCutFileIsAnError(t *testing.T) {
	const n = 1 << 16
	for name, read := range map[string]func(Array) error{
		"convert": func(a Array) error { _, err := a.Float64s(); return err },
		"view": func(a Array) error {
			v, _ := View[float32](a)
			sum := float32(0)
			for _, x := range v {
				sum += x
			}
			if sum == 0 {
				return errors.New("nothing was read")
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			path, f := changing(t, n)
			a, err := f.Load("")
			if err != nil {
				t.Fatal(err)
			}
			truncate(t, path, 4096)
			err = Guard(func() error { return read(a) })
			wantChanged(t, err, path, "262272 bytes at first, 4096 now")
		})
	}
}

// The functions passed to Read, and the parsers of headers, run within Guard.
func TestCutWhileItIsReadOrParsed(t *testing.T) {
	path, _ := changing(t, 1<<16)
	err := Read(path, func(f *File) error {
		a, err := f.Load("")
		if err != nil {
			return err
		}
		truncate(t, path, 4096)
		_, err = a.Float64s()
		return err
	})
	wantChanged(t, err, path, "4096 now")
	path, _ = changing(t, 1<<16)
	m, err := mapped(path, "an array")
	if err != nil {
		t.Fatal(err)
	}
	err = m.parse(func() error {
		truncate(t, path, 4096)
		if m.memory[5000] != 0 {
			return errors.New("something was read")
		}
		return nil
	})
	wantChanged(t, err, path, "4096 now")
}

// A zip entry is read when it is loaded, and its headers when the file is opened.
func TestCutZip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.npz")
	w, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(WriteNPZ(w, []Array{Of("h", []int{1 << 16}, make([]float32, 1<<16))}), w.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	truncate(t, path, 0)
	_, err = f.Load("h")
	wantChanged(t, err, path, "0 now")
}

func TestGuardPassesOtherPanics(t *testing.T) {
	_, f := changing(t, 3000)
	for name, panics := range map[string]func(){
		"a value":       func() { panic("mine") },
		"a nil pointer": func() { f = nil; _ = f.entries },
		"an index":      func() { var x []int; i := 3; x[i] = 1 },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: Guard swallowed the panic", name)
				}
			}()
			err := Guard(func() error { panics(); return nil })
			t.Errorf("%s: Guard returned %v", name, err)
		}()
	}
}

// A fault is attributed by its address: a closed mapping has none.
func TestMappingAt(t *testing.T) {
	_, f := changing(t, 3000)
	at := uintptr(unsafe.Pointer(&f.memory.memory[0]))
	for _, c := range []struct {
		addr uintptr
		want *mapping
	}{{at, f.memory}, {at + 12127, f.memory}, {at + 3*4096 - 1, f.memory}, {at - 1, nil}, {at + 1<<20, nil}, {0, nil}} {
		if found := mappingAt(c.addr); found != c.want {
			t.Errorf("%d bytes from the start lies in %v, want %v", c.addr-at, found, c.want)
		}
	}
	m := f.memory
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	wantReleased(t, m)
	if found := mappingAt(at); found != nil {
		t.Errorf("a closed file is found: %v", found)
	}
}
