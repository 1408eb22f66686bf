package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"collapse.example/collapse/internal/train"
)

// tree is the command line as the parser knows it.
func tree(t *testing.T) *kong.Kong {
	t.Helper()
	return newParser(&program{}, &bytes.Buffer{}, &bytes.Buffer{})
}

// twoMeanings lists the flags that mean several things, and why that is meant.
var twoMeanings = map[string]string{
	"all": "every recipe for reproduce, every measure for measure: what else would be all",
	"csv": "measure writes a file beside its table; export chooses the format of its only output",
	"n":   "a solver's problem has n samples a class, as the papers have it; bench measure makes N rows",
}

// meaning is what a flag is, without what a single command does with it: its help up to the first colon, semicolon, parenthesis or stop.
func meaning(help string) string {
	if at := strings.IndexAny(help, ":;(.,"); at >= 0 {
		help = help[:at]
	}
	return strings.TrimSpace(help)
}

// kindOf is the type of a flag's value; a flag of train that sets a key of the configuration is a text on its way there.
func kindOf(f *kong.Flag) string {
	if key := f.Tag.Get(keyTag); key != "" {
		if d := train.DefaultOf(key); strings.Trim(d, "0123456789") == "" && d != "" {
			return "integer"
		}
	}
	typ := f.Target.Type()
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch typ.Kind() {
	case reflect.Int, reflect.Uint64:
		return "integer"
	}
	return typ.String()
}

func TestAFlagMeansOneThing(t *testing.T) {
	type use struct{ command, kind, meaning string }
	uses := map[string][]use{}
	for _, leaf := range tree(t).Model.Leaves(false) {
		for _, f := range leaf.Flags {
			if !f.Hidden {
				uses[f.Name] = append(uses[f.Name], use{leaf.Path(), kindOf(f), meaning(f.Help)})
			}
		}
	}
	for name, list := range uses {
		for _, u := range list[1:] {
			if first := list[0]; (u.kind != first.kind || u.meaning != first.meaning) && twoMeanings[name] == "" {
				t.Errorf("--%s is %q (%s) in %s and %q (%s) in %s", name, first.meaning, first.kind, first.command, u.meaning, u.kind, u.command)
			}
		}
	}
}

func TestHelpSaysDefaults(t *testing.T) {
	for _, leaf := range tree(t).Model.Leaves(false) {
		for _, f := range leaf.Flags {
			text := describe(f.Value)
			switch {
			case f.Hidden || f.IsBool() || f.Required:
			case defaultOf(f.Value) != "" && !strings.Contains(text, "default"):
				t.Errorf("%s --%s hides its default %s: %q", leaf.Path(), f.Name, defaultOf(f.Value), text)
			case kindOf(f) != "string" && !strings.HasPrefix(kindOf(f), "[]") && !strings.Contains(text, "default"):
				t.Errorf("%s --%s is a number and does not say which it is by itself: %q", leaf.Path(), f.Name, text)
			}
			for _, word := range choices(f.Value) {
				if !strings.Contains(text, word) {
					t.Errorf("%s --%s does not name %s: %q", leaf.Path(), f.Name, word, text)
				}
			}
			if f.Help == "" || !strings.HasSuffix(text, ".") {
				t.Errorf("%s --%s: help is not a sentence: %q", leaf.Path(), f.Name, text)
			}
		}
	}
}

// TestExamplesAreCalls makes a file of every name that an example has, and lets the parser and the judge of flags look at the call.
func TestExamplesAreCalls(t *testing.T) {
	t.Chdir(t.TempDir())
	known := map[string]bool{"": true}
	for _, leaf := range tree(t).Model.Leaves(true) {
		known[leaf.Path()] = true
		if len(examples[leaf.Path()]) == 0 {
			t.Errorf("%s has no example", leaf.Path())
		}
	}
	for path, lines := range examples {
		if !known[path] {
			t.Errorf("examples of %q, which is not a command", path)
		}
		for _, line := range lines {
			checkExample(t, path, line)
		}
	}
}

