package study

import (
	"fmt"

	"collapse.example/collapse/internal/store"
)

// simulated is the kind that simulated runs are stored as; nothing here computes one.
const simulated = store.Trial

// simulatedKind makes the coordinator ask the lab what it would ask about a training run. Any rows will do.
type simulatedKind struct{ trainKind }

func (*simulatedKind) Reach(lab *store.Reader, hash string, _, upTo int64) (int64, string, error) {
	for range 2 { // rows of the training series, and of the measures
		if _, err := lab.MissingSteps(hash, store.Key{}, 1, 1, 1); err != nil {
			return 0, "", err
		}
	}
	return upTo, "", nil
}

func (*simulatedKind) Epochs(string) int64 { return 0 }

func (*simulatedKind) CheckFiles(*store.Reader, string, string) error { return nil }

// SimulatedItems returns n runs for a simulation, which differ only in their number.
func SimulatedItems(n int) []Item {
	items := make([]Item, n)
	for i := range items {
		config := fmt.Appendf(nil, `{"run":%d}`, i) // already canonical
		note := fmt.Sprintf("run %d", i)
		items[i] = Item{Hash: store.Hash(simulated, config), Member: store.Member{Spec: store.Spec{Kind: simulated, Config: config}, Note: note, Payload: note}}
	}
	return items
}
