package recipe

import (
	"strings"
	"testing"
)

// TestDepartsNamesOtherDataFirst: verdicts on built-in images are not about the paper's data, and whoever reads them is told so.
func TestDepartsNamesOtherDataFirst(t *testing.T) {
	r, err := Load("zhu-fig8")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		choice Choice
		begins string
	}{{Choice{Scale: "quick", BuiltIn: true}, "On glyphs, drawn by this program, instead of cifar-10: these verdicts are not about the paper's data. Not as in the paper: data, "},
		{Choice{Scale: "quick"}, "Not as in the paper: data, "}} {
		from, err := r.Departures(c.choice)
		if err != nil {
			t.Fatal(err)
		}
		got := Departs(from)
		if !strings.HasPrefix(got, c.begins) || !strings.HasSuffix(got, "seeds.") {
			t.Errorf("%q, want one that begins with %q", got, c.begins)
		}
	}
	if got := Departs(nil); got != "" {
		t.Errorf("no departure: %q", got)
	}
}
