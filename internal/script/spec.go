// Package script computes a run with a user's own trainer: any program that reads its settings from a file and reports its epochs as
// lines of JSON. docs/trainers.md is the contract.
//
// See spec.go for what identifies such a run, then job.go: Run leases it, starts the program (internal/process), applies what it
// reports and ends it. workspace.go has the files through which the two communicate; events.go and event.go read what the program
// writes, which is not trusted; capture.go measures features; resume.go finds the checkpoint to continue from; inspect.go says what
// is wrong with a run.
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

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/store"
)

// Spec is a run of a script.
type Spec struct {
	Command []string          `json:"command"`           // program and arguments, started in the folder of the code
	Code    map[string]string `json:"code"`              // SHA-256 of the files that compute the run, by path in that folder
	SameAs  map[string]string `json:"same_as,omitempty"` // stands for the digests of these files in the identity; "": no such file
	Data    []string          `json:"data,omitempty"`    // SHA-256 of the files that it reads, ordered by name
	Inputs  []string          `json:"inputs,omitempty"`  // patterns that name these files, in the folder of the code or absolute; not part of the identity
	Epochs  int               `json:"epochs"`            // the run ends after this one
	Horizon int               `json:"horizon"`           // the length that schedules are made for; larger than Epochs if a search stops the run early, smaller if the run goes on from a shorter one
	Seed    *uint64           `json:"seed,omitempty"`    // nil: the script chooses its own
	Args    string            `json:"args,omitempty"`    // Flags or FlagsNo: settings are also on the command line; not part of the identity
	Silence time.Duration     `json:"silence,omitempty"` // the run fails if nothing is reported for this long; 0: no limit; not part of the identity
	// SaveFeatures says whose captures stay in the run's folder, to be measured later: "" for those of the newest epoch that has some,
	// SaveAll or SaveNone; not part of the identity.
	SaveFeatures string `json:"save_features,omitempty"`
	// Settings are the user's own: numbers, texts, truth values and lists, as encoding/json decodes them with UseNumber.
	Settings map[string]any `json:"settings"`
}

// Values of Args that also pass settings as --key value. Of a truth value, true is --key alone; false is nothing, as argparse's store_true
// wants it, or --no-key, as its BooleanOptionalAction does.
const (
	Flags   = "flags"
	FlagsNo = "flags-no"
)

// Values of SaveFeatures.
const (
	SaveAll  = "all"
	SaveNone = "none"
)

// MostEpochs is the largest number of epochs of a run.
const MostEpochs = 1_000_000

// Keys that are not the user's own: those of the run, and of the trainer.
const (
	EpochsKey = "run.epochs"
	SeedKey   = "run.seed"
)

