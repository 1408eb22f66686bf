package queue

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"collapse.example/collapse/internal/longtest"
)

// everywhere connects to a server with all permissions, bypassing the Broker.
func everywhere(t *testing.T, s *Server) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	conn, err := nats.Connect("", nats.InProcessServer(s.s), nats.Token(s.roles.coordinator))
	must(t, err)
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	must(t, err)
	return conn, js
}

func second[T any](_ T, err error) error { return err }

func message(subject, data string, headers ...string) *nats.Msg {
	m := nats.NewMsg(subject)
	m.Data = []byte(data)
	for i := 0; i < len(headers); i += 2 {
		m.Header.Set(headers[i], headers[i+1])
	}
	return m
}

// garbage is what no well-behaved client publishes, on every subject and bucket of a queue that has the job job00001.
func garbage() []*nats.Msg {
	deep := strings.Repeat("[", 1<<19)
	list := []*nats.Msg{
		message("collapse.res.bad%id", "x"), message("collapse.res.*", "x"), message("collapse.res.>", "x"), message("collapse.res.ä", "x"),
		message("collapse.res."+strings.Repeat("a", 500), "x"),
		message("collapse.job.p1.bad%job", "x"), message("collapse.job.p1.*", "x"), message("collapse.job.*.job00001", "x"),
		message("collapse.job.p9.job00001", "x"), message("collapse.job.p1.nobody", deep), message("collapse.job.p0.job00001", "\x00\xff"),
		message("collapse.job.p0.nobody", "x", headVersion, "another", headState, "%%%"),
		message("collapse.notice", deep), message("collapse.notice", "{}"), message("collapse.notice", `{"worker":"w","waits":7}`),
		message("collapse.stop", ""), message("collapse.stop", "bad%id"), message("collapse.wake", deep),
		message("$KV.collapse-claims.info", "not JSON"), message("$KV.collapse-claims.unknown", "x"),
		message("$KV.collapse-claims.claim.bad%id", "{}"), message("$KV.collapse-claims.claim.a.b.c", deep),
		message("$KV.collapse-claims.claim.nobody", `{"worker":"w","nonce":"n","held":true,"generation":18446744073709551615}`),
		message("$KV.collapse-claims.claim.job00001", "\xff"), message("$KV.collapse-claims.claim.job00002", deep),
		message("$KV.collapse-claims.claim.job00003", `{"worker":"w","nonce":"n","held":true,"attempt":-1}`),
		message("$KV.collapse-claims.claim.job00004", `{"worker":"local/1","nonce":"n","held":true,"attempt":99999999999}`),
		message("$KV.collapse-claims.claim.job00005", `{"worker":"w","nonce":"n","held":true,"generation":18446744073709551615}`),
		message("$KV.collapse-claims.claim.job00006", `{"worker":"w","nonce":"n","held":true,"generation":-1}`),
		message("$O.collapse-blobs.M.%%%", "x"), message("$O.collapse-blobs.M."+base64.URLEncoding.EncodeToString([]byte("job00001/x")), deep),
	}
	for _, generation := range []string{"", "-1", "0", "18446744073709551615", "1e9", "9999999999999999999999"} {
		list = append(list, message("collapse.res.job00001", "x", headType, "done", headGeneration, generation, headAttempt, "1"))
	}
	for _, attempt := range []string{"", "-1", "0", "99999999999999999999", "9999999999"} {
		list = append(list, message("collapse.res.job00001", "x", headType, "done", headGeneration, "1", headAttempt, attempt))
	}
	for _, kind := range []string{"", "DONE", "\x1b[2J", strings.Repeat("done", 1000)} {
		list = append(list, message("collapse.res.job00001", "x", headType, kind, headGeneration, "1", headAttempt, "1"))
	}
	return list
}

// litter publishes the garbage, each piece often enough to be received in a batch of its own.
func litter(t *testing.T, s *Server) {
	t.Helper()
	conn, _ := everywhere(t, s)
	for _, m := range garbage() {
		must(t, conn.PublishMsg(m))
	}
	must(t, conn.Flush())
}

