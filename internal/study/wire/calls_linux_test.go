package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"collapse.example/collapse/internal/faulttest"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/study/studytest"
)

// TestEveryFailedCallOnTheWayIsTold lets each system call fail by which a run's files are packed, arrive, are moved to their place, or a
// checkpoint is restored or left. There is an error that says so and no checkpoint that is not whole; and asked again, all is there.
func TestEveryFailedCallOnTheWayIsTold(t *testing.T) {
	source := runFolder(t)
	whole := func(string) bool { return true }
	var packed bytes.Buffer
	must(t, Pack(&packed, source, whole))
	all := studytest.Contents(t, source)
	shared := queue.Folder(t.TempDir())
	state := saved(t, shared)
	restored := map[string]string{"ckpt/2/model": "new", "ckpt/2/state": "state", "frames/1.npz": "frame", "features/2/train": "two"}
	merged := maps.Clone(all)
	merged["frames/9.npz"] = "theirs"
	prepared := func(dir string) {
		must(t, unpack(bytes.NewReader(packed.Bytes()), filepath.Join(dir, "from")))
		must(t, os.MkdirAll(filepath.Join(dir, "to", "frames"), 0o777))
		must(t, os.WriteFile(filepath.Join(dir, "to", "frames", "9.npz"), []byte("theirs"), 0o666))
	}
	for name, c := range map[string]struct {
		prepare func(dir string)
		do      func(dir string) error
		in      string            // the folder that is written
		want    map[string]string // its files
		around  string            // calls after whose failure there is another way
		syncs   int               // of files and folders
	}{
		"packing": {func(string) {}, func(string) error {
			var b bytes.Buffer
			err := Pack(&b, source, whole)
			if err == nil && !bytes.Equal(b.Bytes(), packed.Bytes()) {
				return errors.New("another archive")
			}
			return err
		}, "", map[string]string{}, "", 0},
		"a list": {func(string) {}, func(string) error { return packList(io.Discard, source, []string{"features.npz", "ckpt/1/model"}) }, "", map[string]string{}, "", 0},
		"unpacking": {func(dir string) { must(t, os.MkdirAll(filepath.Join(dir, "to", "old"), 0o777)) },
			func(dir string) error { return unpack(bytes.NewReader(packed.Bytes()), filepath.Join(dir, "to")) }, "to", all, "fstatat fstat unlinkat openat", len(all) + folders(t, source)},
		"moving": {prepared, func(dir string) error { return MoveInto(filepath.Join(dir, "from"), filepath.Join(dir, "to")) }, "to", all, "fstatat fstat unlinkat openat", 1},
		"merging": {prepared, func(dir string) error { return mergeInto(filepath.Join(dir, "from"), filepath.Join(dir, "to")) }, "to", merged,
			"fstatat fstat unlinkat openat", folders(t, source)},
		"restoring": {func(dir string) { must(t, os.MkdirAll(filepath.Join(dir, "to"), 0o777)) }, func(dir string) error {
			return RestoreCheckpoint(t.Context(), state, filepath.Join(dir, "to"), 9, func(context.Context, bool) (queue.Blobs, error) { return shared, nil })
		}, "to", restored, "fstatat fstat unlinkat openat", len(restored) + 2*4 + 1 + 1}, // four folders arrive and are merged, and that of the checkpoint comes to its place
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c.prepare(dir)
			failures, syncs := 0, 0
			faulttest.EachCall(t, syscall.EIO, func() error { return c.do(dir) }, func(call string, err error) {
				kind, _, _ := strings.Cut(call, ",")
				if kind == "fsync" {
					syncs++
				}
				switch {
				case err == nil && !strings.Contains(c.around, kind):
					t.Errorf("%s: no error", call)
				case err == nil && !maps.Equal(studytest.Contents(t, filepath.Join(dir, c.in)), c.want):
					t.Errorf("%s: no error, and there is %q", call, studytest.Contents(t, filepath.Join(dir, c.in)))
				case err != nil && !errors.Is(err, syscall.EIO) && kind != "fstatat":
					t.Errorf("%s: %v", call, err)
				case err != nil:
					failures++
				}
				if run := rundir.Dir(filepath.Join(dir, "to")); name == "restoring" && NewestOf(string(run)) == 2 {
					if found, err := run.Files("ckpt/2"); err != nil || len(found) != 2 {
						t.Errorf("%s: the checkpoint has %q, %v", call, found, err)
					}
				}
				must(t, errors.Join(os.RemoveAll(filepath.Join(dir, "from")), os.RemoveAll(filepath.Join(dir, "to"))))
				c.prepare(dir)
			})
			if got := studytest.Contents(t, filepath.Join(dir, c.in)); !maps.Equal(got, c.want) {
				t.Errorf("there is %q, want %q", got, c.want)
			}
			if failures < 4 || syncs != c.syncs {
				t.Errorf("%d failures are told, and there are %d syncs, want %d", failures, syncs, c.syncs)
			}
		})
	}
}

