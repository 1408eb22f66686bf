package measurement

import "testing"

// The lead of a headline is a title of its own, which no colon ends; with the rest nothing of the sentence is lost.
func TestALeadEndsInNoColon(t *testing.T) {
	for text, want := range map[string][2]string{
		"On the way to collapse: spread is 20 %; near: a simplex": {"On the way to collapse", "spread is 20 %; near: a simplex"},
		"Collapsed: spread is 1 %":                                {"Collapsed", "spread is 1 %"},
		"The class means coincide":                                {"The class means coincide", ""},
	} {
		if h := Headline(text); h.Lead() != want[0] || h.Rest() != want[1] {
			t.Errorf("%q: %q and %q, want %q", text, h.Lead(), h.Rest(), want)
		}
	}
}