// TestGarbageStopsNobody publishes garbage everywhere before a queue is first used, while it is in use, and before it is used again.
func TestGarbageStopsNobody(t *testing.T) {
	dir := t.TempDir()
	s := startServer(t, ServerOptions{Dir: dir})
	b, err := s.Connect(hasty(t))
	must(t, err)
	c, err := b.Coordinate(t.Context(), "lab")
	must(t, err)
	litter(t, s)
	must(t, c.Submit(soon(t), jobs(8)...))
	b.Close()
	s.Close()

	s = startServer(t, ServerOptions{Dir: dir})
	b, err = s.Connect(hasty(t))
	must(t, err)
	t.Cleanup(b.Close)
	c, err = b.Coordinate(t.Context(), "lab") // with an invalid info entry
	must(t, err)
	guard(t, c)
	_, err = c.Free(soon(t), func(worker string) bool { return strings.HasPrefix(worker, "local/") })
	must(t, err)
	leases, err := c.Leases(soon(t))
	must(t, err)
	for _, lease := range leases {
		if !validID(lease.Job) || lease.Attempt < 0 || lease.Generation > 1<<32 {
			t.Errorf("lease %+v", lease)
		}
	}
	there, err := c.Jobs(soon(t))
	must(t, err)
	for _, id := range there {
		must(t, c.Forget(soon(t), id))
	}
	must(t, c.Submit(soon(t), jobs(8)...))
	l := collectFrom(t, c)
	work(t, b, WorkerOptions{Slots: 2}, echo)
	litter(t, s)
	// What the garbage displaced is submitted again, as a study does.
	over := time.Now().Add(left(t))
	for n := 0; n < 8 && time.Now().Before(over); time.Sleep(50 * time.Millisecond) {
		_, err := c.Jobs(soon(t))
		must(t, err)
		_, err = c.Leases(soon(t))
		must(t, err)
		l.mu.Lock()
		n = len(l.final)
		var missing []Job
		for _, job := range jobs(8) {
			if len(l.final[job.ID]) == 0 {
				missing = append(missing, job)
			}
		}
		l.mu.Unlock()
		must(t, c.Submit(soon(t), missing...))
	}
	for i, job := range jobs(8) {
		if got := l.final[job.ID]; len(got) == 0 || got[0].Type != Done || got[0].Data[0] != byte(i) {
			t.Errorf("%s ended %+v", job.ID, got)
		}
	}
	tally := c.Unusable()
	if tally.Count < 20 || len(tally.Last) != keptAside {
		t.Errorf("%d pieces of garbage set aside, %d kept: %+v", tally.Count, len(tally.Last), tally.Last)
	}
	for _, a := range tally.Last {
		if a.What == "" || a.Why == "" || len(a.What)+len(a.Why) > longestText || a.Time.IsZero() {
			t.Errorf("%+v", a)
		}
	}
	again, err := b.readInfo(t.Context())
	for start := time.Now(); err != nil && time.Since(start) < 10*time.Second; time.Sleep(20 * time.Millisecond) {
		again, err = b.readInfo(t.Context())
	}
	if err != nil || again.Owner != "lab" {
		t.Errorf("the description is not written again: %+v, %v", again, err)
	}
}

// TestReplayReadsPastGarbage: a stream that ends with garbage, including a whole batch of it, is read to its end.
func TestReplayReadsPastGarbage(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	s, c, b := local(t, quick(t))
	conn, _ := everywhere(t, s)
	for range 2 * batch {
		must(t, conn.PublishMsg(message("collapse.res.bad%id", "x")))
	}
	must(t, c.Submit(soon(t), jobs(1)...))
	l := collectFrom(t, c)
	work(t, b, WorkerOptions{}, echo)
	l.wait(t, 1)
	must(t, conn.PublishMsg(message("collapse.res.bad%id", "x")))
	must(t, conn.Flush())
	ended := 0
	must(t, c.Replay(soon(t), func(list []Message) error {
		for _, m := range list {
			if m.Type == Done {
				ended++
			}
		}
		return nil
	}))
	if ended != 1 {
		t.Errorf("%d ends are read again, want 1", ended)
	}
}

