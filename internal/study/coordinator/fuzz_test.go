package coordinator

import (
	"reflect"
	"strings"
	"testing"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/study/wire"
	"collapse.example/collapse/internal/train"
)

// FuzzSavedState reads bytes as what the queue keeps with a lease: what can be read names epochs and blobs, and sweeping by it is safe.
func FuzzSavedState(f *testing.F) {
	f.Add(wire.State{Epoch: 20, Blob: queue.Blob{Name: "run/g3/ckpt-20.tar", Bytes: 5}, SideParts: []wire.SidePart{{UpTo: 10, Blob: queue.Blob{Name: "run/g2/beside-0-10.tar"}}}}.Encode(), "run/g3/ckpt-19.tar~x")
	f.Add([]byte(`{"epoch":-1}`), "run/begin/ckpt-1.tar")
	f.Add([]byte(`{"epoch":9223372036854775807,"beside":[{},{}]}`), "run/g18446744073709551616/beside--1.tar")
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		s, err := wire.DecodeState(text)
		if s.Epoch < 0 || err != nil && !reflect.DeepEqual(s, wire.State{}) {
			t.Fatalf("%+v, %v", s, err)
		}
		if err == nil {
			again, err := wire.DecodeState(s.Encode())
			if err != nil || string(again.Encode()) != string(s.Encode()) {
				t.Errorf("%+v becomes %+v, %v", s, again, err)
			}
		}
		u := &blobUse{runs: map[string]runUse{}}
		hash, _, _ := strings.Cut(name, "/")
		for _, oldest := range []uint64{0, 3} {
			u.runs[hash] = runUse{under: true, oldest: oldest, state: s}
			if needed := u.needs(name); s.Has(name) && !needed {
				t.Errorf("the next worker needs %q", name)
			}
		}
		u.runs[hash] = runUse{state: s}
		if u.needs(name) {
			t.Errorf("%q of a run that is done stays", name)
		}
	})
}

// FuzzReadBegin reads bytes as the first message of an attempt at a run of 80 epochs.
func FuzzReadBegin(f *testing.F) {
	f.Add(wire.Begin{From: 3, Rows: 1, Program: train.ThisProgram(), Host: "host"}.Encode()[1:])
	f.Add([]byte(`{"from":-9000000000000000000}`))
	f.Add([]byte(`{"from":81}`))
	f.Add([]byte(`[[`))
	f.Fuzz(func(t *testing.T, text []byte) {
		e := &coordinator{epochs: map[string]int64{"run": 80}}
		m := queue.Message{Job: "run", Data: append([]byte{wire.TagBegin}, text...)}
		if b, err := e.readBegin(m); err == nil && (b.From < -1 || b.From > 80) {
			t.Errorf("%+v", b)
		}
	})
}
