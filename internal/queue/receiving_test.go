package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// tape is a stream of results that its reader hands out. A message of no text ends a job.
type tape struct {
	jetstream.Stream
	texts []string
	at    int           // the next
	acked int           // before which all are acknowledged
	lost  map[int]bool  // messages that are handed out and do not arrive, once
	fails map[int]error // of requests, by number
	asked int           // requests for a reader, for messages, and acknowledgements
	after error         // what ends a batch of none
	empty bool          // a request without waiting brings nothing
	found []*jetstream.ConsumerConfig
}

func (p *tape) fail() error {
	p.asked++
	return p.fails[p.asked]
}

func (p *tape) info() *jetstream.ConsumerInfo {
	return &jetstream.ConsumerInfo{NumAckPending: p.at - p.acked, Delivered: jetstream.SequenceInfo{Consumer: uint64(p.at), Stream: uint64(p.at)},
		AckFloor: jetstream.SequenceInfo{Consumer: uint64(p.acked), Stream: uint64(p.acked)}}
}

func (p *tape) Consumer(context.Context, string) (jetstream.Consumer, error) {
	if err := p.fail(); err != nil {
		return nil, err
	}
	return &reel{p: p, info: p.info()}, nil
}
func (p *tape) DeleteConsumer(context.Context, string) error { return nil }
func (p *tape) CreateConsumer(_ context.Context, config jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	p.found = append(p.found, &config)
	p.at = int(config.OptStartSeq) - 1
	return &reel{p: p, info: p.info()}, nil
}

// reel is a reader of a tape.
type reel struct {
	jetstream.Consumer
	p    *tape
	info *jetstream.ConsumerInfo
}

func (r *reel) CachedInfo() *jetstream.ConsumerInfo                   { return r.info }
func (r *reel) Info(context.Context) (*jetstream.ConsumerInfo, error) { return r.p.info(), nil }
func (r *reel) FetchNoWait(n int) (jetstream.MessageBatch, error) {
	if r.p.empty {
		n = 0
	}
	return r.fetch(n)
}
func (r *reel) Fetch(n int, _ ...jetstream.FetchOpt) (jetstream.MessageBatch, error) {
	if r.p.at == len(r.p.texts) {
		time.Sleep(time.Second)
	}
	return r.fetch(n)
}

func (r *reel) fetch(n int) (jetstream.MessageBatch, error) {
	if err := r.p.fail(); err != nil {
		return nil, err
	}
	var got cut
	for ; n > 0 && r.p.at < len(r.p.texts); n-- {
		i := r.p.at
		r.p.at++
		if r.p.lost[i] {
			delete(r.p.lost, i)
			continue
		}
		kind := "data"
		if r.p.texts[i] == "" {
			kind = "done"
		}
		sequence := uint64(i) + 1
		m := message("collapse.res.one", r.p.texts[i], headType, kind, headGeneration, "1", headAttempt, "1")
		got.fetched = append(got.fetched, &noted{brought{m: m, meta: jetstream.MsgMetadata{Sequence: jetstream.SequencePair{Consumer: sequence, Stream: sequence}}}, r.p})
	}
	got.err = r.p.after
	return got, nil
}

// cut is a batch that may end with an error.
type cut struct {
	fetched
	err error
}

func (c cut) Error() error { return c.err }

// noted is a message of a tape.
type noted struct {
	brought
	p *tape
}

func (n *noted) Ack() error {
	if err := n.p.fail(); err != nil {
		return err
	}
	n.p.acked = int(n.meta.Sequence.Consumer)
	return nil
}

// play lets a coordinator receive a tape until a batch ends with its last message, and returns the batches.
func (p *tape) play(t *testing.T) (batches [][]string) {
	t.Helper()
	c := deaf(t)
	c.results = p
	var handled error
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := c.Receive(ctx, func(list []Message) error {
		var texts []string
		for _, m := range list {
			texts = append(texts, string(m.Data))
		}
		batches = append(batches, texts)
		if list[len(list)-1].Sequence == uint64(len(p.texts)) {
			handled = errFound
		}
		return handled
	})
	if err != errFound {
		t.Errorf("the handler's error comes back as %v", err)
	}
	return batches
}

