package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"collapse.example/collapse/internal/jail"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/study/studytest"
	"collapse.example/collapse/internal/train"
)

var errServer = errors.New("the server is busy")

// faulty is a store of blobs in memory, whose first calls of a kind fail.
type faulty struct {
	queue.Blobs
	stored   map[string][]byte
	failPuts int
	puts     int
	digest   error // what Get says after it has given everything
}

func (f *faulty) Put(_ context.Context, name string, r io.Reader) (queue.Blob, error) {
	f.puts++
	if f.puts <= f.failPuts {
		io.CopyN(io.Discard, r, 100)
		return queue.Blob{}, errServer
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return queue.Blob{}, err
	}
	f.stored[name] = b
	return queue.Blob{Name: name, Bytes: int64(len(b))}, nil
}

func (f *faulty) Get(_ context.Context, b queue.Blob, w io.Writer) error {
	content, there := f.stored[b.Name]
	if !there {
		return os.ErrNotExist
	}
	if _, err := w.Write(content); err != nil {
		return err
	}
	return f.digest
}

// TestStoringIsTriedFourTimes: a busy server is asked again after 1, 2 and 3 s; one that stays busy, and files that are gone, are errors.
func TestStoringIsTriedFourTimes(t *testing.T) {
	for _, of := range []struct {
		fails int
		write error
		want  error
		puts  int
		waits time.Duration
	}{
		{fails: 0, puts: 1}, {fails: 1, puts: 2, waits: 1 * time.Second}, {fails: 3, puts: 4, waits: 6 * time.Second},
		{fails: 4, puts: 4, waits: 6 * time.Second, want: errServer},
		{write: os.ErrNotExist, want: os.ErrNotExist, puts: 1},
		{write: io.ErrShortWrite, want: io.ErrShortWrite, puts: 4, waits: 6 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			store := &faulty{stored: map[string][]byte{}, failPuts: of.fails}
			b, err := put(t.Context(), store, "job/g1/x", func(w io.Writer) error {
				if _, err := w.Write(make([]byte, 1000)); err != nil {
					return err
				}
				return of.write
			})
			if !errors.Is(err, of.want) || (err == nil) != (of.want == nil) || store.puts != of.puts || time.Since(begin) != of.waits {
				t.Errorf("%+v: %v after %d attempts and %s", of, err, store.puts, time.Since(begin))
			}
			if err == nil && (b != queue.Blob{Name: "job/g1/x", Bytes: 1000}) {
				t.Errorf("%+v: %+v", of, b)
			}
		})
	}
}

// TestStoringEndsWithItsContext: a worker that is told to stop does not wait for its next attempt.
func TestStoringEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin, stop := time.Now(), errors.New("told to stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(1500*time.Millisecond, func() { cancel(stop) })
		_, err := put(ctx, &faulty{stored: map[string][]byte{}, failPuts: 9}, "x", func(io.Writer) error { return nil })
		if !errors.Is(err, stop) || time.Since(begin) != 1500*time.Millisecond {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
	})
}

// runFolder is a run's folder with two checkpoints, files beside them, and what is half written.
func runFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for path, text := range map[string]string{
		"config.toml": train.PrintConfig(studytest.Tiny()), "features.npz": "features",
		"ckpt/1/model": "old", "ckpt/2/model": "new", "ckpt/2/state": "state", "ckpt/.tmp/model": "half",
		"frames/1.npz": "frame", "frames/2.npz.tmp": "half", "features/2/train": "two",
	} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o777))
		must(t, os.WriteFile(filepath.Join(dir, path), []byte(text), 0o666))
	}
	return dir
}

// sent are the files of runFolder that a finished run consists of.
func sent(t *testing.T, dir string) map[string]string {
	t.Helper()
	want := studytest.Contents(t, dir)
	for _, not := range []string{"ckpt/1/model", "ckpt/.tmp/model", "frames/2.npz.tmp"} {
		delete(want, not)
	}
	return want
}

