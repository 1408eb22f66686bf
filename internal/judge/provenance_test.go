package judge_test

import (
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
)

func TestSourcesThatSayTooMuchOrTooLittle(t *testing.T) {
	long := strings.Repeat("word ", 26)
	for _, c := range []struct {
		p    judge.Provenance
		want string // "" for one that is fine
	}{
		{judge.Provenance{Source: judge.FromPaper, Quote: "it falls", Place: "Sec. 4"}, ""},
		{judge.Provenance{Source: judge.FromFigure, Place: "Table 2"}, ""},
		{judge.Provenance{Source: judge.Ours}, ""},
		{judge.Provenance{Source: judge.OwnCheck}, ""},
		{judge.Provenance{}, "source is missing"},
		{judge.Provenance{Source: "papre"}, "paper"},
		{judge.Provenance{Source: judge.FromPaper, Place: "Sec. 4"}, "needs quote"},
		{judge.Provenance{Source: judge.FromPaper, Quote: "it falls"}, "place"},
		{judge.Provenance{Source: judge.FromPaper, Quote: long, Place: "Sec. 4"}, "26 words"},
		{judge.Provenance{Source: judge.FromFigure}, "needs place"},
		{judge.Provenance{Source: judge.FromFigure, Place: "Fig. 2", Quote: "it falls"}, "no quote"},
		{judge.Provenance{Source: judge.Ours, Quote: "it falls"}, "no quote"},
		{judge.Provenance{Source: judge.OwnCheck, Place: "Sec. 4"}, "no place"},
	} {
		err := c.p.Check()
		if c.want == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, wanted %q", c.p, err, c.want)
		}
	}
}

func TestCountsBySource(t *testing.T) {
	of := func(s judge.Source, v judge.Verdict) judge.Claim {
		return judge.Claim{Provenance: judge.Provenance{Source: s}, Verdict: v}
	}
	claims := []judge.Claim{of(judge.Ours, judge.Holds), of(judge.OwnCheck, judge.Holds), of(judge.FromPaper, judge.Fails), of(judge.FromPaper, judge.Holds), of(judge.Unrecorded, judge.CannotTell)}
	const want = "The papers’ sentences: holds: 1, does not hold: 1; Ours: holds: 1; Checks of this program: holds: 1; Of unrecorded source: cannot tell: 1"
	if got := judge.CountsBySource(claims); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if judge.CountsBySource(nil) != "" {
		t.Error("no claims are counted")
	}
}

// What M-D's text says of two classes is its own; with other units, and of more classes all but the dependence, it is ours.
func TestSourcesOfMemorization(t *testing.T) {
	m := judgetest.Common()
	m.Losses = []string{"ce", "ls", "lr", "mse"}
	for classes, want := range map[string]map[string]judge.Source{
		"2":  {"growth": judge.FromPaper, "slope-ls": judge.FromPaper, "slope-ls-scale-free": judge.Ours, "slope-lr": judge.FromPaper, "ls-memorizes-less": judge.FromPaper, "ls-memorizes-less-scale-free": judge.Ours, "settled-dilation": judge.FromPaper},
		"10": {"growth": judge.FromPaper, "linear-ls": judge.FromPaper, "slope-ls": judge.Ours, "slope-ls-scale-free": judge.Ours, "slope-lr": judge.Ours, "ls-memorizes-less": judge.Ours, "settled-dilation": judge.Ours},
	} {
		runs := m.Runs(t)
		for i := range runs {
			runs[i].Settings["data.classes"] = classes
		}
		answers, err := judge.Questions{Memorization: true}.Judge(runs)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, c := range answers.Claims {
			if err := c.Provenance.Check(); err != nil {
				t.Errorf("%s classes, %s: %v", classes, c.ID, err)
			}
			if source, ok := want[c.ID]; ok {
				if found++; c.Source != source {
					t.Errorf("%s classes, %s: source %q, wanted %q", classes, c.ID, c.Source, source)
				}
			}
			if of10 := strings.Contains(c.Quote, "multi-class"); c.Source == judge.FromPaper && of10 != (classes == "10") {
				t.Errorf("%s classes, %s quotes %q", classes, c.ID, c.Quote)
			}
		}
		if found != len(want) {
			t.Errorf("%s classes: %d of %d claims were asked", classes, found, len(want))
		}
	}
}
