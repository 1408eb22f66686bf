package figure

import (
	"slices"
	"testing"

	"collapse.example/collapse/internal/chart"
)

// TestLastValuesAreOfTheLastEpoch: an older value is not passed off as the last, and a mean over fewer runs not as one over all.
func TestLastValuesAreOfTheLastEpoch(t *testing.T) {
	at := func(v ...float64) chart.Numbers { return v }
	rows := func(runs int, steps ...float64) map[float64]int {
		all := map[float64]int{}
		for _, s := range steps {
			all[s] = runs
		}
		return all
	}
	for name, c := range map[string]struct {
		of    track
		want  []string
		words string
	}{
		"whole":                {track{at(1, 2, 4), at(.1, .2, .4), at(.1, .2, .3), at(.1, .2, .5), []int{2, 2, 2}, 2, 4, "", rows(2, 1, 2, 4)}, []string{"2", "0.100", "0.200", "0.400", "0.300", "0.500"}, ""},
		"ends in NaN":          {track{at(1, 2), at(.1, .2), at(.1, .2), at(.1, .2), []int{1, 1}, 1, 4, "the value was not a number (NaN)", rows(1, 1, 2, 3, 4)}, []string{"1", "0.100", "0.200", "–", "–", "–"}, "test/f1, lr 1: no value after epoch 2 (the value was not a number (NaN))."},
		"survivors":            {track{at(1, 2, 4, 8), at(.1, .2, .4, .9), at(.1, .2, .3, .9), at(.1, .2, .5, .9), []int{2, 2, 2, 1}, 2, 8, "", map[float64]int{1: 2, 2: 2, 4: 2, 8: 1}}, []string{"2", "0.100", "0.200", "0.400 at epoch 4", "0.300", "0.500"}, ""},
		"one becomes NaN":      {track{at(1, 2, 4, 8), at(.1, .2, .4, .9), at(.1, .2, .3, .9), at(.1, .2, .5, .9), []int{2, 2, 1, 1}, 2, 8, "", rows(2, 1, 2, 4, 8)}, []string{"2", "0.100", "0.400 (1 of 2 runs)", "0.900 (1 of 2 runs)", "0.900", "0.900"}, ""},
		"NaN from half way on": {track{at(1), at(.1), at(.1), at(.1), []int{1}, 1, 4, "NaN", rows(1, 1, 2, 3, 4)}, []string{"1", "0.100", "–", "–", "–", "–"}, "test/f1, lr 1: no value after epoch 1 (NaN)."},
	} {
		if got := c.of.row("f1", "test", "lr 1"); !slices.Equal(got[3:], c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if got := c.of.without("f1", "test", "lr 1"); got != c.words {
			t.Errorf("%s: %q", name, got)
		}
	}
}