// arrive sends a finished run's files, reads the message as a coordinator does, and unpacks them.
func arrive(t *testing.T, dir string, blobs queue.Blobs) (Manifest, map[string]string) {
	t.Helper()
	task := &queue.Task{Job: queue.Job{ID: "job"}, Generation: 7}
	text, err := SendFiles(t.Context(), task, dir, func() (queue.Blobs, error) { return blobs, nil }, true)
	must(t, err)
	m, err := ReadManifest(queue.Message{Job: "job", Data: text})
	must(t, err)
	staging := filepath.Join(t.TempDir(), "staging")
	must(t, m.Unpack(t.Context(), staging, func(_ context.Context, shared bool) (queue.Blobs, error) {
		if !shared {
			t.Error("the files are looked for in the queue's own store")
		}
		return blobs, nil
	}))
	return m, studytest.Contents(t, staging)
}

// TestFilesOfAFinishedRunArrive: in the message if they are small, else in a blob of the run; without the remains of older checkpoints and
// what is half written, but with a checkpoint that the run keeps.
func TestFilesOfAFinishedRunArrive(t *testing.T) {
	dir := runFolder(t)
	if m, got := arrive(t, dir, nil); m.Blob != nil || !maps.Equal(got, sent(t, dir)) {
		t.Errorf("small: in %+v there are %q", m.Blob, got)
	}
	kept := studytest.Tiny()
	kept.Run.Keep = "all"
	must(t, os.WriteFile(filepath.Join(dir, "config.toml"), []byte(train.PrintConfig(kept)), 0o666))
	want := sent(t, dir)
	want["ckpt/1/model"] = "old"
	if _, got := arrive(t, dir, nil); !maps.Equal(got, want) {
		t.Errorf("with a checkpoint that is kept: %q", got)
	}
	must(t, os.WriteFile(filepath.Join(dir, "features.npz"), make([]byte, InlineLimit), 0o666))
	want["features.npz"] = string(make([]byte, InlineLimit))
	blobs := queue.Folder(t.TempDir())
	if m, got := arrive(t, dir, blobs); m.Blob == nil || m.Blob.Name != "job/g7/files.tar" || m.Inline != nil || !maps.Equal(got, want) {
		t.Errorf("large: in %+v there are %d files", m.Blob, len(got))
	}
}

// TestSendingTellsOfEveryFailure: no configuration that can be read, no store, a store that fails.
func TestSendingTellsOfEveryFailure(t *testing.T) {
	dir, task := runFolder(t), &queue.Task{Job: queue.Job{ID: "job"}}
	must(t, os.WriteFile(filepath.Join(dir, "features.npz"), make([]byte, InlineLimit), 0o666))
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // no second attempt
	for name, blobs := range map[string]func() (queue.Blobs, error){
		"no store":           func() (queue.Blobs, error) { return nil, errServer },
		"a store that fails": func() (queue.Blobs, error) { return &faulty{failPuts: 9}, nil },
	} {
		if text, err := SendFiles(ctx, task, dir, blobs, false); !errors.Is(err, errServer) || text != nil {
			t.Errorf("%s: %v, %d bytes", name, err, len(text))
		}
	}
	gone := filepath.Join(dir, "gone")
	must(t, os.MkdirAll(gone, 0o777))
	must(t, os.RemoveAll(gone))
	if _, err := SendFiles(ctx, task, gone, nil, false); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a folder: %v", err)
	}
	must(t, os.WriteFile(filepath.Join(dir, "config.toml"), []byte("["), 0o666))
	if text, err := SendFiles(ctx, task, dir, nil, false); err == nil {
		t.Errorf("without a configuration %d bytes are sent", len(text))
	}
	err := Manifest{Blob: &queue.Blob{}}.Unpack(t.Context(), dir, func(context.Context, bool) (queue.Blobs, error) { return nil, errServer })
	if !errors.Is(err, errServer) {
		t.Errorf("without a store to fetch from: %v", err)
	}
}

