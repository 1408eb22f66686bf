package queue

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// client presents a token, and records which role it gets.
type client struct {
	server.ClientAuthentication
	token string
	as    *server.User
}

func (c *client) GetOpts() *server.ClientOpts { return &server.ClientOpts{Token: c.token} }
func (c *client) RegisterUser(u *server.User) { c.as = u }

// TestWhoATokenStandsFor: if there are no workers, no token is theirs, not even the empty one.
func TestWhoATokenStandsFor(t *testing.T) {
	for _, token := range []string{"", testToken} {
		r := newRoles("", token)
		for brought, want := range map[string]string{r.coordinator: "coordinator", testToken: "worker", "": "", testToken + "x": "", r.coordinator[1:]: ""} {
			if token == "" && want == "worker" {
				want = ""
			}
			c := &client{token: brought}
			if ok := r.Check(c); ok != (want != "") || ok && (c.as.Username != want || (c.as.Permissions == nil) != (want == "coordinator")) {
				t.Errorf("with the token %q, %q is taken for %+v: %v, want %q", token, brought, c.as, ok, want)
			}
		}
	}
}

// TestWhatAWorkersTokenMayNotDo tries what only a coordinator may do. Each attempt is refused by name, and has no effect.
func TestWhatAWorkersTokenMayNotDo(t *testing.T) {
	s, c := listening(t, quick(t), "")
	must(t, c.Submit(soon(t), jobs(3)...))
	var mu sync.Mutex
	refused := map[string]bool{}
	conn, err := nats.Connect(s.URL(), nats.Token(testToken), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		mu.Lock()
		defer mu.Unlock()
		refused[err.Error()] = true
	}))
	must(t, err)
	defer conn.Close()
	heard := func(want string) bool {
		mu.Lock()
		defer mu.Unlock()
		for text := range refused {
			if strings.Contains(strings.ToLower(text), strings.ToLower(want)) {
				return true
			}
		}
		return false
	}
	forbidden := []string{
		"collapse.job.p1.bad", "collapse.job.p0.job00001", "collapse.stop", "collapse.wake", "$KV.collapse-claims.info", "$KV.collapse-claims.other",
		"$KV.another-claims.claim.a", "another.res.a", "anything", "_INBOX.somebody",
		"$JS.API.STREAM.DELETE.collapse-jobs", "$JS.API.STREAM.PURGE.collapse-jobs", "$JS.API.STREAM.PURGE.collapse-results", "$JS.API.STREAM.PURGE.KV_collapse-claims",
		"$JS.API.STREAM.PURGE.OBJ_collapse-blobs", "$JS.API.STREAM.DELETE.OBJ_collapse-blobs", "$JS.API.STREAM.DELETE.KV_collapse-claims",
		"$JS.API.STREAM.UPDATE.collapse-jobs", "$JS.API.STREAM.CREATE.more", "$JS.API.STREAM.MSG.DELETE.collapse-results", "$JS.API.STREAM.SNAPSHOT.collapse-jobs",
		"$JS.API.CONSUMER.DELETE.collapse-results.coordinator", "$JS.API.CONSUMER.DELETE.collapse-jobs.p1", "$JS.API.CONSUMER.CREATE.collapse-results",
		"$JS.API.CONSUMER.CREATE.collapse-jobs.mine", "$JS.API.CONSUMER.MSG.NEXT.collapse-results.coordinator", "$JS.ACK.collapse-results.coordinator.1.1.1.1.0",
		"$JS.API.ACCOUNT.PURGE.$G", "$JS.API.INFO", "$SYS.REQ.SERVER.PING",
	}
	for _, subject := range forbidden {
		must(t, conn.Publish(subject, []byte("{}")))
	}
	for _, subject := range []string{"collapse.res.>", ">", "collapse.notice", "$KV.>", "$JS.>"} {
		sub, err := conn.SubscribeSync(subject)
		must(t, err)
		defer sub.Unsubscribe()
		forbidden = append(forbidden, "subscription to \""+subject)
	}
	must(t, conn.Flush())
	start := time.Now()
	for _, subject := range forbidden {
		for !heard(strings.TrimPrefix(subject, "subscription to ")) && time.Since(start) < 20*time.Second {
			time.Sleep(5 * time.Millisecond)
		}
		if !heard(strings.TrimPrefix(subject, "subscription to ")) {
			t.Errorf("%s is allowed", subject)
		}
	}
	if n, err := c.Waiting(t.Context()); err != nil || n != 3 {
		t.Errorf("%d jobs are left of 3, %v", n, err)
	}
	i, err := c.b.readInfo(t.Context())
	if err != nil || i.Owner != "lab" {
		t.Errorf("%+v, %v", i, err)
	}
}

