package judge_test

import (
	"errors"
	"fmt"
	"slices"
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

// TestOneNumberInCommonIsChance: two seeds that share one measured number are not the same run, nor are scripts whose values are few shares of 0 or 1;
// more in common is no chance.
func TestOneNumberInCommonIsChance(t *testing.T) {
	six := func(change func(i int, r *judge.Run)) (runs []judge.Run) {
		m := judgetest.Common()
		m.Losses, m.Noises = []string{"ce"}, []float64{0}
		runs = m.Runs(t)
		for i := range runs {
			judgetest.SetFinal(&runs[i], "train", "loss", .01*float64(i+1))
			judgetest.SetFinal(&runs[i], "test", "loss", .1*float64(i+1))
			change(i, &runs[i])
		}
		return runs
	}
	of := func(values ...float64) (runs []judge.Run) {
		for seed := range 6 {
			named := map[string]float64{"train/accuracy": 1}
			for i, v := range values {
				named[string(rune('a'+i))] = v
			}
			if seed > 1 { // the others differ
				named["z"] = float64(seed)
			}
			runs = append(runs, script(t, string(rune('p'+seed)), `{"run":{"seed":`+string(rune('1'+seed))+`}}`, named))
		}
		return runs
	}
	for name, c := range map[string]struct {
		runs []judge.Run
		same bool
	}{
		"nothing": {six(func(int, *judge.Run) {}), false},
		"nc1 alone": {six(func(i int, r *judge.Run) {
			judgetest.SetFinal(r, "train", "nc1_pinv", 1)
			judgetest.Forget(r, "test", "loss")
			judgetest.SetFinal(r, "train", "loss", 0)
		}), false},
		"nc1 and a loss": {six(func(i int, r *judge.Run) {
			judgetest.SetFinal(r, "train", "nc1_pinv", 1)
			judgetest.Forget(r, "test", "loss")
			judgetest.SetFinal(r, "train", "loss", 2)
		}), true},
		"zeros": {six(func(i int, r *judge.Run) {
			for _, k := range [][2]string{{"train", "loss"}, {"train", "nc1_pinv"}, {"test", "loss"}} {
				judgetest.SetFinal(r, k[0], k[1], 0)
			}
		}), false},
		"other numbers": {func() (runs []judge.Run) {
			for seed := range 6 {
				x := float64(seed+1) / 7
				runs = append(runs, script(t, string(rune('p'+seed)), `{"run":{"seed":`+string(rune('1'+seed))+`}}`, map[string]float64{"a": x, "b": x * x, "c": x * x * x}))
			}
			return runs
		}(), false},
		"a script's shares": {of(0, 1, 1, .5, .25), false}, "a script's numbers": {of(0, .5, .25, .125), true},
	} {
		claim, err := with(asks("1.0", "2.0"), func(s *judge.Statement) { s.Early = true }).Judge(c.runs)
		if err != nil || strings.Contains(claim.Reason, "gave the same run") != c.same {
			t.Errorf("%s: %s, %v", name, claim.Reason, err)
		}
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
		claim, _, err := lab.Lease(store.Spec{Kind: store.Script, Config: config})
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
	runs, err := judge.LoadOnDemand(lab.Reader, lrIdle...)
	if err != nil {
		t.Fatal(err)
	}
	failed := runs[1] // at lr 0.2 alone: the rate did change something
	failed.Status = store.Failed
	if got := judge.WithoutEffect(append(runs, failed)); len(got) > 0 {
		t.Errorf("%q, though runs fail with one value of the setting", got)
	}
	also := runs[0]
	also.Status = store.Failed
	if got := judge.WithoutEffect(append(runs, failed, also)); len(got) != 1 {
		t.Errorf("%q, though runs fail with every value of the setting", got)
	}
}

// TestScriptsThatReportNoTrainAccuracy: nobody knows how far they fit their labels, so none is left out for it, and a claim about collapse says so.
// As soon as one reports it, those below the limit, or without, are left out. Other claims do not ask.
func TestScriptsThatReportNoTrainAccuracy(t *testing.T) {
	runs := func(accuracy map[int]float64) (runs []judge.Run) {
		for i := range 12 {
			v := .5 + .2*float64(i%2) + .001*float64(i*i)
			values := map[string]float64{"val/f1": v, "train/nc1_pinv": v, "a": float64(i), "b": float64(i * i)}
			if v, ok := accuracy[i]; ok {
				values["train/accuracy"] = v
			}
			runs = append(runs, script(t, fmt.Sprint("run", i), fmt.Sprintf(`{"my":{"width":%d},"run":{"seed":%d}}`, i%2, 1+i/2), values))
		}
		return runs
	}
	more := func(name string) judge.Statement {
		return with(asks(`final("`+name+`", {"my.width": 1})`, `final("`+name+`", {"my.width": 0})`), func(s *judge.Statement) { s.Kind = judge.More })
	}
	const unknown = "no run reports train/accuracy, so none is left out as unfitted"
	for _, c := range []struct {
		of       string
		accuracy map[int]float64
		verdict  judge.Verdict
		told     bool
	}{{"train.nc1_pinv", nil, judge.Holds, true}, {"train.nc1_pinv", map[int]float64{3: 1}, judge.CannotTell, false}, {"val/f1", nil, judge.Holds, false}, {"val/f1", map[int]float64{3: 1}, judge.Holds, false}} {
		got, err := more(c.of).Judge(runs(c.accuracy))
		if err != nil || got.Verdict != c.verdict || slices.Contains(got.Statistics, unknown) != c.told {
			t.Errorf("%v: %s, %s, %q, %v", c.accuracy, got.Verdict, got.Reason, got.Statistics, err)
		}
	}
	made := judgetest.Common().Runs(t)
	for i := range made {
		judgetest.Forget(&made[i], "train", "accuracy")
	}
	if got, err := asks(`final("train.nc1_pinv")`, "0.0").Judge(made); err != nil || !strings.Contains(got.Reason, "terminal phase") {
		t.Errorf("the program's own runs without an accuracy: %s, %v", got.Reason, err)
	}
}

// TestASlopeIsNoMean over what it is taken against; it is one over whatever else varies.
func TestASlopeIsNoMean(t *testing.T) {
	var runs []judge.Run
	for i := range 36 {
		config := fmt.Sprintf(`{"my":{"lr":%d,"act":%d},"run":{"seed":%d}}`, i%3, i/3%2, 1+i/6)
		runs = append(runs, script(t, fmt.Sprint("run", i), config, map[string]float64{"val/f1": float64(i%3) + .01*float64(i*i%7), "a": float64(i), "b": float64(i * i)}))
	}
	claim := with(asks(`slope("my.lr", "val/f1")`, "0"), func(s *judge.Statement) { s.Kind = judge.More })
	got, err := claim.Judge(runs)
	if want := `each seed gives a mean over my.act; with cells = ["my.act"] each would be judged`; err != nil || got.Verdict != judge.Holds || !slices.Equal(got.Statistics, []string{want}) || got.Effect.Cells[0].Seeds != 6 {
		t.Errorf("%s, %q, %v", got.Verdict, got.Statistics, err)
	}
	runs[35].Status = store.Failed // and the sixth seed has another mix than the others
	if got, err := claim.Judge(runs); err != nil || got.Effect.Cells[0].Seeds != 5 {
		t.Errorf("%s, %v", got.Reason, err)
	}
}

// TestScriptsWithoutCollapseAreNotUnfitted: how far they fit their labels says nothing of what they measure.
func TestScriptsWithoutCollapseAreNotUnfitted(t *testing.T) {
	for name, unfitted := range map[string]bool{"val/f1": false, "train/nc1_pinv": true} {
		run := script(t, "a", `{"run":{"seed":1}}`, map[string]float64{name: .5, "train/accuracy": .9})
		if got := slices.Contains(run.States(), judge.Early); got != unfitted {
			t.Errorf("%s: unfitted %v", name, got)
		}
	}
}
