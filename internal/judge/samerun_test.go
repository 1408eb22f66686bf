package judge_test

import (
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
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
