package train

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
)

// olderState makes a state.json one of format 1, which had no digest, with a change.
func olderState(t *testing.T, file string, change func(text []byte) []byte) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	older := bytes.Replace(text, []byte(`"format": 2`), []byte(`"format": 1`), 1)
	older = regexp.MustCompile(` "digest": "[0-9a-f]{64}",\n`).ReplaceAll(older, nil)
	if len(older) != len(text)-len(` "digest": "",`)-64-1 {
		t.Fatalf("%s is not of format 2:\n%.200s", file, text)
	}
	if err := os.WriteFile(file, change(older), 0o666); err != nil {
		t.Fatal(err)
	}
}

func unchanged(text []byte) []byte { return text }

// interruptedAt is a lab with a run that was stopped after an epoch.
func interruptedAt(t *testing.T, c Config, epoch int) (*store.Lab, Result) {
	t.Helper()
	lab := newLab(t)
	ctx, cancel := context.WithCancel(context.Background())
	r, err := Run(ctx, c, lab, Options{Sink: &stopAfter{epochs: epoch, cancel: cancel}, Open: openOnce})
	if !errors.Is(err, context.Canceled) || r.Checkpoint == "" {
		t.Fatalf("stopped at %q: %v", r.Checkpoint, err)
	}
	return lab, r
}

// TestEveryChangeOfAStateIsSeen changes each byte of state.json in several ways, cuts it at each length, and adds to it.
func TestEveryChangeOfAStateIsSeen(t *testing.T) {
	_, r := interruptedAt(t, tinyConfig(), 2)
	text, err := os.ReadFile(filepath.Join(r.Checkpoint, rundir.State))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := decodeState(text)
	if err != nil || whole.Epoch != 2 || len(whole.Rows) < 10 {
		t.Fatalf("%+v, %v", whole, err)
	}
	whole.Rows = whole.Rows[:8] // the others are alike
	if text, err = whole.encode(); err != nil || len(text) < 1000 {
		t.Fatalf("%s, %v", text, err)
	}
	changes := 0
	refused := func(damaged []byte, how string, at int) {
		changes++
		if st, err := decodeState(damaged); err == nil {
			t.Errorf("%s at byte %d (%q) is not seen: %+v", how, at, text[max(0, at-10):min(len(text), at+10)], st)
		}
	}
	for at, old := range text {
		for _, b := range []byte{old ^ 1, old ^ 0x20, old + 1, old ^ 0x80, '0', ' ', 0} {
			if b != old {
				refused(append(append(bytes.Clone(text[:at]), b), text[at+1:]...), "another byte", at)
			}
		}
		refused(text[:at], "a cut", at)
		refused(append(append(bytes.Clone(text[:at]), '\n'), text[at:]...), "a byte more", at)
		refused(append(bytes.Clone(text[:at]), text[at+1:]...), "a byte less", at)
	}
	if changes < 10_000 {
		t.Errorf("only %d changes", changes)
	}
}

// TestADamagedStateOverwritesNothing changes single digits of the newest state, including a number of its rows: the run continues
// from the checkpoint before and ends with the rows of an undisturbed one.
func TestADamagedStateOverwritesNothing(t *testing.T) {
	c := tinyConfig()
	c.Run.Epochs = 4
	apart := newLab(t)
	want := mustRun(t, c, apart, Options{})
	for _, field := range []string{`"value": `, `"loss": `, `"step": `, `"epoch": `, `"sha256": "`} {
		lab, r := interruptedAt(t, c, 3)
		file := filepath.Join(r.Checkpoint, rundir.State)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.Index(text, []byte(field)) + len(field)
		if text[at]++; text[at] > '9' && field != `"sha256": "` {
			text[at] = '1'
		}
		if err := os.WriteFile(file, text, 0o666); err != nil {
			t.Fatal(err)
		}
		s := &recorder{}
		back, err := Resume(context.Background(), lab, r.Run, Options{Sink: s, Open: openOnce})
		if err != nil {
			t.Fatal(err)
		}
		if s.begun.FirstEpoch != 3 || len(s.notes) != 1 || !strings.Contains(s.notes[0], "checkpoint 3 is damaged or incomplete") {
			t.Errorf("%s: went on at epoch %d, notes %q", field, s.begun.FirstEpoch, s.notes)
		}
		sameFiles(t, field, endFiles(t, want), endFiles(t, back))
		sameValues(t, field, epochValues(t, apart, want.Run), epochValues(t, lab, back.Run))
	}
}

// TestCheckpointsOfOlderVersionsAreRead goes on from a checkpoint without a digest.
func TestCheckpointsOfOlderVersionsAreRead(t *testing.T) {
	c := tinyConfig()
	apart := newLab(t)
	want := mustRun(t, c, apart, Options{})
	lab, r := interruptedAt(t, c, 2)
	olderState(t, filepath.Join(r.Checkpoint, rundir.State), unchanged)
	ckpt := &checkpoints{Writer: rundir.Dir(r.Dir).Writer(nil), run: r.Run}
	if s, notes, err := ckpt.newest(math.MaxInt); err != nil || s == nil || s.state.Epoch != 2 || s.state.Format != 1 {
		t.Fatalf("%+v, %q, %v", s, notes, err)
	}
	s := &recorder{}
	back, err := Resume(context.Background(), lab, r.Run, Options{Sink: s, Open: openOnce})
	if err != nil || s.begun.FirstEpoch != 3 || len(s.notes) != 0 {
		t.Fatalf("went on at epoch %d, notes %q, %v", s.begun.FirstEpoch, s.notes, err)
	}
	sameFiles(t, "older", endFiles(t, want), endFiles(t, back))
	sameValues(t, "older", epochValues(t, apart, want.Run), epochValues(t, lab, back.Run))
}
