package coordinator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/demo"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/wire"
	"collapse.example/collapse/internal/study/worker"
	"collapse.example/collapse/internal/train"
)

// filesBelow are the paths of all files below a folder.
func filesBelow(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, path)
		}
		return err
	}))
	return names
}

// heldLease has the queue's one job leased, with a state, until the test ends, and returns the lease's generation. There is a result of it.
func heldLease(t *testing.T, e *coordinator, state func(generation uint64) wire.State) uint64 {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	leased, ended := make(chan uint64, 1), make(chan struct{})
	go func() {
		defer close(ended)
		e.broker.Work(ctx, queue.WorkerOptions{Name: "elsewhere"}, func(ctx context.Context, task *queue.Task) ([]byte, error) {
			if err := errors.Join(task.SetState(ctx, state(task.Generation).Encode()), task.Send(ctx, []byte("a result"))); err != nil {
				t.Error(err)
			}
			leased <- task.Generation
			<-ctx.Done()
			return nil, ctx.Err()
		})
	}()
	t.Cleanup(func() { stop(); <-ended })
	return <-leased
}

// TestSweptBlobs: of all blobs, those stay that the run's next worker continues from, and those that its worker may be about to send
// or to name.
func TestSweptBlobs(t *testing.T) {
	t.Parallel()
	configs := demo.Grid{Base: tiny(), Losses: []string{"ce"}, Noise: []float64{0}, Seeds: 5}.Configs()
	lab := saved(t, configs[:3])
	items := itemsOf(t, configs)
	_, err := study.Save(lab, "another study", "", "", items[3:])
	must(t, err)
	run, done, open, stopped, queued := items[0].Hash, items[1].Hash, items[2].Hash, items[3].Hash, items[4].Hash
	c, _, err := lab.Lease(items[1].Spec)
	must(t, err)
	must(t, c.Finish())
	e, log := coordinating(t, lab, items[0])
	e.o.Blobs = t.TempDir()
	must(t, e.makeFolder())
	at := func(g uint64, file string) string { return fmt.Sprintf("%s/g%d/%s", run, g, file) }
	const before = 5 // generation of the attempt before
	g := heldLease(t, e, func(g uint64) wire.State {
		return wire.State{Epoch: 20, Blob: queue.Blob{Name: at(g, "ckpt-20.tar")}, SideParts: []wire.SidePart{{UpTo: 10, Blob: queue.Blob{Name: at(before, "beside-0-10.tar")}}}}
	})
	must(t, lab.SetRemote(run, g))
	must(t, e.c.Submit(t.Context(), queue.Job{ID: done, Kind: "train"}, queue.Job{ID: queued, Kind: "train"})) // the first by mistake
	stay := []string{run + "/begin/ckpt-3.tar", at(before, "beside-0-10.tar"), at(g, "ckpt-20.tar"), at(g, "ckpt-21.tar"), at(g, "beside-10-21.tar"), at(g, "files.tar"),
		at(g, ".tmp-123"), at(g+1, "ckpt-30.tar"), open + "/begin/ckpt-1.tar", queued + "/g9/ckpt-2.tar"}
	swept := []string{at(before, "ckpt-10.tar"), at(before, "beside-10-15.tar"), at(before, ".tmp-123"), at(g, "ckpt-19.tar"), at(g, "ckpt-19.tar~x"), at(g, "beside-10-15.tar"),
		done + "/g7/ckpt-2.tar", done + "/g7/.tmp-4", done + "/begin/ckpt-1.tar", "no-run/g1/ckpt-1.tar", run + "/x", "y"}
	read := []string{stopped + "/g9/ckpt-5.tar"} // stays until it is certain that no result on its way names it
	check := func(shared bool, want ...string) {
		t.Helper()
		blobs, err := e.blobs(t.Context(), shared)
		must(t, err)
		for _, name := range slices.Concat(stay, swept, read) {
			_, err := blobs.Put(t.Context(), name, strings.NewReader(name))
			must(t, err)
		}
		must(t, e.sweepStore(t.Context(), blobs, true)) // a run is under way, so it is not the end
		left, err := blobs.List(t.Context())
		must(t, err)
		left = slices.Sorted(slices.Values(left))
		if want = slices.Sorted(slices.Values(want)); !slices.Equal(left, want) {
			t.Errorf("shared %v: left\n%s\nwanted\n%s", shared, strings.Join(left, "\n"), strings.Join(want, "\n"))
		}
		must(t, blobs.Clear(t.Context()))
	}
	for _, shared := range []bool{false, true} {
		check(shared, slices.Concat(stay, read)...)
	}
	must(t, e.makeFolder())
	go e.c.Receive(t.Context(), func([]queue.Message) error { return nil })
	for start := time.Now(); !e.allRead(t.Context()); time.Sleep(time.Millisecond) {
		if time.Since(start) > time.Minute {
			t.Fatal("results stay unread")
		}
	}
	for _, shared := range []bool{false, true} {
		check(shared, stay...)
	}
	if log.Text() != "" {
		t.Errorf("told %q", log.Text())
	}
}

// atGate is a reader that waits before its end.
type atGate struct {
	io.Reader
	reached, open chan struct{}
}