// TestASharedQueueWithADamagedDescription: the stream of jobs still names the owner.
func TestASharedQueueWithADamagedDescription(t *testing.T) {
	s, _, b := local(t, quick(t))
	_, js := everywhere(t, s)
	for _, text := range []string{"", "null", "[]", "{}", `{"protocol":-1}`, `{"protocol":1,"owner":"lab","ack_wait":-5}`, `{"protocol":1,"ack_wait":9223372036854775807}`} {
		must(t, second(js.PublishMsg(t.Context(), message("$KV.collapse-claims.info", text))))
		var owner *OwnerError
		if _, err := b.Coordinate(t.Context(), "another lab"); !errors.As(err, &owner) || owner.Owner != "lab" {
			t.Errorf("%s: another lab: %v", text, err)
		}
		if _, err := b.Coordinate(t.Context(), "lab"); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestDamagedBlobs gets blobs that exist in name only: each is an error soon.
func TestDamagedBlobs(t *testing.T) {
	s, _, b := local(t, quick(t))
	_, js := everywhere(t, s)
	blobs, err := b.Objects(t.Context())
	must(t, err)
	whole, err := blobs.Put(t.Context(), "job/whole", strings.NewReader(strings.Repeat("x", 300<<10)))
	must(t, err)
	meta := func(name, text string) {
		must(t, second(js.PublishMsg(t.Context(), message("$O.collapse-blobs.M."+base64.URLEncoding.EncodeToString([]byte(name)), text))))
	}
	meta("job/none", "x")
	meta("job/empty", "{}")
	meta("job/missing", `{"name":"job/missing","bucket":"collapse-blobs","nuid":"abc","size":5,"chunks":1,"digest":"SHA-256=x"}`)
	meta("job/huge", `{"name":"job/huge","bucket":"collapse-blobs","nuid":"abc","size":1000000000000000000,"chunks":1}`)
	meta("job/wild", `{"name":"job/wild","bucket":"collapse-blobs","nuid":">","size":5,"chunks":1}`)
	meta("job/link", `{"name":"job/link","bucket":"collapse-blobs","nuid":"abc","size":5,"options":{"link":{"bucket":"collapse-blobs","name":"job/link"}}}`)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for _, name := range []string{"none", "empty", "missing", "huge", "wild", "link", "absent"} {
		for _, size := range []int64{5, -1, 1000000000000000000} {
			if err := blobs.Get(ctx, Blob{Name: "job/" + name, Bytes: size}, io.Discard); err == nil {
				t.Errorf("%s of %d bytes is had", name, size)
			}
		}
	}
	for _, size := range []int64{-1, 0, whole.Bytes - 1, whole.Bytes + 1, 1 << 62} {
		if err := blobs.Get(ctx, Blob{Name: whole.Name, SHA256: whole.SHA256, Bytes: size}, io.Discard); err == nil {
			t.Errorf("a blob of %d bytes is had with %d", whole.Bytes, size)
		}
	}
	must(t, blobs.Get(ctx, whole, io.Discard))
	names, err := blobs.List(ctx)
	must(t, errors.Join(err, blobs.Remove(ctx, names...)))
	if left, err := blobs.List(ctx); err != nil || len(names) != 7 || len(left) > 0 {
		t.Errorf("%q, of which %q stay, %v", names, left, err)
	}
	if err := blobs.Get(ctx, whole, io.Discard); err == nil {
		t.Error("a removed blob is had")
	}
	if ctx.Err() != nil {
		t.Error("it takes longer than 20 s")
	}
}

// FuzzParse reads bytes as every kind of message.
func FuzzParse(f *testing.F) {
	for _, m := range garbage() {
		f.Add(m.Subject, m.Header.Get(headType), m.Header.Get(headGeneration), m.Header.Get(headAttempt), m.Data[:min(len(m.Data), 1000)])
	}
	f.Add("collapse.res.a", "done", "7", "1", leaseValue{Worker: "w", Nonce: "n"}.encode())
	f.Add("collapse.job.p1.a", "data", "7", "1", []byte(`{"protocol":1,"version":"1","owner":"o","ack_wait":1000000000}`))
	f.Fuzz(func(t *testing.T, subject, kind, generation, attempt string, data []byte) {
		texts := []string{}
		m, err := parseMessage("collapse.res.", subject, message("", "", headType, kind, headGeneration, generation, headAttempt, attempt, headWorker, kind, headError, subject).Header, data, 1)
		if err == nil {
			if !validID(m.Job) || m.Generation == 0 || m.Generation > 1<<63-1 || m.Attempt < 1 {
				t.Errorf("%+v", m)
			}
			texts = append(texts, m.Worker, m.Error)
		}
		if p, id, err := parseJob("collapse.job.", subject); err == nil && (!validID(id) || p < 0 || p >= priorities) {
			t.Errorf("job %q of priority %d", id, p)
		}
		if v, err := parseLease(data, 5); err == nil {
			if v.Generation > 5 || v.Attempt < 0 || v.Worker == "" {
				t.Errorf("%+v", v)
			}
			texts = append(texts, v.Worker)
		}
		if n, err := parseNotice(data); err == nil {
			texts = append(texts, n.Worker, n.Nonce, n.Waits, n.Why, n.Job)
		}
		if i, err := parseInfo(data); err == nil {
			if i.Protocol == protocol && i.AckWait <= 0 {
				t.Errorf("%+v", i)
			}
			texts = append(texts, i.Owner, i.Version)
		}
		for _, text := range texts {
			if len(text) > longestText || !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\x1b\n\r") {
				t.Errorf("%q", text)
			}
		}
	})
}

func TestCleanTextsAreBounded(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"host/12", "host/12"}, {"Zürich", "Zürich"}, {"a\x1b[2Jb\nc", "a?[2Jb?c"}, {"\xff\xfe", "?"}, {"a\u202eb", "a?b"},
		{strings.Repeat("x", 30), strings.Repeat("x", 16) + " …"}, {strings.Repeat("ä", 30), strings.Repeat("ä", 8) + " …"},
	} {
		if got := clean(c.in, 20); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.in, got, c.want)
		}
	}
	for n := range 40 {
		if got := clean(strings.Repeat("日", n), 21); len(got) > 21 || !utf8.ValidString(got) || strings.Contains(got, "?") {
			t.Errorf("%d characters: %q", n, got)
		}
	}
	if got := fmt.Sprint(validID(""), validID(strings.Repeat("a", 129)), validID("a.b"), validID("A-z_9")); got != "false false false true" {
		t.Error(got)
	}
}

