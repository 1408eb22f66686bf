package study

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"collapse/internal/queue"
	"collapse/internal/rundir"
	"collapse/train"
)

// checkpointState is what the queue keeps of a run with its claim, for the next worker: the newest
// checkpoint that left its machine. Rows up to its epoch were sent before. Epoch 0 is none.
type checkpointState struct {
	Machine train.Machine `json:"machine"` // another one's bits would differ, so it starts again
	Epoch   int64         `json:"epoch"`
	Blob    queue.Blob    `json:"blob"`
	Shared  bool          `json:"shared"` // in the shared folder
	Beside  []sidePart    `json:"beside,omitempty"`
}

// sidePart is an archive of what a run has left besides checkpoints, up to an epoch from that of the part before.
type sidePart struct {
	UpTo int64      `json:"up_to"`
	Blob queue.Blob `json:"blob"`
}

func (s checkpointState) encode() []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic("study: a state that JSON cannot hold")
	}
	return text
}

// decodeState reads what the queue keeps of a run; text may be empty.
func decodeState(text []byte) (s checkpointState, err error) {
	if len(text) == 0 {
		return s, nil
	}
	if err := json.Unmarshal(text, &s); err != nil || s.Epoch < 0 {
		return checkpointState{}, fmt.Errorf("study: the saved state of a run is of epoch %d: %w", s.Epoch, err)
	}
	return s, nil
}

// usable returns the epoch of the checkpoint if this machine can go on from it, else 0.
func (s checkpointState) usable() int64 {
	if s.Machine != train.ThisMachine() {
		return 0
	}
	return s.Epoch
}

// restoreCheckpoint puts the checkpoint that the queue keeps into a run's folder, unless the folder has one as new that the rows
// reach: they are whole up to epoch whole.
func restoreCheckpoint(ctx context.Context, s checkpointState, dir string, whole int64, blobs func(ctx context.Context, shared bool) (queue.Blobs, error)) error {
	if s.usable() == 0 || newestUpTo(dir, whole+1) >= s.Epoch {
		return nil
	}
	store, err := blobs(ctx, s.Shared)
	if err != nil {
		return err
	}
	run := rundir.Dir(dir)
	staging := run.FetchedCheckpoint()
	for _, part := range s.Beside {
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

// fetch makes the folder staging of what is in a blob.
func fetch(ctx context.Context, store queue.Blobs, b queue.Blob, staging string) error {
	r, w := io.Pipe()
	go func() { w.CloseWithError(store.Get(ctx, b, w)) }()
	err := unpack(r, staging)
	_, rest := io.Copy(io.Discard, r) // to the end: only there is the digest known
	if err := errors.Join(err, rest); err != nil {
		r.CloseWithError(err)
		return errors.Join(err, os.RemoveAll(staging))
	}
	return nil
}

// saveCheckpoint sends the checkpoint of a run's epoch off its machine and notes it with the claim. Whoever has the
// claim next goes on from there: all rows of the epochs before must have been sent, and beside is where the other files are.
func saveCheckpoint(ctx context.Context, t *queue.Task, dir string, epoch int64, blobs queue.Blobs, shared bool, beside ...sidePart) (checkpointState, error) {
	s, err := leaveCheckpoint(ctx, blobs, shared, blobsOf(t), dir, epoch)
	if err != nil {
		return s, err
	}
	s.Beside = beside
	return s, t.SetState(ctx, s.encode())
}

// leaveBeside puts what a run has left besides checkpoints, up to an epoch, where other machines find it, and returns the parts that
// hold all of it. Files go with the first checkpoint after them; small parts are made again together with what comes after them, so that
// there are never many, and no file goes often.
func leaveBeside(ctx context.Context, blobs queue.Blobs, where, dir string, epoch int64, parts []sidePart) ([]sidePart, error) {
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
		return append(slices.Clone(parts[:n]), sidePart{UpTo: epoch, Blob: b}), err
	}
}

// leaveCheckpoint puts the checkpoint of an epoch, in a run's folder, where other machines find it.
func leaveCheckpoint(ctx context.Context, blobs queue.Blobs, shared bool, where, dir string, epoch int64) (s checkpointState, err error) {
	s = checkpointState{Machine: train.ThisMachine(), Epoch: epoch, Shared: shared}
	s.Blob, err = put(ctx, blobs, fmt.Sprintf("%s/ckpt-%d.tar", where, epoch), func(w io.Writer) error {
		return pack(w, rundir.Dir(dir).Checkpoint(int(epoch)), func(string) bool { return true })
	})
	return s, err
}

// put stores what write writes, with a few tries: a busy server answers late.
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
		r.CloseWithError(err) // ends write, should it still be at it
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

// inlineLimit is the largest archive of files that goes into the last message itself. JSON makes it a
// third larger.
const inlineLimit = queue.MaxMessage / 2

// sendFiles makes a finished run's files reach the coordinator, and returns the last message.
func sendFiles(ctx context.Context, t *queue.Task, dir string, blobs func() (queue.Blobs, error), shared bool) ([]byte, error) {
	newest := newestOf(dir)
	kept, err := train.FilesBetween(dir, 0, int(newest))
	if err != nil {
		return nil, err
	}
	keep := runFiles(newest, kept)
	m := manifest{Shared: shared}
	small := &bounded{limit: inlineLimit}
	err = pack(small, dir, keep)
	switch {
	case err == nil:
		m.Inline = small.Bytes()
	case !errors.Is(err, errBound):
		return nil, err
	default:
		to, err := blobs()
		if err != nil {
			return nil, err
		}
		blob, err := put(ctx, to, blobsOf(t)+"/files.tar", func(w io.Writer) error { return pack(w, dir, keep) })
		if err != nil {
			return nil, err
		}
		m.Blob = &blob
	}
	text, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("study: %w", err)
	}
	return text, nil
}

// bounded is a buffer that refuses more than limit bytes.
type bounded struct {
	bytes.Buffer
	limit int
}

var errBound = errors.New("study: larger than wanted")

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.limit {
		return 0, errBound
	}
	return b.Buffer.Write(p)
}
