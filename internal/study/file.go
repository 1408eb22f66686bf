package study

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"

	"github.com/pelletier/go-toml/v2"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/inputfile"
	"collapse.example/collapse/internal/script"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/internal/unknownkeys"
)

// File is a study as the user writes it:
//
//	[study]
//	name = "smoothing"              # default: the file's name
//	title = "Cross entropy against label smoothing"
//	seeds = 3                       # 1, 2, 3; or a list
//
//	[base]                          # what all runs share, as in a configuration of `collapse train`
//	data.name = "glyphs"
//	run.epochs = 40
//
//	[grid]                          # one run for each combination and seed
//	loss.kind = ["ce", "ls"]
//	data.noise = [0, 0.1, 0.2]
//
// With a table [search] (see Search), each combination of the grid gets a search of its own. With a table [trainer] (see
// Trainer), a script computes the runs and defines its own settings. Tables [[claim]], [[drawing]] and [[table]] are questions to the
// runs (internal/question); a study may get others at any time.
type File struct {
	Name, Title string
	Nameless    bool     // the name is the file's
	Source      string   // its text, with the changes made on the command line, for people
	Trainer     *Trainer // the script that computes the runs; nil: this program trains the networks
	Search      *Search  // choose settings instead of computing the whole grid; nil: no search
	base        []string // "section.key=value"
	set         []string // overrides, in the same form
	axes        []axis   // sorted by key
	seeds       []uint64
	subject     subject
	questions   questions
}

// questions are the tables of a file that no run depends on.
type questions struct {
	Claim   []map[string]any `toml:"claim,omitempty"`
	Drawing []map[string]any `toml:"drawing,omitempty"`
	Table   []map[string]any `toml:"table,omitempty"`
}

// FileError lists everything that is wrong with a study's file.
type FileError struct {
	File     string
	Problems []string
}

// mostProblems is how many problems are told: a grid may have 100,000 values, all of them wrong.
const mostProblems = 20

func (e *FileError) Error() string {
	var lines []string
	for _, p := range e.Problems[:min(len(e.Problems), mostProblems)] {
		lines = append(lines, fmt.Sprintf("%s: %s", e.File, p))
	}
	if len(e.Problems) > mostProblems {
		lines = append(lines, e.File+": and more")
	}
	return strings.Join(lines, "\n")
}

// ReadFile reads a study's file. Overrides ("section.key=value") replace settings of base. An override whose key is in
// the grid, or whose value is a list, replaces the values of the grid. If seeds is above 0, it replaces the seeds.
func ReadFile(path string, overrides []string, seeds int) (*File, error) {
	text, err := inputfile.Read(path, inputfile.Text)
	if err != nil {
		return nil, fmt.Errorf("study: %w", err)
	}
	return ParseFile(path, text, overrides, seeds)
}

// SeedGivenTwice returns an error if the file's settings have a seed beside the seeds that the study asks for. A script's search may: its trials
// have that seed, and the best ones again the others. Studies of earlier versions may have both.
func (f *File) SeedGivenTwice() error {
	value := ""
	for _, s := range f.base {
		if v, given := strings.CutPrefix(s, script.SeedKey+"="); given {
			value = v
		}
	}
	if value == "" || len(f.seeds) == 0 || f.Search != nil && f.Trainer != nil || len(f.seeds) == 1 && fmt.Sprint(f.seeds[0]) == value {
		return nil
	}
	return &FileError{File: f.Name, Problems: []string{fmt.Sprintf("%s is %s, and the study asks for other seeds: leave out %s, or the seeds", script.SeedKey, value, script.SeedKey)}}
}

