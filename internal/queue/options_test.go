package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// TestOptionsOfAQueue: what programs get that ask for nothing, and that what they ask for stays.
func TestOptionsOfAQueue(t *testing.T) {
	o := Options{}.withDefaults()
	o.Logf("nobody reads this")
	if o.Name != "collapse" || o.AckWait != 15*time.Second || o.MaxAttempts != 5 || o.Backoff != 2*time.Second || o.beat() != 5*time.Second || o.watch() != 7500*time.Millisecond {
		t.Errorf("%+v", o)
	}
	logged := 0
	own := Options{Name: "n", Version: "v", AckWait: 6 * time.Second, MaxAttempts: 1, Backoff: time.Hour, Logf: func(string, ...any) { logged++ }}.withDefaults()
	own.Logf("")
	if own.Name != "n" || own.Version != "v" || own.AckWait != 6*time.Second || own.MaxAttempts != 1 || own.Backoff != time.Hour || logged != 1 {
		t.Errorf("%+v", own)
	}
	if d := own.backoff(1); d != 5*time.Minute {
		t.Errorf("a pause of %v, though none is longer than 5 min", d)
	}
	for attempt, want := range map[int]time.Duration{1: 75 * time.Second, 2: 150 * time.Second, 3: 5 * time.Minute, 4: 5 * time.Minute} {
		if d := (Options{Backoff: 75 * time.Second}).backoff(attempt); d != want {
			t.Errorf("after attempt %d: %v, want %v", attempt, d, want)
		}
	}
}

