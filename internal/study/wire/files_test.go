package wire

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/study/studytest"
	"collapse.example/collapse/internal/train"
)

// TestFilesWithHolesAreRefused: a small archive can claim that a file is of any size.
func TestFilesWithHolesAreRefused(t *testing.T) {
	const whole = 1 << 33 // of which 4 bytes are there
	raw := sparseArchive(t, whole)
	dir := filepath.Join(t.TempDir(), "out")
	if err := unpack(bytes.NewReader(raw), dir); err == nil {
		info, _ := os.Stat(filepath.Join(dir, "holes"))
		t.Errorf("%d bytes of archive make a file of %d", len(raw), info.Size())
	}
}

// sparseArchive writes, by hand, a file in GNU's sparse format 0.1 for PAX: the library reads it and does not write it.
func sparseArchive(t *testing.T, size int64) []byte {
	t.Helper()
	record := func(key, value string) string {
		n := len(key) + len(value) + 3
		for len(fmt.Sprint(n))+len(key)+len(value)+3 != n {
			n = len(fmt.Sprint(n)) + len(key) + len(value) + 3
		}
		return fmt.Sprintf("%d %s=%s\n", n, key, value)
	}
	records := record("GNU.sparse.size", fmt.Sprint(size)) + record("GNU.sparse.numblocks", "1") +
		record("GNU.sparse.map", fmt.Sprintf("%d,4", size-4)) + record("GNU.sparse.name", "holes")
	header := func(kind byte, name string, n int) []byte {
		h := make([]byte, 512)
		copy(h, name)
		copy(h[100:], "0000644\x000000000\x000000000\x00")
		copy(h[124:], fmt.Sprintf("%011o\x00", n))
		copy(h[136:], "00000000000\x00")
		copy(h[148:], "        ")
		h[156] = kind
		copy(h[257:], "ustar\x0000")
		sum := 0
		for _, c := range h {
			sum += int(c)
		}
		copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
		return h
	}
	pad := func(b []byte) []byte { return append(b, make([]byte, (512-len(b)%512)%512)...) }
	var out []byte
	out = append(out, header('x', "x", len(records))...)
	out = append(out, pad([]byte(records))...)
	out = append(out, header('0', "holes", 4)...)
	out = append(out, pad([]byte("data"))...)
	return append(out, make([]byte, 1024)...)
}

// TestSidePartsAreFewAndWhole leaves files with a checkpoint after each epoch: the parts hold every file once, they are few, and in
// total they cost a small multiple of the files.
func TestSidePartsAreFewAndWhole(t *testing.T) {
	dir, blobs := t.TempDir(), t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "frames"), 0o777))
	must(t, os.WriteFile(filepath.Join(dir, "config.toml"), []byte(train.PrintConfig(studytest.Tiny())), 0o666))
	var parts []SidePart
	stored := int64(0)
	known := map[string]bool{}
	const epochs = 100
	for epoch := int64(1); epoch <= epochs; epoch++ {
		must(t, os.WriteFile(filepath.Join(dir, "frames", fmt.Sprintf("%d.npz", epoch)), bytes.Repeat([]byte{byte(epoch)}, 10_000), 0o666))
		must(t, os.WriteFile(filepath.Join(dir, "frames", fmt.Sprintf("%d.npz.tmp", epoch+1)), nil, 0o666))
		var err error
		parts, err = LeaveSideFiles(t.Context(), queue.Folder(blobs), "job/g1", dir, epoch, parts)
		must(t, err)
		if len(parts) > 8 {
			t.Fatalf("%d parts at epoch %d", len(parts), epoch)
		}
		for _, p := range parts {
			if !known[p.Blob.Name] {
				known[p.Blob.Name] = true
				stored += p.Blob.Bytes
			}
		}
	}
	if same, err := LeaveSideFiles(t.Context(), queue.Folder(blobs), "job/g1", dir, epochs, parts); err != nil || len(same) != len(parts) {
		t.Errorf("without anything new there are %d parts, not %d, %v", len(same), len(parts), err)
	}
	if stored > 8*epochs*11_000 {
		t.Errorf("%d bytes went for %d of files", stored, epochs*10_000)
	}
	all := filepath.Join(t.TempDir(), "all")
	for _, p := range parts {
		staging := filepath.Join(t.TempDir(), "part")
		must(t, fetch(t.Context(), queue.Folder(blobs), p.Blob, staging))
		for path := range studytest.Contents(t, staging) {
			if _, err := os.Stat(filepath.Join(all, path)); err == nil {
				t.Errorf("%s is in two parts", path)
			}
		}
		must(t, mergeInto(staging, all))
	}
	got := studytest.Contents(t, all)
	for epoch := 1; epoch <= epochs; epoch++ {
		if b := got[fmt.Sprintf("frames/%d.npz", epoch)]; len(b) != 10_000 || b[0] != byte(epoch) {
			t.Errorf("the frame of epoch %d has %d bytes", epoch, len(b))
		}
	}
	if len(got) != epochs {
		t.Errorf("%d files", len(got))
	}
}