// overtaken is a stream in which somebody else always deletes a message first.
type overtaken struct{ jetstream.Stream }

func (o overtaken) DeleteMsg(ctx context.Context, sequence uint64) error {
	return errors.Join(o.Stream.DeleteMsg(ctx, sequence), o.Stream.DeleteMsg(ctx, sequence))
}

// stuck is a stream from which no message can be deleted.
type stuck struct{ jetstream.Stream }

func (stuck) DeleteMsg(context.Context, uint64) error { return jetstream.ErrMsgDeleteUnsuccessful }

// TestGarbageThatAWorkerTookOutFirst is out of the queue, as intended. Garbage that stays is an error.
func TestGarbageThatAWorkerTookOutFirst(t *testing.T) {
	s, c, _ := local(t, quick(t))
	_, js := everywhere(t, s)
	must(t, c.Submit(soon(t), jobs(2)...))
	real := c.jobs
	for i, test := range []struct {
		jobs jetstream.Stream
		ok   bool
	}{{overtaken{real}, true}, {stuck{real}, false}, {real, true}} {
		_, err := js.PublishMsg(t.Context(), message(fmt.Sprintf("collapse.job.p1.bad%%%d", i), "x"))
		must(t, err)
		c.jobs = test.jobs
		there, err := c.Jobs(soon(t))
		if (err == nil) != test.ok || test.ok && len(there) != 2 {
			t.Errorf("%T: jobs %q, %v", test.jobs, there, err)
		}
	}
	if n, err := c.Waiting(t.Context()); err != nil || n != 2 {
		t.Errorf("%d messages in the queue, want the 2 jobs; %v", n, err)
	}
}

// TestABadIDIsAnError at every door: a lab that somebody else has written may hold one.
func TestABadIDIsAnError(t *testing.T) {
	_, c, _ := local(t, quick(t))
	for _, id := range []string{"", "../../x", "a.b", "*", ">", strings.Repeat("a", 129)} {
		for what, err := range map[string]error{
			"Submit": c.Submit(soon(t), Job{ID: id}), "Forget": c.Forget(soon(t), id), "Cancel": c.Cancel(soon(t), id), "Settled": c.Settled(soon(t), id),
		} {
			if err == nil {
				t.Errorf("%s takes the ID %q", what, id)
			}
		}
	}
	if c.Submit(soon(t), Job{ID: "a", Folder: "../x"}) == nil {
		t.Error("Submit takes a folder elsewhere")
	}
}
