package wire

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/train"
)

// TestManifestsAreChecked: what the last message of a run may not say.
func TestManifestsAreChecked(t *testing.T) {
	for _, text := range []string{"", "[]", "{", `{"blob":{"name":"other/g1/files.tar","bytes":1}}`, `{"blob":{"name":"a/x","bytes":-1}}`, `{"blob":{"name":"a/x","bytes":1e30}}`,
		`{"blob":{"name":"../a","bytes":1}}`, `{"blob":{"name":"ab/g1/files.tar","bytes":1}}`, `{"blob":{"name":"a/` + strings.Repeat("x", 1000) + `","bytes":1}}`, `{"blob":{"name":"a/\u0000","bytes":1}}`, strings.Repeat("[", 100_000)} {
		if _, err := ReadManifest(queue.Message{Job: "a", Data: []byte(text)}); err == nil {
			t.Errorf("%.80s is a manifest", text)
		}
	}
	for _, good := range []Manifest{{Inline: []byte("x")}, {Blob: &queue.Blob{Name: "a/g1/files.tar", Bytes: 7}}} {
		text, err := json.Marshal(good)
		must(t, err)
		if _, err := ReadManifest(queue.Message{Job: "a", Data: text}); err != nil {
			t.Error(err)
		}
	}
}

func TestProgressFromElsewhereIsBounded(t *testing.T) {
	for text, want := range map[string]study.Progress{
		`{"epoch":3,"epochs":9,"text":"acc"}`:           {Epoch: 3, Epochs: 9, Text: "acc"},
		`{"epoch":-3,"epochs":9}`:                       {},
		`{"epoch":10,"epochs":9}`:                       {},
		`{"epoch":1,"epochs":9000000000000000000}`:      {},
		`{"epoch":0,"epochs":9,"text":"a\u001b[2J\nb"}`: {Epochs: 9, Text: "a?[2J?b"},
		`garbage`:         {},
		``:                {},
		`{"epoch":1e300}`: {},
		`{"epoch":0,"epochs":1,"text":"` + strings.Repeat("x", 1000) + `"}`: {Epochs: 1, Text: strings.Repeat("x", longestLine-len(" …")) + " …"},
	} {
		if got := ParseProgress([]byte(text)); got != want {
			t.Errorf("%.60s: %+v, want %+v", text, got, want)
		}
	}
}

// plain reports a text from the network that a terminal or a log could not show as it is.
func plain(t *testing.T, text string) {
	t.Helper()
	if len(text) > longestLine || !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\x1b\n\r") {
		t.Errorf("%q", text)
	}
}

// FuzzDecodeBegin reads bytes as the first message of an attempt at a run.
func FuzzDecodeBegin(f *testing.F) {
	f.Add(Begin{From: 3, Rows: 1, Program: train.ThisProgram(), Host: "host"}.Encode()[1:])
	f.Add([]byte(`{"from":-9000000000000000000,"host":"a\u001b[2J","program":{"Version":"` + strings.Repeat("x", 1000) + `"}}`))
	f.Add([]byte(`{"from":81}`))
	f.Add([]byte(`[[`))
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := DecodeBegin(text)
		if err == nil {
			for _, text := range []string{b.Host, b.Program.Version, b.Program.Kernel, b.Program.GOOS, b.Program.GOARCH, b.Program.GOAMD64, b.Program.CPU} {
				plain(t, text)
			}
			back, err := DecodeBegin(b.Encode()[1:])
			if err != nil || back != b {
				t.Errorf("%+v becomes %+v, %v", b, back, err)
			}
		}
	})
}

// FuzzManifest reads bytes as the last message of a run, and as the progress that a heartbeat carries.
func FuzzManifest(f *testing.F) {
	for _, m := range []Manifest{{Inline: []byte("an archive")}, {Blob: &queue.Blob{Name: "run/g1/files.tar", Bytes: 7}, Shared: true}} {
		text, err := json.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"blob":{"name":"run/../../x","bytes":1}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := ReadManifest(queue.Message{Job: "run", Data: text})
		if err == nil && m.Blob != nil && (!strings.HasPrefix(m.Blob.Name, "run/") || m.Blob.Bytes < 0 || len(m.Blob.Name) > LongestKey) {
			t.Errorf("%+v", m.Blob)
		}
		if p := ParseProgress(text); p.Epoch < 0 || p.Epoch > p.Epochs {
			t.Errorf("%+v", p)
		} else {
			plain(t, p.Text)
		}
	})
}
