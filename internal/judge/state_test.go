package judge_test

import (
	"slices"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/measure"
)

// A run says of itself what its measures say, and what the rules of claims make of it is the same.
func TestStates(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*judge.Run)
		want   []judge.State
	}{
		"finished":   {func(*judge.Run) {}, nil},
		"early":      {func(r *judge.Run) { judgetest.SetFinal(r, "train", "accuracy", 0.998) }, []judge.State{judge.Early}},
		"degenerate": {func(r *judge.Run) { judgetest.SetFinal(r, "clean", "mean_norm_ratio", 0.09) }, []judge.State{judge.Degenerate}},
		"both": {func(r *judge.Run) {
			judgetest.SetFinal(r, "train", "accuracy", 0.5)
			judgetest.SetFinal(r, "clean", "mean_norm_ratio", 0)
		}, []judge.State{judge.Early, judge.Degenerate}},
		"at the origin": {func(r *judge.Run) { judgetest.Miss(r, "clean", "mean_norm_ratio", measure.AllMeansZero) }, []judge.State{judge.Degenerate}},
		"failed":        {func(r *judge.Run) { r.Status = store.Failed }, []judge.State{judge.Failed}},
		"running":       {func(r *judge.Run) { r.Status = store.Running }, nil},
		"unmeasured":    {func(r *judge.Run) { judgetest.Forget(r, "clean", "mean_norm_ratio") }, nil},
	} {
		r := judgetest.Common().Run(t, "ce", 0.2, 1)
		c.change(&r)
		if got := r.States(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, wanted %v", name, got, c.want)
		}
		if one := judge.JudgeRun(&r); r.Status == store.Done && (one.Terminal == slices.Contains(c.want, judge.Early) || one.Degenerate != slices.Contains(c.want, judge.Degenerate)) {
			t.Errorf("%s: the rules say terminal %v, degenerate %v", name, one.Terminal, one.Degenerate)
		}
	}
}
