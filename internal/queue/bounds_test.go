package queue

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
)

// TestTheLimitsOfAResult: each number at its limit is taken, and one beyond it is refused by name.
func TestTheLimitsOfAResult(t *testing.T) {
	for _, test := range []struct {
		id, kind, generation, attempt string
		says                          string // "": it is a result
	}{
		{"a", "data", "1", "1", ""},
		{strings.Repeat("a", longestID), "gave up", fmt.Sprint(math.MaxInt64), fmt.Sprint(mostAttempts), ""},
		{strings.Repeat("a", longestID+1), "data", "1", "1", "names no job"},
		{"", "data", "1", "1", "names no job"},
		{"a", "x\x1b", "1", "1", `a result of type "x?"`},
		{"a", "done", "0", "1", `a result of generation "0"`},
		{"a", "done", fmt.Sprint(uint64(math.MaxInt64) + 1), "1", `a result of generation "9223372036854775808"`},
		{"a", "failed", "1", "0", `a result of attempt "0"`},
		{"a", "trouble", "1", fmt.Sprint(mostAttempts + 1), `a result of attempt "1048577"`},
		{"a", "trouble", "1", "1.5", `a result of attempt "1.5"`},
	} {
		h := message("", "", headType, test.kind, headGeneration, test.generation, headAttempt, test.attempt, headWorker, "w\x1b", headError, "e\x1b").Header
		m, err := parseMessage("q.res.", "q.res."+test.id, h, []byte("data"), 9)
		if test.says != "" {
			says(t, fmt.Sprintf("%+v", test), err, test.says)
			continue
		}
		if err != nil || m.Job != test.id || string(m.Type) != test.kind || fmt.Sprint(m.Generation) != test.generation || fmt.Sprint(m.Attempt) != test.attempt ||
			m.Worker != "w?" || m.Error != "e?" || m.Sequence != 9 || string(m.Data) != "data" {
			t.Errorf("%+v, %v", m, err)
		}
	}
	h := message("", "", headType, "data", headGeneration, "1", headAttempt, "1").Header
	_, err := parseMessage("q.res.", "other.res.a", h, nil, 1)
	says(t, "another queue's", err, `"other.res.a" names no job`)
}

// TestSubjectsOfJobs: a priority that there is, and an ID.
func TestSubjectsOfJobs(t *testing.T) {
	for subject, want := range map[string]Priority{"q.job.p0.a": High, "q.job.p1.a": Normal, "q.job.p2.a": Low} {
		if p, id, err := parseJob("q.job.", subject); p != want || id != "a" || err != nil {
			t.Errorf("%s: %d, %q, %v", subject, p, id, err)
		}
	}
	for _, subject := range []string{"q.job.p3.a", "q.job.p-1.a", "q.job.p1", "q.job.p1.", "q.job.p1.a.b", "q.job.p1a", "p1.a", "q.job.1.a"} {
		_, _, err := parseJob("q.job.", subject)
		says(t, subject, err, fmt.Sprintf("queue: %q names no job", subject))
	}
	if err := checkID("a.b\x1b"); err == nil || err.Error() != `queue: no job can be called "a.b?": wanted letters, digits, '-' and '_' only, and at most 128 of them` {
		t.Error(err)
	}
	if err := checkID(strings.Repeat("x", longestID)); err != nil {
		t.Error(err)
	}
	if all := "09azAZ-_"; !validID(all) {
		t.Errorf("%s is none", all)
	}
	for _, c := range "/:@[`{.*> " {
		if validID(string(c)) {
			t.Errorf("%q is one", c)
		}
	}
}

// TestTextsAtTheirLimit: one that just fits stays, one byte more is cut to at most the limit.
func TestTextsAtTheirLimit(t *testing.T) {
	for n, want := range map[int]string{19: strings.Repeat("x", 19), 20: strings.Repeat("x", 20), 21: strings.Repeat("x", 16) + " …"} {
		if got := Clean(strings.Repeat("x", n), 20); got != want {
			t.Errorf("%d characters become %q, want %q", n, got, want)
		}
	}
}

// TestWhatADamagedDescriptionSays: the error gives the number that cannot be meant.
func TestWhatADamagedDescriptionSays(t *testing.T) {
	for text, want := range map[string]string{
		`{"protocol":0,"version":"7"}`:            `protocol 0 of version "7"`,
		`{"protocol":2}`:                          `protocol 2 of version ""`,
		`{"protocol":1,"ack_wait":1000}`:          "workers count as dead after 1µs",
		`{"protocol":1,"ack_wait":3600000000001}`: "workers count as dead after 1h0m0.000000001s",
	} {
		_, err := parseInfo([]byte(text))
		says(t, text, err, "queue: the queue's description cannot be read; a coordinator that starts writes it again: "+want)
	}
	for text, want := range map[string]string{
		`{"worker":"w","nonce":"n","generation":6}`:    "a lease of generation 6 in a write of revision 5",
		`{"worker":"w","nonce":"n","attempt":-1}`:      "a lease for attempt -1",
		`{"worker":"w","nonce":"n","attempt":1048577}`: "a lease for attempt 1048577",
		`{"worker":"w"}`: "a lease without an owner",
		`{`:              "an unreadable lease: ",
		`{"worker":"w","nonce":"n","progress":"` + strings.Repeat("AAAA", 6000) + `"}`: "a lease with 18000 bytes of progress and a state of 0",
	} {
		v, err := parseLease([]byte(text), 5)
		says(t, text[:min(len(text), 50)], err, "queue: "+want)
		if v.Worker != "" || v.Generation != 0 {
			t.Errorf("%.50s: %+v comes with an error", text, v)
		}
	}
}

