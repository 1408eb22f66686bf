package data

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
)

// idxBytes writes an IDX file of bytes with the given sizes and content.
func idxBytes(data []byte, sizes ...int) []byte {
	b := []byte{0, 0, 8, byte(len(sizes))}
	for _, n := range sizes {
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	return append(b, data...)
}

func gzipped(b []byte) []byte {
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	w.Write(b)
	w.Close()
	return buf.Bytes()
}

func TestReadIDX(t *testing.T) {
	want := make([]byte, 3*40*50*40)
	for i := range want {
		want[i] = byte(i * i >> 3)
	}
	plain := idxBytes(want, 3*40, 50, 40)
	for what, file := range map[string][]byte{"plain": plain, "gzipped": gzipped(plain)} {
		x, err := readIDX(iotest{bytes.NewReader(file)}, 3)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if !bytes.Equal(x.data, want) || len(x.sizes) != 3 || x.sizes[0] != 120 || x.sizes[1] != 50 || x.sizes[2] != 40 {
			t.Errorf("%s: sizes %v, %d bytes", what, x.sizes, len(x.data))
		}
	}
}

// iotest delivers odd pieces, as a pipe or a network file may.
type iotest struct{ r io.Reader }

func (o iotest) Read(p []byte) (int, error) { return o.r.Read(p[:min(len(p), 1021)]) }

func TestReadIDXErrors(t *testing.T) {
	body := make([]byte, 24)
	good := idxBytes(body, 2, 3, 4)
	zip := gzipped(good)
	flip := bytes.Clone(zip)
	flip[len(flip)-6] ^= 1 // of the checksum
	bad := bytes.Clone(zip)
	copy(bad[10:], "\xff\xff\xff\xff")
	for _, c := range []struct {
		what string
		file []byte
		want string
	}{
		{"empty", nil, "ends after 0 of 16"},
		{"header cut", good[:9], "ends after 9 of 16"},
		{"body cut", good[:30], "ends after 14 of 24"},
		{"trailing", append(bytes.Clone(good), 0), "more bytes than the 24"},
		{"labels for images", idxBytes(body, 24), "starts with 00000801"},
		{"float type", append([]byte{0, 0, 13, 3}, good[4:]...), "starts with 00000d03"},
		{"text", []byte("<!DOCTYPE html><html>"), "is it the right file?"},
		{"no samples", idxBytes(nil, 0, 3, 4), "sizes [0]"},
		{"too large", idxBytes(body, 1<<20, 1<<10, 2), "at most 1073741824"},
		{"overflow", idxBytes(body, 1<<31, 1<<31, 1<<31), "at most 1073741824"},
		{"gzip cut", zip[:len(zip)/2], "truncated"},
		{"gzip header cut", zip[:5], "truncated"},
		{"gzip checksum cut", zip[:len(zip)-3], "truncated"},
		{"gzip checksum", flip, "corrupt"},
		{"gzip header", append([]byte{0x1f, 0x8b, 99}, zip[3:]...), "corrupt"},
		{"gzip body", bad, "corrupt"},
		{"gzip trailing content", gzipped(append(bytes.Clone(good), 0)), "more bytes than the 24"},
		{"more bytes after gzip", append(bytes.Clone(zip), "the rest of it"...), "corrupt"},
		{"bytes after gzip", append(bytes.Clone(zip), "rest"...), "appended"},
	} {
		x, err := readIDX(bytes.NewReader(c.file), 3)
		if x != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", c.what, err, c.want)
		}
	}
	if _, err := readIDX(bytes.NewReader(good[:30]), 3); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a cut file is not io.ErrUnexpectedEOF: %v", err)
	}
}

func TestReadIDXPassesReadErrors(t *testing.T) {
	broken := errors.New("disk on fire")
	good := idxBytes(make([]byte, 24), 2, 3, 4)
	for cut := range len(good) + 1 {
		if _, err := readIDX(io.MultiReader(bytes.NewReader(good[:cut]), failing{broken}), 3); !errors.Is(err, broken) {
			t.Fatalf("after %d bytes: %v", cut, err)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestReadIDXMemory: a header that claims 1 GiB over a short body costs little, and so does a
// gzip bomb behind a small header, which is not read to its end.
func TestReadIDXMemory(t *testing.T) {
	bomb := gzipped(append(idxBytes(nil, 2, 3, 4), make([]byte, 64<<20)...))
	for what, file := range map[string][]byte{
		"claim": idxBytes(make([]byte, 1000), 1<<20, 32, 32),
		"bomb":  bomb,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := readIDX(bytes.NewReader(file), 3)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: no error", what)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
			t.Errorf("%s: %d bytes allocated for a file of %d", what, got, len(file))
		}
	}
}

// FuzzReadIDX: no input panics; what is read is what was written, and its memory is no more than
// the decoded content justifies.
func FuzzReadIDX(f *testing.F) {
	body := []byte("twenty-four bytes of it.")
	good := idxBytes(body, 2, 3, 4)
	zip := gzipped(good)
	for _, seed := range [][]byte{nil, good, zip, good[:20], zip[:20], append(bytes.Clone(zip), zip...), idxBytes(body, 24),
		idxBytes(body, 1<<20, 32, 32), gzipped(idxBytes(make([]byte, 1000), 10, 10, 10))} {
		f.Add(seed, 3)
		f.Add(seed, 1)
	}
	f.Fuzz(func(t *testing.T, file []byte, dims int) {
		if dims < 1 || dims > 4 {
			return
		}
		x, err := readIDX(bytes.NewReader(file), dims)
		if err != nil {
			if x != nil {
				t.Fatal("content beside an error")
			}
			return
		}
		total := 1
		for _, n := range x.sizes {
			total *= n
		}
		if len(x.sizes) != dims || total != len(x.data) || len(x.data) > 1100*len(file) {
			t.Fatalf("sizes %v, %d bytes from a file of %d", x.sizes, len(x.data), len(file))
		}
		again := idxBytes(x.data, x.sizes...)
		if file[0] != 0x1f && !bytes.Equal(again, file) {
			t.Fatal("a plain file is not what its content writes")
		}
		if y, err := readIDX(bytes.NewReader(gzipped(again)), dims); err != nil || !bytes.Equal(y.data, x.data) {
			t.Fatalf("content does not come back: %v", err)
		}
	})
}

// readIDX is readIDXUpTo of any file that is not compressed.
func readIDX(r io.Reader, dims int) (*idx, error) { return readIDXUpTo(r, dims, maxPixels) }
