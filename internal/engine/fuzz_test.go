package engine

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// FuzzLine reads bytes as a line that an engine prints: an answer has one kind, and an error is a short text without control characters.
func FuzzLine(f *testing.F) {
	for _, text := range []string{
		`{"hello": {"protocol": "collapse-engine 1", "engine": "torch", "devices": [{"name": "cpu", "title": "x", "bytes": 1}]}}`,
		`{"step": 3, "loss": "nan", "correct": 2, "images_per_s": 10.5}`,
		`{"done": "epoch", "loss_sum": 3.5, "last": "inf", "bad": "-inf", "steps": 9}`, `{"done": "evaluate", "penalty_squares": [1, "nan"]}`,
		`{"done": "save", "model": {"sha256": "00", "bytes": 1e3}}`, `{"error": {"kind": "memory", "message": "\u001b[2J"}}`,
		`{"step": 1e300}`, `{"done": null}`, `{"hello": null, "done": ""}`, `null`, `[`, ``, "\xff", `{"done": "x", "bad": {}}`, strings.Repeat("[", 10000),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := parseLine(text)
		kinds := 0
		for _, is := range []bool{l.hello != nil, l.step != nil, l.answer != nil, l.err != nil} {
			if is {
				kinds++
			}
		}
		if err == nil && kinds != 1 || err != nil && kinds != 0 {
			t.Errorf("%q has %d kinds, error %v", text, kinds, err)
		}
		if err != nil && (len(err.Error()) > 2000 || !utf8.ValidString(err.Error()) || strings.ContainsFunc(err.Error(), unicode.IsControl)) {
			t.Errorf("error %q", err)
		}
	})
}
