// Package question reads what a study's file asks of its runs (docs/internal/claims.md): claims and
// tables, which internal/judge judges and fills, and drawings, which internal/figure draws. They have the form that recipes use, and the names of a user's own settings and metrics.
package question

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/internal/unknownkeys"
)

// Bounds of what one study asks: a lab may be a stranger's.
const (
	mostClaims   = 60
	mostDrawings = 20
	mostPanels   = 12
	mostTables   = 20
	longestText  = 1 << 20 // of a study, as of its file: decoding a key of a million parts takes seconds
)

// Set are the questions of a study.
type Set struct {
	Claims   []judge.Statement
	Drawings []figure.Drawing
	Tables   []judge.Table
}

// Any reports whether there are any.
func (a Set) Any() bool { return len(a.Claims)+len(a.Drawings)+len(a.Tables) > 0 }

// file is a study's file as far as it concerns questions. The other tables are internal/study's.
type file struct {
	Study   any               `toml:"study"`
	Trainer any               `toml:"trainer"`
	Base    map[string]any    `toml:"base"`
	Grid    map[string]any    `toml:"grid"`
	Search  map[string]any    `toml:"search"`
	Claim   []judge.Statement `toml:"claim"`
	Drawing []figure.Drawing  `toml:"drawing"`
	Table   []judge.Table     `toml:"table"`
}

// Parse reads the questions of a study from the text of its file, and checks them.
func Parse(text string) (Set, error) {
	if len(text) > longestText {
		return Set{}, fmt.Errorf("the study's text has %d bytes; claims and drawings are read from at most %d", len(text), longestText)
	}
	var f file
	err := toml.NewDecoder(strings.NewReader(text)).DisallowUnknownFields().Decode(&f)
	if strict := (*toml.StrictMissingError)(nil); errors.As(err, &strict) {
		return Set{}, unknownkeys.In(strict, reflect.TypeFor[file]())
	}
	if err != nil {
		return Set{}, errors.New(unknownkeys.Syntax(err))
	}
	a := Set{f.Claim, f.Drawing, f.Table}
	return a, a.check(f.words(Given(text)))
}

// givenMark begins a line with a setting that the command line gave.
const givenMark = "# --set "

// Given are the lines before the text of a study with settings that the command line gave (study.ParseFile). A newer text of the same
// file may ask about them.
func Given(text string) (lines string) {
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, givenMark):
			lines += line
		case !strings.HasPrefix(line, "# --"):
			return lines
		}
	}
	return lines
}

// words are the names that questions of this study may use.
func (f file) words(given string) judge.Vocabulary {
	if f.Trainer == nil {
		return judge.Vocabulary{}
	}
	own := map[string]bool{}
	space, _ := f.Search["space"].(map[string]any)
	for _, table := range []map[string]any{f.Base, f.Grid} {
		for key := range train.Flat(table) {
			own[key] = true
		}
	}
	for key := range space {
		own[key] = true
	}
	final, _ := f.Search["final"].(map[string]any)
	for key := range train.Flat(final) {
		own[key] = true
	}
	for line := range strings.Lines(given) {
		key, _, _ := strings.Cut(strings.TrimPrefix(line, givenMark), "=")
		own[key] = true
	}
	return judge.Vocabulary{Script: true, Settings: slices.Sorted(maps.Keys(own))}
}

// check reports everything that is wrong with the questions, and names those without a source as the user's own.
func (a *Set) check(words judge.Vocabulary) error {
	if len(a.Tables) > mostTables {
		return fmt.Errorf("%d tables; at most %d are written", len(a.Tables), mostTables)
	}
	if len(a.Claims) > mostClaims || len(a.Drawings) > mostDrawings {
		return fmt.Errorf("%d claims and %d drawings; at most %d and %d are judged and drawn", len(a.Claims), len(a.Drawings), mostClaims, mostDrawings)
	}
	var errs []error
	seen := map[string]bool{}
	for i := range a.Claims {
		c := &a.Claims[i]
		if c.Source == judge.Unrecorded {
			c.Source = judge.Ours
		}
		switch {
		case c.ID == "" || c.Says == "":
			errs = append(errs, fmt.Errorf("claim %d: id and says must be given: a short name, and the claim as a sentence", i+1))
			continue
		case seen[c.ID]:
			errs = append(errs, fmt.Errorf("two claims have the id %q", c.ID))
		}
		seen[c.ID] = true
		if err := c.Provenance.Check(); err != nil {
			errs = append(errs, fmt.Errorf("claim %q: %w", c.ID, err))
		}
		errs = append(errs, c.Check(words))
	}
	for i, d := range a.Drawings {
		if d.Title == "" || len(d.Panels) == 0 || len(d.Panels) > mostPanels {
			errs = append(errs, fmt.Errorf("drawing %d: a title and one to %d panels must be given ([[drawing.panel]] with x and y)", i+1, mostPanels))
		}
		errs = append(errs, d.Check(words))
	}
	for _, t := range a.Tables {
		errs = append(errs, t.Check(words))
	}
	return errors.Join(errs...)
}