// TestErrorsSayWhatToDo: marked errors keep what they mark, and each error of the package names what somebody has to change.
func TestErrorsSayWhatToDo(t *testing.T) {
	for name, mark := range map[string]func(error) error{"fail": Fail, "unfit": Unfit, "postpone": Postpone} {
		marked := fmt.Errorf("epoch 3: %w", mark(errServer))
		var later postponed
		if !errors.Is(marked, errServer) || !strings.Contains(marked.Error(), errServer.Error()) ||
			IsFailure(marked) != (name == "fail") || IsUnfit(marked) != (name == "unfit") || errors.As(marked, &later) != (name == "postpone") {
			t.Errorf("%s: %v", name, marked)
		}
	}
	if IsFailure(errServer) || IsUnfit(nil) {
		t.Error("an error without a mark")
	}
	for err, want := range map[error]string{
		&VersionError{"2", "1"}:              "queue: the coordinator is collapse 2 and this worker collapse 1; results of one study must come from one build: install 2 here",
		&OwnerError{"q", "a lab"}:            `queue: queue "q" of this NATS cluster belongs to a lab; choose another name with --queue`,
		&TokenError{"nats://x", true}:        "queue: nats://x asks for a token; pass --token-file with a copy of the coordinator's (queue.token in its lab)",
		&TokenError{"nats://x", false}:       "queue: nats://x refuses the token; --token-file must name a copy of the coordinator's (queue.token in its lab)",
		&HeldError{"lab/queue.lock", "p"}:    "queue: lab/queue.lock is held by p, which coordinates this lab's studies; wait for it, or stop it",
		&TooLargeError{"job x", 524289}:      "queue: job x has 524289 bytes, at most 524288 fit a message; use a blob",
		&CertificateError{"ca.pem"}:          "queue: ca.pem holds no certificate; want a file with -----BEGIN CERTIFICATE-----",
		checkSize("it", make([]byte, 1<<20)): "queue: it has 1048576 bytes, at most 524288 fit a message; use a blob",
	} {
		if err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
	if err := checkSize("it", make([]byte, MaxMessage)); err != nil {
		t.Error(err)
	}
}

// TestWhoCountsAsAway: no answer, and a cluster that has no leader yet. An answer that refuses does not.
func TestWhoCountsAsAway(t *testing.T) {
	for err, want := range map[error]bool{
		nil: false, errServer: false, context.Canceled: false, nats.ErrAuthorization: false, jetstream.ErrStreamNotFound: false,
		&jetstream.APIError{Code: 503}: true, &jetstream.APIError{Code: 502}: false, &jetstream.APIError{Code: 504}: false, &jetstream.APIError{Code: 400}: false,
		context.DeadlineExceeded: true, nats.ErrTimeout: true, nats.ErrNoResponders: true, nats.ErrDisconnected: true, nats.ErrConnectionReconnecting: true, jetstream.ErrNoStreamResponse: true,
	} {
		if err != nil {
			err = fmt.Errorf("asking: %w", err)
		}
		if isAway(err) != want {
			t.Errorf("%v counts as away: %v", err, !want)
		}
	}
	for err, want := range map[error]bool{nats.ErrTimeout: true, context.DeadlineExceeded: true, context.Canceled: true, errServer: false, nats.ErrNoResponders: false} {
		if isTimeout(fmt.Errorf("waiting: %w", err)) != want {
			t.Errorf("%v is the end of a wait: %v", err, !want)
		}
	}
}

// TestOutlasting: an exchange has five seconds, a server that is away is asked again every second, or as soon as it is back.
func TestOutlasting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newWorkshop().w.b
		began := time.Now()
		answers := []error{fmt.Errorf("asking: %w", nats.ErrNoResponders), &jetstream.APIError{Code: 503}, nil}
		asked := 0
		if err := b.outlast(t.Context(), func(context.Context) error { asked++; return answers[asked-1] }); err != nil || asked != 3 || time.Since(began) != 2*time.Second {
			t.Errorf("%v after %d exchanges and %v", err, asked, time.Since(began))
		}
		refusal := &jetstream.APIError{Code: 404}
		if err := b.outlast(t.Context(), func(context.Context) error { return refusal }); err != error(refusal) || time.Since(began) != 2*time.Second {
			t.Errorf("a refusal: %v", err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(8*time.Second, func() { cancel(errFound) })
		silent := func(ctx context.Context) error { asked++; <-ctx.Done(); return ctx.Err() }
		if err := b.outlast(ctx, silent); !errors.Is(err, errFound) || asked != 5 || time.Since(began) != 10*time.Second {
			t.Errorf("silence: %v after %d exchanges and %v", err, asked, time.Since(began))
		}
		ctx, cancel = context.WithCancelCause(t.Context())
		time.AfterFunc(500*time.Millisecond, func() { cancel(errFound) })
		if err := b.outlast(ctx, func(context.Context) error { return nats.ErrTimeout }); !errors.Is(err, errFound) || time.Since(began) != 10500*time.Millisecond {
			t.Errorf("a context that ends while nobody answers: %v after %v", err, time.Since(began))
		}
		asked = 0
		time.AfterFunc(100*time.Millisecond, b.wake)
		if err := b.outlast(t.Context(), func(context.Context) error { asked++; return answers[2*asked-2] }); err != nil || time.Since(began) != 10600*time.Millisecond {
			t.Errorf("a server that is back: %v after %v", err, time.Since(began))
		}
	})
}

// TestForgettingHasAnEnd: a coordinator that stops does not wait for a server that is away.
func TestForgettingHasAnEnd(t *testing.T) {
	c, _ := overseer(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errFound)
	if err := c.Forget(ctx, "job00000"); !errors.Is(err, errFound) {
		t.Errorf("a context that ended: %v", err)
	}
}

// TestPauses end after their time, when the server is back, and with the cause of a context.
func TestPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newWorkshop().w.b
		began := time.Now()
		if err := errors.Join(b.pause(t.Context(), time.Second), b.pauseWhole(t.Context(), time.Second)); err != nil || time.Since(began) != 2*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		time.AfterFunc(time.Second, b.wake)
		time.AfterFunc(3*time.Second, b.wake)
		for range 2 {
			if err := b.pause(t.Context(), time.Minute); err != nil {
				t.Error(err)
			}
		}
		if err := b.pauseWhole(t.Context(), time.Second); err != nil || time.Since(began) != 6*time.Second {
			t.Errorf("after %v", time.Since(began))
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errFound)
		if err1, err2 := b.pause(ctx, time.Hour), b.pauseWhole(ctx, time.Hour); !errors.Is(err1, errFound) || !errors.Is(err2, errFound) || time.Since(began) != 6*time.Second {
			t.Errorf("%v, %v after %v", err1, err2, time.Since(began))
		}
	})
}

