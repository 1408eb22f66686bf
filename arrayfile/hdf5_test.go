package arrayfile

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// hdf5Files are what testdata/make_hdf5.py wrote with h5py.
func hdf5Files(t testing.TB) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, name := range []string{"hdf5_earliest.h5", "hdf5_middle.h5", "hdf5_latest.h5", "hdf5_odd.h5", "hdf5_matlab.mat"} {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = b
	}
	return out
}

// TestFilesOfH5py: in files of each version, every array is what h5py reads of it, and there is no other.
func TestFilesOfH5py(t *testing.T) {
	want, err := Open("testdata/hdf5_arrays.npz")
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	for _, name := range []string{"hdf5_earliest.h5", "hdf5_middle.h5", "hdf5_latest.h5"} {
		f, err := Open("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var names, wanted []string
		for _, h := range f.Headers() {
			names = append(names, h.Name)
		}
		for _, h := range want.Headers() {
			wanted = append(wanted, h.Name)
			a, err := f.Load(h.Name)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			w, err := want.Load(h.Name)
			if err != nil {
				t.Fatal(err)
			}
			if err := differ(a, w); err != nil || !slices.Equal(a.Shape, w.Shape) || a.Categories == nil && a.DType != w.DType {
				t.Errorf("%s: %s is %v of %v, want %v of %v: %v", name, h.Name, a.DType, a.Shape, w.DType, w.Shape, err)
			}
		}
		slices.Sort(names)
		slices.Sort(wanted)
		if !slices.Equal(names, wanted) || len(names) < 30 || len(f.Refused()) > 0 {
			t.Errorf("%s has %v, want %v; refused are %v", name, names, wanted, f.Refused())
		}
	}
}

// TestOddHDF5 names what is not read, without hiding what is.
func TestOddHDF5(t *testing.T) {
	f, err := Parse(hdf5Files(t)["hdf5_odd.h5"])
	if err != nil {
		t.Fatal(err)
	}
	for name, word := range map[string]string{
		"complex": "complex numbers", "record": "several values", "ragged": "unequal length", "none": "no shape", "soft": "links", "elsewhere": "another file", "refers": "references",
		"inner": "arrays within", "opaque": "opaque", "unwritten": "none of its numbers was ever written", "partly": "2 of its 4 chunks were never written", "scaled": "scale-offset", "latin": "UTF-8",
	} {
		if _, err := f.Load(name); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v, want %q", name, err, word)
		}
	}
	for _, r := range f.Refused() {
		if r.Damaged {
			t.Errorf("%s is called damaged: %v", r.Name, r.Err)
		}
	}
	a, err := f.Load("after")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := a.Float64s(); err != nil || !slices.Equal(v, []float64{1.5, 2.5}) {
		t.Errorf("%v, %v", v, err)
	}
}

// TestMATLAB73 reads arrays by columns, as MATLAB has them, from a file that h5py wrote in MATLAB's way.
func TestMATLAB73(t *testing.T) {
	f, err := Parse(hdf5Files(t)["hdf5_matlab.mat"])
	if err != nil {
		t.Fatal(err)
	}
	want := loadFile(t, "testdata/hdf5_arrays.npz", "gzip")
	got, err := f.Load("features")
	if err != nil {
		t.Fatal(err)
	}
	if err := differ(got, want); err != nil || got.Shape[0] != 20 {
		t.Errorf("%v: %v", got.Shape, err)
	}
	if y, err := f.Load("labels"); err != nil || !slices.Equal(y.Shape, []int{20, 1}) {
		t.Errorf("labels %v, %v", y.Shape, err)
	}
	if headers := f.Headers(); len(headers) != 2 {
		t.Errorf("arrays %v", headers)
	}
	for name, word := range map[string]string{"words": "class char", "nothing": "is empty"} {
		if _, err := f.Load(name); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v, want %q", name, err, word)
		}
	}
}

// TestDamagedHDF5: whatever is cut or changed, there is an error or complete arrays, and no more memory than the bytes justify.
func TestDamagedHDF5(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, b := range hdf5Files(t) {
		failed := 0
		for range 60 {
			n := r.IntN(len(b)-8) + 8
			checkHDF5(t, b[:n])
			if parseAllStrict(b[:n]) != nil {
				failed++
			}
			wrong := bytes.Clone(b)
			for range 3 {
				wrong[r.IntN(min(len(b), 4096))] = byte(r.Uint32())
			}
			checkHDF5(t, wrong)
		}
		if failed < 58 {
			t.Errorf("%s: %d of 60 cuts were noticed", name, failed)
		}
	}
}

// TestHDF5ThatBranches: sixty levels of a tree, each with one child that it names twice, end before 2⁶⁰ of them are visited.
func TestHDF5ThatBranches(t *testing.T) {
	le := binary.LittleEndian
	b := make([]byte, 10000)
	words := func(at int, values ...uint64) {
		for i, v := range values {
			le.PutUint64(b[at+8*i:], v)
		}
	}
	copy(b, hdf5Magic)
	b[13], b[14] = 8, 8
	words(24, 0, 0, 10000, 0, 0, 96) // base, free space, end, driver; name and header of the root
	copy(b[96:], []byte{1, 0, 1, 0, 1, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0, hdf5SymbolTable, 0, 16})
	words(96+24, 300, 200)
	copy(b[200:], "HEAP")
	words(208, 8, 0, 240)
	for level := range 61 {
		at := 300 + 100*(60-level)
		copy(b[at:], "TREE")
		b[at+5], b[at+6] = byte(level), 2
		words(at+24, 0, uint64(at+100), 0, uint64(at+100))
	}
	copy(b[300+6100:], "SNOD\x01")
	if _, err := Parse(b); err == nil || !strings.Contains(err.Error(), "again and again") {
		t.Errorf("%v", err)
	}
}

func checkHDF5(t *testing.T, b []byte) {
	t.Helper()
	var file *File
	var err error
	limit := uint64(2<<20 + 400*len(b)) // a link of 8 bytes is an entry
	if spent := allocated(func() { file, err = Parse(b) }); spent > limit {
		t.Fatalf("%d bytes allocated for a file of %d", spent, len(b))
	}
	if err != nil {
		return
	}
	limit += uint64(2 * maxDeflate * len(b))
	for i, e := range file.entries {
		if i == 100 {
			break
		}
		var a Array
		spent := allocated(func() { a, err = file.Load(e.Name) })
		if err == nil {
			err = a.check()
			if err != nil {
				t.Fatal(err)
			}
		}
		if spent > limit {
			t.Fatalf("%d bytes allocated for %q of a file of %d", spent, e.Name, len(b))
		}
	}
}

// FuzzHDF5: no input panics or takes more memory than its bytes justify, and what is read is complete.
func FuzzHDF5(f *testing.F) {
	for _, b := range hdf5Files(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if isHDF5(b) {
			checkHDF5(t, b)
		}
	})
}
