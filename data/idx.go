package data

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
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
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	defer f.Close()
	x, err := readIDX(f, dims)
	if err != nil {
		return nil, fmt.Errorf("data: %s: %w", path, err)
	}
	return x, nil
}

// readIDX reads to the end of r. It holds at most about twice the bytes that r really delivers,
// whatever the header claims, and reads at most the claimed bytes, which maxPixels caps.
func readIDX(r io.Reader, dims int) (*idx, error) {
	br := bufio.NewReaderSize(r, 1<<16)
	if magic, _ := br.Peek(2); len(magic) < 2 || magic[0] != 0x1f || magic[1] != 0x8b {
		return readPlainIDX(br, dims)
	}
	zr, err := gzip.NewReader(br)
	if err != nil {
		return nil, gzipError(err)
	}
	x, err := readPlainIDX(zr, dims)
	if err != nil {
		return nil, gzipError(err)
	}
	return x, nil
}

// gzipError says that what was wrong is the compression, if it was.
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

func readPlainIDX(r io.Reader, dims int) (*idx, error) {
	sizes, total, err := readIDXHeader(r, dims)
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
		return nil, fmt.Errorf("there are bytes after the %d that its header %v announces; it is not the file it says it is", total, sizes)
	case err != io.EOF: // of a gzip stream: its checksum is only compared now
		return nil, err
	}
	return &idx{sizes, data}, nil
}

func readIDXHeader(r io.Reader, dims int) (sizes []int, total int, err error) {
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
		if n == 0 || n > maxPixels/total {
			return nil, 0, fmt.Errorf("its header announces sizes %v; each has to be at least 1 and their product at most %d", sizes, maxPixels)
		}
		total *= n
	}
	return sizes, total, nil
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

// truncated names the end of a file that came too early; other errors pass.
func truncated(err error, got, want int) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("it ends after %d of %d bytes (%w); the file is truncated, fetch it again", got, want, io.ErrUnexpectedEOF)
	}
	return err
}
