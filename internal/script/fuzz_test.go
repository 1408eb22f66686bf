package script

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// FuzzEvent reads bytes as a line that a script reports: names can be printed and are bounded, numbers are numbers or one of JSON's missing three.
func FuzzEvent(f *testing.F) {
	for _, text := range []string{
		`{"generation": 1, "epoch": 3, "values": {"test/loss": 0.5, "lr": NaN}}`, `{"generation": 1, "epoch": 3, "values": {"a": "-inf", "b": null}, "features": {"train": "f"}}`,
		`{"generation": 1, "done": true}`, `{"generation": 1, "values": {"\u0000": 1}}`, `{"generation": 1, "values": {"a\u001b[2J": -Infinity}}`, `{"generation": 1e99}`,
		`{"generation": 1, "features": {"..": "/etc/passwd"}}`, `{"generation": 1} {}`, `null`, `[`, ``, "\xff", `{"generation": 1, "values": {"\"NaN": NaN, "x": -NaNInfinity}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := parseEvent(text)
		if err != nil {
			return
		}
		for name, v := range e.Values {
			if len(name) > longestName || strings.ContainsFunc(name, unicode.IsControl) {
				t.Errorf("the name %q", name)
			}
			if v.none && v.x != 0 {
				t.Errorf("%q is no number, and %v", name, v.x)
			}
		}
		for split := range e.Features {
			if split != trainSplit && split != testSplit && split != oodSplit {
				t.Errorf("features of %q", split)
			}
		}
	})
}

// FuzzHistory reads bytes as a history of recorded epochs, which rise.
func FuzzHistory(f *testing.F) {
	for _, text := range []string{"{\"epoch\": 1, \"values\": {\"train/nc1_pinv\": 0.5}}\n\n{\"epoch\": 2, \"values\": {\"a\": NaN}}\n", `{"epoch": -1}`, "{\"epoch\": 2}\n{\"epoch\": 2}", `{"epoch": 1, "done": true}`, "x", ""} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := ReadHistory("name", bytes.NewReader(text))
		if err != nil {
			return
		}
		last := -1
		for _, e := range r.epochs {
			if e.epoch <= last {
				t.Fatalf("epoch %d after %d", e.epoch, last)
			}
			last = e.epoch
		}
	})
}

// FuzzSpec reads bytes as what a job says about a script: what is accepted has bounds, and means the same once written again.
func FuzzSpec(f *testing.F) {
	spec := Spec{Command: []string{"python3", "train.py"}, Epochs: 3, Horizon: 9, Settings: map[string]any{"lr": 0.1}}
	text, err := spec.Encode()
	if err != nil {
		f.Fatal(err)
	}
	seed := uint64(7)
	spec.Settings, spec.Seed, spec.Args = map[string]any{"layers": []any{"a", "b"}, "wd": 0}, &seed, Flags
	asFlags, err := spec.Encode()
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{text, asFlags, strings.Replace(text, "3", "1e30", 1), strings.Replace(text, "lr", "a\\u0000", 1), `{}`, `null`, `[`, ``} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Decode(text)
		if err != nil {
			return
		}
		if len(s.Command) == 0 || s.Epochs < 1 || s.Epochs > MostEpochs || s.Horizon < s.Epochs {
			t.Errorf("%+v", s)
		}
		again, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := Decode(again); err != nil || !reflect.DeepEqual(back, s) {
			t.Errorf("%+v became %+v, %v", s, back, err)
		}
		if line := s.line(); !slices.Equal(line[:len(s.Command)], s.Command) {
			t.Errorf("the command %q is started as %q", s.Command, line)
		}
		_, canonical, err := s.Identity()
		if err != nil {
			return
		}
		if epochs, err := EpochsOf(canonical); err != nil || epochs != s.Epochs {
			t.Errorf("%d epochs in %s, %v", epochs, canonical, err)
		}
	})
}
