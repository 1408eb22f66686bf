package spelling

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"nc1_pinv", "nc2_w", "equinorm_means", "gd", "lbfgs", "optim.lr", "help", "html", "null"}
	for word, want := range map[string]string{
		"nc1_pin":                "nc1_pinv",
		"NC2-W":                  "nc2_w",
		"equinorm":               "equinorm_means",
		"lbgfs":                  "lbfgs",
		"htlm":                   "html", // one swap, where help is two replacements away
		"ful":                    "",     // two of three letters are other ones in null
		"nc2":                    "nc2_w",
		"optim.lrr":              "optim.lr",
		"":                       "", // not the shortest name there is
		"xy":                     "", // two edits from gd, all of it
		"accuracy":               "",
		strings.Repeat("a", 1e6): "", // in no time
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("%.20q: got %q, want %q", word, got, want)
		}
	}
}

func TestSuggestionIsAWholeClause(t *testing.T) {
	if got := Suggestion("nc2w", []string{"nc2_w"}) + Suggestion("zebra", []string{"nc2_w"}); got != "; did you mean nc2_w?" {
		t.Errorf("got %q", got)
	}
}
