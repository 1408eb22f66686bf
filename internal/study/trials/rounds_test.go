package trials

import (
	"maps"
	"testing"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
)

// The forecast of a search matches what it computes: equally many runs of each length, whatever trials turn out best.
func TestRoundsAreWhatASearchComputes(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	lab := searchLab(t)
	must(t, computeSearch(t.Context(), lab, nil))
	runs, err := lab.StudyRuns("tiny", store.Done)
	must(t, err)
	computed, foreseen := map[int]int{}, map[int]int{}
	for _, run := range runs {
		computed[study.TrialOf(run.Payload).Epochs]++
	}
	rounds, err := Rounds(tinyFile(t))
	must(t, err)
	for _, round := range rounds {
		for _, s := range round {
			foreseen[s.Config.Run.Epochs]++
		}
	}
	if len(computed) < 2 || !maps.Equal(computed, foreseen) {
		t.Errorf("runs by epochs: %v, foreseen %v", computed, foreseen)
	}
}

// Hyperband with 30 trials of 160 epochs, by hand: two brackets of 9 trials on 17 epochs, 3 on 53, 1 on 160; 5 and 4 trials on 53, 1 of
// them on 160; 3 on 160. So rungs have 18, 6 + 9 and 2 + 2 + 3 runs.
func TestRoundsOfHyperbandByHand(t *testing.T) {
	const text = `
[study]
name = "h"
[base]
net = { kind = "mlp", depth = 1, width = 8 }
data = { name = "mnist", classes = 10, validation = 0.2 }
[search]
trials = 30
epochs = 160
min_epochs = 6
compare = true
[search.space]
"optim.lr" = { log_uniform = [1e-5, 0.5] }
[search.final]
"run.epochs" = 200
`
	f, err := study.ParseFile("h.toml", []byte(text), nil, 0)
	must(t, err)
	rounds, err := Rounds(f)
	must(t, err)
	got, computed := map[int]int{}, 0
	for i, round := range rounds {
		for _, s := range round {
			got[s.Config.Run.Epochs]++
			computed += s.Config.Run.Epochs - s.From
			if whole := i == len(rounds)-1; whole != (s.Config.Data.Validation == 0) {
				t.Errorf("round %d of %d: %g held out", i+1, len(rounds), s.Config.Data.Validation)
			}
		}
		if i > 0 && i < len(rounds)-1 && len(round) > 4 {
			t.Errorf("round %d has %d runs side by side; a batch has 4", i+1, len(round))
		}
	}
	// The default is one more run of 160 epochs, and two run on all samples.
	if want := map[int]int{17: 18, 53: 15, 160: 8, 200: 2}; !maps.Equal(got, want) {
		t.Errorf("runs by epochs: %v, by hand %v", got, want)
	}
	if want := 12*17 + 11*53 + 8*160 + 2*200; computed != want {
		t.Errorf("%d epochs, by hand %d", computed, want)
	}
}
