package judge

import (
	"testing"

	"collapse.example/collapse/internal/store"
)

// TestSeedsThatDrawSamplesAreOneCell holds replicates together whose samples differ because run.seed draws them, and keeps fixed
// subsets apart.
func TestSeedsThatDrawSamplesAreOneCell(t *testing.T) {
	run := func(subset, seed, digest, size string) *Run {
		return &Run{Run: store.Run{Kind: store.Train}, Settings: map[string]string{"data.subset": subset, "run.seed": seed, "data.train_digest": digest, "data.samples_per_class": size}}
	}
	a, b := run("seed", "1", "aa", "10"), run("seed", "2", "bb", "10")
	if a.Configuration() != b.Configuration() || a.signature() != b.signature() {
		t.Errorf("two seeds are two cells: %q, %q", a.Configuration(), b.Configuration())
	}
	if larger := run("seed", "2", "bb", "20"); a.Configuration() == larger.Configuration() {
		t.Error("subsets of two sizes are one cell")
	}
	if run("fixed", "1", "aa", "10").Configuration() == run("fixed", "2", "bb", "10").Configuration() {
		t.Error("two fixed subsets are one cell")
	}
}