func checkExample(t *testing.T, path, line string) {
	line = strings.TrimSuffix(strings.TrimPrefix(line, "source <("), ")")
	line, _, _ = strings.Cut(line, " > ")
	words := strings.Fields(strings.ReplaceAll(line, "'", ""))
	for _, word := range words {
		if slices.Contains([]string{".npz", ".npy", ".csv", ".toml", ".token", ".safetensors", ".py"}, filepath.Ext(word)) {
			if err := os.WriteFile(word, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.MkdirAll("data", 0o700); err != nil {
		t.Fatal(err)
	}
	_, parsed, err := parse(new(program), words[1:], &bytes.Buffer{}, &bytes.Buffer{})
	if err == nil {
		err = refuseIdle(parsed)
		if path != "" && parsed.Selected().Path() != path {
			t.Errorf("%s: %q is another command's", path, line)
		}
	}
	if err != nil {
		t.Errorf("%q: %v", line, err)
	}
}

// TestOneCommandReadsAsAmongAll compares the help of each command, which tells all of its definition, built alone and among all.
func TestOneCommandReadsAsAmongAll(t *testing.T) {
	var out bytes.Buffer
	help := func(parser *kong.Kong, words []string) (text string) {
		out.Reset()
		defer func() {
			if _, ended := recover().(exitRequest); !ended {
				t.Errorf("%v --help did not end the call", words)
			}
			text = out.String()
		}()
		_, _ = parser.Parse(append(words, "--help"))
		return ""
	}
	all := newParser(&program{}, &out, &out)
	alone := 0
	for _, node := range tree(t).Model.Leaves(false) {
		words := strings.Fields(node.Path())
		only := otherCommands(words[0])
		if only == nil {
			continue
		}
		alone++
		if got, want := help(newParser(&program{}, &out, &out, only), words), help(all, words); got != want || want == "" {
			t.Errorf("%v: alone:\n%s\namong all:\n%s", words, got, want)
		}
	}
	if alone < 30 || otherCommands("hepl") != nil || otherCommands("completion") != nil {
		t.Errorf("%d commands are built alone", alone)
	}
}

// TestARefusedCallReadsAsAmongAll compares what is said of calls that are wrong in each way with what a parser of all commands says.
func TestARefusedCallReadsAsAmongAll(t *testing.T) {
	for _, line := range []string{"trian", "nosuch", "--lab", "--lab x", "--lab train", "--nosuch train", "train --nosuch", "train --epoch 3", "runs list --epochs 3", "study", "study nosuch",
		"study run", "runs show", "runs list a b", "solve ce --k many", "bench train --net nosuch", "--threads many train", "--lab x --json runs lits", "--lab=x --threads 3 demo --scale big",
		"--lab --json train --nosuch", "export --csv --tensorboard x", "train -x", "-x train", "help nosuch", "completion", "completion tcsh"} {
		args := strings.Fields(line)
		_, _, err := parse(new(program), args, &bytes.Buffer{}, &bytes.Buffer{})
		_, want := tree(t).Parse(args)
		if want == nil || err == nil {
			if line != "help nosuch" {
				t.Errorf("%s is not refused: %v, among all %v", line, err, want)
			}
		} else if misspelt(err).Error() != misspelt(want).Error() || selected(err) != selected(want) {
			t.Errorf("%s: alone %v (%s), among all %v (%s)", line, misspelt(err), selected(err), misspelt(want), selected(want))
		}
	}
}

func TestFirstWord(t *testing.T) {
	for line, want := range map[string]string{
		"train x": "train", "--lab x train": "train", "--lab train runs list": "runs", "--lab=x --json --threads 3 runs list": "runs", "--json=false --threads=3 demo": "demo", "-q --verbose train": "train", "-h": "-h",
		"": "", "--lab": "", "--lab --json train": "", "--help train": "", "--version": "", "--threads -1 train": "", "--labs x train": "",
	} {
		if got := firstWord(strings.Fields(line)); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