// TestWhatIsReceivedTogether: as much as waits, up to a number of messages, of ends and of bytes; batches are whole.
func TestWhatIsReceivedTogether(t *testing.T) {
	rows := func(n int) []string { return strings.Fields(strings.Repeat("row ", n)) }
	large := strings.Repeat("x", enoughBytes/(2*batch))
	for _, test := range []struct {
		name  string
		texts []string
		sizes []int
	}{
		{"one", rows(1), []int{1}},
		{"two batches", rows(2 * batch), []int{2 * batch}},
		{"enough", rows(enough), []int{enough}},
		{"more than enough", rows(enough + 1), []int{enough, 1}},
		{"bytes, just not enough", slices.Repeat([]string{large[1:]}, 3*batch), []int{3 * batch}},
		{"bytes", slices.Repeat([]string{large}, 3*batch), []int{2 * batch, batch}},
		{"ends", make([]string, enoughEnds+1), []int{enoughEnds, 1}},
		{"ends, just not enough", append(append(make([]string, enoughEnds-1), "row"), rows(batch)...), []int{enoughEnds + batch}},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := &tape{texts: test.texts}
			var sizes []int
			var all []string
			for _, b := range p.play(t) {
				sizes = append(sizes, len(b))
				all = append(all, b...)
			}
			if !slices.Equal(sizes, test.sizes) || !slices.Equal(all, test.texts) {
				t.Errorf("%s: %d messages in batches of %v, want %d in %v", test.name, len(all), sizes, len(test.texts), test.sizes)
			}
			if want := len(test.texts) - test.sizes[len(test.sizes)-1]; p.acked != want {
				t.Errorf("%s: %d are acknowledged, want %d: the last were not handled", test.name, p.acked, want)
			}
		})
	}
}

// TestReceivingThroughTrouble: whatever a request meets, every message is handled, in order, and none is acknowledged unhandled.
func TestReceivingThroughTrouble(t *testing.T) {
	texts := []string{"a", "b", "c"}
	for _, test := range []struct {
		name  string
		p     *tape
		got   string
		waits time.Duration
	}{
		{"none", &tape{}, "[[a b c]]", 0},
		{"no reader", &tape{fails: map[int]error{1: errServer}}, "[[a b c]]", time.Second},
		{"no messages", &tape{fails: map[int]error{2: errServer}}, "[[a b c]]", time.Second},
		{"no message when waiting", &tape{empty: true, fails: map[int]error{3: errServer}}, "[[a] [b] [c]]", time.Second},
		{"one that waits for each", &tape{empty: true}, "[[a] [b] [c]]", 0},
		{"a first message that is lost", &tape{lost: map[int]bool{0: true}}, "[[a b c]]", 0},
		{"a message that is lost", &tape{lost: map[int]bool{1: true}}, "[[a b c]]", 0},
		{"a lost message when waiting", &tape{empty: true, lost: map[int]bool{1: true}}, "[[a] [b] [c]]", 0},
		{"an acknowledgement that fails", &tape{empty: true, fails: map[int]error{4: errServer}}, "[[a] [a] [b] [c]]", time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			test.p.texts = texts
			began := time.Now()
			if got := fmt.Sprint(test.p.play(t)); got != test.got || time.Since(began) != test.waits {
				t.Errorf("%s: %s after %v, want %s after %v", test.name, got, time.Since(began), test.got, test.waits)
			}
		})
	}
}

// TestReceivingNothing ends with its context, and does not ask the server all the time.
func TestReceivingNothing(t *testing.T) {
	for name, p := range map[string]*tape{"no messages": {}, "a server that says so": {after: nats.ErrTimeout}, "the end of a wait": {after: context.DeadlineExceeded}, "trouble": {after: errServer}} {
		synctest.Test(t, func(t *testing.T) {
			c := deaf(t)
			c.results = p
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errFound)
			defer cancel()
			began := time.Now()
			err := c.Receive(ctx, func(list []Message) error { t.Errorf("%s: handled %v", name, list); return nil })
			if took := time.Since(began); !errors.Is(err, errFound) || took < time.Minute || took > time.Minute+time.Second || p.asked > 130 {
				t.Errorf("%s: %v after %v, %d requests", name, err, took, p.asked)
			}
			if troubled := name == "trouble"; troubled != (p.asked < 110) {
				t.Errorf("%s: %d requests", name, p.asked)
			}
		})
	}
}

// TestANewReaderOfResults keeps what an unfinished one had in hand, waits a minute for an acknowledgement, and delivers until it gets one.
func TestANewReaderOfResults(t *testing.T) {
	c := deaf(t)
	p := &tape{texts: make([]string, 9), at: 7, acked: 4}
	c.results = p
	_, err := c.reader(t.Context())
	want := jetstream.ConsumerConfig{Durable: "coordinator", AckPolicy: jetstream.AckAllPolicy, AckWait: time.Minute, MaxDeliver: -1, MaxAckPending: 200_000,
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: 5}
	if err != nil || len(p.found) != 1 || fmt.Sprintf("%+v", *p.found[0]) != fmt.Sprintf("%+v", want) {
		t.Errorf("%+v, %v", p.found, err)
	}
}
