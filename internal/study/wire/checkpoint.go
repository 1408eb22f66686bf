package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"collapse.example/collapse/internal/jail"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/train"
)

// State is what the queue keeps with a run's lease for the next worker: the newest checkpoint that has left its machine. Rows up to
// its epoch were sent before. Epoch 0 means none.
type State struct {
	Machine   train.Machine `json:"machine"` // another machine's bits would differ, so it starts from the beginning
	Epoch     int64         `json:"epoch"`
	Blob      queue.Blob    `json:"blob"`
	Shared    bool          `json:"shared"` // in the shared folder
	SideParts []SidePart    `json:"beside,omitempty"`
}

// SidePart is an archive of a run's other files, besides checkpoints, from the epoch of the part before up to its own.
type SidePart struct {
	UpTo int64      `json:"up_to"`
	Blob queue.Blob `json:"blob"`
}

// Encode returns the state in the form that the queue keeps.
func (s State) Encode() []byte { return encoded(s) }

// DecodeState reads what the queue keeps of a run; text may be empty.
func DecodeState(text []byte) (s State, err error) {
	if len(text) == 0 {
		return s, nil
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return State{}, fmt.Errorf("study: the saved state of a run: %w", err)
	}
	if s.Epoch < 0 {
		return State{}, fmt.Errorf("study: the saved state of a run is of epoch %d", s.Epoch)
	}
	return s, nil
}

// Usable returns the epoch of the checkpoint if this machine can continue from it, else 0.
func (s State) Usable() int64 {
	if s.Machine != train.ThisMachine() {
		return 0
	}
	return s.Epoch
}

// RestoreCheckpoint puts the checkpoint that the queue keeps into a run's folder, unless the folder has one that is as new and
// within the complete rows, which reach up to epoch whole.
func RestoreCheckpoint(ctx context.Context, s State, dir string, whole int64, blobs func(ctx context.Context, shared bool) (queue.Blobs, error)) error {
	if s.Usable() == 0 || NewestUpTo(dir, whole+1) >= s.Epoch {
		return nil
	}
	if err := jail.Check(dir); err != nil {
		return fmt.Errorf("study: %w", err)
	}
	store, err := blobs(ctx, s.Shared)
	if err != nil {
		return err
	}
	run := rundir.Dir(dir)
	staging := run.FetchedCheckpoint()
	for _, part := range s.SideParts {
		if err := fetch(ctx, store, part.Blob, staging); err != nil {
			return err
		}
		if err := mergeInto(staging, dir); err != nil {
			return err
		}
	}
	if err := fetch(ctx, store, s.Blob, staging); err != nil {
		return err
	}
	if err := run.Writer(nil).PlaceCheckpoint(int(s.Epoch)); err != nil {
		return fmt.Errorf("study: %w", err)
	}
	return nil
}

// fetch unpacks a blob into the folder staging.
func fetch(ctx context.Context, store queue.Blobs, b queue.Blob, staging string) error {
	r, w := io.Pipe()
	go func() { w.CloseWithError(store.Get(ctx, b, w)) }()
	err := unpack(r, staging)
	_, rest := io.Copy(io.Discard, r) // read to the end: only there is the digest known
	if err := errors.Join(err, rest); err != nil {
		return errors.Join(err, os.RemoveAll(staging))
	}
	return nil
}

// SaveCheckpoint sends the checkpoint of a run's epoch off its machine and records it with the lease. The next holder of the lease
// continues from there, so all rows of the epochs before must have been sent. parts lists where the other files are.
func SaveCheckpoint(ctx context.Context, t *queue.Task, dir string, epoch int64, blobs queue.Blobs, shared bool, parts ...SidePart) (State, error) {
	s, err := LeaveCheckpoint(ctx, blobs, shared, BlobsOf(t), dir, epoch)
	if err != nil {
		return s, err
	}
	s.SideParts = parts
	return s, t.SetState(ctx, s.Encode())
}

// LeaveSideFiles stores a run's files other than checkpoints, up to an epoch, where other machines find them, and returns the parts
// that together hold all of them. Files are sent with the first checkpoint after them. Small parts are merged with what comes after
// them, so that there are never many parts, and no file is sent often.
func LeaveSideFiles(ctx context.Context, blobs queue.Blobs, where, dir string, epoch int64, parts []SidePart) ([]SidePart, error) {
	for n := len(parts); ; n-- {
		after := int64(0)
		if n > 0 {
			after = parts[n-1].UpTo
		}
		list, err := train.FilesBetween(dir, int(after), int(epoch))
		if err != nil || len(list) == 0 {
			return parts, err
		}
		size := int64(0)
		for _, name := range list {
			info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
			if err != nil {
				return parts, err
			}
			size += info.Size()
		}
		if n > 0 && parts[n-1].Blob.Bytes <= 2*size {
			continue
		}
		b, err := put(ctx, blobs, fmt.Sprintf("%s/beside-%d-%d.tar", where, after, epoch), func(w io.Writer) error { return packList(w, dir, list) })
		return append(slices.Clone(parts[:n]), SidePart{UpTo: epoch, Blob: b}), err
	}
}

// LeaveCheckpoint stores the checkpoint of an epoch, from a run's folder, where other machines find it.
func LeaveCheckpoint(ctx context.Context, blobs queue.Blobs, shared bool, where, dir string, epoch int64) (s State, err error) {
	s = State{Machine: train.ThisMachine(), Epoch: epoch, Shared: shared}
	s.Blob, err = put(ctx, blobs, fmt.Sprintf("%s/ckpt-%d.tar", where, epoch), func(w io.Writer) error {
		return Pack(w, rundir.Dir(dir).Checkpoint(int(epoch)), func(string) bool { return true })
	})
	return s, err
}

// put stores what write writes, with a few attempts, since a busy server answers late.
func put(ctx context.Context, blobs queue.Blobs, name string, write func(io.Writer) error) (queue.Blob, error) {
	for try := 1; ; try++ {
		r, w := io.Pipe()
		wrote := make(chan error, 1)
		go func() {
			err := write(w)
			w.CloseWithError(err)
			wrote <- err
		}()
		b, err := blobs.Put(ctx, name, r)
		r.CloseWithError(err) // ends write, if it is still writing
		local := <-wrote
		if err == nil || try == 4 || ctx.Err() != nil || errors.Is(local, os.ErrNotExist) {
			return b, err
		}
		select {
		case <-time.After(time.Duration(try) * time.Second):
		case <-ctx.Done():
			return b, context.Cause(ctx)
		}
	}
}

// BlobsOf returns the prefix of the names of a task's blobs.
func BlobsOf(t *queue.Task) string { return fmt.Sprintf("%s/g%d", t.ID, t.Generation) }

// Has reports whether continuing from the state needs the named blob.
func (s State) Has(name string) bool {
	for _, part := range s.SideParts {
		if part.Blob.Name == name {
			return true
		}
	}
	return s.Blob.Name == name
}
