package judge

import (
	"errors"
	"fmt"
	"math"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"

	"collapse/internal/format"
	"collapse/internal/store"
)

// Statement is a claim of a paper written as an expression over the runs of a study, as the
// recipes hold it. The expression is true or false of any set of runs; it is asked again for
// seeds drawn with replacement, and the verdict says whether the answer depends on the draw.
//
// A name of a value is split.measure or split@layer.measure ("train.nc1_pinv",
// "train@layer2.nc1_pinv") of train, clean, test or validation, or one of derivedValues ("kept.degenerate"); a selection is a map of settings ({"loss.kind": "ls"}) and may be left
// out. The functions are
//
//	final(name, selection)          mean over runs of the value at the last epoch
//	at(name, fraction, selection)   the same at the measured epoch nearest to that fraction of the run
//	values(key, selection)          the values a setting has among the runs, ascending
//	slope(x, y, selection)          of the line through the means of runs that differ by seed alone
//	r2(x, y, selection)             the share of the variance that line explains
//	trend(x, y, selection)          rank correlation of those means
//	margin_share(limit, selection)  mean over runs of the share of saved training samples whose
//	                                cosine margin lies below the limit
//
// where x and y are names of values or keys of settings; with those of the expression language
// itself (all, any, map, abs, min, max, …).
type Statement struct {
	ID    string   `toml:"id"`
	Says  string   `toml:"says"`  // in words
	Holds string   `toml:"holds"` // true if the runs agree
	Show  []string `toml:"show"`  // numbers printed beside the verdict, each an expression
	Early bool     `toml:"early"` // judged on runs below 99.9 % train accuracy too
	Runs  string   `toml:"runs"`  // judged on "regular" or "degenerate" runs (M-D Fig. 4) only

	Where selection `toml:"where"` // judged on runs with these settings only; a list allows each of its values
}

// compiled is a statement ready to be judged.
type compiled struct {
	Statement
	holds *vm.Program
	show  []*vm.Program
}

// compile checks a statement: its syntax, the measures and the settings it names.
func (s Statement) compile() (*compiled, error) {
	compile := func(source string, as expr.Option) (*vm.Program, error) {
		p, err := expr.Compile(source, expr.Env(newSample(nil).functions()), as)
		if err == nil {
			err = checkNames(source)
		}
		if err != nil {
			return nil, fmt.Errorf("judge: claim %q: %q: %w", s.ID, source, err)
		}
		return p, nil
	}
	c := &compiled{Statement: s}
	var err error
	if c.holds, err = compile(s.Holds, expr.AsBool()); err != nil {
		return nil, err
	}
	for _, source := range s.Show {
		p, err := compile(source, expr.AsFloat64())
		if err != nil {
			return nil, err
		}
		c.show = append(c.show, p)
	}
	return c, nil
}

// Check reports what is wrong with a statement before any run exists.
func (s Statement) Check() error {
	for key := range s.Where {
		if !KnownSetting(key) {
			return fmt.Errorf("judge: claim %q: no setting is called %q", s.ID, key)
		}
	}
	if err := CheckConfiguration(s.Runs); err != nil {
		return fmt.Errorf("judge: claim %q: %w", s.ID, err)
	}
	_, err := s.compile()
	return err
}

// Judge asks a statement of runs.
func (s Statement) Judge(runs []Run) (Claim, error) {
	c, err := s.compile()
	if err != nil {
		return Claim{}, err
	}
	claim := Claim{ID: s.ID, Statement: s.Says}
	judged, blocked, notes := s.eligible(runs)
	claim.Statistics = append(claim.Statistics, notes...)
	for i, p := range c.show {
		claim.Statistics = append(claim.Statistics, s.Show[i]+" = "+ask(p, judged).Words())
	}
	answer := ask(c.holds, judged)
	claim.Verdict, claim.Reason = verdictOf(answer, len(Seeds(judged)))
	if blocked != "" {
		claim.Verdict, claim.Reason = CannotTell, blocked
	} else if math.IsNaN(answer.Value) {
		_, err := evaluate(c.holds, judged)
		claim.Reason = fmt.Sprintf("the runs do not give every number it needs: %v", err)
	}
	return claim, nil
}

