package judge

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"

	"collapse.example/collapse/internal/spelling"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/measure"
)

// Vocabulary are the names that questions may use. The zero one has those of this program's own runs.
type Vocabulary struct {
	Script   bool     // the runs are of somebody's own script, which measures what it likes
	Settings []string // of the script
}

// scriptSettings are those that every run of a script has.
var scriptSettings = []string{"run.epochs", "run.seed"}

// Setting reports whether a run can have a setting.
func (v Vocabulary) Setting(key string) bool {
	if v.Script {
		return slices.Contains(v.Settings, key) || slices.Contains(scriptSettings, key)
	}
	return KnownSetting(key)
}

// Unknown is the error for a setting that no run can have; where says who names it.
func (v Vocabulary) Unknown(where, key string) error {
	names := settingNames()
	if v.Script {
		names = slices.Concat(v.Settings, scriptSettings)
	}
	if own := "run." + key; slices.Contains(names, own) {
		return fmt.Errorf("%s %q, which is not a setting; did you mean %s?", where, key, own)
	}
	return fmt.Errorf("%s %q, which is not a setting%s", where, key, spelling.Suggestion(key, names))
}

// Name reports a name of a value or of a setting that no run can have. What a script measures is not known before it runs.
func (v Vocabulary) Name(name string) error {
	if v.Setting(name) {
		return nil
	}
	if split, _, _ := SplitName(name); v.Script && split != derivedSplit && name != "" {
		return nil
	}
	return CheckName(name)
}

// checkNames reports names of values and settings that no run can have.
func checkNames(source string, words Vocabulary) error {
	tree, err := parser.Parse(source)
	if err != nil {
		return err
	}
	v := &nameCheck{words: words}
	ast.Walk(&tree.Node, v)
	return v.err
}

// asksCollapse reports whether a statement names a measure of collapse.
func (s Statement) asksCollapse() bool {
	found := &collapseNames{}
	found.see(s.X)
	found.see(s.Y)
	for _, source := range []string{s.Left, s.Right} {
		if tree, err := parser.Parse(source); err == nil {
			ast.Walk(&tree.Node, found)
		}
	}
	return found.any
}

type collapseNames struct{ any bool }

// Visit implements ast.Visitor.
func (v *collapseNames) Visit(node *ast.Node) {
	if s, ok := (*node).(*ast.StringNode); ok {
		v.see(s.Value)
	}
}

func (v *collapseNames) see(name string) {
	_, _, key := SplitName(name)
	v.any = v.any || isCollapse(key)
}

type nameCheck struct {
	words Vocabulary
	err   error
}

// named is the number of leading arguments of a function that are names.
var named = map[string]int{"final": 1, "start": 1, "at": 1, "slope": 2}

// Visit implements ast.Visitor.
func (v *nameCheck) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.CallNode:
		f, ok := n.Callee.(*ast.IdentifierNode)
		if !ok {
			return
		}
		for i, arg := range n.Arguments {
			if s, ok := arg.(*ast.StringNode); ok && i < named[f.Value] {
				v.note(v.words.Name(s.Value))
			}
		}
	case *ast.PairNode:
		if s, ok := n.Key.(*ast.StringNode); ok && !v.words.Setting(s.Value) {
			v.note(v.words.Unknown("a selection names", s.Value))
		}
	}
}

func (v *nameCheck) note(err error) {
	if v.err == nil {
		v.err = err
	}
}

// CheckName reports a name of a value or of a setting that no run can have.
func CheckName(name string) error {
	if KnownSetting(name) {
		return nil
	}
	split, layer, key := SplitName(name)
	if split == derivedSplit {
		if derivedValues[key] == nil {
			return fmt.Errorf("no value is called %q; there are %s", name, derivedNames())
		}
		return nil
	}
	if layer == "" && knownBeside(split, key) {
		return nil
	}
	if split == train.SplitTheory {
		return fmt.Errorf("no value is called %q%s; of %s there are %s", name, spelling.Suggestion(key, besideNames(split)), split, strings.Join(besideNames(split), ", "))
	}
	if !slices.Contains(splits, split) {
		return fmt.Errorf("%q is neither a setting nor split.measure with split one of %s", name, strings.Join(splits, ", "))
	}
	if split == heldSplit && (layer != "" || !slices.Contains(heldValues, key)) {
		return fmt.Errorf("no run has %q: the validation split has only %s", name, strings.Join(heldValues, " and "))
	}
	if _, ok := measure.Lookup(key); !ok && key != "loss" {
		return fmt.Errorf("no measure is called %q%s (docs/measures.md lists them)", key, spelling.Suggestion(key, slices.Concat(measureKeys(), besideNames(split))))
	}
	return nil
}

func settingNames() []string { return slices.Sorted(maps.Keys(usualSettings())) }

func measureKeys() (keys []string) {
	for _, m := range measure.Definitions() {
		keys = append(keys, m.Key)
	}
	return keys
}

// KnownSetting reports whether a run can have a setting.
func KnownSetting(key string) bool {
	_, ok := usualSettings()[key]
	return ok
}

// builtins are what expressions may use of the expression language beside arithmetic. What visits lists is left out, since loops within loops
// would take any time, and a claim may come with a stranger's lab.
var builtins = []string{"abs", "ceil", "floor", "max", "mean", "median", "min", "round"}

// checkLanguage reports what an expression must not use.
func checkLanguage(source string) error {
	tree, err := parser.Parse(source)
	if err != nil {
		return err
	}
	v := &languageCheck{}
	ast.Walk(&tree.Node, v)
	return v.err
}

type languageCheck struct{ err error }

// Visit implements ast.Visitor.
func (v *languageCheck) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.BuiltinNode:
		if !slices.Contains(builtins, n.Name) {
			v.err = fmt.Errorf("claims have no function %s; they have %s, and those of values", n.Name, strings.Join(builtins, ", "))
		}
	case *ast.PredicateNode:
		v.err = errors.New("claims visit no lists")
	}
}
