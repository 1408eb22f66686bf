package wire

import (
	"math"
	"strings"
	"testing"

	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/train"
)

// TestValuesThatNoRunHasAreRefused sends one row that is in order but for one thing, and expects the refusal that names it.
func TestValuesThatNoRunHasAreRefused(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	good := store.Value{Key: store.Key{Series: "epoch", Split: "train", Layer: "0", Measure: "loss"}, Step: 1, Value: 2}
	send := func(change func(v *store.Value)) (store.Value, error) {
		v := good
		change(&v)
		e, err := DecodeRows(encodeSome(3, []store.Value{v})[1:])
		if err != nil {
			return store.Value{}, err
		}
		return e.Rows[0], nil
	}
	for name, of := range map[string]struct {
		change func(v *store.Value)
		cause  string
	}{
		"no series":      {func(v *store.Value) { v.Series = "" }, "without a name"},
		"no measure":     {func(v *store.Value) { v.Measure = "" }, "without a name"},
		"long series":    {func(v *store.Value) { v.Series = long(LongestKey + 1) }, "at most 256 bytes"},
		"long split":     {func(v *store.Value) { v.Split = long(LongestKey + 1) }, "at most 256 bytes"},
		"long layer":     {func(v *store.Value) { v.Layer = long(LongestKey + 1) }, "at most 256 bytes"},
		"long measure":   {func(v *store.Value) { v.Measure = long(LongestKey + 1) }, "at most 256 bytes"},
		"an escape":      {func(v *store.Value) { v.Layer = "a\x1b[2J" }, "plain text"},
		"a delete":       {func(v *store.Value) { v.Layer = "a\x7f" }, "plain text"},
		"no UTF-8":       {func(v *store.Value) { v.Split = "\xff" }, "plain text"},
		"a step before":  {func(v *store.Value) { v.Step = -1 }, "at step -1"},
		"a long reason":  {func(v *store.Value) { v.Missing = long(LongestMissing + 1) }, "at most 4096 bytes"},
		"reason's break": {func(v *store.Value) { v.Missing = "a\nb" }, "plain text"},
	} {
		_, err := send(of.change)
		refused(t, name, err, of.cause)
		if err != nil && len(err.Error()) > 200 {
			t.Errorf("%s: the refusal has %d bytes: %.80s…", name, len(err.Error()), err)
		}
	}
	for name, of := range map[string]struct {
		change func(v *store.Value)
		value  float64
		reason string
	}{
		"as it is":         {func(v *store.Value) {}, 2, ""},
		"longest names":    {func(v *store.Value) { v.Series, v.Measure = long(LongestKey), long(LongestKey) }, 2, ""},
		"first step":       {func(v *store.Value) { v.Step = 0 }, 2, ""},
		"longest reason":   {func(v *store.Value) { v.Missing = long(LongestMissing) }, 0, long(LongestMissing)},
		"value and reason": {func(v *store.Value) { v.Missing = "none" }, 0, "none"},
		"NaN":              {func(v *store.Value) { v.Value = math.NaN() }, 0, "the value was not a number (NaN)"},
		"infinite":         {func(v *store.Value) { v.Value = math.Inf(-1) }, 0, "the value was infinite"},
	} {
		got, err := send(of.change)
		if err != nil || got.Value != of.value || got.Missing != of.reason {
			t.Errorf("%s: %g, missing %q, %v", name, got.Value, got.Missing, err)
		}
	}
}

// TestDamagedRowsAreRefused: a row of a key that is not there, more after the last row, counts that the message cannot hold.
func TestDamagedRowsAreRefused(t *testing.T) {
	whole := encodeSome(3, []store.Value{{Key: store.Key{Series: "s", Measure: "m"}, Step: 1, Value: 2}})[1:]
	if _, err := DecodeRows(whole); err != nil {
		t.Fatal(err)
	}
	// epoch 3, 1 key: "s", "", "", "m", 1 row: key 0 …
	const keyOfRow = 9
	other := append([]byte(nil), whole...)
	other[keyOfRow]++
	for name, message := range map[string][]byte{
		"key 1 of 1": other, "a byte more": append(append([]byte(nil), whole...), 0), "nothing": nil,
		"a number of eleven bytes":   append([]byte{0, 0, 1}, strings.Repeat("\xff", 11)...),
		"an epoch of eleven bytes":   []byte(strings.Repeat("\xff", 11)),
		"more keys than bytes":       {0, 2, 0, 0, 0, 0},
		"more rows than bytes":       append([]byte{0, 0, 2}, make([]byte, 20)...),
		"a row without any key":      append([]byte{0, 0, 1}, make([]byte, 11)...),
		"a text longer than is left": {0, 1, 200, 1, 1, 1, 0},
	} {
		if _, err := DecodeRows(message); err != errRows {
			t.Errorf("%s: %v, want %v", name, err, errRows)
		}
	}
}

// TestProgressGoesThrough: what a worker says of itself arrives as it is, up to the last epoch of the longest run.
func TestProgressGoesThrough(t *testing.T) {
	for _, want := range []study.Progress{{}, {Epochs: 9}, {Epoch: 9, Epochs: 9, Text: "acc 97.1 %"}, {Epoch: MostEpochs, Epochs: MostEpochs}} {
		if got := ParseProgress(EncodeProgress(want)); got != want {
			t.Errorf("%+v becomes %+v", want, got)
		}
	}
	for _, not := range []study.Progress{{Epoch: 1}, {Epochs: -1, Epoch: -1}, {Epoch: -1, Epochs: 9}, {Epochs: MostEpochs + 1}, {Epochs: -1}} {
		if got := ParseProgress(EncodeProgress(not)); got != (study.Progress{}) {
			t.Errorf("%+v becomes %+v", not, got)
		}
	}
	for _, text := range []string{`{"epoch":3,"epochs":9} and more`, `{"epoch":3,"epochs":9,"text":5}`} {
		if got := ParseProgress([]byte(text)); got != (study.Progress{}) {
			t.Errorf("%s: %+v", text, got)
		}
	}
	if !IsLocal("local/0") || IsLocal("host/0") || IsLocal("local") || IsLocal("a/local/0") {
		t.Error("slots of a coordinator's own process are not told from others")
	}
}

// TestBeginningsAreReadBack: the program and host that a worker names are those that the lab is told; text that is no message is an error.
func TestBeginningsAreReadBack(t *testing.T) {
	want := Begin{From: 3, Rows: 1, Program: train.ThisProgram(), Host: "host"}
	if got, err := DecodeBegin(want.Encode()[1:]); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	_, err := DecodeBegin([]byte(`{"from":`))
	refused(t, "half a message", err, "the first message of an attempt")
}
