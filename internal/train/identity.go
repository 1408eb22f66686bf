package train

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"collapse.example/collapse/data"
	"collapse.example/collapse/internal/store"
)

// PrintConfig writes a complete configuration as TOML, each key with its meaning. Load reads it back to the same Config.
func PrintConfig(c Config) string {
	var b strings.Builder
	section := ""
	for _, f := range c.fields() {
		dot := strings.LastIndex(f.key, ".")
		if f.key[:dot] != section {
			if section != "" {
				b.WriteByte('\n')
			}
			section = f.key[:dot]
			fmt.Fprintf(&b, "[%s]\n", section)
		}
		fmt.Fprintf(&b, "%-36s # %s\n", f.key[dot+1:]+" = "+f.text(), f.comment())
	}
	return b.String()
}

func (f field) comment() string {
	text := f.doc
	if f.choices != nil {
		text = strings.Join(f.choices, " | ") + ": " + text
	}
	if f.only.text != "" {
		text += "; with " + f.only.text
	}
	return text
}

// tomlString quotes s as a TOML basic string. JSON's escapes are valid in TOML, except that TOML also requires DEL to be escaped.
func tomlString(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic("train: a string that JSON cannot hold")
	}
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\x7f", `\u007f`)
}

// Canonical returns the JSON that determines a run's identity: the resolved fields that differ from the resolved default, plus the
// data sets by the digests of their decoded content. Folders, what is kept, and how samples were selected are left out, so moving
// the files changes nothing; a field added later changes no old hash. Keys are sorted.
func Canonical(c Config, trainDigest, testDigest string) []byte {
	return canonicalJSON(c, map[string]any{"data.train_digest": trainDigest, "data.test_digest": testDigest})
}

func canonicalJSON(c Config, extra map[string]any) []byte {
	c = c.Resolved()
	defaults := resolvedDefaults()
	tree := map[string]any{}
	for i, f := range c.fields() {
		if !f.outside && f.value() != defaults[i].value() {
			plant(tree, f.key, f.value())
		}
	}
	if c.Data.Subset == seedSubset { // digests differ by seed: the size distinguishes two subsets of one seed from two seeds
		plant(tree, "data.samples_per_class", c.Data.SamplesPerClass)
		plant(tree, "data.samples", c.Data.Samples)
	}
	for key, v := range extra {
		plant(tree, key, v)
	}
	text, err := json.Marshal(tree) // sorts the keys of maps
	if err != nil {
		panic("train: a configuration that JSON cannot hold")
	}
	return text
}

// Silent lists the keys that a run of c does not record, whatever their value: those outside its identity, because the digests of
// the data sets determine them already or because they change no result, and those without effect in c.
func Silent(c Config) []string {
	var keys []string
	for _, f := range c.fields() {
		if f.outside || !f.applies(&c) {
			keys = append(keys, f.key)
		}
	}
	return keys
}

// DefaultSettings returns the settings of a training run, by key, that its identity omits because they are at their default.
func DefaultSettings() map[string]any {
	settings := map[string]any{}
	for _, f := range resolvedDefaults() {
		settings[f.key] = f.value()
	}
	return settings
}

// Flat returns the values of nested tables under dotted keys.
func Flat(tree map[string]any) map[string]any {
	flat := map[string]any{}
	for k, v := range tree {
		if below, ok := v.(map[string]any); ok {
			for rest, v := range Flat(below) {
				flat[k+"."+rest] = v
			}
			continue
		}
		flat[k] = v
	}
	return flat
}

// SettingsIn writes the values of nested tables as settings, "section.key=value", sorted.
func SettingsIn(tree map[string]any) (settings []string) {
	flat := Flat(tree)
	for _, key := range slices.Sorted(maps.Keys(flat)) {
		settings = append(settings, key+"="+Literal(flat[key]))
	}
	return settings
}

// Literal writes a value as TOML, which equals JSON for everything that a configuration holds.
func Literal(v any) string {
	if x, ok := v.(float64); ok && math.Abs(x) >= 1<<53 && !math.IsInf(x, 0) { // as digits alone it would be a whole number, too large for TOML
		return strconv.FormatFloat(x, 'e', -1, 64)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v) // a date or an infinity: no key takes one
	}
	return string(b)
}

// plant sets a dotted key of nested maps to v.
func plant(tree map[string]any, key string, v any) {
	for {
		section, rest, nested := strings.Cut(key, ".")
		if !nested {
			tree[key] = v
			return
		}
		below, ok := tree[section].(map[string]any)
		if !ok {
			below = map[string]any{}
			tree[section] = below
		}
		tree, key = below, rest
	}
}

// FromCanonical returns the resolved configuration for a stored run's JSON. Fields outside the identity have their defaults; how
// samples were selected cannot be recovered, since only the data sets' digests determine it.
func FromCanonical(text []byte) (Config, error) {
	c := resolvedDefault()
	tree := map[string]any{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		return Config{}, fmt.Errorf("train: canonical configuration: %w", err)
	}
	for _, f := range c.fields() {
		v, ok := pick(tree, f.key)
		if !ok {
			continue
		}
		if complaint := f.set(plainNumber(v)); complaint != "" {
			return Config{}, fmt.Errorf("train: canonical configuration: %s %s", f.key, complaint)
		}
	}
	return c, c.Check()
}

// pick reads a dotted key of nested maps.
func pick(tree map[string]any, key string) (any, bool) {
	for {
		section, rest, nested := strings.Cut(key, ".")
		if !nested {
			v, ok := tree[key]
			return v, ok
		}
		below, ok := tree[section].(map[string]any)
		if !ok {
			return nil, false
		}
		tree, key = below, rest
	}
}

// plainNumber turns a JSON number into the type that a TOML decoder returns.
func plainNumber(v any) any {
	n, _ := v.(json.Number)
	if i, err := n.Int64(); err == nil {
		return i
	}
	if x, err := n.Float64(); err == nil {
		return x
	}
	return v
}

// Identify returns a run's identity in the lab and the canonical configuration that determines it, without computing anything. It
// opens the data sets for their digests; open nil: data.Open.
func Identify(cfg Config, open func(data.Source, data.Split) (*data.Set, error)) (hash string, canonical []byte, err error) {
	plan, err := cfg.Plan()
	if err != nil {
		return "", nil, err
	}
	in, err := openInputs(plan, Options{Open: open})
	if err != nil {
		return "", nil, err
	}
	return in.identity(cfg)
}

// Likeness is a run's identity as far as it is known without opening the data sets: runs with equal likeness are the same run.
func Likeness(cfg Config) string {
	c := cfg.Resolved()
	named := func(split data.Split) string { return fmt.Sprintf("%+v", c.source(split)) }
	return string(canonicalJSON(cfg, map[string]any{"data.train_digest": named(data.Train), "data.validation": c.Data.Validation, "data.test_digest": named(data.Test)}))
}

// identity is the identity of a run on these data sets.
func (in inputs) identity(cfg Config) (hash string, canonical []byte, err error) {
	if canonical, err = store.Canonical(in.canonical(cfg)); err != nil {
		return "", nil, err
	}
	return store.Hash(store.Train, canonical), canonical, nil
}

// Changes writes, as TOML, the keys of a configuration that differ from the default, those outside its identity included. Load
// reads them back to the same Config.
func Changes(c Config) string {
	defaults := defaultTexts()
	var lines []string
	for i, f := range c.fields() {
		if text := f.text(); text != defaults[i] {
			lines = append(lines, fmt.Sprintf("%s = %s\n", f.key, text))
		}
	}
	return strings.Join(lines, "")
}
