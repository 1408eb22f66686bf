package queue

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"collapse.example/collapse/internal/faulttest"
)

// TestEveryFailedCallOfFilesIsTold lets each system call fail by which blobs of a shared folder, tokens and locks are made, read and removed: there is
// an error that says so, or it was done all the same; what is there afterwards is whole, and asked again it is done.
func TestEveryFailedCallOfFilesIsTold(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	content := bytes.Repeat([]byte("blob"), 5000)
	known := summer{h: sha256.New()}
	known.Write(content)
	blob := func(dir string) (Blob, error) { return Folder(dir).Put(t.Context(), "a/b/c", bytes.NewReader(content)) }
	whole := func(dir string) error {
		names, err := Folder(dir).List(t.Context())
		if errors.Is(err, os.ErrNotExist) || err == nil && len(names) == 0 {
			return nil
		}
		if names = slices.DeleteFunc(names, func(name string) bool { return strings.Contains(name, ".tmp-") }); err != nil || len(names) == 0 {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, "a", "b", "c"))
		if err == nil && !bytes.Equal(b, content) {
			err = errors.New("half a blob")
		}
		return err
	}
	for name, c := range map[string]struct {
		prepare func(dir string) error
		do      func(dir string) error
		check   func(dir string) error
		around  string // calls after whose failure there is another way
		syncs   int
	}{
		"storing": {MakeFolder, func(dir string) error { _, err := blob(dir); return err }, whole, "fstatat", 1 + 3},
		"making":  {func(string) error { return nil }, func(dir string) error { return MakeFolder(filepath.Join(dir, "x", "y")) }, whole, "fstatat", 3},
		"reading": {func(dir string) error { return errors.Join(MakeFolder(dir), second(blob(dir))) }, func(dir string) error {
			return Folder(dir).Get(t.Context(), known.blob("a/b/c"), io.Discard)
		}, whole, "fstat fstatat", 0},
		"listing": {func(dir string) error { return errors.Join(MakeFolder(dir), second(blob(dir))) }, func(dir string) error {
			names, err := Folder(dir).List(t.Context())
			if err == nil && !slices.Equal(names, []string{"a/b/c"}) {
				err = errors.New("not all names")
			}
			return err
		}, whole, "", 0},
		"removing": {func(dir string) error { return errors.Join(MakeFolder(dir), second(blob(dir))) }, func(dir string) error { return Folder(dir).Remove(t.Context(), "a/b/c", "none") },
			whole, "unlinkat openat fstatat", 0},
		"clearing": {func(dir string) error { return errors.Join(MakeFolder(dir), second(blob(dir))) }, func(dir string) error { return Folder(dir).Clear(t.Context()) }, whole, "unlinkat openat fstatat", 0},
		"a token": {func(string) error { return nil }, func(dir string) error { _, err := TokenFile(filepath.Join(dir, "t"), true); return err }, func(dir string) error {
			text, err := os.ReadFile(filepath.Join(dir, "t"))
			if err == nil && len(text) != 0 && len(text) != 65 { // the name comes first, and an empty one is refused when it is read
				err = errors.New("half a token")
			}
			if errors.Is(err, os.ErrNotExist) {
				err = nil
			}
			return errors.Join(err, os.RemoveAll(filepath.Join(dir, "t")))
		}, "fstatat", 3},
		"a lab's token": {MakeFolder, func(dir string) error { _, _, _, err := LabToken(dir); return err }, func(string) error { return nil }, "fstatat readlinkat unlinkat", 4},
		"a lock": {MakeFolder, func(dir string) error {
			l, err := TakeLock(filepath.Join(dir, "lock"))
			if err == nil {
				err = l.Release()
			}
			return err
		}, func(string) error { return nil }, "fstat", 0},
	} {
		t.Run(name, func(t *testing.T) {
			above := t.TempDir()
			dir := filepath.Join(above, "dir")
			if err := c.prepare(dir); err != nil {
				t.Fatal(err)
			}
			failures, syncs := 0, 0
			faulttest.EachCall(t, syscall.EIO, func() error { return c.do(dir) }, func(call string, err error) {
				kind, _, _ := strings.Cut(call, ",")
				if kind == "fsync" {
					syncs++
				}
				switch {
				case err == nil && !strings.Contains(c.around, kind):
					t.Errorf("%s: no error", call)
				case err != nil && !errors.Is(err, syscall.EIO) && kind != "fstatat" && kind != "fstat":
					t.Errorf("%s: %v", call, err)
				case err != nil:
					failures++
					if !strings.HasPrefix(err.Error(), "queue: ") {
						t.Errorf("%s: %v", call, err)
					}
				}
				if err := c.check(dir); err != nil {
					t.Errorf("%s: %v", call, err)
				}
				if err := errors.Join(os.RemoveAll(dir), os.RemoveAll(filepath.Join(above, ".gone-dir")), c.prepare(dir)); err != nil {
					t.Fatal(err)
				}
			})
			if failures < 2 || syncs < c.syncs {
				t.Errorf("%d failures are told, and there are %d syncs, want %d", failures, syncs, c.syncs)
			}
		})
	}
}

