package judge_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
)

// peeled is a run below the terminal phase with a class mean at zero, whose penalties theory knows.
func peeled(t *testing.T, seed int, rows map[[2]string]float64) judge.Run {
	t.Helper()
	m := judgetest.Common()
	m.More = map[[2]string]float64{{"train", "accuracy"}: 0.9, {"train", "mean_norm_ratio"}: 0, {"train", "excess"}: 0.001, {"theory", "optimum"}: 0.5, {"theory", "w_norm_most"}: 1,
		{"theory", "mean_norm_fewest"}: 1, {"theory", "w_cos_fewest"}: 0.2, {"train", "w_norm_most"}: 1.5}
	for k, v := range rows {
		m.More[k] = v
	}
	r := m.Run(t, "ce", 0, seed)
	var config map[string]any
	if err := json.Unmarshal(r.Config, &config); err != nil {
		t.Fatal(err)
	}
	config["optim"] = map[string]any{"decay": "peeled"}
	r.Config, _ = json.Marshal(config)
	return r
}

// TestStatesOfTheory: what theory predicts is named and judged, if the run is near the optimum; a run that is not keeps its usual states.
func TestStatesOfTheory(t *testing.T) {
	for name, c := range map[string]struct {
		rows map[[2]string]float64
		want []judge.State
	}{
		"zero":              {map[[2]string]float64{{"theory", "w_norm_most"}: 0, {"theory", "mean_norm_fewest"}: 0}, []judge.State{judge.ZeroSolution}},
		"minority at zero":  {map[[2]string]float64{{"theory", "mean_norm_fewest"}: 0}, []judge.State{judge.MinorityZero}},
		"minority collapse": {map[[2]string]float64{{"theory", "w_cos_fewest"}: 1}, []judge.State{judge.Minority}},
		"not near":          {map[[2]string]float64{{"theory", "w_cos_fewest"}: 1, {"train", "excess"}: 0.006}, []judge.State{judge.Early, judge.Degenerate}},
		"far below":         {map[[2]string]float64{{"theory", "w_cos_fewest"}: 1, {"train", "excess"}: -0.006}, []judge.State{judge.Early, judge.Degenerate}},
		"not predicted":     {nil, []judge.State{judge.Early, judge.Degenerate}},
	} {
		r := peeled(t, 1, c.rows)
		if got := r.States(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, wanted %v", name, got, c.want)
		}
		one := judge.JudgeRun(&r)
		if predicted := c.want[0] != judge.Early; one.Predicted != predicted || one.Degenerate == predicted || one.Terminal {
			t.Errorf("%s: predicted %v, degenerate %v, terminal %v", name, one.Predicted, one.Degenerate, one.Terminal)
		}
		var runs []judge.Run
		for seed := range 5 {
			runs = append(runs, peeled(t, seed, c.rows))
		}
		claim, err := judge.Statement{ID: "a", Says: "b", Kind: judge.Less, Left: `final("train.excess")`, Right: "0.1"}.Judge(runs)
		if judged := claim.Effect != nil; err != nil || judged != one.Predicted {
			t.Errorf("%s: judged %v: %s, %v", name, judged, claim.Reason, err)
		}
		gs, _ := judge.Experiments(runs)
		said := "; 5 of 5 runs unfitted (below 99.9 % training accuracy)"
		if one.Predicted {
			said = "; 5 of 5 runs in a state that theory predicts"
		}
		if facts := strings.Join(factsOf(t, gs), "\n"); !strings.Contains(facts, said+"\n") && !strings.HasSuffix(facts, said) {
			t.Errorf("%s: %q, wanted %q", name, facts, said)
		}
	}
}

func TestTheoryInWords(t *testing.T) {
	r := peeled(t, 1, nil)
	if got := r.Theory(); got != "The least objective over free features is 0.5 (proved); this run is 0.001 above it, 0.2 %. Largest classes: ‖w‖ 1.5 (theory 1)." {
		t.Errorf("%q", got)
	}
	below := peeled(t, 1, map[[2]string]float64{{"train", "excess"}: -0.001})
	if got := below.Theory(); !strings.Contains(got, "this run is 0.001 below it, more than rounding explains.") {
		t.Errorf("%q", got)
	}
	judgetest.Miss(&r, "train", "excess", "no solver has this loss")
	if got := r.Theory(); got != "No optimum is known to set beside this run: no solver has this loss." {
		t.Errorf("%q", got)
	}
	usual := judgetest.Common().Run(t, "ce", 0, 1)
	if got := usual.Theory(); got != "" {
		t.Errorf("a usual run: %q", got)
	}
}

