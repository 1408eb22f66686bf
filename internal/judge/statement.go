package judge

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"collapse.example/collapse/internal/spelling"
	"collapse.example/collapse/internal/store"
)

// Statement is a claim, as a recipe states it, put as a question to the runs of a study. Each seed gives one value, its
// effect: how left and right differ in the runs of that seed. The verdict follows from the mean effect over seeds and its 95 %
// interval (internal/judge/inference).
//
// Its kinds are
//
//	less    left is below right
//	more    left is above right
//	equal   left and right differ by no more than the band
//	differ  left and right differ by more than the band
//	linear  y is a line in x: its bend, as a fraction of its rise, is within the band
//
// and its units
//
//	difference  left − right, of each seed (the default)
//	log-ratio   log(left/right), of each seed; shown as a ratio, of geometric means
//	quotient    the ratio of means over seeds (Fieller); for slopes, which may be near zero in one seed
//
// Left and right, and the numbers of recipes, are expressions. Values in them are named split.measure or split@layer.measure
// ("train.nc1_pinv", "train@layer2.nc1_pinv"), with split train, clean, test or validation, or are one of derivedValues
// ("kept.degenerate"). A selection is a map of settings ({"loss.kind": "ls"}) and may be left out. The functions are
//
//	final(name, selection)          mean over runs of the value at the last epoch, or the newest of the last eighth of the run
//	start(name, selection)          the same at epoch 0, before the first step (run.measure_start)
//	at(name, fraction, selection)   the same at the measured epoch nearest to that fraction of the run
//	slope(x, y, selection)          of the line through the runs
//	margin_share(limit, selection)  mean over runs of the share of saved training samples whose
//	                                cosine margin lies below the limit
//
// where x and y are names of values or keys of settings, and abs, min, max, mean, median, ceil, floor, round.
type Statement struct {
	ID   string `toml:"id"`
	Says string `toml:"says"` // in words
	Provenance
	Kind    string      `toml:"kind"`
	Left    string      `toml:"left"`
	Right   string      `toml:"right"`
	X       string      `toml:"x"` // for a line: names
	Y       string      `toml:"y"`
	Unit    string      `toml:"unit"`
	Band    *[2]float64 `toml:"band"`    // in the unit; around 1 for ratios, else around 0
	Because string      `toml:"because"` // the reason for this band
	Cells   []string    `toml:"cells"`   // settings: asked for every combination of their values, and for all together
	Mean    bool        `toml:"mean"`    // the sentence is about the mean over cells, not about each
	Percent bool        `toml:"percent"` // both sides are shares, shown as percentages

	Early  bool      `toml:"early"`  // also judged on runs below 99.9 % train accuracy
	Runs   string    `toml:"runs"`   // judged only on "regular" or "degenerate" runs (M-D Fig. 4)
	Except selection `toml:"except"` // no cells: what the cells are compared with, which would be compared with itself
	Where  selection `toml:"where"`  // judged only on runs with these settings; a list allows each of its values
}

// The kinds and units of statements.
const (
	Less, More, Equal, Differ, Linear = "less", "more", "equal", "differ", "linear"

	difference, quotient = "difference", "quotient"

	LogRatio = "log-ratio" // each seed gives log(left/right)
)

var (
	statementKinds = func() (names []string) {
		for _, k := range claimKinds {
			names = append(names, k.name)
		}
		return names
	}()
	statementUnits = []string{difference, LogRatio, quotient}
)

// unit is the statement's unit, or the default.
func (s Statement) unit() string {
	switch {
	case s.Kind == Linear:
		return quotient
	case s.Unit == "":
		return difference
	}
	return s.Unit
}

// Check reports what is wrong with a statement before any run exists.
func (s Statement) Check(words Vocabulary) error {
	err := errors.Join(s.checkKind(), s.checkBand(), s.checkSettings(words))
	if err == nil {
		_, err = s.compile()
	}
	if err == nil && s.Kind != Linear {
		err = errors.Join(checkSide(s.Left, words), checkSide(s.Right, words))
	}
	if err != nil {
		return fmt.Errorf("judge: claim %q: %w", s.ID, err)
	}
	return nil
}

func (s Statement) checkKind() error {
	if !slices.Contains(statementKinds, s.Kind) {
		return fmt.Errorf("kind is %q; wanted one of %s%s", s.Kind, strings.Join(statementKinds, ", "), spelling.Suggestion(s.Kind, statementKinds))
	}
	if !slices.Contains(statementUnits, s.unit()) {
		return fmt.Errorf("unit is %q; wanted one of %s%s", s.Unit, strings.Join(statementUnits, ", "), spelling.Suggestion(s.Unit, statementUnits))
	}
	if s.unit() == quotient && len(s.Cells) > 0 {
		return errors.New("a quotient has only one cell: write a claim for each")
	}
	kind, _ := kindOf(s.Kind)
	if line := kind.line; line != (s.X != "" && s.Y != "") || line == (s.Left != "" && s.Right != "") || line && s.Unit != "" {
		return errors.New("a claim of kind linear has x and y, and no unit; other kinds have left and right")
	}
	return nil
}

