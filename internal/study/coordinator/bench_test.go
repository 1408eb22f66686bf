package coordinator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/wire"
	"collapse.example/collapse/internal/version"
)

// BenchmarkCoordinator takes over what 100 workers elsewhere have sent while nobody coordinated, with a reader at work: runs of 50
// measures per epoch, from their beginnings to their files.
func BenchmarkCoordinator(b *testing.B) {
	for _, size := range []struct{ runs, epochs int }{{150, 200}, {100, 800}, {1000, 40}} {
		b.Run(fmt.Sprintf("%dx%d", size.runs, size.epochs), func(b *testing.B) {
			stored := 0
			for b.Loop() {
				b.StopTimer()
				e, items := sentRows(b, size.runs, size.epochs, 50)
				takeOver(b, e, items)
				checkRows(b, e.lab, items, size.epochs*50)
				stored += size.runs * size.epochs * 50
				b.StartTimer()
			}
			b.ReportMetric(float64(stored)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// takeOver has e apply what is sent, with the timer on, until all runs have ended.
func takeOver(b *testing.B, e *coordinator, items []study.Item) {
	ctx, stop := context.WithCancel(b.Context())
	var reader sync.WaitGroup
	defer reader.Wait()
	defer stop()
	reader.Go(func() {
		for ctx.Err() == nil {
			if _, err := e.lab.Series(items[7].Hash, measure(0)); err != nil {
				b.Error(err)
				return
			}
		}
	})
	ended := 0
	b.StartTimer()
	defer b.StopTimer()
	if err := e.c.Receive(ctx, func(list []queue.Message) error {
		if err := e.apply(ctx, list); err != nil {
			return err
		}
		for _, m := range list {
			if m.Type == queue.Done {
				ended++
			}
		}
		if ended == len(items) {
			return errStored
		}
		return nil
	}); !errors.Is(err, errStored) {
		b.Fatal(err)
	}
}

func checkRows(b *testing.B, lab *store.Lab, items []study.Item, rows int) {
	for _, it := range items {
		run, err1 := lab.Run(it.Hash)
		values, err2 := lab.Values(it.Hash)
		if err := errors.Join(err1, err2); err != nil || run.Status != store.Done || len(values) != rows {
			b.Fatalf("%s, %d rows, %v", run.Status, len(values), err)
		}
	}
}

var errStored = errors.New("stored")

func measure(i int) store.Key {
	return store.Key{Series: "epoch", Split: "train", Measure: fmt.Sprintf("measure%02d", i)}
}

// sentRows is a coordinator whose queue holds the rows of runs that were computed elsewhere.
func sentRows(b *testing.B, runs, epochs, measures int) (*coordinator, []study.Item) {
	items := study.SimulatedItems(runs)
	lab, err := store.Open(b.TempDir(), store.Options{})
	must(b, err)
	b.Cleanup(func() { lab.Close() })
	_, err = study.Save(lab, "s", "", "", items)
	must(b, err)
	server, err := queue.StartServer(queue.ServerOptions{Dir: b.TempDir()})
	must(b, err)
	b.Cleanup(server.Close)
	broker, err := server.Connect(queue.Options{Version: version.ID(), Logf: b.Logf})
	must(b, err)
	b.Cleanup(broker.Close)
	c, err := broker.Coordinate(b.Context(), "this lab")
	must(b, err)
	jobs := make([]queue.Job, runs)
	for i, it := range items {
		jobs[i] = queue.Job{ID: it.Hash, Kind: string(it.Spec.Kind)}
	}
	must(b, c.Submit(b.Context(), jobs...))
	var sent sync.WaitGroup
	sent.Add(runs)
	go broker.Work(b.Context(), queue.WorkerOptions{Name: "elsewhere", Slots: 100}, func(ctx context.Context, t *queue.Task) ([]byte, error) {
		must(b, t.Send(ctx, wire.Begin{}.Encode()))
		for epoch := range int64(epochs) {
			rows := make([]store.Value, measures)
			for i := range rows {
				rows[i] = store.Value{Key: measure(i), Step: epoch + 1, Value: float64(epoch) + float64(i)/64}
			}
			for _, m := range wire.EncodeRows(store.EpochRows{Epoch: epoch + 1, Rows: rows}) {
				must(b, t.Send(ctx, m))
			}
		}
		sent.Done()
		return wire.OneFile("features.npz", make([]byte, 1<<10)), nil
	})
	sent.Wait()
	return &coordinator{lab: lab, o: Options{Logf: b.Logf}, c: c, broker: broker, remote: map[string]*remoteRun{}}, items
}