var nameRule = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,99}$`) })

// CheckName returns an error for what cannot be the name of a study.
func CheckName(name string) error {
	if !nameRule().MatchString(name) {
		return fmt.Errorf("%q; wanted Latin letters, digits, '.', '_' and '-', at most 100", name)
	}
	return nil
}

// fileTable is File as TOML decodes it.
type fileTable struct {
	Study struct {
		Name, Title string
		Seeds       any
	}
	Base, Grid            map[string]any
	Search                *searchTable
	Trainer               *trainerTable
	Claim, Drawing, Table []map[string]any // internal/question reads them: no run depends on them
}

// ScriptNamed is the name of the study of a script whose file has that text; "" if it is none.
func ScriptNamed(path string, text []byte) string {
	var tree struct {
		Study   struct{ Name string }
		Trainer map[string]any
	}
	if toml.Unmarshal(text, &tree) != nil || tree.Trainer == nil {
		return ""
	}
	return cmp.Or(tree.Study.Name, nameOfFile(path))
}

// nameOfFile is the name of a study whose file gives none.
func nameOfFile(path string) string { return strings.TrimSuffix(filepath.Base(path), ".toml") }

// ParseFile is ReadFile for text that was read from the file at path.
func ParseFile(path string, text []byte, overrides []string, seeds int) (*File, error) {
	var tree fileTable
	bad := &FileError{File: path}
	d := toml.NewDecoder(strings.NewReader(string(text))).DisallowUnknownFields()
	if err := d.Decode(&tree); err != nil {
		bad.Problems = append(bad.Problems, tomlProblems(err)...)
		if !keysOnly(err) {
			return nil, bad
		}
	}
	f := &File{questions: questions{tree.Claim, tree.Drawing, tree.Table}, Name: cmp.Or(tree.Study.Name, nameOfFile(path)), Nameless: tree.Study.Name == "", Title: tree.Study.Title, Source: string(text),
		base: train.SettingsIn(tree.Base), subject: trainings{}}
	if err := CheckName(f.Name); err != nil {
		bad.add("[study] name: %v", err)
	}
	f.readTrainer(path, tree.Trainer, bad)
	f.readGrid(train.Flat(tree.Grid), bad)
	f.override(tree.Search.override(overrides, bad), bad)
	if seeds > 0 {
		tree.Study.Seeds = int64(seeds)
		f.Source = fmt.Sprintf("# --seeds %d\n", seeds) + f.Source
	}
	for _, set := range slices.Backward(overrides) { // questions may name a setting that only the command line has (question.Given)
		if !strings.ContainsFunc(set, unicode.IsControl) {
			f.Source = "# --set " + set + "\n" + f.Source
		}
	}
	f.readSeeds(tree.Study.Seeds, bad)
	f.readSearch(tree.Search, bad)
	if slices.ContainsFunc(f.axes, func(a axis) bool { return a.key == script.SeedKey }) && len(f.seeds) > 0 {
		bad.add("seeds and [grid] run.seed both list seeds; leave one out")
	}
	sort.Slice(f.axes, func(i, j int) bool { a, b := &f.axes[i], &f.axes[j]; return strings.Compare(a.key, b.key) < 0 })
	if f.checkSize(bad) {
		f.checkKeys(bad)
	}
	if len(bad.Problems) == 0 && f.Search != nil {
		f.Search.check(f, bad)
		f.Source = f.searchText()
	}
	if len(bad.Problems) > 0 {
		return nil, bad
	}
	return f, nil
}

func (e *FileError) add(format string, args ...any) {
	e.Problems = append(e.Problems, fmt.Sprintf(format, args...))
}

// keysOnly reports whether all that is wrong is keys of known tables that nothing reads: then the others can be checked too.
func keysOnly(err error) bool {
	var strict *toml.StrictMissingError
	return errors.As(err, &strict) && !slices.ContainsFunc(strict.Errors, func(e toml.DecodeError) bool { return len(e.Key()) < 2 })
}

// tomlProblems rewords a decoder's complaints for the user.
func tomlProblems(err error) []string {
	if strict := (*toml.StrictMissingError)(nil); errors.As(err, &strict) {
		all := strings.Split(unknownkeys.In(strict, reflect.TypeFor[fileTable]()).Error(), "\n")
		for i, line := range all {
			if !strings.Contains(line, "; ") {
				all[i] = line + "; a study has [study] name, title, seeds, then [base], [grid], [search], [[claim]] and [[drawing]], with a trainer of your own [trainer]"
			}
		}
		return all
	}
	return []string{unknownkeys.Syntax(err)}
}

func (f *File) readGrid(grid map[string]any, bad *FileError) {
	for _, k := range slices.Sorted(maps.Keys(grid)) {
		if v, ok := grid[k].([]any); ok {
			f.setAxis(k, v, bad)
		} else {
			bad.add("[grid] %s is %s; wanted a list of values, or put it into [base]", k, train.Literal(grid[k]))
		}
	}
}

// setAxis adds an axis, or replaces the one with the same key.
func (f *File) setAxis(key string, values []any, bad *FileError) {
	if len(values) == 0 {
		bad.add("[grid] %s has no values, so there would be no run", key)
	}
	if at := strings.LastIndexByte(key, '.'); at > 0 && slices.Contains([]string{"log_uniform", "uniform", "integer"}, key[at+1:]) && len(values) == 2 && !strings.HasPrefix(f.Source, searchMark) {
		bad.add("[grid] %s is a range to search: it belongs in [search.space]; a grid has lists of values", key[:at])
		return
	}
	if f.Trainer != nil && holdsTable(any(values)) {
		bad.add("[grid] %s holds a table; wanted a list for each of its keys, such as %s.depth = [1, 3]", key, key)
		return
	}
	if both := alike(values); both != "" && f.Trainer != nil && !strings.HasPrefix(f.Source, searchMark) {
		bad.add("[grid] %s has %s, which tables and claims cannot tell apart", key, both)
		return
	}
	f.axes = append(slices.DeleteFunc(f.axes, func(x axis) bool { return x.key == key }), axis{key, once(literals(values))})
}

// alike names two values of a script's setting that have the same text, and that nothing tells apart then; "" if there are none.
func alike(values []any) string {
	seen := map[string]string{}
	for _, v := range values {
		text, literal := format.Setting(v), train.Literal(v)
		if other := seen[text]; other != "" && other != literal {
			return other + " and " + literal
		}
		seen[text] = literal
	}
	return ""
}

// once are texts without repetitions.
func once(texts []string) (out []string) {
	seen := map[string]bool{} // there may be 100,000
	for _, text := range texts {
		if !seen[text] {
			seen[text] = true
			out = append(out, text)
		}
	}
	return out
}

// literals writes v as TOML: each element if it is a list, else the value itself.
func literals(v any) (texts []string) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, v := range list {
		texts = append(texts, train.Literal(v))
	}
	return texts
}

// holdsTable reports whether a value is or holds a table, which no setting of a script does.
func holdsTable(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return true
	case []any:
		return slices.ContainsFunc(v, holdsTable)
	}
	return false
}

func (f *File) readSeeds(v any, bad *FileError) {
	list := []any{}
	switch v := v.(type) {
	case nil:
		return
	case int64:
		if v < 1 || v > 100_000 {
			bad.add("seeds is %d; wanted at least 1", v)
			return
		}
		for s := range v {
			list = append(list, s+1)
		}
	case []any:
		list = v
	default:
		list = append(list, v)
	}
	for _, x := range list {
		s, ok := x.(int64)
		if !ok || s < 0 {
			bad.add("seeds holds %s; wanted a number of seeds, or a list of whole numbers", train.Literal(x))
			return
		}
		f.seeds = append(f.seeds, uint64(s))
	}
}

// checkKeys loads the base, and each value of the grid on its own, so that every misspelt key and each impossible value, up
// to one more than are told, is reported once, whatever the size of the grid.
func (f *File) checkKeys(bad *FileError) {
	complain := func(where string, settings []string, about string) {
		var c *train.ConfigError
		if !errors.As(f.subject.check(settings), &c) {
			return
		}
		for _, p := range c.Problems {
			if text := fmt.Sprintf("%s %s: %s", where, p.Key, p.Message); about == "" || p.Key == about {
				if !slices.Contains(bad.Problems, text) {
					bad.Problems = append(bad.Problems, text)
				}
			}
		}
	}
	inBase := len(bad.Problems)
	complain("[base]", f.base, "")
	for _, a := range f.axes { // what the grid gives, the base may lack
		mine := bad.Problems[inBase:]
		bad.Problems = append(bad.Problems[:inBase:inBase], slices.DeleteFunc(slices.Clone(mine), func(text string) bool { return strings.HasPrefix(text, "[base] "+a.key+": ") })...)
	}
	for _, a := range f.axes {
		for _, v := range a.values {
			if len(bad.Problems) > mostProblems {
				return
			}
			complain("[grid]", append(slices.Clone(f.base), a.key+"="+v), a.key)
		}
	}
}
