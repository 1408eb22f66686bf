package queue

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// brought is a message as the server delivers it to a consumer.
type brought struct {
	jetstream.Msg
	m    *nats.Msg
	meta jetstream.MsgMetadata
}

func (b brought) Metadata() (*jetstream.MsgMetadata, error) { return &b.meta, nil }
func (b brought) Subject() string                           { return b.m.Subject }
func (b brought) Headers() nats.Header                      { return b.m.Header }
func (b brought) Data() []byte                              { return b.m.Data }
func (b brought) Ack() error                                { return nil }

// fetched is a batch of them.
type fetched []jetstream.Msg

func (f fetched) Messages() <-chan jetstream.Msg {
	c := make(chan jetstream.Msg, len(f))
	for _, m := range f {
		c <- m
	}
	close(c)
	return c
}
func (fetched) Error() error { return nil }

// deaf is a coordinator without a server. Every text that it logs is checked.
func deaf(t *testing.T) *Coordinator {
	b := &Broker{opt: Options{Logf: func(_ string, args ...any) {
		for _, a := range args {
			if text, ok := a.(string); ok {
				checkText(t, text)
			}
		}
	}}.withDefaults()}
	return &Coordinator{b: b, waiters: waiters{list: map[string]*waiter{}}}
}

func checkText(t *testing.T, text string) {
	if len(text) > longestText || !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\x1b\n\r") {
		t.Errorf("%q", text)
	}
}

// FuzzResults collects messages with arbitrary subjects, headers and bytes: each is a result or set aside, and none is counted twice.
func FuzzResults(f *testing.F) {
	for _, m := range garbage() {
		f.Add(m.Subject, m.Header.Get(headType), m.Header.Get(headGeneration), m.Header.Get(headAttempt), m.Header.Get(headWorker), m.Data[:min(len(m.Data), 1000)], uint64(1))
	}
	f.Add("collapse.res.a", "done", "7", "1", "w\x1b", []byte("x"), uint64(9))
	f.Fuzz(func(t *testing.T, subject, kind, generation, attempt, worker string, data []byte, sequence uint64) {
		c := deaf(t)
		m := message(subject, string(data), headType, kind, headGeneration, generation, headAttempt, attempt, headWorker, worker, headError, worker+kind)
		first := brought{m: m, meta: jetstream.MsgMetadata{Sequence: jetstream.SequencePair{Consumer: 1, Stream: sequence}}}
		second := first
		second.meta.Sequence.Consumer = 2
		var read uint64
		raw, list, err := c.collect(fetched{first, second}, &read)
		if err != nil || len(raw) != 2 || read != 2 || len(list) != 0 && len(list) != 2 {
			t.Fatalf("%d messages and %d results of 2, %d read, %v", len(raw), len(list), read, err)
		}
		for _, m := range list {
			if !validID(m.Job) || m.Generation == 0 || m.Attempt < 1 || m.Sequence != sequence {
				t.Errorf("%+v", m)
			}
			checkText(t, m.Worker)
			checkText(t, m.Error)
		}
		tally := c.Unusable()
		if most := uint64(1); len(list) == 2 && tally.Count != 0 || len(list) == 0 && sequence > 0 && tally.Count != most {
			t.Errorf("%d results, %d set aside", len(list), tally.Count)
		}
		for _, a := range tally.Last {
			checkText(t, a.What)
			checkText(t, a.Why)
		}
		if _, _, err := c.collect(fetched{first}, &read); !errors.Is(err, errGap) {
			t.Errorf("a message that is missing: %v", err)
		}
	})
}

