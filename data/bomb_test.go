package data

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// allocated returns the bytes that f allocates, freed or not.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// imageFolder makes a folder of two classes whose images are all one file.
func imageFolder(t *testing.T, name string, file []byte, perClass int) string {
	t.Helper()
	root := t.TempDir()
	for _, class := range []string{"train/a", "train/b", "test/a", "test/b"} {
		dir := filepath.Join(root, class)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for i := range perClass {
			write(t, filepath.Join(dir, string(rune('0'+i))+name), file)
		}
	}
	return root
}

// TestImagesFarLargerThanTheirFiles: 8 images of 20 kB would take 400 MB.
func TestImagesFarLargerThanTheirFiles(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 4096, 4096))); err != nil {
		t.Fatal(err)
	}
	root := imageFolder(t, ".png", b.Bytes(), 4)
	var err error
	spent := allocated(func() { _, err = Open(Source{Name: "folder", Root: root}, Train) })
	if err == nil || !strings.Contains(err.Error(), "at most 32 times are read; make them smaller with data.size") {
		t.Errorf("8 images of 4096×4096 in %d bytes each: %v", b.Len(), err)
	}
	if spent > 64<<20 {
		t.Errorf("%d bytes were allocated", spent)
	}
}

// TestScansOfJPEG: each scan of a progressive image goes over all of its pixels.
func TestScansOfJPEG(t *testing.T) {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8)), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Source{Name: "folder", Root: imageFolder(t, ".jpg", b.Bytes(), 1)}, Train); err != nil {
		t.Fatal(err)
	}
	b.WriteString(strings.Repeat("\xff\xda", maxScans))
	if _, err := Open(Source{Name: "folder", Root: imageFolder(t, ".jpg", b.Bytes(), 1)}, Train); err == nil || !strings.Contains(err.Error(), "1001 scans") {
		t.Errorf("an image of 1001 scans: %v", err)
	}
}

// TestCompressedIDXOfAnySize: what a few bytes of gzip claim to hold is not unpacked.
func TestCompressedIDXOfAnySize(t *testing.T) {
	head := []byte{0, 0, 8, 3}
	for _, n := range []uint32{300_000, 28, 28} {
		head = binary.BigEndian.AppendUint32(head, n)
	}
	path := filepath.Join(t.TempDir(), "train-images-idx3-ubyte.gz")
	write(t, path, gzipped(append(head, make([]byte, 1<<20)...)))
	if _, err := readIDXFile(path, 3); err == nil || !strings.Contains(err.Error(), "unpack it with gunzip") {
		t.Errorf("235 MB of pixels in a file of a few kB: %v", err)
	}
	plain := filepath.Join(t.TempDir(), "train-images-idx3-ubyte")
	write(t, plain, append(head, make([]byte, 1<<20)...))
	if _, err := readIDXFile(plain, 3); err == nil || !strings.Contains(err.Error(), "truncated") {
		t.Errorf("a file that is not compressed holds what it holds: %v", err)
	}
}
