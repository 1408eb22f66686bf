package coordinator

import (
	"math"
	"strings"
	"testing"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study/wire"
)

// TestWhatNoResultSays: what a run of 80 epochs cannot have sent is refused, and what it just can have sent is not.
func TestWhatNoResultSays(t *testing.T) {
	e := &coordinator{epochs: map[string]int64{"run": 80}}
	data := func(b []byte) queue.Message { return queue.Message{Job: "run", Type: queue.Data, Data: b} }
	rows := func(epoch int64, change func(*store.Value)) queue.Message {
		v := store.Value{Key: store.Key{Series: "epoch", Split: "test", Layer: "1", Measure: "loss"}, Step: epoch, Value: 1}
		if change != nil {
			change(&v)
		}
		return data(wire.EncodeRows(store.EpochRows{Epoch: epoch, Rows: []store.Value{v}})[0])
	}
	for name, bad := range map[string]queue.Message{"nothing": data(nil), "an unknown tag": data([]byte("?")), "a damaged beginning": data([]byte("B{")),
		"a beginning after the end": data(wire.Begin{From: 81}.Encode()), "one before the start": data(wire.Begin{From: -2}.Encode())} {
		if err := e.checkMessage(t.Context(), bad); err == nil {
			t.Errorf("%s is a result", name)
		}
	}
	for name, bad := range map[string]queue.Message{
		"an epoch after the end":    rows(81, nil),
		"an epoch before the start": rows(-1, nil),
		"no series":                 rows(1, func(v *store.Value) { v.Series = "" }),
		"no measure":                rows(1, func(v *store.Value) { v.Measure = "" }),
		"a step before the start":   rows(1, func(v *store.Value) { v.Step = -1 }),
		"a long name":               rows(1, func(v *store.Value) { v.Layer = strings.Repeat("x", wire.LongestKey+1) }),
		"a name with an escape":     rows(1, func(v *store.Value) { v.Split = "a\x1b[2J" }),
		"a name that is not a text": rows(1, func(v *store.Value) { v.Split = "\xff" }),
		"a long reason":             rows(1, func(v *store.Value) { v.Missing = strings.Repeat("x", wire.LongestMissing+1) }),
		"damage":                    data([]byte{wire.TagRows, 2, 1}),
	} {
		if err := e.checkMessage(t.Context(), bad); err != nil {
			t.Errorf("%s: %v before its rows are read", name, err)
		}
		if got, err := e.readRows(bad); err == nil {
			t.Errorf("%s is read as %+v", name, got)
		}
	}
	for name, good := range map[string]queue.Message{
		"the last epoch": rows(80, nil), "the first": rows(0, nil), "a name as long as may be": rows(1, func(v *store.Value) { v.Layer = strings.Repeat("x", wire.LongestKey) }),
		"a reason as long as may be": rows(1, func(v *store.Value) { v.Missing = strings.Repeat("x", wire.LongestMissing) }),
	} {
		if _, err := e.readRows(good); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for want, value := range map[string]float64{"the value was not a number (NaN)": math.NaN(), "the value was infinite": math.Inf(-1)} {
		got, err := e.readRows(rows(1, func(v *store.Value) { v.Value = value }))
		if err != nil || got.Rows[0].Missing != want || got.Rows[0].Value != 0 {
			t.Errorf("%g: %+v, %v", value, got, err)
		}
	}
	got, err := e.readRows(rows(1, func(v *store.Value) { v.Value, v.Missing = 3, "no inverse" }))
	if err != nil || got.Rows[0].Missing != "no inverse" || got.Rows[0].Value != 0 {
		t.Errorf("a value that is missing: %+v, %v", got, err)
	}
}