// TestFilesThatAreGoneDoNotArrive: a coordinator is told that the blob of a finished run is not what it should be.
func TestFilesThatAreGoneDoNotArrive(t *testing.T) {
	m := Manifest{Blob: &queue.Blob{Name: "job/g7/files.tar"}}
	store := &faulty{stored: map[string][]byte{}}
	err := m.Unpack(t.Context(), filepath.Join(t.TempDir(), "staging"), func(context.Context, bool) (queue.Blobs, error) { return store, nil })
	if !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestOneFileArrives: the last message of a run with a single file unpacks to that file.
func TestOneFileArrives(t *testing.T) {
	m, err := ReadManifest(queue.Message{Job: "job", Data: OneFile("points.json", []byte("[1, 2]"))})
	must(t, err)
	staging := filepath.Join(t.TempDir(), "staging")
	must(t, m.Unpack(t.Context(), staging, nil))
	if got := studytest.Contents(t, staging); !maps.Equal(got, map[string]string{"points.json": "[1, 2]"}) {
		t.Errorf("%q", got)
	}
}

// TestNamesOfBlobsAreBounded: the longest name is taken, one byte more is not, and an empty file is in order.
func TestNamesOfBlobsAreBounded(t *testing.T) {
	read := func(name string, size int64) error {
		text, err := json.Marshal(Manifest{Blob: &queue.Blob{Name: name, Bytes: size}})
		must(t, err)
		_, err = ReadManifest(queue.Message{Job: "a", Data: text})
		return err
	}
	long := "a/" + string(bytes.Repeat([]byte("x"), LongestKey-2))
	must(t, read(long, 0))
	refused(t, "a name too long", read(long+"x", 0), "at most 256 bytes")
	refused(t, "another job's", read("b/files.tar", 0), "wanted a blob of the run")
	refused(t, "fewer than no bytes", read("a/files.tar", -1), "wanted a blob of the run")
	_, err := ReadManifest(queue.Message{Job: "a", Data: []byte("{")})
	refused(t, "half a message", err, "the list of a run's files")
}

// saved is the state of a run whose checkpoint of epoch 2 has left its machine, with a file beside it.
func saved(t *testing.T, blobs queue.Blobs) State {
	t.Helper()
	dir := runFolder(t)
	s, err := LeaveCheckpoint(t.Context(), blobs, true, "job/g7", dir, 2)
	must(t, err)
	s.SideParts, err = LeaveSideFiles(t.Context(), blobs, "job/g7", dir, 2, nil)
	must(t, err)
	back, err := DecodeState(s.Encode())
	must(t, err)
	if fmt.Sprint(back) != fmt.Sprint(s) || back.Epoch != 2 || !back.Shared || back.Machine != train.ThisMachine() || len(back.SideParts) != 1 {
		t.Fatalf("%+v becomes %+v", s, back)
	}
	return back
}

// TestRunsGoOnElsewhere: the next worker's folder has the checkpoint and the files beside it.
func TestRunsGoOnElsewhere(t *testing.T) {
	blobs := queue.Folder(t.TempDir())
	s := saved(t, blobs)
	if !s.Has("job/g7/ckpt-2.tar") || !s.Has("job/g7/beside-0-2.tar") || s.Has("job/g7/ckpt-1.tar") || s.Has("") {
		t.Errorf("%+v", s)
	}
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "ckpt", "9"), 0o777)) // newer than the rows that the lab has, so of no use
	must(t, RestoreCheckpoint(t.Context(), s, dir, 2, func(_ context.Context, shared bool) (queue.Blobs, error) {
		if !shared {
			t.Error("the checkpoint is looked for in the queue's own store")
		}
		return blobs, nil
	}))
	want := map[string]string{"ckpt/2/model": "new", "ckpt/2/state": "state", "frames/1.npz": "frame", "features/2/train": "two"}
	if got := studytest.Contents(t, dir); !maps.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if NewestOf(dir) != 9 || NewestUpTo(dir, 8) != 2 || NewestUpTo(dir, 1) != 0 {
		t.Errorf("newest %d, up to 8 %d, up to 1 %d", NewestOf(dir), NewestUpTo(dir, 8), NewestUpTo(dir, 1))
	}
}

