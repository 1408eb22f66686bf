package featurefiles

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/longtest"
)

// everyRole are the arrays of a small set with a classifier, true labels and a mask.
func everyRole() []arrayfile.Array {
	const n = 20
	f, y := make([]float32, 3*n), make([]int64, n)
	for i := range f {
		f[i] = float32(i * 7 % 11)
	}
	for i := range y {
		y[i] = int64(i % 2)
	}
	return []arrayfile.Array{
		arrayfile.Of("features", []int{n, 3}, f), arrayfile.Of("labels", []int{n}, y), arrayfile.Of("true_labels", []int{n}, y),
		arrayfile.Of("weight", []int{2, 3}, make([]float32, 6)), arrayfile.Of("bias", []int{2}, make([]float32, 2)), arrayfile.Of("corrupted", []int{n}, make([]uint8, n)),
		arrayfile.Of("test_features", []int{n, 3}, f), arrayfile.Of("test_labels", []int{n}, y), arrayfile.Of("ood", []int{n, 3}, f),
	}
}

// archive is an npz of arrays, compressed or not.
func archive(t *testing.T, arrays []arrayfile.Array, method uint16) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, a := range arrays {
		w, err := z.CreateHeader(&zip.FileHeader{Name: a.Name + ".npy", Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if err := arrayfile.WriteNPY(w, a); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func rolesOf(t *testing.T, path string) ([]string, error) {
	t.Helper()
	s, err := Open(Request{Files: []string{path}})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var out []string
	for _, in := range s.Inputs {
		out = append(out, in.Role)
	}
	return out, nil
}

// TestNoChangedByteHidesAnArray: whichever byte of a file is changed, the file is refused or all its arrays are there.
func TestNoChangedByteHidesAnArray(t *testing.T) {
	for name, method := range map[string]uint16{"stored": zip.Store, "deflated": zip.Deflate} {
		whole := archive(t, everyRole(), method)
		path := filepath.Join(t.TempDir(), "x.npz")
		refused, hidden := 0, 0
		for i := 0; i < len(whole); i += longtest.Of(5, 1) {
			b := bytes.Clone(whole)
			b[i] ^= 1
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			roles, err := rolesOf(t, path)
			switch {
			case err != nil:
				refused++
			case len(roles) != len(everyRole()):
				if hidden++; hidden < 5 {
					t.Errorf("%s: byte %d of %d: measured with %s alone", name, i, len(whole), strings.Join(roles, ", "))
				}
			}
		}
		if refused == 0 || hidden > 0 {
			t.Errorf("%s: of %d changed bytes %d were refused, and %d hid an array", name, len(whole), refused, hidden)
		}
	}
}

// TestDamagedMembersAreNamed: an array that cannot be read is an error, also where another one could stand for it.
func TestDamagedMembersAreNamed(t *testing.T) {
	for _, a := range everyRole() {
		for how, damage := range map[string]func(b []byte, at int){
			"its magic":  func(b []byte, at int) { b[at] ^= 1 },
			"its header": func(b []byte, at int) { b[at+12] = '!' },
		} {
			arrays := everyRole()
			if a.Name == "labels" {
				arrays = append(arrays, arrayfile.Of("y", []int{20}, make([]int64, 20)))
			}
			b := archive(t, arrays, zip.Store)
			at := bytes.Index(b, []byte(a.Name+".npy")) + len(a.Name+".npy")
			damage(b, at)
			path := filepath.Join(t.TempDir(), "x.npz")
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := rolesOf(t, path); err == nil || !strings.Contains(err.Error(), "("+a.Name+")") || !strings.Contains(err.Error(), "cannot be read") {
				t.Errorf("%s with %s damaged: %v", a.Name, how, err)
			}
		}
	}
}

// TestALoneArrayDoesNotStandForADamagedOne: the labels are not features because the features cannot be read.
func TestALoneArrayDoesNotStandForADamagedOne(t *testing.T) {
	b := archive(t, everyRole()[:2], zip.Store)
	b[bytes.Index(b, []byte("features.npy"))+len("features.npy")] ^= 1
	path := filepath.Join(t.TempDir(), "x.npz")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	req := Request{}
	req.From[Features], req.From[Labels] = []string{path}, []string{path}
	if _, err := Open(req); err == nil || !strings.Contains(err.Error(), "(features): the features cannot be read") {
		t.Errorf("a file whose features are damaged: %v", err)
	}
}

// TestDamagedLayers: a pattern that matches a layer which is not whole is refused, and arrays of another nature are not layers.
func TestDamagedLayers(t *testing.T) {
	arrays := append(everyRole()[:2], arrayfile.Of("layer1", []int{20, 2}, make([]float32, 40)), arrayfile.Of("layer2", []int{20, 2}, make([]float32, 40)))
	b := archive(t, arrays, zip.Store)
	path := filepath.Join(t.TempDir(), "x.npz")
	objects := bytes.Replace(b, []byte("'<f4', 'fortran_order': False, 'shape': (20, 2)"), []byte("'|O4', 'fortran_order': False, 'shape': (20, 2)"), 1)
	if err := os.WriteFile(path, objects, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(Request{Files: []string{path}, Layers: "layer*"})
	if err != nil {
		t.Fatalf("layer1 is of objects: %v", err)
	}
	names := []string{}
	for _, c := range s.Columns {
		names = append(names, c.Name)
	}
	s.Close()
	if !slices.Equal(names, []string{"layer2", "features"}) {
		t.Errorf("columns %q where layer1 is of objects", names)
	}
	b[bytes.Index(b, []byte("layer1.npy"))+len("layer1.npy")] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Request{Files: []string{path}, Layers: "layer*"}); err == nil || !strings.Contains(err.Error(), "(layer1): this layer cannot be read") {
		t.Errorf("layer1 is damaged: %v", err)
	}
}
