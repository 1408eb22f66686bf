package judge_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
)

// A table of printed numbers is one claim: all of it inside the band, some of it, none of it; and only at the paper's scale.
func TestPrintedNumbers(t *testing.T) {
	m := judgetest.Common()
	m.Jitter = 0.01
	runs := m.Runs(t)
	number := func(paper, noise string) judge.Number {
		return judge.Number{What: "accuracy at η = " + noise, Paper: paper, Spread: "0.05", Unit: "%", Ours: `final("test.accuracy", {"loss.kind": "ce", "data.noise": ` + noise + `})`}
	}
	right, wrong := number("97.80", "0.1"), number("90.00", "0.2") // 99 − 12·η, in per cent
	for name, c := range map[string]struct {
		numbers []judge.Number
		full    bool
		want    judge.Verdict
		text    string
	}{
		"all":            {[]judge.Number{right, number("96.6", "0.2")}, true, judge.Holds, "0 of 2 numbers"},
		"some":           {[]judge.Number{right, wrong}, true, judge.Partly, "1 of 2 numbers"},
		"none":           {[]judge.Number{number("90", "0.1"), wrong}, true, judge.Fails, "2 of 2 numbers"},
		"another scale":  {[]judge.Number{right}, false, judge.CannotTell, "not at the paper’s scale"},
		"nothing to ask": {nil, true, judge.CannotTell, "no number"},
	} {
		q := judge.Questions{Numbers: c.numbers, PapersScale: c.full, Printed: &judge.Printed{Says: "so", Band: [2]float64{-.5, .5}, Because: "a test", Runs: 5}}
		a, err := q.Judge(runs)
		if err != nil || len(a.Claims) != 1 || a.Claims[0].Verdict != c.want || !strings.Contains(a.Claims[0].Reason, c.text) {
			t.Errorf("%s: %+v, %v, wanted %q", name, a.Claims, err, c.want)
		}
		for i, cell := range a.Claims[0].Effect.Cells {
			if far := strings.HasPrefix(c.numbers[i].Paper, "90"); cell.Contradicts != (far && c.full) {
				t.Errorf("%s: %+v", name, cell)
			}
		}
		for i, n := range a.Numbers {
			if !strings.HasPrefix(n.Paper, c.numbers[i].Paper+" ± ") || !strings.Contains(n.Ours, " ± ") || !strings.Contains(n.Difference, "95 % interval") {
				t.Errorf("%s: shown as %+v", name, n)
			}
		}
	}
	for want, p := range map[string]judge.Printed{"needs says": {Band: [2]float64{-1, 1}, Because: "so", Runs: 5}, "with 0 between": {Says: "so", Because: "so", Runs: 5}, "at least 2": {Says: "so", Because: "so", Band: [2]float64{-1, 1}}} {
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, wanted %q", p, err, want)
		}
	}
}

// A number of which there are no runs is missing, not zero, and keeps the table from holding.
func TestPrintedNumberWithoutRuns(t *testing.T) {
	number := func(loss string) judge.Number {
		return judge.Number{What: loss, Paper: "97.80", Spread: "0.05", Unit: "%", Ours: `final("test.accuracy", {"loss.kind": "` + loss + `", "data.noise": 0.1})`}
	}
	q := judge.Questions{Numbers: []judge.Number{number("ce"), number("mse")}, PapersScale: true, Printed: &judge.Printed{Says: "so", Band: [2]float64{-.5, .5}, Because: "a test", Runs: 5}}
	a, err := q.Judge(judgetest.Common().Runs(t))
	if err != nil || a.Claims[0].Verdict != judge.CannotTell {
		t.Fatalf("%+v, %v", a.Claims, err)
	}
	for _, v := range []judge.Quantity{a.Claims[0].Effect.Cells[1].Left, a.Claims[0].Effect.Cells[1].Value, a.Claims[0].Effect.Cells[1].Lo, a.Claims[0].Effect.Cells[1].Hi} {
		if !math.IsNaN(float64(v)) {
			t.Errorf("%g, wanted a missing number", v)
		}
	}
}

// What is missing is null in JSON and comes back as missing.
func TestEffectsAsJSON(t *testing.T) {
	in := judge.Cell{Name: "a", Left: 1.5, Lo: judge.Quantity(math.NaN()), Hi: judge.Quantity(math.Inf(1)), Seeds: 5}
	text, err := json.Marshal(in)
	if err != nil || !strings.Contains(string(text), `"left":1.5,`) || !strings.Contains(string(text), `"lo":null,"hi":null`) {
		t.Fatalf("%s, %v", text, err)
	}
	var out judge.Cell
	if err := json.Unmarshal(text, &out); err != nil || out.Left != 1.5 || !math.IsNaN(float64(out.Lo)) || out.Seeds != 5 {
		t.Errorf("%+v, %v", out, err)
	}
}
