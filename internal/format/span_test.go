package format

import "testing"

func TestSpan(t *testing.T) {
	for hours, want := range map[float64]string{0: "–", 0.0001: "< 1 s", 1.0 / 3600: "1 s", 0.01: "36 s", 0.5: "30 min", 1: "1 hour", 1.5: "1.5 hours", 47: "47 hours", 48: "2 days", 240: "10 days", 9600: "400 days"} {
		if got := Span(hours); got != want {
			t.Errorf("%g hours: %s, wanted %s", hours, got, want)
		}
	}
}
