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
	"strconv"
	"time"

	"collapse/internal/queue"
	"collapse/train"
)

// checkpointState is what the queue keeps of a run with its claim, for the next worker: the newest
// checkpoint that left its machine. Rows up to its epoch were sent before. Epoch 0 is none.
type checkpointState struct {
	Machine train.Machine `json:"machine"` // another one's bits would differ, so it starts again
	Epoch   int64         `json:"epoch"`
	Blob    queue.Blob    `json:"blob"`
	Shared  bool          `json:"shared"` // in the shared folder
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
	home := filepath.Join(dir, "ckpt")
	if s.usable() == 0 || newestUpTo(home, whole+1) >= s.Epoch {
		return nil
	}
	store, err := blobs(ctx, s.Shared)
	if err != nil {
		return err
	}
	r, w := io.Pipe()
	go func() { w.CloseWithError(store.Get(ctx, s.Blob, w)) }()
	staging := filepath.Join(home, ".fetched")
	err = unpack(r, staging)
	_, rest := io.Copy(io.Discard, r)
	if err := errors.Join(err, rest); err != nil {
		r.CloseWithError(err)
		return errors.Join(err, os.RemoveAll(staging))
	}
	final := filepath.Join(home, strconv.FormatInt(s.Epoch, 10))
	if err := os.RemoveAll(final); err != nil { // it was passed over
		return fmt.Errorf("study: %w", err)
	}
	if err := os.Rename(staging, final); err != nil {
		return fmt.Errorf("study: %w", err)
	}
	return syncDir(home)
}

// saveCheckpoint sends the checkpoint of a run's epoch off its machine and notes it with the claim. Whoever has the
// claim next goes on from there: all rows of the epochs before must have been sent.
func saveCheckpoint(ctx context.Context, t *queue.Task, dir string, epoch int64, blobs queue.Blobs, shared bool) error {
	s, err := leaveCheckpoint(ctx, blobs, shared, fmt.Sprintf("%s/g%d", t.ID, t.Generation), dir, epoch)
	if err != nil {
		return err
	}
	return t.SetState(ctx, s.encode())
}

// leaveCheckpoint puts the checkpoint of an epoch, in a run's folder, where other machines find it.
func leaveCheckpoint(ctx context.Context, blobs queue.Blobs, shared bool, where, dir string, epoch int64) (s checkpointState, err error) {
	s = checkpointState{Machine: train.ThisMachine(), Epoch: epoch, Shared: shared}
	s.Blob, err = put(ctx, blobs, fmt.Sprintf("%s/ckpt-%d.tar", where, epoch), func(w io.Writer) error {
		return pack(w, filepath.Join(dir, "ckpt", strconv.FormatInt(epoch, 10)), func(string) bool { return true })
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
func sendFiles(ctx context.Context, t *queue.Task, dir string, blobs func() (queue.Blobs, error), shared, left bool) ([]byte, error) {
	keep := runFiles(newestOf(filepath.Join(dir, "ckpt")))
	m := manifest{Shared: shared, Left: left}
	small := &bounded{limit: inlineLimit}
	err := pack(small, dir, keep)
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
		blob, err := put(ctx, to, fmt.Sprintf("%s/g%d/files.tar", t.ID, t.Generation), func(w io.Writer) error { return pack(w, dir, keep) })
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
