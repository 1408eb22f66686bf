package queue

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// TestWhatNoLeaseSays: each of these is refused, and what is just allowed is not.
func TestWhatNoLeaseSays(t *testing.T) {
	good := leaseValue{Worker: "w", Nonce: "n", Held: true, Attempt: mostAttempts, Generation: 5, State: make([]byte, MaxMessage), Progress: make([]byte, mostProgress)}
	if v, err := parseLease(good.encode(), 5); err != nil || v.Attempt != mostAttempts || len(v.State) != MaxMessage {
		t.Errorf("%+v, %v", v, err)
	}
	for name, change := range map[string]func(*leaseValue){
		"a generation to come": func(v *leaseValue) { v.Generation = 6 },
		"an attempt below 0":   func(v *leaseValue) { v.Attempt = -1 },
		"too many attempts":    func(v *leaseValue) { v.Attempt++ },
		"nobody":               func(v *leaseValue) { v.Worker = "" },
		"no nonce":             func(v *leaseValue) { v.Nonce = "" },
		"much progress":        func(v *leaseValue) { v.Progress = make([]byte, mostProgress+1) },
		"a large state":        func(v *leaseValue) { v.State = make([]byte, MaxMessage+1) },
	} {
		bad := good
		change(&bad)
		if _, err := parseLease(bad.encode(), 5); err == nil {
			t.Errorf("%s is a lease", name)
		}
	}
	v, err := parseLease(leaseValue{Worker: "a\x1b[2J" + strings.Repeat("x", 1000), Nonce: "n"}.encode(), 5)
	if err != nil || len(v.Worker) > longestName || !strings.HasPrefix(v.Worker, "a?[2J") {
		t.Errorf("%q, %v", v.Worker, err)
	}
}

// TestWhatNoDescriptionSays is the same for the queue's description.
func TestWhatNoDescriptionSays(t *testing.T) {
	good := info{Protocol: protocol, Version: "1", Owner: "lab", AckWait: time.Second}
	text := func(change func(*info)) []byte {
		i := good
		change(&i)
		b, err := json.Marshal(i)
		must(t, err)
		return b
	}
	for name, change := range map[string]func(*info){
		"itself": func(*info) {}, "a short silence": func(i *info) { i.AckWait = time.Millisecond }, "a long one": func(i *info) { i.AckWait = time.Hour },
		"another protocol": func(i *info) { i.Protocol, i.AckWait = protocol+1, 0 },
	} {
		if _, err := parseInfo(text(change)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, change := range map[string]func(*info){
		"no protocol": func(i *info) { i.Protocol = 0 }, "no silence": func(i *info) { i.AckWait = 0 }, "a silence too short": func(i *info) { i.AckWait = time.Millisecond - 1 },
		"a silence too long": func(i *info) { i.AckWait = time.Hour + 1 }, "nobody's protocol": func(i *info) { i.Protocol, i.Version = protocol+1, "" },
	} {
		var damaged *infoError
		if _, err := parseInfo(text(change)); !errors.As(err, &damaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	i, err := parseInfo(text(func(i *info) { i.Version, i.Owner = "1\x1b[2J", strings.Repeat("x", 9000) }))
	if err != nil || i.Version != "1?[2J" || len(i.Owner) > longestText {
		t.Errorf("%+v, %v", i, err)
	}
}

// TestNotices hears what workers report: a waiting worker is remembered until it continues or falls silent, two of the same name
// count as two, and the number remembered is bounded.
func TestNotices(t *testing.T) {
	c := deaf(t)
	say := func(n notice) {
		t.Helper()
		b, err := json.Marshal(n)
		must(t, err)
		c.hear(&nats.Msg{Subject: "collapse.notice", Data: b})
	}
	waiting := func(want ...string) {
		t.Helper()
		var got []string
		for _, w := range c.Waiters() {
			got = append(got, w.Worker+": "+w.Why)
		}
		if strings.Join(got, "; ") != strings.Join(want, "; ") {
			t.Errorf("waiting are %q, want %q", got, want)
		}
	}
	say(notice{Worker: "b", Nonce: "1", Waits: "disk full"})
	say(notice{Worker: "a", Nonce: "2", Waits: "no memory\x1b[2J"})
	say(notice{Worker: "b", Nonce: "3", Waits: "disk full"})
	waiting("a: no memory?[2J", "b: disk full", "b: disk full")
	say(notice{Worker: "b", Nonce: "1"})
	say(notice{Worker: "b", Nonce: "3", Waits: "read-only"})
	waiting("a: no memory?[2J", "b: read-only")
	silent := time.Now().Add(-2 * c.b.opt.AckWait)
	for _, w := range c.waiters.list {
		w.heard = silent
	}
	say(notice{Worker: "a", Nonce: "2", Waits: "no memory"}) // it is heard again
	waiting("a: no memory")
	if c.Unusable().Count != 0 {
		t.Errorf("%+v", c.Unusable())
	}
	say(notice{Nonce: "1", Waits: "x"})
	say(notice{Worker: "w", Waits: strings.Repeat("x", 5*longestText)})
	say(notice{Worker: "w", Job: "collapse.job.p1.bad%id", Why: "no job", Bytes: 7})
	if u := c.Unusable(); u.Count != 3 || u.Last[2].What != "collapse.job.p1.bad%id" || u.Last[2].Why != "no job (found by w)" || u.Last[2].Bytes != 7 {
		t.Errorf("%+v", u)
	}
	for i := range mostWaiting + 10 {
		say(notice{Worker: "w", Nonce: fmt.Sprint(i), Waits: "x"})
	}
	if n := len(c.Waiters()); n != mostWaiting {
		t.Errorf("%d workers are remembered", n)
	}
}
