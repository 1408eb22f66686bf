package queue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"collapse/internal/inputfile"
)

// Blob names something too large for a message, and says what it holds.
type Blob struct {
	Name   string `json:"name"` // of parts with '/'
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// Blobs keeps blobs. What Put returns for is durable.
type Blobs interface {
	Put(ctx context.Context, name string, r io.Reader) (Blob, error)
	// Get copies a blob to w, and returns an error if it is not what Put took.
	Get(ctx context.Context, b Blob, w io.Writer) error
	// Remove removes every blob whose name starts with prefix.
	Remove(ctx context.Context, prefix string) error
}

// Objects keeps blobs in the queue's own object store.
func (b *Broker) Objects(ctx context.Context) (Blobs, error) {
	s, err := b.js.ObjectStore(ctx, b.blobBucket())
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		s, err = b.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: b.blobBucket(), Storage: jetstream.FileStorage, Replicas: b.replicas()})
	}
	if err != nil {
		return nil, fmt.Errorf("queue: the object store: %w", err)
	}
	return objects{s: s, js: b.js, bucket: b.blobBucket()}, nil
}

// Folder keeps blobs as files of a folder that all machines see.
func Folder(dir string) Blobs { return folder(dir) }

type folder string

// path keeps names inside the folder.
func (f folder) path(name string) (string, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", fmt.Errorf("queue: %q is no name of a blob", name)
	}
	return filepath.Join(string(f), filepath.FromSlash(name)), nil
}

func (f folder) Put(_ context.Context, name string, r io.Reader) (Blob, error) {
	path, err := f.path(name)
	if err != nil {
		return Blob{}, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return Blob{}, fmt.Errorf("queue: %w", err)
	}
	sum := summer{h: sha256.New()}
	err = writeDurably(path, io.TeeReader(r, &sum))
	return sum.blob(name), err
}

// writeDurably writes beside path, syncs, and renames.
func writeDurably(path string, r io.Reader) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	_, err = io.Copy(tmp, r)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("queue: writing %s: %w", path, err), os.Remove(tmp.Name()))
	}
	return nil
}

func (f folder) Get(_ context.Context, b Blob, w io.Writer) error {
	path, err := f.path(b.Name)
	if err != nil {
		return err
	}
	r, err := inputfile.Open(path)
	if err != nil {
		return fmt.Errorf("queue: a blob of the shared folder: %w; the coordinator and its workers must see the same --blobs folder", err)
	}
	defer r.Close()
	return b.copy(w, r)
}

// Remove takes prefix up to its last '/' as a folder.
func (f folder) Remove(_ context.Context, prefix string) error {
	path, err := f.path(strings.TrimSuffix(prefix, "/"))
	if err != nil {
		return err
	}
	return os.RemoveAll(path)
}

// summer sums what passes.
type summer struct {
	h interface {
		io.Writer
		Sum([]byte) []byte
	}
	n int64
}

func (s *summer) Write(p []byte) (int, error) {
	s.n += int64(len(p))
	return s.h.Write(p)
}

func (s *summer) blob(name string) Blob {
	return Blob{Name: name, SHA256: hex.EncodeToString(s.h.Sum(nil)), Bytes: s.n}
}

// copy copies and checks. What is larger than b says is cut off after one byte too many.
func (b Blob) copy(w io.Writer, r io.Reader) error {
	if b.Bytes < 0 || b.Bytes == math.MaxInt64 {
		return fmt.Errorf("queue: %s shall have %d bytes", b.Name, b.Bytes)
	}
	sum := summer{h: sha256.New()}
	if _, err := io.Copy(io.MultiWriter(w, &sum), io.LimitReader(r, b.Bytes+1)); err != nil {
		return fmt.Errorf("queue: reading %s: %w", b.Name, err)
	}
	if got := sum.blob(b.Name); got != b {
		return fmt.Errorf("queue: %s has %d bytes with digest %.12s, wanted %d with %.12s", b.Name, got.Bytes, got.SHA256, b.Bytes, b.SHA256)
	}
	return nil
}