func (g *atGate) Read(p []byte) (int, error) {
	n, err := g.Reader.Read(p)
	if err == io.EOF && g.reached != nil {
		close(g.reached)
		g.reached = nil
		<-g.open
	}
	return n, err
}

// TestNothingIsLeftInTheSharedFolder: before the study begins, a killed worker has left files; while it runs, an overtaken worker
// writes, and continues to write after its end. The folder of another lab in the same shared folder stays unchanged.
func TestNothingIsLeftInTheSharedFolder(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	configs := []train.Config{longer()}
	hash := itemsOf(t, configs)[0].Hash
	lab, shared := saved(t, configs), t.TempDir()
	must(t, os.MkdirAll(filepath.Join(shared, "another", hash, "g1"), 0o777))
	others := filepath.Join(shared, "another", hash, "g1", "ckpt-5.tar")
	must(t, os.WriteFile(others, []byte("needed"), 0o666))
	o := remoteOptions(t)
	o.Blobs = shared
	at, ended := executing(t, lab, &o)
	first, halfway := newGate(t), make(chan struct{})
	startWorker(t, at, worker.Options{Blobs: shared, CheckpointEvery: 1, Watch: func(_ string, p study.Progress) {
		if p.Epoch == 20 {
			close(halfway)
			first.pass()
		}
	}})
	<-halfway
	waitForCheckpoint(t, at, hash)
	name, err := (&coordinator{lab: lab}).folderName()
	must(t, err)
	own := queue.Folder(filepath.Join(shared, name))
	if names, err := own.List(t.Context()); err != nil || len(names) == 0 {
		t.Fatalf("the worker does not use the shared folder: %v, %v", names, err)
	}
	_, err = own.Put(t.Context(), hash+"/g1/ckpt-1.tar", strings.NewReader("of a worker that was killed then"))
	must(t, err)
	reached, late, put := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := own.Put(t.Context(), hash+"/g1/ckpt-2.tar", &atGate{strings.NewReader("of one that was overtaken"), reached, late})
		put <- err
	}()
	<-reached
	first.open(t)
	must(t, <-ended)
	if left := filesBelow(t, shared); !slices.Equal(left, []string{others}) {
		t.Errorf("after the study there is %q", left)
	}
	close(late)
	if err := <-put; !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a blob that nobody wants: %v", err)
	}
	if _, err := own.Put(t.Context(), hash+"/g1/ckpt-3.tar", strings.NewReader("late")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("another one: %v", err)
	}
	if left := filesBelow(t, shared); !slices.Equal(left, []string{others}) {
		t.Errorf("then there is %q", left)
	}
}

// TestAnEndThatWasCutShort: the coordinator was killed between the last run's end and the sweep, or during the sweep. Continuing the
// study, which has nothing left to compute, sweeps. Not parallel: a process that another test starts holds the lab's lock for a moment
// after its release, and whoever finds it held sweeps nothing.
func TestAnEndThatWasCutShort(t *testing.T) {
	configs := []train.Config{tiny()}
	lab, shared := saved(t, configs), t.TempDir()
	o := options(t, 1)
	o.Blobs = shared
	execute := func() {
		t.Helper()
		if s, err := Execute(t.Context(), lab, []string{"s"}, o); err != nil || s != (Summary{Runs: 1, Done: 1}) {
			t.Fatalf("%+v, %v", s, err)
		}
	}
	execute()
	e := &coordinator{lab: lab, o: o}
	for _, dir := range []string{"", ".gone-"} {
		must(t, e.makeFolder())
		must(t, os.Remove(filepath.Join(shared, e.folder)))
		must(t, os.MkdirAll(filepath.Join(shared, dir+e.folder, "run", "g1"), 0o777))
		must(t, os.WriteFile(filepath.Join(shared, dir+e.folder, "run", "g1", ".tmp-1"), nil, 0o666))
		execute()
		if left, err := os.ReadDir(shared); err != nil || len(left) > 0 {
			t.Errorf("there is %v, %v", left, err)
		}
	}
}

// TestAWorkerWithAnotherFolder leaves its checkpoints with the queue, since its folder is not the coordinator's.
func TestAWorkerWithAnotherFolder(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	configs := []train.Config{longer()}
	hash := itemsOf(t, configs)[0].Hash
	for _, coordinators := range []string{"", t.TempDir()} {
		lab, own := saved(t, configs), t.TempDir()
		o := remoteOptions(t)
		o.Blobs = coordinators
		at, ended := executing(t, lab, &o)
		halfway, gate := make(chan struct{}), newGate(t)
		stop := startWorker(t, at, worker.Options{Blobs: own, CheckpointEvery: 1, Watch: func(_ string, p study.Progress) {
			if p.Epoch == 20 {
				close(halfway)
				gate.pass()
			}
		}})
		<-halfway
		waitForCheckpoint(t, at, hash)
		gate.open(t)
		must(t, <-ended)
		stop()
		if run, err := lab.Run(hash); err != nil || run.Status != store.Done || len(filesBelow(t, own)) > 0 {
			t.Errorf("%s with %q left, %v", run.Status, filesBelow(t, own), err)
		}
	}
}
