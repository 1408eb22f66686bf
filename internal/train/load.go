package train

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"collapse.example/collapse/internal/inputfile"
	"collapse.example/collapse/internal/jail"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/spelling"
)

// LoadFile reads a TOML file and then the overrides; see Load.
func LoadFile(path string, overrides ...string) (Config, error) {
	text, err := readText(path)
	if err != nil {
		return Config{}, err
	}
	return Load(path, text, overrides...)
}

// MaxRuns is the largest number of runs that a grid and its seeds may have: a few lines of text can ask for more than any machine holds.
const MaxRuns = 100_000

// ConfigOf reads the configuration that a run left in its folder, as it was given, including what is not part of the run's identity, and
// then the overrides; see Load.
func ConfigOf(dir string, overrides ...string) (Config, error) {
	path := rundir.Dir(dir).Config()
	if err := jail.Below(dir, path); err != nil {
		return Config{}, fmt.Errorf("train: %w", err)
	}
	return LoadFile(path, overrides...)
}

// ForOneRun reads a user's settings for a single run on top of c: a file, unless its name is empty, then overrides. Unlike Load it
// also refuses settings that Load tolerates because existing runs have them: settings without effect that differ from their default,
// and any that an override names.
func ForOneRun(c Config, path string, overrides ...string) (Config, error) {
	l := newLoader(&c)
	l.strict = true
	var text []byte
	if path != "" {
		var err error
		if text, err = readText(path); err != nil {
			return Config{}, err
		}
	}
	return l.load(&c, path, text, overrides)
}

func readText(path string) ([]byte, error) {
	text, err := inputfile.Read(path, inputfile.Text)
	if err != nil {
		return nil, fmt.Errorf("train: configuration: %w", err)
	}
	return text, nil
}

// Load starts from Default, applies the TOML text and then the overrides ("optim.lr=0.05"), and checks everything. The error is
// a *ConfigError that lists all problems, with the lines of the file named file.
func Load(file string, text []byte, overrides ...string) (Config, error) {
	c := Default()
	return newLoader(&c).load(&c, file, text, overrides)
}

// LoadShared is Load for settings that several runs share: those without effect in this run are left at their default, where Load
// would refuse them. Idle finds those without effect in all runs.
func LoadShared(settings ...string) (Config, error) {
	c := Default()
	l := newLoader(&c)
	l.shared = true
	return l.load(&c, "", nil, settings)
}

func newLoader(c *Config) *loader {
	l := &loader{fields: map[string]field{}, given: map[string]bool{}, named: map[string]bool{}, wrong: map[string]bool{}}
	for _, f := range c.fields() {
		l.fields[f.key] = f
	}
	return l
}

// load reads into c, whose fields the loader has.
func (l *loader) load(into *Config, file string, text []byte, overrides []string) (Config, error) {
	var tree map[string]any
	if err := toml.Unmarshal(text, &tree); err != nil {
		return Config{}, &ConfigError{File: file, Problems: []Problem{syntaxProblem(err)}}
	}
	if n := keysOf(tree); n > mostKeys {
		return Config{}, &ConfigError{File: file, Problems: []Problem{{Message: fmt.Sprintf("has %d keys and sections; a configuration has at most %d; is this the right file?", n, mostKeys)}}}
	}
	l.walk("", tree)
	for _, o := range overrides {
		l.override(o)
	}
	kept := l.given
	if l.shared {
		kept = nil
	}
	into.forget(kept)
	_, problems := into.parse(l.wrong)
	for _, p := range problems {
		l.report(p.Key, p.Message)
	}
	if l.strict && len(l.problems) == 0 {
		l.refuseIdle(into)
	}
	if len(l.problems) > 0 {
		l.findLines(text)
		sort.SliceStable(l.problems, func(i, j int) bool { a, b := &l.problems[i], &l.problems[j]; return cmp.Compare(a.Line, b.Line) < 0 })
		return Config{}, &ConfigError{File: file, Problems: l.problems}
	}
	return *into, nil
}

// refuseIdle reports settings without effect that the user named. A file may contain every key, as --print-config writes it, so
// there only values other than the default count.
func (l *loader) refuseIdle(c *Config) {
	defaults := map[string]any{}
	for _, f := range writtenDefaults() {
		defaults[f.key] = f.value()
	}
	for _, u := range c.Unused() {
		f := l.fields[u.Key]
		if l.named[u.Key] || l.given[u.Key] && f.value() != defaults[u.Key] {
			l.report(u.Key, f.idle())
		}
	}
}

// idle says that a field has no effect.
func (f field) idle() string {
	return fmt.Sprintf("is %s, but has an effect only with %s; leave it out", f.text(), f.only.text)
}

// mostKeys bounds the keys and sections of a configuration, known or not: finding the line of each one scans the whole text.
const mostKeys = 1000

// keysOf counts the keys, tables and list elements that are tables in a value.
func keysOf(v any) (n int) {
	switch x := v.(type) {
	case map[string]any:
		for _, below := range x {
			n += 1 + keysOf(below)
		}
	case []any:
		for _, below := range x {
			if table, is := below.(map[string]any); is {
				n += 1 + keysOf(table)
			}
		}
	}
	return n
}

// forget sets keys without effect to their default unless the user named them: the configuration that a file starts from may have
// set them for another optimiser or network.
func (c *Config) forget(given map[string]bool) {
	defaults := writtenDefaults()
	for i, f := range c.fields() {
		if !given[f.key] && !f.applies(c) {
			f.copyFrom(defaults[i])
		}
	}
}

