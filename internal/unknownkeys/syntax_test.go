package unknownkeys

import (
	"errors"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// TestSyntax says what a key takes, in words that a user knows.
func TestSyntax(t *testing.T) {
	type table struct {
		Command []string
		Epochs  int
		Seed    uint64
		On      bool
		X       float64
		Left    string
		Below   map[string]any
		Band    *[2]float64
		Many    []any
	}
	type file struct {
		Trainer table
		Claim   []table
	}
	for text, want := range map[string]string{
		"[trainer]\ncommand = 'python3 train.py'":  `line 2, column 11: trainer.command is a text; wanted a list of texts, such as ["a", "b"]`,
		"[trainer]\nepochs = '6'":                  "line 2, column 10: trainer.epochs is a text; wanted a whole number",
		"[trainer]\nepochs = 1.5":                  "line 2, column 10: trainer.epochs is a number; wanted a whole number",
		"[trainer]\nseed = true":                   "line 2, column 8: trainer.seed is true or false; wanted a whole number from 0",
		"[trainer]\non = 1":                        "line 2, column 6: trainer.on is a whole number; wanted true or false",
		"[trainer]\nx = [1]":                       "line 2, column 5: trainer.x is a list; wanted a number",
		"[trainer]\nx = { a = 1 }":                 "line 2, column 5: trainer.x is a table; wanted a number",
		"[[claim]]\nleft = 3":                      "line 2, column 8: claim.left is a whole number; wanted a text in quotes",
		"[trainer]\nbelow = 3":                     "line 2, column 9: trainer.below is a whole number; wanted a table",
		"[trainer]\nband = 0.1":                    "line 2, column 8: trainer.band is a number; wanted two numbers in a list",
		"[trainer]\nmany = 0.1":                    "line 2, column 8: trainer.many is a number; wanted a list",
		"trainer = 3":                              "line 1, column 11: trainer is a whole number; wanted a table",
		"[trainer":                                 "line 1, column 8: ",
		"[trainer]\nepochs = 99999999999999999999": "line 2, column 10: decimal number is too large to fit in a 64-bit signed integer",
	} {
		err := toml.NewDecoder(strings.NewReader(text)).Decode(new(file))
		if err == nil {
			t.Errorf("%q is read", text)
			continue
		}
		if got := Syntax(err); got != want && (!strings.HasSuffix(want, ": ") || !strings.HasPrefix(got, want)) {
			t.Errorf("%q: %s\nwant %s", text, got, want)
		}
	}
	if got := Syntax(errors.New("toml: other")); got != "other" {
		t.Error(got)
	}
}