// TestPausesBetweenConnections differ between workers, by two fifths at most: not all come at once to a server that is back.
func TestPausesBetweenConnections(t *testing.T) {
	for silence, shortest := range map[time.Duration]time.Duration{15 * time.Second: 500 * time.Millisecond, time.Hour: 500 * time.Millisecond, 3 * time.Second: 100 * time.Millisecond} {
		b := newWorkshop().w.b
		b.silence.Store(int64(silence))
		least, most := time.Hour, time.Duration(0)
		for range 2000 {
			d := b.reconnectDelay(1)
			least, most = min(least, d), max(most, d)
		}
		if least < shortest || least > shortest*11/10 || most > shortest*7/5 || most < shortest*13/10 {
			t.Errorf("AckWait %v: pauses from %v to %v, want %v to %v", silence, least, most, shortest, shortest*7/5)
		}
	}
}

// TestARefusalIsLoggedOnce, and other errors of the connection are not.
func TestARefusalIsLoggedOnce(t *testing.T) {
	s := newWorkshop()
	s.w.b.heedRefusal(nil, nil, errServer)
	if len(s.logs) != 0 || s.w.b.refused.Load() {
		t.Errorf("%q", s.logs)
	}
	for range 2 {
		s.w.b.heedRefusal(nil, nil, fmt.Errorf("%w: publish to \x1b", nats.ErrPermissionViolation))
	}
	if len(s.logs) != 1 || !strings.Contains(s.logs[0], "docs/internal/queue.md lists what must be allowed") || !strings.HasSuffix(s.logs[0], "publish to ?") {
		t.Errorf("%q", s.logs)
	}
	checkText(t, s.logs[0])
}

// TestReadingAQueuesDescription: there is none before a coordinator has written one; what cannot be had is an error with its cause.
func TestReadingAQueuesDescription(t *testing.T) {
	good := `{"protocol":1,"version":"1","owner":"lab","ack_wait":1000000000}`
	for _, test := range []struct {
		name, text string
		asks, get  error
		there      bool
		want       error
	}{
		{"one", good, nil, nil, true, nil},
		{"no bucket", good, jetstream.ErrBucketNotFound, nil, false, nil},
		{"no entry", "", nil, nil, false, nil},
		{"a bucket that is refused", good, errServer, nil, false, errServer},
		{"an entry that is refused", good, nil, errServer, false, errServer},
	} {
		s := newWorkshop()
		s.post.asks = test.asks
		if test.text != "" {
			s.kv.put(infoKey, []byte(test.text))
		}
		s.kv.err = func(string) error { return test.get }
		i, err := s.w.b.readInfo(t.Context())
		if (i != nil) != test.there || !errors.Is(err, test.want) || err != nil && !strings.HasPrefix(err.Error(), "queue: ") || i != nil && (i.Owner != "lab" || i.AckWait != time.Second) {
			t.Errorf("%s: %+v, %v", test.name, i, err)
		}
	}
	s := newWorkshop()
	s.kv.put(infoKey, []byte(`{"protocol":2,"version":"9"}`))
	var version *VersionError
	if i, err := s.w.b.readInfo(t.Context()); i != nil || !errors.As(err, &version) || version.Coordinator != "9" || version.Here != "1" {
		t.Errorf("another protocol: %+v, %v", i, err)
	}
	s.kv.put(infoKey, []byte("x"))
	if i, err := s.w.b.readInfo(t.Context()); i != nil || !errors.As(err, new(*infoError)) || errors.Unwrap(err) == nil {
		t.Errorf("a damaged one: %+v, %v", i, err)
	}
}
