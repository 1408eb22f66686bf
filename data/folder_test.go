package data

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
)

// writeFolder puts files into a folder of classes: "train/cat/1.png" and so on.
func writeFolder(t *testing.T, files map[string][]byte) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, b := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, path, b)
	}
	return root
}

func pngOf(h, w int, v uint8) []byte {
	img := image.NewGray(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = v
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// TestFolderPillow: what Pillow 9.4.0 reads of each kind of file as RGB, and of it resized (testdata/make.py). JPEG decoders round
// differently, by a level or two.
func TestFolderPillow(t *testing.T) {
	names := []string{"image_full.jpg", "image_grey.png", "image_palette.png", "image_rgb.png", "image_rgba.png"}
	files := map[string][]byte{"test/a/1.png": pngOf(20, 24, 1), "test/b/1.png": pngOf(20, 24, 1), "train/a/notes.txt": []byte("x"), "train/a/.hidden.png": []byte("x")}
	for _, n := range names {
		files["train/b/"+n] = read(t, "testdata/"+n)
	}
	files["train/a/1.PNG"] = files["train/b/image_rgb.png"]
	root := writeFolder(t, files)
	os.Mkdir(filepath.Join(root, "train", ".cache"), 0o755)
	for _, size := range []int{0, 16} {
		s, err := Open(Source{Name: "folder", Root: root, Size: size}, Train)
		if err != nil {
			t.Fatal(err)
		}
		if want := (Shape{3, 20, 24}); size == 0 && s.Shape != want || size == 16 && s.Shape != (Shape{3, 16, 16}) || !slices.Equal(s.True, []int32{0, 1, 1, 1, 1, 1}) || s.Norm != NormImageNet {
			t.Fatalf("%v, labels %v", s.Shape, s.True)
		}
		ending := map[int]string{0: ".npy", 16: ".16.npy"}[size]
		for i, n := range append([]string{"image_rgb.png"}, names...) {
			f, err := arrayfile.Open("testdata/" + n + ending)
			if err != nil {
				t.Fatal(err)
			}
			a, err := f.Load("")
			if err != nil {
				t.Fatal(err)
			}
			worst := 0
			for j, want := range a.Canonical().Data {
				d := int(s.Image(i)[j]) - int(want)
				worst = max(worst, d, -d)
			}
			if most := map[bool]int{true: 2}[n == "image_full.jpg"]; worst > most {
				t.Errorf("size %d, %s: differs by %d levels, at most %d are right", size, n, worst, most)
			}
			f.Close()
		}
	}
}

func TestFolderErrors(t *testing.T) {
	whole := pngOf(4, 4, 9)
	base := func(change map[string][]byte) map[string][]byte {
		files := map[string][]byte{"train/a/1.png": whole, "train/b/1.png": whole, "test/a/1.png": whole, "test/b/1.png": whole}
		for name, b := range change {
			if files[name] = b; b == nil {
				delete(files, name)
			}
		}
		return files
	}
	for what, c := range map[string]struct {
		files map[string][]byte
		want  string
	}{
		"size":      {base(map[string][]byte{"train/b/2.png": pngOf(4, 5, 0)}), "b/2.png: the image is 4×5, the first one 4×4; set data.size"},
		"cut":       {base(map[string][]byte{"train/a/1.png": whole[:len(whole)-20]}), "a/1.png: png: invalid format: unexpected EOF"},
		"text":      {base(map[string][]byte{"train/b/1.png": []byte("<html>")}), "unknown format"},
		"bomb":      {base(map[string][]byte{"train/b/1.png": pngHeader(1<<15, 1<<15)}), "b/1.png: the image is 32768×32768; at most 16777216"},
		"no class":  {base(map[string][]byte{"test/b/1.png": nil}), `test: there is no folder for class "b"`},
		"new class": {base(map[string][]byte{"test/c/1.png": whole}), `train: there is no folder for class "c"`},
		"no image":  {base(map[string][]byte{"train/b/1.png": nil, "train/b/1.gif": whole}), "b holds no image"},
		"one class": {map[string][]byte{"train/a/1.png": whole, "test/a/1.png": whole}, "has 1 class folders"},
		"no test":   {map[string][]byte{"train/a/1.png": whole, "train/b/1.png": whole}, "test: no such file"},
		"no train":  {map[string][]byte{"test/a/1.png": whole}, "holds train/ and test/"},
	} {
		if s, err := Open(Source{Name: "folder", Root: writeFolder(t, c.files)}, Train); s != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", what, err, c.want)
		}
	}
	found := Check(writeFolder(t, base(nil)))
	if last := found[len(found)-1]; last.Name != "folder" || last.State != Present || last.Samples != 2 {
		t.Errorf("check: %+v", last)
	}
}

// pngHeader is a PNG file that ends after its header.
func pngHeader(w, h uint32) []byte {
	b := pngOf(1, 1, 0)[:33]
	binary.BigEndian.PutUint32(b[16:], w)
	binary.BigEndian.PutUint32(b[20:], h)
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
	return b
}

// FuzzImage: no file panics or decodes to another size than it announced.
func FuzzImage(f *testing.F) {
	var b bytes.Buffer
	img := image.NewNRGBA(image.Rect(0, 0, 5, 3))
	img.Set(2, 2, color.NRGBA{9, 200, 30, 128})
	if err := jpeg.Encode(&b, img, nil); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(pngOf(3, 5, 7))
	f.Add(pngHeader(1<<20, 1<<20))
	path := filepath.Join(f.TempDir(), "x.png")
	f.Fuzz(func(t *testing.T, file []byte) {
		write(t, path, file)
		if h, w, err := imageSize(path); err != nil || h*w > 1<<16 {
			return
		}
		r := resizer{to: Shape{3, 8, 8}, any: true}
		if err := r.read(make([]uint8, 3*64), path); err != nil && !strings.HasPrefix(err.Error(), "data: "+path) {
			t.Fatal(err)
		}
	})
}

// TestImagesThatAreNotRead: sizes that make more pixels than are read, and a file that is gone since the folder was listed.
func TestImagesThatAreNotRead(t *testing.T) {
	root := writeFolder(t, map[string][]byte{"train/a/1.png": pngOf(2, 2, 1), "train/b/1.png": pngOf(2, 2, 1), "test/a/1.png": pngOf(2, 2, 1), "test/b/1.png": pngOf(2, 2, 1)})
	if _, err := readFolder(&Info{Name: "folder"}, root, Train, 14_000); err == nil || !strings.Contains(err.Error(), "2 images of 14000×14000 have more than 1073741824 bytes of pixels; make them smaller with data.size") {
		t.Error(err)
	}
	if err := (&resizer{to: Shape{3, 2, 2}}).read(make([]uint8, 12), filepath.Join(root, "gone.png")); err == nil || !strings.Contains(err.Error(), "there is no file") {
		t.Error(err)
	}
}