var keyRule = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,99}$`)

// CheckKey says why a user's setting cannot have this name, or "".
func CheckKey(key string) string {
	switch {
	case key == EpochsKey, key == SeedKey:
		return ""
	case strings.HasPrefix(key, "run.") || strings.HasPrefix(key, "trainer.") || key == "run" || key == "trainer":
		return fmt.Sprintf("is the lab's own section, of which only %s and %s can be set; choose another name", EpochsKey, SeedKey)
	case !keyRule.MatchString(key):
		return "wanted a name of Latin letters, digits, '_', '-' and '.', at most 100, such as lr or optim.lr"
	}
	return ""
}

// CodeInIdentity are the digests that identify the run: those of Code, but for what SameAs says.
func (s Spec) CodeInIdentity() map[string]string {
	if len(s.SameAs) == 0 {
		return s.Code
	}
	code := map[string]string{}
	maps.Copy(code, s.Code)
	for name, sum := range s.SameAs {
		if code[name] = sum; sum == "" {
			delete(code, name)
		}
	}
	return code
}

// Canonical returns the JSON that determines the identity.
func (s Spec) Canonical() ([]byte, error) {
	trainer := map[string]any{"command": s.Command, "code": s.CodeInIdentity()}
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

// Identity returns the run's hash and its canonical configuration.
func (s Spec) Identity() (hash string, canonical []byte, err error) {
	if canonical, err = s.Canonical(); err != nil {
		return "", nil, err
	}
	return store.Hash(store.Script, canonical), canonical, nil
}

// digestRule is a digest of a file as SameAs has it, and shortRule the start of one.
var (
	digestRule = regexp.MustCompile(`^([0-9a-f]{64})?$`)
	shortRule  = regexp.MustCompile(`^([0-9a-f]{12,64})?$`)
)

// ShortDigest is the start of a digest, which tells a file's versions apart.
func ShortDigest(sum string) string { return sum[:min(len(sum), 12)] }

// Same returns what SameAs says of files as they are now: pairs hold the start of the digest of a file of which they speak, and the digest that
// counts instead, "" for no such file. A pair that speaks of another version of its file says nothing.
func Same(code map[string]string, pairs map[string][]string) (map[string]string, error) {
	same := map[string]string{}
	for name, pair := range pairs {
		if len(pair) != 2 || !shortRule.MatchString(pair[0]) || !digestRule.MatchString(pair[1]) {
			return nil, fmt.Errorf("same_as: %q is %q; wanted two SHA-256: the first 12 characters of that of the file now, and that in the runs that are the same, \"\" for no such file", name, pair)
		}
		if now := code[name]; strings.HasPrefix(now, pair[0]) && (pair[0] != "" || now == "") {
			same[name] = pair[1]
		}
	}
	return same, nil
}

// checkSameAs says which entry of SameAs is none.
func (s Spec) checkSameAs() error {
	for name, sum := range s.SameAs {
		if !digestRule.MatchString(sum) {
			return fmt.Errorf("same_as: %q is %q, no SHA-256", name, sum)
		}
	}
	return nil
}

// Encode returns the spec in the form that a job carries.
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

// mostPatterns bounds the names of data in a job.
const mostPatterns = 1000

// check finds values that no study's file can give.
func (s Spec) check() error {
	switch {
	case len(s.Command) == 0 || s.Command[0] == "":
		return fmt.Errorf("script: the command is empty")
	case slices.ContainsFunc(s.Command, func(word string) bool { return strings.ContainsRune(word, 0) }):
		return fmt.Errorf("script: the command holds a zero byte")
	case s.Epochs < 1 || s.Epochs > MostEpochs:
		return fmt.Errorf("script: %d epochs; wanted 1 to %d", s.Epochs, MostEpochs)
	case s.Horizon < 1 || s.Horizon > MostEpochs:
		return fmt.Errorf("script: a horizon of %d; wanted 1 to %d", s.Horizon, MostEpochs)
	case len(s.Inputs) > mostPatterns:
		return fmt.Errorf("script: %d patterns of data; wanted at most %d", len(s.Inputs), mostPatterns)
	case s.Silence < 0:
		return fmt.Errorf("script: a silence of %v", s.Silence)
	}
	if err := s.checkSameAs(); err != nil {
		return fmt.Errorf("script: %w", err)
	}
	for key := range s.Settings {
		if why := CheckKey(key); why != "" || key == EpochsKey || key == SeedKey {
			return fmt.Errorf("script: setting %q: %s", key, why)
		}
	}
	return nil
}

// line returns the command, followed by the settings as flags if requested: --key value, with one value after another for a list, and
// --key=value for a text that begins with '-'. Keys are sorted.
func (s Spec) line() []string {
	line := slices.Clone(s.Command)
	if s.Args == "" {
		return line
	}
	for _, key := range slices.Sorted(maps.Keys(s.Settings)) {
		line = append(line, s.flag(key, s.Settings[key])...)
	}
	if s.Seed != nil {
		line = append(line, "--seed", fmt.Sprint(*s.Seed))
	}
	return line
}

// flag is a setting as words of a command line.
func (s Spec) flag(key string, value any) []string {
	switch v := value.(type) {
	case bool:
		switch {
		case v:
			return []string{"--" + key}
		case s.Args == FlagsNo:
			return []string{"--no-" + key}
		}
		return nil
	case []any:
		words := []string{"--" + key}
		for _, one := range v {
			words = append(words, format.Setting(one))
		}
		return words
	case string:
		if strings.HasPrefix(v, "-") {
			return []string{"--" + key + "=" + v}
		}
	}
	return []string{"--" + key, fmt.Sprint(value)}
}

// sameBeginning reports whether a run with the canonical configuration other is the beginning of s: the same except for the last epoch.
func (s Spec) sameBeginning(other []byte, epochs int) bool {
	s.Epochs = epochs
	own, err := s.Canonical()
	return err == nil && bytes.Equal(own, other)
}

// settled is the part of a canonical configuration that says how long the run is.
type settled struct {
	Run struct{ Epochs, Horizon int }
}

// EpochsOf returns the number of epochs of a run of a script, from its canonical configuration.
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
