package coordinator

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/demo"
	"collapse.example/collapse/internal/faulttest"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/train"
)

// savedIn is saved for a lab in the folder dir.
func savedIn(t *testing.T, dir string, configs []train.Config) *store.Lab {
	t.Helper()
	lab, err := store.Open(dir, store.Options{})
	must(t, err)
	t.Cleanup(func() { lab.Close() })
	_, err = study.Save(lab, "s", "", "", itemsOf(t, configs))
	must(t, err)
	return lab
}

// saysThatTheDiskIsFull waits for a coordinator's final error.
func saysThatTheDiskIsFull(t *testing.T, lines <-chan string) {
	t.Helper()
	over := time.After(30 * time.Second)
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				t.Fatal("the coordinator ended without mentioning its disk")
			}
			if strings.HasPrefix(line, "error:") {
				if !strings.Contains(line, "is full") || !strings.Contains(line, "make space") || !strings.Contains(line, "collapse study resume s") {
					t.Error(line)
				}
				return
			}
		case <-over:
			t.Fatal("the coordinator does not notice that its disk is full")
		}
	}
}

func TestALabWhoseDiskFillsUp(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: it takes half a minute")
	}
	dir := t.TempDir()
	faulttest.SmallDisk(t, dir)
	configs := demo.Grid{Base: longer(), Losses: []string{"ce"}, Noise: []float64{0, 0.2}, Seeds: 2}.Configs()
	lab := savedIn(t, dir, configs)
	gate := newGate(t)
	first, out := faulttest.Play(t, "coordinator", dir, "", string(gate))
	faulttest.Heard(t, out, "ended")
	release := faulttest.FillDisk(t, dir)
	gate.open(t)
	saysThatTheDiskIsFull(t, out)
	first.Wait()
	release()
	s, err := lab.Study("s")
	if err != nil || s.Counts[store.Done] == 0 || s.Counts[store.Done] == 4 || s.Counts[store.Failed] != 0 {
		t.Errorf("when the disk was full: %v, %v", s.Counts, err)
	}
	if s, err := Execute(t.Context(), lab, []string{"s"}, options(t, 2)); err != nil || s != (Summary{Runs: 4, Done: 4}) {
		t.Fatalf("%+v, %v", s, err)
	}
	sameValues(t, lab, directly(t, configs), configs)
}

// TestAQueueWhoseDiskFillsUp fills only the disk of the queue. The worker has its own, finishes its run meanwhile, and hands it over
// once there is space again.
func TestAQueueWhoseDiskFillsUp(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: it takes half a minute")
	}
	dir := t.TempDir()
	faulttest.SmallDisk(t, filepath.Join(dir, "queue"))
	configs := []train.Config{longer()}
	lab := savedIn(t, dir, configs)
	first, out := faulttest.Play(t, "coordinator", dir, "127.0.0.1:0")
	line := faulttest.Heard(t, out, "workers elsewhere")
	at := strings.Fields(line[strings.Index(line, "nats://"):])[0]
	gate := newGate(t)
	_, work := faulttest.Play(t, "worker", at, t.TempDir(), string(gate))
	faulttest.Heard(t, work, "epoch 20")
	release := faulttest.FillDisk(t, filepath.Join(dir, "queue"))
	gate.open(t)
	saysThatTheDiskIsFull(t, out)
	first.Wait()
	faulttest.Heard(t, work, "epoch 80")
	release()
	o := options(t, 0)
	o.Listen, o.Token = strings.TrimPrefix(at, "nats://"), "secret"
	if s, err := Execute(t.Context(), lab, []string{"s"}, o); err != nil || s != (Summary{Runs: 1, Done: 1}) {
		t.Fatalf("%+v, %v", s, err)
	}
	sameValues(t, lab, directly(t, configs), configs)
}
