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

// TestTheSameValueTwice: 0 and 0.0 are one value of a list.
func TestTheSameValueTwice(t *testing.T) {
	if got := distinct([]any{int64(0), 0.0, 0.5, "a", "a"}); len(got) != 3 || got[0] != int64(0) || got[1] != 0.5 || got[2] != "a" {
		t.Errorf("%v", got)
	}
	if grid := []any{0.0, 0.5}; !isPart("data.noise=[0]", grid) || isPart("data.noise=[1]", grid) || !isWhole("data.noise=[0.5, 0, 0.0]", grid) || isWhole("data.noise=[0]", grid) {
		t.Error("a list beside the values of a grid")
	}
}