// checkBand wants a band and its reason for claims of equality, difference or a line, and none for claims of order.
func (s Statement) checkBand() error {
	kind, _ := kindOf(s.Kind)
	switch {
	case !kind.banded && (s.Band != nil || s.Because != ""):
		return fmt.Errorf("a claim of kind %s takes no band", s.Kind)
	case !kind.banded:
		return nil
	case s.Band == nil || s.Because == "":
		return fmt.Errorf("a claim of kind %s needs a band, and because, which gives the reason for it", s.Kind)
	}
	middle := 0.0
	if !kind.line && s.unit() != difference {
		middle = 1
	}
	if lo, hi := s.Band[0], s.Band[1]; !(lo < middle && middle < hi) || middle == 1 && lo <= 0 {
		return fmt.Errorf("band is [%g, %g]; wanted two numbers with %g between them%s", lo, hi, middle, map[bool]string{true: ", above zero", false: ""}[middle == 1])
	}
	return nil
}

func (s Statement) checkSettings(words Vocabulary) error {
	if len(s.Except) > 0 && len(s.Cells) == 0 {
		return errors.New("except belongs to claims with cells")
	}
	for key := range s.Where {
		if !words.Setting(key) {
			return words.Unknown("where names", key)
		}
	}
	if kind, _ := kindOf(s.Kind); s.Mean && (len(s.Cells) == 0 || kind.apart) {
		return errors.New("mean belongs to claims of kind less, more, equal or linear with cells")
	}
	for key := range s.Except {
		if !words.Setting(key) {
			return words.Unknown("except names", key)
		}
	}
	for _, key := range s.Cells {
		if !words.Setting(key) {
			return words.Unknown("cells names", key)
		}
	}
	if s.Kind == Linear {
		if err := errors.Join(words.Name(s.X), words.Name(s.Y)); err != nil {
			return err
		}
	}
	return CheckConfiguration(s.Runs)
}

// compiled is a statement ready to be judged: programs for the sides, which run on one seed.
type compiled struct {
	Statement
	left, right *vm.Program // nil: a line
}

func (s Statement) compile() (*compiled, error) {
	c := &compiled{Statement: s}
	if s.Kind == Linear {
		return c, nil
	}
	var err error
	if c.left, err = program(s.Left); err != nil {
		return nil, err
	}
	c.right, err = program(s.Right)
	return c, err
}

// checkSide checks the measures and settings that a side names.
func checkSide(source string, words Vocabulary) error {
	if err := checkNames(source, words); err != nil {
		return fmt.Errorf("%q: %w", source, err)
	}
	return nil
}

// longestExpression bounds what compiling one takes.
const longestExpression = 4000

// program compiles an expression.
func program(source string) (*vm.Program, error) {
	if len(source) > longestExpression {
		return nil, fmt.Errorf("an expression of %d characters; at most %d are read", len(source), longestExpression)
	}
	if err := checkLanguage(source); err != nil {
		return nil, fmt.Errorf("%q: %w", source, err)
	}
	p, err := expr.Compile(source, expr.Env(new(sample).functions()), expr.AsFloat64())
	if err != nil {
		return nil, fmt.Errorf("%q: %w", source, err)
	}
	return p, nil
}

// compile compiles an expression and checks the measures and settings it names.
func compile(source string) (*vm.Program, error) {
	p, err := program(source)
	if err == nil {
		err = checkSide(source, Vocabulary{})
	}
	return p, err
}

// Judge judges a statement on runs; unfinished ones are ignored.
func (s Statement) Judge(runs []Run) (Claim, error) { return s.judge(Finished(runs)) }

func (s Statement) judge(done []*JudgedRun) (Claim, error) {
	if scripts := !slices.ContainsFunc(done, func(r *JudgedRun) bool { return r.Kind != store.Script }); scripts && !s.asksCollapse() {
		s.Early = true // how far a network fits its labels matters to collapse
	}
	c, err := s.compile()
	if err != nil {
		return Claim{}, fmt.Errorf("judge: claim %q: %w", s.ID, err)
	}
	e := s.eligible(done)
	claim := Claim{ID: s.ID, Statement: s.Says, Provenance: s.Provenance, Verdict: CannotTell, Reason: cmp.Or(e.blocked, "except leaves out every run that could make a cell"), Statistics: e.notes}
	if len(s.inCells(e.kept)) == 0 {
		return claim, nil
	}
	effect := c.effect(e)
	if n := len(effect.Cells); n > 1 && effect.alike() {
		claim.Statistics = append(claim.Statistics, fmt.Sprintf("all %d cells have the same numbers: both sides select what cells = [\"%s\"] names, or it changes nothing", n, strings.Join(s.Cells, `", "`)))
	}
	return effect.claim(claim), nil
}
