package parity

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestEnsemblesHaveEveryKind: every network, optimiser and loss that can be computed in a batch is in one.
func TestEnsemblesHaveEveryKind(t *testing.T) {
	shared := map[string]bool{}
	for _, c := range Cases(true) {
		if cfg, err := c.config("torch"); err == nil && cfg.Shares() {
			for _, name := range strings.Split(c.Name, ", ")[:3] {
				shared[name] = true
			}
		}
	}
	found := map[string]bool{}
	for _, group := range Ensembles() {
		for _, c := range group {
			for _, name := range strings.Split(c.Name, ", ") {
				found[name] = true
			}
		}
	}
	if want, got := slices.Sorted(maps.Keys(shared)), slices.Sorted(maps.Keys(found)); !slices.Equal(want, got) {
		t.Errorf("in ensembles %v, want %v", got, want)
	}
}