// TestAWorkersMessageReplacesNoOther: a message may not ask the server to drop all before it.
func TestAWorkersMessageReplacesNoOther(t *testing.T) {
	s, c := listening(t, quick(t), "")
	must(t, c.Submit(soon(t), jobs(3)...))
	conn, err := nats.Connect(s.URL(), nats.Token(testToken))
	must(t, err)
	defer conn.Close()
	for _, subject := range []string{"$KV.collapse-claims.claim.a", "collapse.res.a"} {
		for _, which := range []string{"all", "sub"} {
			m := nats.NewMsg(subject)
			m.Data = []byte("{}")
			m.Header.Set("Nats-Rollup", which)
			answer, err := conn.RequestMsg(m, 10*time.Second)
			must(t, err)
			if !strings.Contains(string(answer.Data), "rollup not permitted") {
				t.Errorf("%s to replace %s: %s", subject, which, answer.Data)
			}
		}
	}
	if i, err := c.b.readInfo(t.Context()); err != nil || i == nil || i.Owner != "lab" {
		t.Errorf("the queue's description is %+v, %v", i, err)
	}
}

// TestWhatAWorkersTokenMayDo runs a job with everything that a worker does, over the network.
func TestWhatAWorkersTokenMayDo(t *testing.T) {
	t.Parallel()
	s, c := listening(t, quick(t), "")
	l := collectFrom(t, c)
	b, err := Connect(Remote{URL: s.URL(), Token: testToken}, quick(t))
	must(t, err)
	t.Cleanup(b.Close)
	large := strings.Repeat("0123456789", 100<<10) // of several parts
	must(t, c.Submit(soon(t), jobs(1)...))
	tries := 0
	work(t, b, WorkerOptions{}, func(ctx context.Context, task *Task) ([]byte, error) {
		if tries++; tries == 1 {
			return nil, errors.New("once more")
		}
		blobs, err := b.Objects(ctx)
		if err != nil {
			return nil, Fail(err)
		}
		blob, err := blobs.Put(ctx, task.ID+"/x", strings.NewReader(large))
		if err != nil {
			return nil, Fail(err)
		}
		second, err := blobs.Put(ctx, task.ID+"/x", strings.NewReader(large)) // as a retry does after a lost answer
		if err != nil {
			return nil, Fail(err)
		}
		var back strings.Builder
		if err := errors.Join(blobs.Get(ctx, blob, io.Discard), blobs.Get(ctx, second, &back), task.SetState(ctx, []byte("state")), task.Send(ctx, []byte("rows"))); err != nil {
			return nil, Fail(err)
		}
		if back.String() != large {
			return nil, Fail(errors.New("another blob came back"))
		}
		return []byte("end"), nil
	})
	l.wait(t, 1)
	if got := l.final["job00000"]; got[0].Type != Done || string(got[0].Data) != "end" || l.trouble != 1 || len(l.data["job00000"]) != 1 {
		t.Errorf("%+v, %d times trouble, %d results", got, l.trouble, len(l.data["job00000"]))
	}
	if b.refused.Load() {
		t.Error("a worker was refused something")
	}
}
