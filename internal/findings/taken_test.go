package findings

import (
	"slices"
	"testing"

	"collapse.example/collapse/internal/recipe"
)

func TestTableOfSettingsThatASearchFound(t *testing.T) {
	got := takenTable(recipe.Found{
		{Cell: []string{`loss.kind="ce"`}, Settings: []string{"optim.lr=0.125"}, From: "trial 3"},
		{Cell: []string{`loss.kind="ls"`}, Settings: []string{"loss.smoothing=0.2", "optim.lr=0.5"}, From: "trial 4"},
	})
	if want := []string{"loss.kind", "optim.lr", "loss.smoothing", "from"}; !slices.Equal(got.Columns, want) {
		t.Errorf("columns %q, wanted %q", got.Columns, want)
	}
	for i, want := range [][]string{{"ce", "0.125", "–", "trial 3"}, {"ls", "0.5", "0.2", "trial 4"}} {
		if !slices.Equal(got.Rows[i], want) {
			t.Errorf("line %d: %q, wanted %q", i, got.Rows[i], want)
		}
	}
	if got := takenTable(nil); len(got.Columns)+len(got.Rows) > 0 {
		t.Errorf("nothing was taken: %+v", got)
	}
}