// syntaxProblem describes a text that is not TOML for the user.
func syntaxProblem(err error) Problem {
	var d *toml.DecodeError
	if errors.As(err, &d) {
		line, column := d.Position()
		return Problem{Line: line, Message: fmt.Sprintf("column %d: not TOML: %s", column, strings.TrimPrefix(d.Error(), "toml: "))}
	}
	return Problem{Message: "not TOML: " + strings.TrimPrefix(err.Error(), "toml: ")}
}

// loader collects what a text says and what is wrong with it.
type loader struct {
	fields   map[string]field
	given    map[string]bool // keys that the file or an override named
	named    map[string]bool // keys that an override named
	strict   bool            // refuse keys without effect
	shared   bool            // skip keys without effect
	wrong    map[string]bool // keys whose value was refused: no second complaint about them
	problems []Problem
}

// inFile stands for the line of a key that the file set, until findLines knows it. An override takes precedence over the file.
const inFile = -1

func (l *loader) report(key, message string) {
	p := Problem{Line: inFile, Key: key, Message: message}
	if l.named[key] {
		p.Line = 0
	}
	l.problems = append(l.problems, p)
}

// findLines fills in the lines of the problems. It is slow, so it is called only for a text with problems. The strict decoder gives
// the position of each key without a field, so decoding into sections without fields yields all keys; decoding into nothing yields
// the sections themselves.
func (l *loader) findLines(text []byte) {
	lines := map[string]int{} // of keys and sections
	var sections struct {
		Data, Net, Loss, Run struct{}
		Optim                struct{ Schedule, Adam, LBFGS struct{} }
	}
	for _, target := range []any{&sections, &struct{}{}} {
		d := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields()
		var missing *toml.StrictMissingError
		if !errors.As(d.Decode(target), &missing) {
			continue
		}
		for i := range missing.Errors {
			line, _ := missing.Errors[i].Position()
			lines[strings.Join(missing.Errors[i].Key(), ".")] = line
		}
	}
	for i, p := range l.problems {
		if p.Line == inFile {
			l.problems[i].Line = lines[p.Key]
		}
	}
}

// walk stores every value in a section, in a fixed order.
func (l *loader) walk(prefix string, tree map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(tree)) {
		key := prefix + k
		below, isTable := tree[k].(map[string]any)
		switch {
		case l.isSection(key) && isTable:
			l.walk(key+".", below)
		case l.isSection(key):
			l.report(key, fmt.Sprintf("is %s; wanted a section: [%s]", describe(tree[k]), key))
		default:
			l.set(key, tree[k])
		}
	}
}

func (l *loader) isSection(key string) bool {
	if _, isField := l.fields[key]; isField {
		return false
	}
	for k := range l.fields {
		if strings.HasPrefix(k, key+".") {
			return true
		}
	}
	return false
}

func (l *loader) set(key string, v any) {
	f, known := l.fields[key]
	if !known {
		l.report(key, "unknown key"+l.suggest(key))
		return
	}
	l.given[key] = true
	if complaint := f.set(v); complaint != "" {
		l.wrong[key] = true
		l.report(key, complaint)
	}
}

// override applies "section.key=value". The value is written as in TOML; quotes around a text may be left out.
func (l *loader) override(text string) {
	key, value, found := strings.Cut(text, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if !found || key == "" {
		l.report("", fmt.Sprintf("%q: wanted section.key=value", text))
		return
	}
	l.named[key] = true
	var one struct{ V any }
	err := toml.Unmarshal([]byte("V = "+value), &one)
	f := l.fields[key]
	if f.list != "" && strings.HasPrefix(value, "[") {
		if err != nil {
			l.report(key, fmt.Sprintf("is %s, not a TOML list; wanted %s such as [1, 2]", value, f.wanted()))
			return
		}
		l.set(key, one.V)
		return
	}
	if _, isText := f.ptr.(*string); err != nil || isText && !strings.HasPrefix(value, `"`) && !strings.HasPrefix(value, `'`) {
		one.V = value
	}
	if x, bad := strconv.ParseFloat(value, 64); err != nil && bad == nil {
		one.V = x // people write .2 and 1e38 as numbers, though TOML does not allow them
	}
	l.set(key, one.V)
}

// otherNames are names that other programs have for keys.
var otherNames = map[string]string{"learning_rate": "optim.lr", "batch_size": "run.batch", "wd": "optim.weight_decay", "optimizer": "optim.kind",
	"num_epochs": "run.epochs", "dataset": "data.name", "num_classes": "data.classes"}

// suggest returns the nearest known key: the same name in another section, or a spelling at most two edits away.
func (l *loader) suggest(key string) string {
	best, bestDistance := "", 3
	name := key[strings.LastIndex(key, ".")+1:]
	if k := otherNames[name]; k != "" {
		return "; did you mean " + k + "?"
	}
	for _, k := range slices.Sorted(maps.Keys(l.fields)) {
		d := spelling.Distance(key, k)
		if k[strings.LastIndex(k, ".")+1:] == name {
			d = min(d, 1)
		}
		if d < bestDistance {
			best, bestDistance = k, d
		}
	}
	if best == "" {
		return "; collapse train --print-config lists every key"
	}
	return "; did you mean " + best + "?"
}
