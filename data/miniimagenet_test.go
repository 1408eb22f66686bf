package data

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pickleOf writes by hand what Python 2's pickle made of {"image_data": array, "class_dict": {name: [numbers]}}.
func pickleOf(shape []int, pixels []byte, classes ...string) []byte {
	text := func(s string) string {
		return string(binary.LittleEndian.AppendUint32([]byte("T"), uint32(len(s)))) + s
	}
	integer := func(n int) string { return string(binary.LittleEndian.AppendUint32([]byte("J"), uint32(n))) }
	ops := "\x80\x02}(" + text("image_data") + "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01("
	for _, n := range shape {
		ops += integer(n)
	}
	ops += "tcnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89" + text(string(pixels)) + "tb" + text("class_dict") + "}("
	for _, c := range classes {
		name, members, _ := strings.Cut(c, ":")
		ops += text(name) + "]("
		for _, m := range strings.Fields(members) {
			var n int
			fmt.Sscan(m, &n)
			ops += integer(n)
		}
		ops += "e"
	}
	return []byte(ops + "uu.")
}

// miniPixels are n images of which every pixel says image, channel and place.
func miniPixels(n, first int) []byte {
	b := make([]byte, 0, n*84*84*3)
	for i := first; i < first+n; i++ {
		for p := range 84 * 84 {
			for c := range 3 {
				b = append(b, byte(31*i+7*c+p))
			}
		}
	}
	return b
}

func writeMini(t *testing.T, root string, files [3][]byte) {
	t.Helper()
	os.MkdirAll(filepath.Join(root, "mini-imagenet"), 0o755)
	for i, b := range files {
		write(t, filepath.Join(root, "mini-imagenet", miniFiles[i]), b)
	}
}

// TestMini: three files of 2, 1 and 1 classes become four classes in that order; of 6 images of a class the last is for test.
func TestMini(t *testing.T) {
	root := t.TempDir()
	shape := func(n int) []int { return []int{n, 84, 84, 3} }
	writeMini(t, root, [3][]byte{
		pickleOf(shape(12), miniPixels(12, 0), "n2:0 2 4 6 8 10", "n1:1 3 5 7 9 11"),
		pickleOf(shape(6), miniPixels(6, 12), "n3:5 4 3 2 1 0"),
		pickleOf(shape(12), miniPixels(12, 18), "n0:0 1 2 3 4 5 6 7 8 9 10 11"),
	})
	train, test, err := load(Source{Name: "mini-imagenet", Root: root})
	if err != nil {
		t.Fatal(err)
	}
	images := map[Split][]int{Train: {0, 2, 4, 6, 8, 1, 3, 5, 7, 9, 17, 16, 15, 14, 13, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27}, Test: {10, 11, 12, 28, 29}}
	labels := map[Split][]int32{Train: {0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3}, Test: {0, 1, 2, 3, 3}}
	for _, s := range []*Set{train, test} {
		if s.Classes != 4 || s.Shape != (Shape{3, 84, 84}) || s.Norm != NormImageNet || !slices.Equal(s.True, labels[s.Split]) {
			t.Fatalf("%s: %d classes, labels %v", s.Split, s.Classes, s.True)
		}
		for at, i := range images[s.Split] {
			for j, v := range s.Image(at) {
				if c, p := j/(84*84), j%(84*84); v != byte(31*i+7*c+p) {
					t.Fatalf("%s: sample %d is not image %d", s.Split, at, i)
				}
			}
		}
	}
}

func TestMiniErrors(t *testing.T) {
	pixels := miniPixels(6, 0)
	good := func(name string) []byte { return pickleOf([]int{6, 84, 84, 3}, pixels, name+":0 1 2 3 4 5") }
	a, b := good("a"), good("b")
	for what, c := range map[string]struct {
		third []byte
		want  string
	}{
		"cut":       {a[:len(a)-1], "are left"},
		"trailing":  {append(slices.Clone(good("c")), 1), "1 bytes follow"},
		"a call":    {[]byte("\x80\x02cos\nsystem\nX\x02\x00\x00\x00ls\x85R."), `"os system" is not read`},
		"twice":     {good("a"), `class "a" occurs twice`},
		"shape":     {pickleOf([]int{6, 3, 84, 84}, pixels, "c:0"), "image_data is [6 3 84 84] of U8; want N×84×84×3"},
		"number":    {pickleOf([]int{6, 84, 84, 3}, pixels, "c:6"), `class "c" has image 6 of 6`},
		"negative":  {pickleOf([]int{6, 84, 84, 3}, pixels, "c:-1"), `class "c" has image -1 of 6`},
		"no images": {[]byte("\x80\x02}."), `there is no "image_data"`},
		"too many":  {pickleOf([]int{6, 84, 84, 3}, pixels, "c:0 1 2 3", "d:4 5 0"), "its classes list 7 images or more, but it holds 6"},
		"words":     {bytes.Replace(pickleOf([]int{6, 84, 84, 3}, pixels, "c:0"), []byte("](J\x00\x00\x00\x00e"), []byte("T\x02\x00\x00\x00no"), 1), `class "c": `},
		"empty":     {pickleOf([]int{6, 84, 84, 3}, pixels, "c:"), "class 2 has no sample"},
	} {
		root := t.TempDir()
		writeMini(t, root, [3][]byte{a, b, c.third})
		if s, err := Open(Source{Name: "mini-imagenet", Root: root}, Train); s != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", what, err, c.want)
		}
	}
	var many []string
	for i := range 99 {
		many = append(many, fmt.Sprintf("m%d:%d", i, i))
	}
	for n, want := range map[int]string{98: "", 99: "the three files have 101 classes; mini-imagenet has 100"} {
		root := t.TempDir()
		writeMini(t, root, [3][]byte{a, b, pickleOf([]int{99, 84, 84, 3}, miniPixels(99, 0), many[:n]...)})
		if _, err := Open(Source{Name: "mini-imagenet", Root: root}, Train); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d classes: %v", n+2, err)
		}
	}
	root := t.TempDir()
	os.Mkdir(filepath.Join(root, "mini-imagenet"), 0o755)
	write(t, filepath.Join(root, "mini-imagenet", miniFiles[0]), a)
	if _, err := Open(Source{Name: "mini-imagenet", Root: root}, Train); err == nil || !strings.Contains(err.Error(), miniFiles[2]) || strings.Contains(err.Error(), "data get") {
		t.Errorf("missing: %v", err)
	}
}

// TestMiniBeyondTheBound: what is kept and what would be added have more bytes than are read.
func TestMiniBeyondTheBound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	write(t, path, pickleOf([]int{6, 84, 84, 3}, miniPixels(6, 0), "a:0 1 2 3 4 5"))
	shape := Shape{3, 84, 84}
	full := &Set{Split: Train, Shape: shape, Pixels: make([]uint8, maxPixels-5*shape.Dim()+1)} // never touched
	if err := full.addMini(path, map[string]bool{}); err == nil || !strings.Contains(err.Error(), "with its 5 images the set has more than") {
		t.Error(err)
	}
	s := &Set{Split: Train, Shape: shape}
	if err := s.addMini(path, map[string]bool{}); err != nil || len(s.Pixels) != 5*shape.Dim() {
		t.Errorf("%d bytes, %v", len(s.Pixels), err)
	}
}