// FuzzNotices hears two notices: whatever they say, few workers are remembered as waiting, and their texts fit a line.
func FuzzNotices(f *testing.F) {
	f.Add([]byte(`{"worker":"w","nonce":"n","waits":"disk full"}`), []byte(`{"worker":"w","nonce":"n"}`))
	f.Add([]byte(`{"worker":"w","waits":"\u001b[2J"}`), []byte(`{"worker":"w","nonce":"m","waits":"x"}`))
	f.Add([]byte(`{"worker":"w","job":"collapse.job.p1.x","why":"no job","bytes":-5}`), []byte(strings.Repeat("[", 1000)))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		c := deaf(t)
		for _, b := range [][]byte{one, two, one} {
			c.hear(&nats.Msg{Subject: "collapse.notice", Data: b})
		}
		list := c.Waiters()
		if len(list) > 2 {
			t.Errorf("%+v", list)
		}
		for _, w := range list {
			if w.Worker == "" || w.Why == "" || w.Since.IsZero() {
				t.Errorf("%+v", w)
			}
			checkText(t, w.Worker)
			checkText(t, w.Why)
		}
		if tally := c.Unusable(); len(list) == 0 && tally.Count > 3 {
			t.Errorf("%+v", tally)
		}
	})
}

// entry is what a bucket holds under a key.
type entry struct {
	jetstream.KeyValueEntry
	key      string
	value    []byte
	revision uint64
}

func (e entry) Key() string      { return e.key }
func (e entry) Value() []byte    { return e.value }
func (e entry) Revision() uint64 { return e.revision }

// noPurge is the stream underneath a bucket; nothing can be removed from it.
type noPurge struct{ jetstream.Stream }

func (noPurge) Purge(context.Context, ...jetstream.StreamPurgeOpt) error { return nil }

// oneEntry is a bucket with one entry, which may be replaced.
type oneEntry struct {
	jetstream.KeyValue
	entry entry
	wrote [][]byte
}

func (o *oneEntry) Create(context.Context, string, []byte, ...jetstream.KVCreateOpt) (uint64, error) {
	return 0, jetstream.ErrKeyExists
}
func (o *oneEntry) Get(context.Context, string) (jetstream.KeyValueEntry, error) { return o.entry, nil }
func (o *oneEntry) Update(_ context.Context, _ string, value []byte, revision uint64) (uint64, error) {
	o.wrote = append(o.wrote, value)
	return revision + 1, nil
}

// FuzzLeases has a lease of arbitrary bytes read by a coordinator, which keeps or drops it, and taken over by a worker, whose own
// lease can be read again.
func FuzzLeases(f *testing.F) {
	f.Add("claim.job00001", leaseValue{Worker: "w", Nonce: "n", Held: true, Attempt: 2, State: []byte("state"), Progress: []byte("{}")}.encode(), uint64(7))
	f.Add("claim.bad%id", []byte(`{"worker":"w","nonce":"n","generation":3}`), uint64(3))
	for _, m := range garbage() {
		if key, found := strings.CutPrefix(m.Subject, "$KV.collapse-claims."); found {
			f.Add(key, m.Data[:min(len(m.Data), 1000)], uint64(5))
		}
	}
	f.Fuzz(func(t *testing.T, key string, value []byte, revision uint64) {
		revision %= 1 << 62
		c := deaf(t)
		c.leases = noPurge{}
		e := entry{key: key, value: value, revision: revision}
		id, v, ok := c.readLease(t.Context(), e)
		if tally := c.Unusable(); ok == (tally.Count > 0) {
			t.Errorf("taken: %v, and %d set aside", ok, tally.Count)
		}
		if ok {
			p := v.public(id, revision)
			if !validID(p.Job) || p.Generation > revision || p.Attempt < 0 || p.Worker == "" {
				t.Errorf("%+v", p)
			}
			checkText(t, p.Worker)
		}
		kv := &oneEntry{entry: e}
		w := &worker{b: c.b, opt: c.b.opt, name: "me", kv: kv}
		w.opt.AckWait = time.Nanosecond
		mine, _, err := w.take(t.Context(), "job00001")
		if err != nil || len(kv.wrote) != 1 {
			t.Fatalf("%d writes, %v", len(kv.wrote), err)
		}
		if mine.Attempt < 1 || mine.Attempt > w.opt.MaxAttempts+1 && mine.Attempt > v.Attempt || mine.Worker != "me" || !mine.Held {
			t.Errorf("%+v", mine)
		}
		if back, err := parseLease(kv.wrote[0], revision+1); err != nil || back.Nonce != mine.Nonce || string(back.State) != string(mine.State) {
			t.Errorf("%+v, %v", back, err)
		}
	})
}
