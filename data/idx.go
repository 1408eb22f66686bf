package data

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"collapse.example/collapse/internal/inputfile"
)

// IDX is the layout of MNIST and the sets made after it: two zero bytes, 8 for unsigned bytes, the
// number of sizes, the sizes as big-endian 32-bit integers, the bytes. Files may be gzipped.

// idx is the content of one file.
type idx struct {
	sizes []int
	data  []uint8
}

// readIDXFile reads a file of the given number of sizes, gzipped or plain as its first bytes say.
func readIDXFile(path string, dims int) (*idx, error) {
	f, err := inputfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	x, err := readIDXUpTo(f, dims, mostPixels(info.Size()))
	if err != nil {
		return nil, fmt.Errorf("data: %s: %w", path, err)
	}
	return x, nil
}

// Bytes of pixels that any files may unpack to, and the factor of their own size that larger ones may reach. MNIST unpacks to 5 times
// its size, photographs as JPEG to 5 to 30 times.
const (
	freePixels  = 128 << 20
	ratioPixels = 32
)

// mostPixels bounds the pixels that files of the given size may unpack to.
func mostPixels(packed int64) int {
	return int(min(max(freePixels, ratioPixels*min(packed, maxPixels)), maxPixels))
}

// readIDXUpTo reads to the end of r. It holds at most about twice the bytes that r actually
// delivers, whatever the header claims, and reads at most the claimed bytes, which most caps.
func readIDXUpTo(r io.Reader, dims, most int) (*idx, error) {
	br := bufio.NewReaderSize(r, 1<<16)
	if magic, _ := br.Peek(2); len(magic) < 2 || magic[0] != 0x1f || magic[1] != 0x8b {
		return readPlainIDX(br, dims, maxPixels)
	}
	zr, err := gzip.NewReader(br)
	if err != nil {
		return nil, gzipError(err)
	}
	x, err := readPlainIDX(zr, dims, most)
	if err != nil {
		return nil, gzipError(err)
	}
	return x, nil
}

// gzipError turns errors of the compression into advice.
func gzipError(err error) error {
	if err == io.ErrUnexpectedEOF {
		return fmt.Errorf("its gzip stream does not end as one (%w); the file is truncated or was appended to, fetch it again", err)
	}
	var corrupt flate.CorruptInputError
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.As(err, &corrupt) {
		return fmt.Errorf("its gzip stream is corrupt (%w); fetch the file again", err)
	}
	return err
}

func readPlainIDX(r io.Reader, dims, most int) (*idx, error) {
	sizes, total, err := readIDXHeader(r, dims, most)
	if err != nil {
		return nil, err
	}
	data, err := readGrowing(r, total)
	if err != nil {
		return nil, err
	}
	var one [1]byte
	switch n, err := io.ReadFull(r, one[:]); {
	case n == 1:
		return nil, fmt.Errorf("there are more bytes than the %d that its header %v announces; it is not a valid file", total, sizes)
	case err != io.EOF: // for a gzip stream: its checksum is only compared now
		return nil, err
	}
	return &idx{sizes, data}, nil
}

func readIDXHeader(r io.Reader, dims, most int) (sizes []int, total int, err error) {
	head := make([]byte, 4+4*dims)
	if n, err := io.ReadFull(r, head); err != nil {
		return nil, 0, truncated(err, n, len(head))
	}
	if want := [4]byte{0, 0, 8, byte(dims)}; [4]byte(head) != want {
		return nil, 0, fmt.Errorf("it starts with %x, an IDX file of bytes with %d sizes starts with %x; is it the right file?", head[:4], dims, want)
	}
	total = 1
	for i := range dims {
		n := int(binary.BigEndian.Uint32(head[4+4*i:]))
		sizes = append(sizes, n)
		if n == 0 || n > most/total {
			return nil, 0, fmt.Errorf("its header announces sizes %v; each must be at least 1 and their product at most %d%s", sizes, most, unpackHint(most))
		}
		total *= n
	}
	return sizes, total, nil
}

// unpackHint says what to try if sizes are refused because of compression.
func unpackHint(most int) string {
	if most == maxPixels {
		return ""
	}
	return fmt.Sprintf(" (%d times the compressed file); unpack it with gunzip if it is genuine", ratioPixels)
}

// readGrowing reads n bytes into memory that grows with what has been read.
func readGrowing(r io.Reader, n int) ([]uint8, error) {
	data := make([]uint8, min(n, 1<<16))
	for at := 0; ; {
		got, err := io.ReadFull(r, data[at:])
		at += got
		if err != nil {
			return nil, truncated(err, at, n)
		}
		if at == n {
			return data, nil
		}
		grown := make([]uint8, min(n, 2*at))
		copy(grown, data)
		data = grown
	}
}

// truncated explains an unexpected end of file; other errors pass unchanged.
func truncated(err error, got, want int) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("it ends after %d of %d bytes (%w); the file is truncated, fetch it again", got, want, io.ErrUnexpectedEOF)
	}
	return err
}
