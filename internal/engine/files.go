package engine

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/inputfile"
)

// Folder is where arrays are exchanged with an engine. Nothing in it outlives the run, so nothing is synced.
type Folder string

// NewFolder creates an empty folder at path, which must be absolute, replacing what is there.
func NewFolder(path string) (Folder, error) {
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("engine: the folder %s is not an absolute path", path)
	}
	if err := errors.Join(os.RemoveAll(path), os.MkdirAll(path, 0o777)); err != nil {
		return "", fmt.Errorf("engine: %w", err)
	}
	return Folder(path), nil
}

// Remove removes the folder.
func (f Folder) Remove() error { return os.RemoveAll(string(f)) }

func (f Folder) path(name string) string { return filepath.Join(string(f), name) }

// PutArray writes a .npy file.
func (f Folder) PutArray(name string, a arrayfile.Array) error {
	return f.put(name, func(w io.Writer) error { return arrayfile.WriteNPY(w, a) })
}

// PutTensors writes a .safetensors file.
func (f Folder) PutTensors(name string, arrays []arrayfile.Array) error {
	return f.put(name, func(w io.Writer) error { return arrayfile.WriteSafetensors(w, arrays, nil) })
}

func (f Folder) put(name string, write func(io.Writer) error) error {
	to, err := os.Create(f.path(name))
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	b := bufio.NewWriterSize(to, 64<<10)
	if err = write(b); err == nil {
		err = b.Flush()
	}
	if err = errors.Join(err, to.Close()); err != nil {
		return fmt.Errorf("engine: writing %s: %w", f.path(name), err)
	}
	return nil
}

// open opens a file that the engine wrote. It refuses links, and anything whose opening could block.
func (f Folder) open(name string) (*os.File, int64, error) {
	info, err := os.Lstat(f.path(name))
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", f.path(name))
	}
	if err != nil {
		return nil, 0, err
	}
	file, err := inputfile.Open(f.path(name))
	if err != nil {
		return nil, 0, err
	}
	if info, err = file.Stat(); err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

// Tensors reads a .safetensors file of at most limit bytes. sum is what the engine reported about it, or nil.
func (f Folder) Tensors(name string, limit int64, sum *Sum) ([]arrayfile.Array, error) {
	arrays, err := f.tensors(name, limit, sum)
	if err != nil {
		return nil, fmt.Errorf("engine: what it wrote cannot be used: %s: %w", name, err)
	}
	return arrays, nil
}

func (f Folder) tensors(name string, limit int64, sum *Sum) ([]arrayfile.Array, error) {
	file, _, err := f.open(name)
	if err != nil {
		return nil, err
	}
	file.Close()
	b, err := inputfile.Read(f.path(name), limit)
	if err != nil {
		return nil, err
	}
	if sum != nil {
		if is := sha256.Sum256(b); hex.EncodeToString(is[:]) != sum.SHA256 || int64(len(b)) != sum.Bytes {
			return nil, fmt.Errorf("its content (%d bytes) is not what the engine said it wrote (%d bytes): the digests differ", len(b), sum.Bytes)
		}
	}
	arrays, _, err := arrayfile.ParseSafetensors(b)
	return arrays, err
}

// Rows reads a .npy file of n rows, a batch at a time, so that memory never holds a second copy.
type Rows[T float32 | float64] struct {
	name   string
	file   *os.File
	header arrayfile.Header
	width  int
	left   int // remaining rows
	raw    []byte
}

// OpenRows opens a file that must hold n rows of width numbers of type T. Further axes of a row are flattened.
func OpenRows[T float32 | float64](f Folder, name string, n, width int) (*Rows[T], error) {
	r, err := openRows[T](f, name, n, width)
	if err != nil {
		return nil, fmt.Errorf("engine: what it wrote cannot be used: %s: %w", name, err)
	}
	return r, nil
}

func openRows[T float32 | float64](f Folder, name string, n, width int) (*Rows[T], error) {
	file, size, err := f.open(name)
	if err != nil {
		return nil, err
	}
	r := &Rows[T]{name: name, file: file, width: width, left: n}
	if r.header, err = arrayfile.ReadNPYHeader(file); err == nil {
		err = r.check(size, n)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return r, nil
}

func (r *Rows[T]) check(size int64, n int) error {
	h, wanted := r.header, arrayfile.Of("", []int{0}, []T{})
	if h.DType != wanted.DType || h.BigEndian || h.Fortran || !slices.Equal(h.Shape, []int{n, r.width}) {
		return fmt.Errorf("an array of shape %v and type %s, wanted [%d %d] and %s, row by row", h.Shape, h.DType, n, r.width, wanted.DType)
	}
	at, err := r.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if bytes := int64(h.Len()) * int64(h.DType.Size()); size-at != bytes {
		return fmt.Errorf("%d bytes of numbers, wanted %d", size-at, bytes)
	}
	return nil
}

// Next reads the next rows, as many as fit into to and are left, and returns them.
func (r *Rows[T]) Next(to []T) ([]T, error) {
	rows := min(r.left, len(to)/r.width)
	to = to[:rows*r.width]
	r.left -= rows
	bytes := len(to) * r.header.DType.Size()
	r.raw = slices.Grow(r.raw[:0], bytes)[:bytes]
	if _, err := io.ReadFull(r.file, r.raw); err != nil {
		return nil, fmt.Errorf("engine: what it wrote cannot be used: %s: %w", r.name, err)
	}
	h := arrayfile.Header{DType: r.header.DType, Shape: []int{rows, r.width}}
	return to, arrayfile.Convert(arrayfile.Array{Header: h, Data: r.raw}, 0, to)
}

// Close closes the file.
func (r *Rows[T]) Close() error { return r.file.Close() }
