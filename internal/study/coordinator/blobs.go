package coordinator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nuid"

	"collapse.example/collapse/internal/inputfile"
	"collapse.example/collapse/internal/jail"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study/wire"
)

// Workers elsewhere store checkpoints and files that are too large for a message as blobs, in the queue's object store or in the
// shared folder. Their names are
//
//	RUN/gGENERATION/ckpt-EPOCH.tar, RUN/gGENERATION/beside-FROM-EPOCH.tar, RUN/gGENERATION/files.tar, RUN/begin/ckpt-EPOCH.tar
//
// The folder also has half-written files. A worker that is killed or overtaken removes nothing: the coordinator sweeps at the start
// of the studies, every now and then, and at their end. Other labs may share the folder, so each has a folder of its own inside it;
// a worker that writes there after the end finds it gone.

// folderFile holds the name of the lab's folder inside that of --blobs.
const folderFile = "queue.blobs"

// folderName returns the name of the lab's own folder, "" if it has none yet.
func (e *coordinator) folderName() (string, error) {
	f, err := jail.Open(e.lab.Dir(), folderFile, os.O_RDONLY, 0)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("study: the name of the lab's blobs: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, inputfile.Line))
	if err != nil {
		return "", fmt.Errorf("study: the name of the lab's blobs: %w", err)
	}
	name := strings.TrimSpace(string(text))
	if len(name) != 22 || strings.Trim(name, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") != "" {
		return "", nil // half written: make a new one
	}
	return name, nil
}

// makeFolder creates the lab's own folder inside the shared one, if there is one.
func (e *coordinator) makeFolder() error {
	if e.o.Blobs == "" {
		return nil
	}
	var err error
	if e.folder, err = e.folderName(); err != nil {
		return err
	}
	if e.folder == "" {
		e.folder = nuid.Next()
		f, err := jail.Open(e.lab.Dir(), folderFile, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
		if err == nil {
			_, err = io.WriteString(f, e.folder+"\n")
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return fmt.Errorf("study: %w", err)
		}
	}
	return queue.MakeFolder(filepath.Join(e.o.Blobs, e.folder))
}

// folderLeft reports whether the lab's own folder still exists because a coordinator was killed before removing it.
func (e *coordinator) folderLeft() bool {
	if e.o.Blobs == "" {
		return false
	}
	name, err := e.folderName()
	if err != nil || name == "" {
		return false
	}
	return queue.FolderLeft(filepath.Join(e.o.Blobs, name))
}

// sweepEvery is the time between sweeps while studies are under way.
const sweepEvery = time.Minute

func (e *coordinator) sweepOften(ctx context.Context) error {
	every := time.NewTicker(sweepEvery)
	defer every.Stop()
	for {
		select {
		case <-every.C:
			e.sweepBlobs(ctx, false)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// sweepBlobs removes the blobs that nobody will ask for. At the end of the studies these are all of them, unless another study of
// this lab has runs under way.
func (e *coordinator) sweepBlobs(ctx context.Context, end bool) {
	for _, shared := range []bool{false, true} {
		if shared && e.o.Blobs == "" {
			continue
		}
		blobs, err := e.blobs(ctx, shared)
		if err == nil {
			err = e.sweepStore(ctx, blobs, end)
		}
		if err != nil && ctx.Err() == nil {
			e.o.Logf("unneeded checkpoints stay in the queue: %v", err)
		}
	}
}

// sweepStore lists the blobs before it asks which runs need them: a blob listed before its run ended, or before another worker took
// the run over, is no longer needed.
func (e *coordinator) sweepStore(ctx context.Context, blobs queue.Blobs, end bool) error {
	names, err := blobs.List(ctx)
	if err != nil {
		return err
	}
	use, err := e.usedBlobs(ctx)
	if err != nil {
		return err
	}
	var unused []string
	for _, name := range names {
		if !use.needs(name) {
			unused = append(unused, name)
		}
	}
	if end && !use.anyRun() {
		return blobs.Clear(ctx)
	}
	return blobs.Remove(ctx, unused...)
}

// blobUse says which blobs may still be needed.
type blobUse struct {
	e      *coordinator
	leases map[string]queue.Lease // of runs with a lease or a job in the queue
	unread bool                   // some results have not been applied
	runs   map[string]runUse      // the runs looked up so far
}

// runUse says which blobs of a run may still be needed.
type runUse struct {
	under  bool       // the run is, or may be, under way
	oldest uint64     // oldest generation whose messages the lab still accepts
	state  wire.State // that the next worker continues from
}

// usedBlobs asks the queue which blobs may still be needed.
func (e *coordinator) usedBlobs(ctx context.Context) (*blobUse, error) {
	u := &blobUse{e: e, leases: map[string]queue.Lease{}, runs: map[string]runUse{}}
	jobs, err := e.c.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range jobs {
		u.leases[id] = queue.Lease{Job: id}
	}
	leases, err := e.c.Leases(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range leases {
		u.leases[c.Job] = c
	}
	u.unread = !e.allRead(ctx)
	return u, nil
}

// anyRun reports whether a run in the queue, or one looked up before, is under way.
func (u *blobUse) anyRun() bool {
	for hash := range u.leases {
		u.run(hash)
	}
	for _, r := range u.runs {
		if r.under {
			return true
		}
	}
	return false
}

// run returns which blobs of a run may still be needed. If the lab cannot tell, all of them are.
func (u *blobUse) run(hash string) runUse {
	if r, ok := u.runs[hash]; ok {
		return r
	}
	lease, queued := u.leases[hash]
	r := runUse{under: queued || u.unread || u.e.isOpen(hash)}
	run, err := u.e.lab.Run(hash)
	switch {
	case store.IsNotFound(err), err == nil && (run.Status == store.Done || run.Status == store.Failed):
		r.under = false
	case err == nil:
		if g, err := u.e.lab.Remote(hash); err == nil {
			r.oldest = g
		}
		if s, err := wire.DecodeState(lease.State); err == nil {
			r.state = s
		}
	}
	u.runs[hash] = r
	return r
}

// needs reports whether a blob may still be needed: its run's next worker continues from it, or it belongs to an attempt that has
// not ended and is no older than that.
func (u *blobUse) needs(name string) bool {
	hash, rest, _ := strings.Cut(name, "/")
	attempt, file, _ := strings.Cut(rest, "/")
	r := u.run(hash)
	switch {
	case !r.under:
		return false
	case attempt == "begin" || r.state.Has(name):
		return true
	}
	g, err := strconv.ParseUint(strings.TrimPrefix(attempt, "g"), 10, 64)
	if err != nil || g < r.oldest {
		return false
	}
	epoch, known := blobEpoch(file)
	return !known || epoch >= r.state.Epoch
}

// blobEpoch returns the epoch up to which a blob has the run's files. The object store appends '~' and more to the name of a blob
// that was sent twice.
func blobEpoch(file string) (epoch int64, ok bool) {
	file, _, _ = strings.Cut(file, "~")
	file, ok = strings.CutSuffix(file, ".tar")
	at := strings.LastIndexByte(file, '-')
	if !ok || at < 0 {
		return 0, false
	}
	epoch, err := strconv.ParseInt(file[at+1:], 10, 64)
	return epoch, err == nil
}
