package queue

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"os"
	"path/filepath"
	"syscall"

	"github.com/nats-io/nats.go/jetstream"

	"collapse.example/collapse/internal/jail"
)

// Blob names something too large for a message, and describes its content.
type Blob struct {
	Name   string `json:"name"` // parts separated by '/'
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// Blobs stores blobs. Once Put returns, the blob is durable. Only the coordinator lists and removes blobs.
type Blobs interface {
	Put(ctx context.Context, name string, r io.Reader) (Blob, error)
	// Get copies a blob to w, and returns an error if it is not what Put stored.
	Get(ctx context.Context, b Blob, w io.Writer) error
	// List returns the names of everything stored, including half-written blobs of killed processes.
	List(ctx context.Context) ([]string, error)
	// Remove removes the blobs with these names. A blob that is already gone is not an error.
	Remove(ctx context.Context, names ...string) error
	// Clear removes everything.
	Clear(ctx context.Context) error
}

// Objects returns the blobs in the queue's own object store.
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

// Folder keeps blobs as files of a folder that all machines see. Clear also removes the folder itself: a worker that still writes
// there gets an error, and leaves nothing behind. MakeFolder creates it again.
func Folder(dir string) Blobs { return folder(dir) }

// MakeFolder creates the folder for Folder.
func MakeFolder(dir string) error {
	if err := makeFolders(dir); err != nil {
		return fmt.Errorf("queue: the shared folder: %w", err)
	}
	return nil
}

// makeFolders makes a folder and those above it, and the names of the new ones durable.
func makeFolders(dir string) error {
	there := filepath.Clean(dir)
	for _, err := os.Stat(there); errors.Is(err, os.ErrNotExist) && there != filepath.Dir(there); _, err = os.Stat(there) {
		there = filepath.Dir(there)
	}
	err := os.MkdirAll(dir, 0o777)
	for at := filepath.Clean(dir); err == nil && at != there; at = filepath.Dir(at) {
		err = syncFolder(os.Open(filepath.Dir(at)))
	}
	return err
}

// FolderLeft reports whether the folder of Folder exists, or what an interrupted Clear left of it.
func FolderLeft(dir string) bool {
	_, err1 := os.Stat(dir)
	_, err2 := os.Stat(folder(dir).trash())
	return err1 == nil || err2 == nil
}

type folder string

// open opens the folder: a link that somebody left there leads no blob out of it. If the folder is gone, nobody wants the blobs any more.
func (f folder) open() (*os.Root, error) {
	root, err := jail.OpenRoot(string(f))
	if err != nil {
		return nil, fmt.Errorf("queue: the shared folder: %w", err)
	}
	return root, nil
}

// localName is a blob's name as that of a file in the folder.
func localName(name string) (string, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", fmt.Errorf("queue: %q is not the name of a blob", name)
	}
	return filepath.FromSlash(name), nil
}

func (f folder) Put(_ context.Context, name string, r io.Reader) (Blob, error) {
	path, err := localName(name)
	if err != nil {
		return Blob{}, err
	}
	root, err := f.open()
	if err != nil {
		return Blob{}, err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return Blob{}, fmt.Errorf("queue: %w", err)
	}
	sum := summer{h: sha256.New()}
	err = writeDurably(root, path, io.TeeReader(r, &sum))
	return sum.blob(name), err
}

// writeDurably writes to a temporary file next to path, syncs, and renames.
func writeDurably(root *os.Root, path string, r io.Reader) error {
	part := filepath.Join(filepath.Dir(path), ".tmp-"+rand.Text())
	tmp, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	_, err = io.Copy(tmp, r)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = root.Rename(part, path)
	}
	for dir := filepath.Dir(path); err == nil; dir = filepath.Dir(dir) { // folders above may be new, too
		if err = syncFolder(root.Open(dir)); dir == "." {
			break
		}
	}
	if err != nil {
		return errors.Join(fmt.Errorf("queue: writing %s: %w", path, err), root.Remove(part))
	}
	return nil
}

// syncFolder makes the names in a folder that was opened durable, where folders can be synced, and closes it.
func syncFolder(folder *os.File, err error) error {
	if err != nil {
		return err
	}
	err = folder.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) || os.IsPermission(err) {
		err = nil
	}
	return errors.Join(err, folder.Close())
}

func (f folder) Get(_ context.Context, b Blob, w io.Writer) error {
	path, err := localName(b.Name)
	if err != nil {
		return err
	}
	root, err := f.open()
	if err != nil {
		return err
	}
	defer root.Close()
	r, err := jail.OpenRegular(root, path)
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
			return nil // removed meanwhile
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

// Remove also removes the folders that become empty.
func (f folder) Remove(_ context.Context, names ...string) error {
	root, err := f.open()
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range names {
		path, err := localName(name)
		if err != nil {
			return err
		}
		if err := root.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("queue: %w", err)
		}
		for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
			if root.Remove(dir) != nil { // not empty
				break
			}
		}
	}
	return nil
}

// trash is the name to which Clear renames the folder before removing it, so that in one step nothing new can come in.
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

// summer computes size and digest of what passes through it.
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

// copy copies and checks. Data larger than b says is cut off one byte past that size.
func (b Blob) copy(w io.Writer, r io.Reader) error {
	if b.Bytes < 0 || b.Bytes == math.MaxInt64 {
		return fmt.Errorf("queue: %s claims to have %d bytes", b.Name, b.Bytes)
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