// folders counts a folder and those in it.
func folders(t *testing.T, dir string) (n int) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			n++
		}
		return err
	}))
	return n
}

// TestACheckpointIsSavedWithItsParts: the next holder of the lease finds the epoch, the checkpoint and where the other files are.
func TestACheckpointIsSavedWithItsParts(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	server, err := queue.StartServer(queue.ServerOptions{Dir: t.TempDir()})
	must(t, err)
	defer server.Close()
	broker, err := server.Connect(studytest.QuickQueue())
	must(t, err)
	defer broker.Close()
	coordinator, err := broker.Coordinate(ctx, "lab")
	must(t, err)
	must(t, coordinator.Submit(ctx, queue.Job{ID: "job", Priority: queue.Normal}))
	dir, blobs := runFolder(t), queue.Folder(t.TempDir())
	working, stop := context.WithCancel(ctx)
	err = broker.Work(working, queue.WorkerOptions{Name: "w"}, func(ctx context.Context, task *queue.Task) ([]byte, error) {
		defer stop()
		part := SidePart{UpTo: 2, Blob: queue.Blob{Name: "job/beside", Bytes: 3}}
		said, err := SaveCheckpoint(ctx, task, dir, 2, blobs, true, part)
		if err != nil {
			return nil, err
		}
		leases, err := coordinator.Leases(ctx)
		if err != nil || len(leases) != 1 {
			t.Errorf("%d leases, %v", len(leases), err)
			return nil, err
		}
		kept, err := DecodeState(leases[0].State)
		if err != nil || fmt.Sprint(kept) != fmt.Sprint(said) || kept.Epoch != 2 || !kept.Shared || !slices.Equal(kept.SideParts, []SidePart{part}) || !kept.Has(BlobsOf(task)+"/ckpt-2.tar") {
			t.Errorf("the queue keeps %+v, %v; said was %+v", kept, err, said)
		}
		return nil, nil
	})
	if working.Err() == nil {
		t.Error(err)
	}
}

// TestLeavingTellsOfEveryFailedCall: neither a checkpoint nor a run's other files are called left after a failed call; no part is made up.
func TestLeavingTellsOfEveryFailedCall(t *testing.T) {
	dir := runFolder(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // no second attempt
	store := &faulty{stored: map[string][]byte{}}
	faulttest.EachCall(t, syscall.EIO, func() error {
		parts, err := LeaveSideFiles(ctx, store, "job/g7", dir, 2, nil)
		if err == nil && (len(parts) != 1 || parts[0].UpTo != 2) {
			err = errors.New("no part")
		}
		return err
	}, func(call string, err error) {
		if !errors.Is(err, syscall.EIO) && !strings.HasPrefix(call, "fstatat") { // what cannot be looked at counts as missing
			t.Errorf("%s: %v", call, err)
		}
	})
	if s, err := SaveCheckpoint(ctx, &queue.Task{Job: queue.Job{ID: "job"}, Generation: 7}, dir, 5, store, true); !errors.Is(err, os.ErrNotExist) || len(s.SideParts) != 0 {
		t.Errorf("a checkpoint that is gone: %+v, %v", s, err)
	}
}
