package worker

import (
	"os"
	"path/filepath"
	"testing"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/studytest"
	"collapse.example/collapse/internal/study/wire"
	"collapse.example/collapse/internal/train"
)

var must = studytest.Must

func TestMain(m *testing.M) {
	m.Run() // the code it ends with is heeded by whoever called TestMain
	studytest.RemoveReference()
}

// TestAResultWithoutItsBeginningIsNotKept gives a worker a run again that is done in its scratch lab, without the rows of its first
// epochs: that result is useful only while the queue has the checkpoint from which it was computed.
func TestAResultWithoutItsBeginningIsNotKept(t *testing.T) {
	configs := []train.Config{studytest.Longer()}
	item := studytest.Items(t, configs)[0]
	whole := studytest.Directly(t, configs)
	server, err := queue.StartServer(queue.ServerOptions{Dir: t.TempDir(), Logf: t.Logf})
	must(t, err)
	defer server.Close()
	broker, err := server.Connect(studytest.QuickQueue())
	must(t, err)
	defer broker.Close()
	w, err := newWorker(broker, Options{Slots: 1, Threads: 1, Scratch: t.TempDir(), Logf: t.Logf})
	must(t, err)
	defer w.close()
	lease, _, err := w.scratch.Lease(item.Spec)
	must(t, err)
	rows, err := whole.RowsAfter(item.Hash, 29)
	must(t, err)
	must(t, lease.AppendEpochs(rows))
	must(t, os.MkdirAll(filepath.Join(lease.Dir, "ckpt", "80"), 0o777))
	must(t, lease.Finish())
	state := wire.State{Machine: train.ThisMachine(), Epoch: 30}
	task := &queue.Task{Job: queue.Job{ID: item.Hash, Kind: string(item.Spec.Kind), State: state.Encode()}}
	if s, elsewhere, err := w.prepare(t.Context(), task, study.KindOf(item.Spec.Kind)); err != nil || elsewhere != 29 || s.Epoch != 30 {
		t.Errorf("%+v, rows up to %d elsewhere, %v", s, elsewhere, err)
	}
	if run, err := w.scratch.Run(item.Hash); err != nil || run.Status != store.Done {
		t.Errorf("with the checkpoint the run is %s, %v", run.Status, err)
	}
	task.State = nil
	if _, elsewhere, err := w.prepare(t.Context(), task, study.KindOf(item.Spec.Kind)); err != nil || elsewhere != 0 {
		t.Errorf("rows up to %d elsewhere, %v", elsewhere, err)
	}
	if run, err := w.scratch.Run(item.Hash); !store.IsNotFound(err) {
		t.Errorf("without the checkpoint the run is %s, %v", run.Status, err)
	}
}
