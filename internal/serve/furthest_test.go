package serve

import (
	"slices"
	"testing"

	"collapse.example/collapse/internal/store"
)

// TestTheBeginningOfATrialIsNoSecondRun of it where a search is compared by a setting.
func TestTheBeginningOfATrialIsNoSecondRun(t *testing.T) {
	row := func(hash, config string, epochs int64) store.Run {
		return store.Run{Hash: hash, Config: []byte(config), LastEpoch: epochs}
	}
	rows := []store.Run{row("a", `{"my":{"lr":1},"run":{"epochs":2}}`, 2), row("b", `{"my":{"lr":1},"run":{"epochs":8}}`, 8), row("c", `{"my":{"lr":2},"run":{"epochs":2}}`, 2),
		row("d", `{"my":{"lr":1},"run":{"epochs":8,"seed":2}}`, 8), row("e", `{`, 1)}
	var kept []string
	for _, r := range furthest(rows) {
		kept = append(kept, r.Hash)
	}
	if !slices.Equal(kept, []string{"b", "c", "d", "e"}) {
		t.Errorf("kept %q", kept)
	}
}