// TestTheoryInDigits: objectives to six digits, distances to three, sizes to four, of both kinds of classes where they differ.
func TestTheoryInDigits(t *testing.T) {
	of := func(rows map[[2]string]float64) string {
		r := peeled(t, 1, rows)
		return r.Theory()
	}
	const begin = "The least objective over free features is "
	for want, rows := range map[string]map[[2]string]float64{
		"0.123457 (proved); this run is 0.00123 above it, 0.997 %. Largest classes: ‖w‖ 1.235 (theory 2.346).":                                              {{"theory", "optimum"}: .1234567, {"train", "excess"}: .0012312, {"train", "w_norm_most"}: 1.23456, {"theory", "w_norm_most"}: 2.34567},
		"0.5 (proved); this run reaches it, within rounding. Largest classes: ‖w‖ 1.5 (theory 1).":                                                          {{"train", "excess"}: 1e-6},
		"0.5 (proved); this run is 0.00000123 below it, more than rounding explains. Largest classes: ‖w‖ 1.5 (theory 1).":                                  {{"train", "excess"}: -1.2345e-6},
		"0 (proved); this run is 0.00123 above it. Largest classes: ‖w‖ 1.5 (theory 1).":                                                                    {{"theory", "optimum"}: 0, {"train", "excess"}: .0012345},
		"0.5 (proved); this run is 0.001 above it, 0.2 %. Largest classes: ‖w‖ 1.5 (theory 1). Smallest classes: ‖w‖ 3 (theory 4), cos w 0.1 (theory 0.2).": {{"train", "w_norm_fewest"}: 3, {"theory", "w_norm_fewest"}: 4, {"train", "w_cos_fewest"}: .1},
		"0.5 (proved); this run is 0.001 above it, 0.2 %. ‖w‖ 1.5 (theory 1).":                                                                              {{"train", "w_norm_fewest"}: 1.5, {"theory", "w_norm_fewest"}: 1},
	} {
		want = strings.ReplaceAll(want, "0.00000123", "1.23·10⁻⁶")
		if got := of(rows); got != begin+want {
			t.Errorf("%s\nwant %s%s", got, begin, want)
		}
	}
	r := peeled(t, 1, nil)
	judgetest.Miss(&r, "theory", "w_norm_most", "the optimum is not unique")
	if got := r.Theory(); !strings.HasSuffix(got, "0.2 %. The optimum is not unique.") {
		t.Error(got)
	}
	r = peeled(t, 1, nil)
	judgetest.Forget(&r, "train", "excess")
	r = r.After(100)
	if got := r.Theory(); got != "" {
		t.Errorf("of what was never measured: %q", got)
	}
	at := peeled(t, 1, map[[2]string]float64{{"theory", "w_cos_fewest"}: 1 - 1e-6, {"train", "excess"}: -.005})
	if states := at.States(); !slices.Equal(states, []judge.State{judge.Minority}) {
		t.Errorf("at the edge of what is one vector: %v", states)
	}
}

// TestNamesBesideTheory: questions may name what runs have beside theory, and a near miss is told the name.
func TestNamesBesideTheory(t *testing.T) {
	for name, want := range map[string]string{
		"train.excess": "", "train.objective": "", "theory.optimum": "", "theory.w_cos_fewest": "", "train.margin_most": "",
		"theory.excess": "no value is called", "theory.w_cos_fewst": "did you mean w_cos_fewest?", "train.exces": "did you mean excess?", "test.excess": "no measure is called", "train.nc1_pnv": "did you mean nc1_pinv?",
	} {
		if got := fmt.Sprint(judge.CheckName(name)); want == "" && got != "<nil>" || !strings.Contains(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
