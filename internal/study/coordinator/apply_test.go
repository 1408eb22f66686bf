package coordinator

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/wire"
)

// TestABatchIsItsMessagesOneByOne applies what several attempts at several runs sent, in an order that the queue may produce and
// with stale messages among them, in one batch and message by message.
func TestABatchIsItsMessagesOneByOne(t *testing.T) {
	t.Parallel()
	server, err := queue.StartServer(queue.ServerOptions{Dir: t.TempDir(), Logf: t.Logf})
	must(t, err)
	defer server.Close()
	broker, err := server.Connect(quickQueue())
	must(t, err)
	defer broker.Close()
	var c *queue.Coordinator
	for range 3 { // each time writes a key: generations up to 3 may have been given out
		c, err = broker.Coordinate(t.Context(), "this lab")
		must(t, err)
	}
	items := study.SimulatedItems(3)
	for seed := range longtest.Of(uint64(2), 6) {
		list := mixed(rand.New(rand.NewPCG(seed, 0)), items)
		var labs [2]*store.Lab
		for i := range labs {
			labs[i], err = store.Open(t.TempDir(), store.Options{})
			must(t, err)
			defer labs[i].Close()
			_, err = study.Save(labs[i], "s", "", "", items)
			must(t, err)
			e := &coordinator{lab: labs[i], o: Options{Logf: t.Logf}, c: c, broker: broker, remote: map[string]*remoteRun{}}
			for batch := range slices.Chunk(list, []int{len(list), 1}[i]) {
				must(t, e.apply(t.Context(), batch))
			}
		}
		asOneByOne(t, labs[0], labs[1], items)
	}
}

// mixed makes the messages that attempts at the runs sent: each begins where one before it may have got to, and may be followed by
// late messages of an earlier one. Most of the last attempts end.
func mixed(r *rand.Rand, items []study.Item) []queue.Message {
	sent := make([][]queue.Message, len(items))
	for i, it := range items {
		from := int64(0)
		for generation := uint64(1); generation <= uint64(1+r.IntN(3)); generation++ {
			message := func(kind queue.Type, data []byte) {
				sent[i] = append(sent[i], queue.Message{Job: it.Hash, Type: kind, Generation: generation, Attempt: 1, Worker: fmt.Sprint("w", generation), Data: data})
			}
			message(queue.Data, wire.Begin{From: from}.Encode())
			for epoch := from + 1; epoch <= from+1+r.Int64N(8); epoch++ {
				rows := store.EpochRows{Epoch: epoch, Rows: []store.Value{{Key: measure(0), Step: epoch, Value: float64(100*generation) + float64(epoch)}}}
				message(queue.Data, wire.EncodeRows(rows)[0])
				if late := sent[i][r.IntN(len(sent[i]))]; r.IntN(3) == 0 && late.Generation < generation {
					sent[i] = append(sent[i], late)
				}
			}
			from = r.Int64N(from + 2)
			if generation == 3 || r.IntN(2) == 0 {
				message(queue.Done, wire.OneFile("features.npz", make([]byte, 100)))
				break
			}
		}
	}
	var list []queue.Message
	for slices.ContainsFunc(sent, func(s []queue.Message) bool { return len(s) > 0 }) {
		if i := r.IntN(len(sent)); len(sent[i]) > 0 {
			list, sent[i] = append(list, sent[i][0]), sent[i][1:]
		}
	}
	return list
}

// asOneByOne compares two labs' runs, which have values.
func asOneByOne(t *testing.T, a, b *store.Lab, items []study.Item) {
	t.Helper()
	for _, it := range items {
		runA, err := a.Run(it.Hash)
		must(t, err)
		runB, err := b.Run(it.Hash)
		must(t, err)
		rowsA, err := a.RowsAfter(it.Hash, -1)
		must(t, err)
		rowsB, err := b.RowsAfter(it.Hash, -1)
		must(t, err)
		if runA.Status != runB.Status || runA.LastEpoch != runB.LastEpoch || len(rowsA) == 0 || fmt.Sprint(rowsA) != fmt.Sprint(rowsB) {
			t.Errorf("%s: %s, epoch %d, %v\none by one: %s, epoch %d, %v", it.Note, runA.Status, runA.LastEpoch, rowsA, runB.Status, runB.LastEpoch, rowsB)
		}
	}
}