// TestNoticesAreHeard: what is logged of each, and who is remembered since when and until when.
func TestNoticesAreHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := deaf(t)
		var logs []string
		c.b.opt.Logf = func(format string, args ...any) { logs = append(logs, fmt.Sprintf(format, args...)) }
		say := func(n notice) {
			b, err := json.Marshal(n)
			must(t, err)
			c.hear(&nats.Msg{Subject: "collapse.notice", Data: b})
		}
		heard := func(want ...string) {
			t.Helper()
			if !slices.Equal(logs, want) {
				t.Errorf("logged %q, want %q", logs, want)
			}
			logs = nil
		}
		began := time.Now().UTC()
		say(notice{Worker: "b", Nonce: "1", Waits: "disk full"})
		heard("worker b waits: disk full")
		time.Sleep(time.Second)
		say(notice{Worker: "b", Nonce: "1", Waits: "disk full"})
		heard()
		say(notice{Worker: "b", Nonce: "1", Waits: "read-only"})
		say(notice{Worker: "b", Nonce: "2", Waits: "too hot"})
		heard("worker b waits: read-only", "worker b waits: too hot")
		if w := c.Waiters(); len(w) != 2 || w[0] != (Waiting{"b", "read-only", began}) || w[1] != (Waiting{"b", "too hot", began.Add(time.Second)}) {
			t.Errorf("%+v", w)
		}
		say(notice{Worker: "b", Nonce: "2"})
		heard("worker b continues")
		say(notice{Worker: "b", Nonce: "2"})
		say(notice{Worker: "c", Nonce: "1"})
		heard()
		time.Sleep(c.b.opt.AckWait)
		if w := c.Waiters(); len(w) != 1 {
			t.Errorf("%+v, want the one that was silent for just AckWait", w)
		}
		time.Sleep(time.Nanosecond)
		if w := c.Waiters(); len(w) != 0 || len(c.waiters.list) != 0 {
			t.Errorf("%+v of %d", w, len(c.waiters.list))
		}
		for i := range mostWaiting {
			say(notice{Worker: "w", Nonce: fmt.Sprint(i), Waits: "x"})
		}
		if len(logs) != mostWaiting {
			t.Errorf("%d logged", len(logs))
		}
		logs = nil
		say(notice{Worker: "one more", Waits: "x"})
		heard()
		say(notice{Worker: "w", Nonce: "0", Waits: "y"}) // it is known
		heard("worker w waits: y")
	})
	padded := func(size int) []byte { return append([]byte(`{"worker":"w"}`), strings.Repeat(" ", size-14)...) }
	if _, err := parseNotice(padded(4 * longestText)); err != nil {
		t.Error(err)
	}
	_, err := parseNotice(padded(4*longestText + 1))
	says(t, "a longer one", err, "a notice that is too long")
	_, err = parseNotice([]byte(`{"nonce":"w"}`))
	says(t, "nobody's", err, "a notice without a sender")
	if _, err := parseNotice([]byte(`{"worker":7}`)); !errors.As(err, new(*json.UnmarshalTypeError)) {
		t.Error(err)
	}
	long := strings.Repeat("x", 3000)
	b, err := json.Marshal(notice{long, long, long, true, long, long, 7})
	must(t, err)
	n, err := parseNotice(b)
	if got := []int{len(n.Worker), len(n.Nonce), len(n.Waits), len(n.Job), len(n.Why), n.Bytes}; err != nil || !slices.Equal(got, []int{200, 200, 1024, 200, 1024, 7}) {
		t.Errorf("texts of %d bytes, %v", got, err)
	}
}

// TestErrorsOfTheServerAreLoggedNowAndThen: one of a kind each minute, whoever causes it; few kinds are remembered.
func TestErrorsOfTheServerAreLoggedNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logs []string
		l := newErrorLog(func(format string, args ...any) { logs = append(logs, fmt.Sprintf(format, args...)) })
		l.Errorf("127.0.0.1:1 - cid:7 - slow consumer")
		l.Errorf("127.0.0.1:2 - cid:8 - slow consumer")
		l.Errorf(`127.0.0.1:2 - cid:8 - authentication error - Token "[REDACTED]"`) // told with the client's address
		l.Fatalf("disk %s", "full")
		l.Noticef("x")
		l.Debugf("x")
		l.Tracef("x")
		l.Warnf("x")
		want := []string{"queue server: 127.0.0.1:1 - cid:7 - slow consumer", "queue server: disk full"}
		if !slices.Equal(logs, want) {
			t.Errorf("%q", logs)
		}
		time.Sleep(errorsEvery - 1)
		l.Errorf("- slow consumer")
		time.Sleep(time.Nanosecond)
		l.Errorf(" - slow consumer")
		if len(logs) != 3 {
			t.Errorf("%q", logs)
		}
		l = newErrorLog(func(string, ...any) {})
		for i := range mostKinds {
			l.due(fmt.Sprint(i))
		}
		if len(l.said) != mostKinds || l.due("0") || !l.due("more") || len(l.said) != 1 || !l.due("0") {
			t.Errorf("%d kinds are remembered", len(l.said))
		}
	})
}
