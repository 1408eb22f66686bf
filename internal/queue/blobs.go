package queue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/nats-io/nats.go/jetstream"

	"collapse/internal/inputfile"
)

// Blob names something too large for a message, and says what it holds.
type Blob struct {
	Name   string `json:"name"` // of parts with '/'
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// Blobs keeps blobs. What Put returns for is durable. Only the coordinator lists and removes.
type Blobs interface {
	Put(ctx context.Context, name string, r io.Reader) (Blob, error)
	// Get copies a blob to w, and returns an error if it is not what Put took.
	Get(ctx context.Context, b Blob, w io.Writer) error
	// List returns the names of all that is kept, including what killed processes left half-written.
	List(ctx context.Context) ([]string, error)
	// Remove removes what has these names. What is gone already is no error.
	Remove(ctx context.Context, names ...string) error
	// Clear removes everything.
	Clear(ctx context.Context) error
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

// Folder keeps blobs as files of a folder that all machines see. Clear removes the folder itself, too: a worker that still writes there
// gets an error, and leaves nothing behind. MakeFolder makes it again.
func Folder(dir string) Blobs { return folder(dir) }

// MakeFolder makes the folder of Folder.
func MakeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("queue: the shared folder: %w", err)
	}
	return nil
}

// FolderLeft reports whether the folder of Folder is there, or what a Clear that was cut short left of it.
func FolderLeft(dir string) bool {
	_, err1 := os.Stat(dir)
	_, err2 := os.Stat(folder(dir).trash())
	return err1 == nil || err2 == nil
}

type folder string

// path keeps names inside the folder.
func (f folder) path(name string) (string, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", fmt.Errorf("queue: %q is not the name of a blob", name)
	}
	return filepath.Join(string(f), filepath.FromSlash(name)), nil
}

func (f folder) Put(_ context.Context, name string, r io.Reader) (Blob, error) {
	path, err := f.path(name)
	if err != nil {
		return Blob{}, err
	}
	if err := f.makeBelow(filepath.Dir(path)); err != nil {
		return Blob{}, fmt.Errorf("queue: %w", err)
	}
	sum := summer{h: sha256.New()}
	err = writeDurably(path, io.TeeReader(r, &sum))
	return sum.blob(name), err
}

// makeBelow makes a folder and those above it, but for the folder f itself: without it nobody wants the blob any more.
func (f folder) makeBelow(dir string) error {
	if dir == filepath.Clean(string(f)) {
		return nil
	}
	if err := f.makeBelow(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o777); !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
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

func (f folder) List(ctx context.Context) ([]string, error) {
	var names []string
	err := filepath.WalkDir(string(f), func(path string, d os.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil // it was removed meanwhile
		}
		if err != nil || d.IsDir() {
			return errors.Join(err, context.Cause(ctx))
		}
		name, err := filepath.Rel(string(f), path)
		names = append(names, filepath.ToSlash(name))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("queue: the shared folder: %w", err)
	}
	return names, nil
}

// Remove removes the folders that it empties, too.
func (f folder) Remove(_ context.Context, names ...string) error {
	for _, name := range names {
		path, err := f.path(name)
		if err != nil {
			return err
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("queue: %w", err)
		}
		for dir := filepath.Dir(path); dir != filepath.Clean(string(f)); dir = filepath.Dir(dir) {
			if os.Remove(dir) != nil { // it holds more
				break
			}
		}
	}
	return nil
}

// trash is what Clear makes of the folder before it removes it: in one step, so that nothing new comes in meanwhile.
func (f folder) trash() string {
	return filepath.Join(filepath.Dir(string(f)), ".gone-"+filepath.Base(string(f)))
}

func (f folder) Clear(context.Context) error {
	err := os.RemoveAll(f.trash())
	if err == nil {
		err = os.Rename(string(f), f.trash())
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := errors.Join(err, os.RemoveAll(f.trash())); err != nil {
		return fmt.Errorf("queue: the shared folder: %w", err)
	}
	return nil
}

// summer sums what passes.
type summer struct {
	h hash.Hash
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