// verdictOf reads the answer over draws of seeds: 1 is true, 0 is false.
func verdictOf(answer Interval, seeds int) (Verdict, string) {
	switch {
	case math.IsNaN(answer.Value):
		return CannotTell, ""
	case seeds < enoughSeeds:
		return CannotTell, fmt.Sprintf("%s; a verdict needs %d", format.Count(seeds, "seed"), enoughSeeds)
	case answer.Value == 1 && answer.Lo == 1:
		return Holds, fmt.Sprintf("true of all %s, and of at least 97.5 %% of the draws of seeds", format.Count(seeds, "seed"))
	case answer.Value == 0 && answer.Hi == 0:
		return Fails, fmt.Sprintf("false of all %s, and of at least 97.5 %% of the draws of seeds", format.Count(seeds, "seed"))
	}
	return CannotTell, "it depends on which seeds are drawn"
}

// eligible are the finished runs a statement may be judged on, why it may not be, and what was
// left out. A cell (runs that differ by seed alone) that keeps fewer than half of its runs blocks
// the verdict: the terminal phase was not reached there (recipes rule 1). So does a cell without a
// run in the configuration that the statement asks for.
func (s Statement) eligible(runs []Run) (kept []*JudgedRun, blocked string, notes []string) {
	t := tally{all: map[string]int{}, kept: map[string]int{}, other: map[string]int{}}
	for i := range runs {
		if runs[i].Status != store.Done {
			continue
		}
		one := JudgeRun(&runs[i])
		switch {
		case !one.Matches(s.Where):
		case !one.In(s.Runs):
			t.other[one.Cell]++
		case !s.Early && !one.Terminal:
			t.all[one.Cell]++
		default:
			t.all[one.Cell]++
			t.kept[one.Cell]++
			kept = append(kept, one)
		}
	}
	if n := sum(t.all) - sum(t.kept); n > 0 {
		notes = append(notes, fmt.Sprintf("%s below 99.9 %% train accuracy left out", format.Count(n, "run")))
	}
	if n := sum(t.other); n > 0 {
		notes = append(notes, fmt.Sprintf("%s that are not %s (M-D Fig. 4) left out", format.Count(n, "run"), s.Runs))
	}
	return kept, t.blocked(s.Runs), notes
}

// tally counts the runs of each cell: those asked for, those kept of them, and those in the other
// configuration of M-D Fig. 4.
type tally struct{ all, kept, other map[string]int }

func sum(counts map[string]int) (n int) {
	for _, v := range counts {
		n += v
	}
	return n
}

// blocked says why these runs allow no verdict; "" if they do.
func (t tally) blocked(wanted string) string {
	short, none := 0, 0
	for cell, n := range t.all {
		if t.kept[cell]*2 < n {
			short++
		}
	}
	for cell := range t.other {
		if t.all[cell] == 0 {
			none++
		}
	}
	switch {
	case none > 0:
		return fmt.Sprintf("no run of %s is %s (M-D Fig. 4)", format.Count(none, "configuration"), wanted)
	case len(t.all) == 0:
		return "no run is finished"
	case short > 0:
		return fmt.Sprintf("the terminal phase (train accuracy ≥ 99.9 %% on observed labels) was not reached in %d of %s", short, format.Count(len(t.all), "configuration"))
	}
	return ""
}

// ask evaluates a program for all seeds and for draws of them.
func ask(p *vm.Program, judged []*JudgedRun) Interval {
	by := bySeed(judged)
	return bootstrap(Seeds(judged), func(draw []uint64) float64 {
		v, err := evaluate(p, drawn(by, draw))
		if err != nil {
			return math.NaN()
		}
		return v
	})
}

// evaluate runs a program on judged runs: a number, or 1 and 0 for true and false.
func evaluate(p *vm.Program, judged []*JudgedRun) (float64, error) {
	out, err := expr.Run(p, newSample(judged).functions())
	if err != nil {
		var at *file.Error
		if errors.As(err, &at) { // its text without the place in the expression
			err = errors.New(at.Message)
		}
		return 0, err
	}
	switch v := out.(type) {
	case bool:
		if v {
			return 1, nil
		}
		return 0, nil
	case float64:
		return v, nil
	}
	panic("judge: an expression that is neither true, false nor a number")
}