// TestNothingIsFetchedWithoutNeed: another machine's checkpoint is of no use, and one that is there need not come again.
func TestNothingIsFetchedWithoutNeed(t *testing.T) {
	s := saved(t, queue.Folder(t.TempDir()))
	refuse := func(context.Context, bool) (queue.Blobs, error) { return nil, errServer }
	other := s
	other.Machine.Kernel += " of another kind"
	none := s
	none.Epoch = 0
	empty := t.TempDir()
	must(t, RestoreCheckpoint(t.Context(), other, empty, 9, refuse))
	must(t, RestoreCheckpoint(t.Context(), none, empty, 9, refuse))
	if err := RestoreCheckpoint(t.Context(), s, empty, 9, refuse); !errors.Is(err, errServer) {
		t.Errorf("a checkpoint that is needed is not asked for: %v", err)
	}
	there := t.TempDir()
	must(t, os.MkdirAll(rundir.Dir(there).Checkpoint(3), 0o777))
	must(t, RestoreCheckpoint(t.Context(), s, there, 2, refuse)) // 3 is the epoch after the last whole one
	if err := RestoreCheckpoint(t.Context(), s, there, 1, refuse); !errors.Is(err, errServer) {
		t.Errorf("a checkpoint beyond the rows counts: %v", err)
	}
}

// TestRestoringTellsOfEveryFailure: links in the folder, blobs that are gone, a digest that is wrong, which is known after the last byte.
// What was fetched is removed.
func TestRestoringTellsOfEveryFailure(t *testing.T) {
	store := &faulty{stored: map[string][]byte{}}
	s := saved(t, store)
	restore := func(dir string) error {
		return RestoreCheckpoint(t.Context(), s, dir, 9, func(context.Context, bool) (queue.Blobs, error) { return store, nil })
	}
	linked := t.TempDir()
	must(t, os.Symlink(t.TempDir(), filepath.Join(linked, "frames")))
	var link *jail.LinkError
	if err := restore(linked); !errors.As(err, &link) {
		t.Errorf("a folder with a link that leads out: %v", err)
	}
	for _, name := range []string{s.SideParts[0].Blob.Name, s.Blob.Name} {
		content := store.stored[name]
		delete(store.stored, name)
		dir := t.TempDir()
		if err := restore(dir); !errors.Is(err, os.ErrNotExist) || NewestOf(dir) != 0 {
			t.Errorf("without %s: %v, newest %d", name, err, NewestOf(dir))
		}
		store.stored[name] = content
	}
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "frames"), nil, 0o666))
	refused(t, "a file where a folder comes", restore(dir), "not a directory")
	store.digest = errServer
	dir = t.TempDir()
	if err := restore(dir); !errors.Is(err, errServer) || len(studytest.Contents(t, dir)) != 0 {
		t.Errorf("a digest that is wrong: %v, there are %q", err, studytest.Contents(t, dir))
	}
}

// TestStatesOfTheQueueAreChecked: nothing is no checkpoint; an epoch before the first and what is no JSON are errors.
func TestStatesOfTheQueueAreChecked(t *testing.T) {
	if s, err := DecodeState(nil); err != nil || s.Epoch != 0 || s.Usable() != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	for text, cause := range map[string]string{`{"epoch":-1}`: "is of epoch -1", `{`: "unexpected end", `[]`: "cannot unmarshal", `{"epoch":3,"machine":7}`: "cannot unmarshal"} {
		if s, err := DecodeState([]byte(text)); err == nil || s.Epoch != 0 || !strings.HasPrefix(err.Error(), "study: the saved state of a run") || !strings.Contains(err.Error(), cause) || strings.Contains(err.Error(), "%!") {
			t.Errorf("%s: %+v, %v", text, s, err)
		}
	}
	if s, err := DecodeState([]byte(`{"epoch":0}`)); err != nil || s.Epoch != 0 {
		t.Errorf("epoch 0: %+v, %v", s, err)
	}
}

// TestFilesBesideTellOfFailures: a file that is gone, and a store that fails, leave the parts as they were.
func TestFilesBesideTellOfFailures(t *testing.T) {
	dir := runFolder(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // no second attempt
	if _, err := LeaveSideFiles(ctx, &faulty{failPuts: 9}, "job/g7", dir, 2, nil); !errors.Is(err, errServer) {
		t.Errorf("a store that fails: %v", err)
	}
	if _, err := LeaveCheckpoint(ctx, &faulty{stored: map[string][]byte{}}, false, "job/g7", dir, 5); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a checkpoint that is gone: %v", err)
	}
	must(t, os.WriteFile(filepath.Join(dir, "config.toml"), []byte("["), 0o666))
	if _, err := LeaveSideFiles(ctx, &faulty{}, "job/g7", dir, 2, nil); err == nil {
		t.Error("without a configuration files are left")
	}
}
