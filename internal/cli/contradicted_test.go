package cli

import (
	"testing"

	"collapse.example/collapse/internal/judge"
)

// TestContradictedCells are named where only some contradict a claim about each.
func TestContradictedCells(t *testing.T) {
	cell := func(name string, contradicts bool) judge.Cell {
		return judge.Cell{Name: name, Contradicts: contradicts}
	}
	some := []judge.Cell{cell("lr = 1", true), cell("lr = 2", false), cell("lr = 3", true)}
	for want, e := range map[string]*judge.Effect{
		"contradicted in 2 of 3 cells: lr = 1; lr = 3": {Cells: some},
		"": {Cells: []judge.Cell{cell("lr = 1", true), cell("lr = 2", true)}},
	} {
		if got := contradicted(judge.Claim{Effect: e}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, e := range []*judge.Effect{nil, {Cells: some, Mean: true}, {Cells: some[1:2]}} {
		if got := contradicted(judge.Claim{Effect: e}); got != "" {
			t.Errorf("%+v: %q", e, got)
		}
	}
}
