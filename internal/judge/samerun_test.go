package judge_test

import (
	"errors"
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
	"collapse.example/collapse/internal/store"
)

// Seeds that give the same run are no replicates: there is no verdict, however narrow the interval.
func TestSeedsThatChangeNothingAreRefused(t *testing.T) {
	m := judgetest.Common()
	m.Memory["ls"], m.Memory["ce"] = 200, 400
	claim := asks(`final("train.memorization_flipped", {"loss.kind": "ls", "data.noise": 0.2})`, `final("train.memorization_flipped", {"loss.kind": "ce", "data.noise": 0.2})`)
	runs := m.Runs(t)
	if got, err := claim.Judge(runs); err != nil || got.Verdict != judge.Holds {
		t.Fatalf("with six seeds: %+v, %v", got, err)
	}
	var first, second *judge.Run
	for i := range runs {
		if r := &runs[i]; r.Loss == "ce" && r.Noise == 0.2 {
			switch r.Seed {
			case 1:
				first = r
			case 2:
				second = r
			}
		}
	}
	v, _, _ := first.Final("train", "nc1_pinv")
	judgetest.SetFinal(second, "train", "nc1_pinv", v)
	got, err := claim.Judge(runs)
	if err != nil || got.Verdict != judge.CannotTell || !strings.HasPrefix(got.Reason, "seeds 1 and 2 gave the same run") {
		t.Errorf("two seeds gave the same run: %s, %s, %v", got.Verdict, got.Reason, err)
	}
	if again, err := got.FromSeeds(); err != nil || again.Reason != got.Reason {
		t.Errorf("judged again: %s, %v", again.Reason, err)
	}
}

// TestSettingsWithoutEffect: a setting is named where all runs that differ in it alone reported the same, and only there; what reports too
// little to tell, or runs that differ in more, name nothing.
func TestSettingsWithoutEffect(t *testing.T) {
	lab, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	ran := func(hashes *[]string, lr, wd float64, seed int, values ...float64) {
		config := map[string]any{"lr": lr, "wd": wd, "run": map[string]any{"epochs": 2, "horizon": 2, "seed": seed}, "trainer": map[string]any{"command": []string{"x"}, "code": map[string]string{}}}
		claim, _, err := lab.Claim(store.Spec{Kind: store.Script, Config: config})
		if err != nil {
			t.Fatal(err)
		}
		var rows []store.Value
		for i, v := range values {
			rows = append(rows, store.Value{Key: store.Key{Series: "epoch", Split: "test", Measure: "loss"}, Step: int64(i + 1), Value: v})
		}
		if err := errors.Join(claim.AppendEpoch(int64(len(values)), rows), claim.Finish()); err != nil {
			t.Fatal(err)
		}
		*hashes = append(*hashes, claim.Hash)
	}
	var lrIdle, seedIdle, none, few, once []string
	ran(&lrIdle, .1, 0, 1, 5, 4, 3)
	ran(&lrIdle, .2, 0, 1, 5, 4, 3)
	ran(&lrIdle, .1, 1, 1, 6, 4, 3)
	ran(&lrIdle, .2, 1, 1, 6, 4, 3)
	ran(&seedIdle, .3, 0, 1, 5, 4, 3)
	ran(&seedIdle, .3, 0, 2, 5, 4, 3)
	ran(&seedIdle, .4, 0, 2, 5, 4, 2)
	ran(&none, .5, 0, 1, 5, 4, 3) // differ in two settings
	ran(&none, .6, 1, 1, 5, 4, 3)
	ran(&few, .7, 0, 1, 0.5, 1) // too little to tell
	ran(&few, .8, 0, 1, 0.5, 1)
	once = append(once, lrIdle...) // one group in which it counts is enough
	ran(&once, .1, 2, 1, 7, 4, 3)
	ran(&once, .2, 2, 1, 8, 4, 3)
	for name, c := range map[string]struct {
		runs []string
		want string
	}{"lr": {lrIdle, "lr changes nothing: in 2 comparisons, runs"}, "seed": {seedIdle, "the seed changes nothing: in 1 comparison, seeds"}, "two": {none, ""}, "few": {few, ""}, "once": {once, ""}} {
		runs, err := judge.LoadOnDemand(lab.Reader, c.runs...)
		if err != nil {
			t.Fatal(err)
		}
		got := judge.WithoutEffect(runs)
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], c.want)) {
			t.Errorf("%s: %q; wanted %q", name, got, c.want)
		}
	}
}
