// Package script computes a run by somebody's own trainer: any program that reads its settings from a file and reports its epochs as
// lines of JSON. docs/trainers.md is the contract.
//
// Open spec.go for what identifies such a run, then job.go: Run claims it, starts the program (internal/process), applies what it reports
// and ends it. workspace.go has the files through which the two talk, events.go and event.go read what the program writes, which is not
// trusted, capture.go measures features, resume.go finds the checkpoint to go on from, inspect.go says what is wrong with a run.
package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"collapse/internal/store"
)

// Spec is a run of a script.
type Spec struct {
	Command []string          `json:"command"`           // program and arguments, started in the folder of the code
	Code    map[string]string `json:"code"`              // SHA-256 of the files that compute the run, by their path in that folder
	Data    []string          `json:"data,omitempty"`    // SHA-256 of files that it reads, in the order of their names
	Epochs  int               `json:"epochs"`            // the run ends after this one
	Horizon int               `json:"horizon"`           // the length for which schedules are made; larger than Epochs where a search stops early
	Seed    *uint64           `json:"seed,omitempty"`    // nil: the script's own
	Args    string            `json:"args,omitempty"`    // Flags: settings are on the command line, too; outside the identity
	Silence time.Duration     `json:"silence,omitempty"` // the run fails if nothing is reported for so long; 0: it may take any time; outside the identity
	// Settings are the user's own: numbers, texts, truth values and lists, as encoding/json decodes them with UseNumber.
	Settings map[string]any `json:"settings"`
}

// Flags is the value of Args with which settings are given as --key value.
const Flags = "flags"

// MostEpochs is the most epochs of a run.
const MostEpochs = 1_000_000

// Keys that are not the user's: of the run, and of the trainer.
const (
	EpochsKey = "run.epochs"
	SeedKey   = "run.seed"
)

var keyRule = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,99}$`)

// CheckKey says why a user's setting cannot be called so, or "".
func CheckKey(key string) string {
	switch {
	case key == EpochsKey, key == SeedKey:
		return ""
	case strings.HasPrefix(key, "run.") || strings.HasPrefix(key, "trainer.") || key == "run" || key == "trainer":
		return fmt.Sprintf("is the lab's own section, of which only %s and %s can be set; choose another name", EpochsKey, SeedKey)
	case !keyRule.MatchString(key):
		return "wanted a name of letters, digits, '_', '-' and '.', at most 100, such as lr or optim.lr"
	}
	return ""
}

// Canonical is the JSON that the identity is taken from.
func (s Spec) Canonical() ([]byte, error) {
	trainer := map[string]any{"command": s.Command, "code": s.Code}
	if len(s.Data) > 0 {
		trainer["data"] = s.Data
	}
	run := map[string]any{"epochs": s.Epochs, "horizon": s.Horizon}
	if s.Seed != nil {
		run["seed"] = *s.Seed
	}
	tree := map[string]any{"trainer": trainer, "run": run}
	maps.Copy(tree, s.Settings)
	return store.Canonical(tree)
}

// Identity is the run's hash and its canonical configuration.
func (s Spec) Identity() (hash string, canonical []byte, err error) {
	if canonical, err = s.Canonical(); err != nil {
		return "", nil, err
	}
	return store.Hash(store.Script, canonical), canonical, nil
}

// Encode is the spec as a job has it.
func (s Spec) Encode() (string, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("script: %w", err)
	}
	return string(text), nil
}

// Decode reads what Encode wrote.
func Decode(text string) (Spec, error) {
	var s Spec
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return Spec{}, fmt.Errorf("script: a job that cannot be read: %w", err)
	}
	return s, s.check()
}

// check finds what no study's file gives.
func (s Spec) check() error {
	switch {
	case len(s.Command) == 0 || s.Command[0] == "":
		return fmt.Errorf("script: the command is empty")
	case slices.ContainsFunc(s.Command, func(word string) bool { return strings.ContainsRune(word, 0) }):
		return fmt.Errorf("script: the command holds a zero byte")
	case s.Epochs < 1 || s.Epochs > MostEpochs:
		return fmt.Errorf("script: %d epochs; wanted 1 to %d", s.Epochs, MostEpochs)
	case s.Horizon < s.Epochs || s.Horizon > MostEpochs:
		return fmt.Errorf("script: a horizon of %d with %d epochs", s.Horizon, s.Epochs)
	case s.Silence < 0:
		return fmt.Errorf("script: a silence of %v", s.Silence)
	}
	for key := range s.Settings {
		if why := CheckKey(key); why != "" || key == EpochsKey || key == SeedKey {
			return fmt.Errorf("script: setting %q: %s", key, why)
		}
	}
	return nil
}

// line is the command with the settings as flags, if they are wanted: --key value, of a list a value after the other. Keys are sorted.
func (s Spec) line() []string {
	line := slices.Clone(s.Command)
	if s.Args != Flags {
		return line
	}
	for _, key := range slices.Sorted(maps.Keys(s.Settings)) {
		line = append(line, "--"+key)
		list, ok := s.Settings[key].([]any)
		if !ok {
			list = []any{s.Settings[key]}
		}
		for _, v := range list {
			line = append(line, fmt.Sprint(v))
		}
	}
	if s.Seed != nil {
		line = append(line, "--seed", fmt.Sprint(*s.Seed))
	}
	return line
}

// sameBeginning reports whether a run of canonical configuration other is the beginning of s: the same but for the last epoch.
func (s Spec) sameBeginning(other []byte, epochs int) bool {
	s.Epochs = epochs
	own, err := s.Canonical()
	return err == nil && bytes.Equal(own, other)
}

// settled is the part of a canonical configuration that says how long the run is.
type settled struct {
	Run struct{ Epochs, Horizon int }
}

// EpochsOf is how many epochs a run of a script has, by its canonical configuration.
func EpochsOf(canonical []byte) (int, error) {
	var c settled
	if err := json.Unmarshal(canonical, &c); err != nil {
		return 0, fmt.Errorf("script: configuration: %w", err)
	}
	if c.Run.Epochs < 1 || c.Run.Epochs > MostEpochs {
		return 0, fmt.Errorf("script: configuration: run.epochs is %d; wanted 1 to %d", c.Run.Epochs, MostEpochs)
	}
	return c.Run.Epochs, nil
}