// TestAQueueThatIsGone: whatever is asked of a queue whose server has ended is an error of this package in the time that the caller gives, and never an
// answer.
func TestAQueueThatIsGone(t *testing.T) {
	s, c, b := local(t, quick(t))
	must(t, c.Submit(soon(t), jobs(2)...))
	blobs, err := b.Objects(soon(t))
	must(t, err)
	kept, err := blobs.Put(soon(t), "job/x", strings.NewReader("content"))
	must(t, err)
	s.Close()
	for name, ask := range map[string]func(ctx context.Context) error{
		"submit":     func(ctx context.Context) error { return c.Submit(ctx, jobs(3)...) },
		"waiting":    func(ctx context.Context) error { return second(c.Waiting(ctx)) },
		"jobs":       func(ctx context.Context) error { return second(c.Jobs(ctx)) },
		"cancel":     func(ctx context.Context) error { return c.Cancel(ctx, "a") },
		"forget":     func(ctx context.Context) error { return c.Forget(ctx, jobs(1)[0].ID) },
		"generation": func(ctx context.Context) error { return second(c.LastGeneration(ctx)) },
		"settled":    func(ctx context.Context) error { return c.Settled(ctx, "a") },
		"leases":     func(ctx context.Context) error { return second(c.Leases(ctx)) },
		"watch": func(ctx context.Context) error {
			return c.Watch(ctx, func(Lease) { t.Error("a lease of a queue that is gone") })
		},
		"free":       func(ctx context.Context) error { return second(c.Free(ctx, func(string) bool { return true })) },
		"release":    func(ctx context.Context) error { return c.Release(ctx, jobs(1)[0].ID, 1) },
		"guard":      c.Guard,
		"receive":    func(ctx context.Context) error { return c.Receive(ctx, func([]Message) error { return nil }) },
		"replay":     func(ctx context.Context) error { return c.Replay(ctx, func([]Message) error { return nil }) },
		"traffic":    func(ctx context.Context) error { return second(b.Traffic(ctx)) },
		"objects":    func(ctx context.Context) error { return second(b.Objects(ctx)) },
		"coordinate": func(ctx context.Context) error { return second(b.Coordinate(ctx, "lab")) },
		"work":       func(ctx context.Context) error { return b.Work(ctx, WorkerOptions{}, nil) },
		"put":        func(ctx context.Context) error { return second(blobs.Put(ctx, "job/y", strings.NewReader("content"))) },
		"get":        func(ctx context.Context) error { return blobs.Get(ctx, kept, io.Discard) },
		"list":       func(ctx context.Context) error { return second(blobs.List(ctx)) },
		"remove":     func(ctx context.Context) error { return blobs.Remove(ctx, "job/x") },
		"clear":      blobs.Clear,
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		done := make(chan error, 1)
		go func() { done <- ask(ctx) }()
		select {
		case err := <-done:
			if err == nil {
				t.Errorf("%s: no error", name)
			} else if !strings.HasPrefix(err.Error(), "queue: ") && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(20 * time.Second):
			t.Errorf("%s does not end with its context", name)
		}
		cancel()
	}
}

// TestGenerationsThatWereNeverGivenOut are not plausible; the newest one of a lease is, and where there is no lease the newest of all.
func TestGenerationsThatWereNeverGivenOut(t *testing.T) {
	_, c, b := local(t, quick(t))
	must(t, c.Submit(soon(t), jobs(1)...))
	l := collectFrom(t, c)
	work(t, b, WorkerOptions{Name: "one"}, func(_ context.Context, task *Task) ([]byte, error) { return nil, nil })
	l.wait(t, 1)
	newest, err := c.LastGeneration(soon(t))
	if err != nil || newest == 0 {
		t.Fatalf("generation %d, %v", newest, err)
	}
	for generation, plausible := range map[uint64]bool{1: true, newest: true, 1 << 40: false} {
		err := c.Plausible(soon(t), Message{Job: "nobody", Generation: generation})
		if (err == nil) != plausible || err != nil && !strings.Contains(err.Error(), "was never given out; the newest is ") {
			t.Errorf("generation %d: %v", generation, err)
		}
	}
}
