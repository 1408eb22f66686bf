package reproduce

import (
	"fmt"
	"strings"
	"testing"

	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/train"
)

// gridOf are the runs of settings times seeds, as recipes list them: all seeds of a setting, then the next.
func gridOf(settings, seeds int) (runs []recipe.Run, hashes []string) {
	for s := range settings {
		for seed := range seeds {
			c := train.Default()
			c.Run.Seed = uint64(10 + seed)
			runs = append(runs, recipe.Run{Config: c, Varied: []string{fmt.Sprintf("data.noise=%d", s)}})
		}
	}
	for i := range runs {
		hashes = append(hashes, fmt.Sprint(i))
	}
	return runs, hashes
}

// TestEverySettingComesOnceBeforeAnyComesTwice is what a budget rests on.
func TestEverySettingComesOnceBeforeAnyComesTwice(t *testing.T) {
	runs, hashes := gridOf(4, 3)
	items := make([]study.Item, len(runs))
	for i := range items {
		items[i].Hash = hashes[i]
	}
	for i, item := range seedsFirst(runs, items) {
		if want := fmt.Sprint(i%4*3 + i/4); item.Hash != want {
			t.Errorf("run %d is %s, wanted %s: setting %d, seed %d", i, item.Hash, want, i%4, i/4)
		}
	}
}

// TestWhatIsMissingIsTold, failed runs being as ended as finished ones.
func TestWhatIsMissingIsTold(t *testing.T) {
	runs, hashes := gridOf(3, 5)
	for _, c := range []struct {
		ended     []int
		missing   string
		untouched int
	}{
		{nil, "0 of 15 runs are finished: each of 3 settings has 0 of 5 seeds.", 3},
		{[]int{0, 5}, "2 of 15 runs are finished: each of 3 settings has 0 to 1 of 5 seeds.", 1},
		{[]int{0, 5, 10, 11}, "4 of 15 runs are finished: each of 3 settings has 1 to 2 of 5 seeds.", 0},
		{[]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}, "", 0},
	} {
		var loaded []judge.Run
		for i, hash := range hashes {
			loaded = append(loaded, judge.Run{Run: store.Run{Hash: hash, Status: store.Pending}})
			for _, ended := range c.ended {
				if ended == i {
					loaded[i].Status = []store.Status{store.Done, store.Failed}[i%2]
				}
			}
		}
		so := covered(runs, hashes, loaded)
		if got := so.missing(); !strings.HasPrefix(got, c.missing) || (got == "") != (c.missing == "") || so.untouched() != c.untouched {
			t.Errorf("%v: %q, %d settings without a run", c.ended, got, so.untouched())
		}
	}
}

// TestClaimsWaitForSettingsWithoutARun: none holds, or fails, by what the others show.
func TestClaimsWaitForSettingsWithoutARun(t *testing.T) {
	held := &judge.Effect{Kind: "less"}
	found := findings.RecipeFindings{Judged: []judge.Claim{{Verdict: judge.Holds, Effect: held}, {Verdict: judge.Fails, Lacking: 3}}}
	withhold(&found, "too early")
	for _, c := range found.Judged {
		if c.Verdict != judge.CannotTell || c.Reason != "too early" || c.Lacking != 0 || c.Effect != nil && c.Effect.Blocked != "too early" {
			t.Errorf("%+v", c)
		}
	}
	if held.Blocked != "" {
		t.Error("the effect is shared with its claim, and has changed")
	}
}
