package study

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"collapse/internal/queue"
	"collapse/internal/store"
	"collapse/internal/version"
)

// BenchmarkCoordinator takes over what 100 workers elsewhere have sent while nobody coordinated, with a reader at work: 150 runs of 200
// epochs of 50 measures, from their beginnings to their files.
func BenchmarkCoordinator(b *testing.B) {
	const runs, epochs, measures = 150, 200, 50
	var stored float64
	for b.Loop() {
		b.StopTimer()
		e, items := sentRows(b, runs, epochs, measures)
		ctx, stop := context.WithCancelCause(b.Context())
		var reader sync.WaitGroup
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
		err := e.c.Receive(ctx, func(list []queue.Message) error {
			if err := e.apply(ctx, list); err != nil {
				return err
			}
			for _, m := range list {
				if m.Type == queue.Done {
					ended++
				}
			}
			if ended == runs {
				return errStored
			}
			return nil
		})
		b.StopTimer()
		if !errors.Is(err, errStored) {
			b.Fatal(err)
		}
		stored += runs * epochs * measures
		stop(errStored)
		reader.Wait()
		for _, it := range items {
			run, err1 := e.lab.Run(it.Hash)
			values, err2 := e.lab.Values(it.Hash)
			if err := errors.Join(err1, err2); err != nil || run.Status != store.Done || len(values) != epochs*measures {
				b.Fatalf("%s, %d rows, %v", run.Status, len(values), err)
			}
		}
		b.StartTimer()
	}
	b.ReportMetric(stored/b.Elapsed().Seconds(), "rows/s")
}

var errStored = errors.New("stored")

func measure(i int) store.Key {
	return store.Key{Series: "epoch", Split: "train", Measure: fmt.Sprintf("measure%02d", i)}
}

// sentRows is a coordinator whose queue holds the rows of runs that were computed elsewhere.
func sentRows(b *testing.B, runs, epochs, measures int) (*engine, []Item) {
	items := Simulation{Runs: runs}.items()
	lab, err := store.Open(b.TempDir(), store.Options{})
	must(b, err)
	b.Cleanup(func() { lab.Close() })
	_, err = Save(lab, "s", "", "", items)
	must(b, err)
	server, err := queue.StartServer(queue.ServerOptions{Dir: b.TempDir()})
	must(b, err)
	b.Cleanup(server.Close)
	broker, err := server.Connect(queue.Options{Version: version.Version, Logf: b.Logf})
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
		must(b, t.Send(ctx, begin{}.encode()))
		for epoch := range int64(epochs) {
			rows := make([]store.Value, measures)
			for i := range rows {
				rows[i] = store.Value{Key: measure(i), Step: epoch + 1, Value: float64(epoch) + float64(i)/64}
			}
			for _, m := range encodeRows(store.EpochRows{Epoch: epoch + 1, Rows: rows}) {
				must(b, t.Send(ctx, m))
			}
		}
		sent.Done()
		return filesOf(1 << 10), nil
	})
	sent.Wait()
	return &engine{lab: lab, o: Options{Logf: b.Logf}, c: c, broker: broker, remote: map[string]*remoteRun{}}, items
}
