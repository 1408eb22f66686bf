package queue

import (
	"cmp"
	"encoding/json"
	"errors"
	"sort"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Waiting is a worker that asks for no work because its machine cannot do any at the moment.
type Waiting struct {
	Worker string    `json:"worker"`
	Why    string    `json:"why"`
	Since  time.Time `json:"since"` // when the coordinator first heard of it
}

// notice is a worker's message about itself. It is not stored: a worker that waits repeats it with every heartbeat.
type notice struct {
	Worker string `json:"worker"`
	Nonce  string `json:"nonce"` // tells two workers with the same name apart
	Waits  string `json:"waits,omitempty"`
	Ended  bool   `json:"ended,omitempty"` // so that it waits no more
	Job    string `json:"job,omitempty"`   // the subject of a job that cannot be used
	Why    string `json:"why,omitempty"`
	Bytes  int    `json:"bytes,omitempty"`
}

func (b *Broker) noticeSubject() string { return b.opt.Name + ".notice" }

// tell sends a notice about the worker.
func (w *worker) tell(n notice) {
	n.Worker, n.Nonce = w.name, w.self
	w.b.tell(n)
}

// tell sends a notice, if the server can be reached.
func (b *Broker) tell(n notice) {
	text, err := json.Marshal(n)
	if err == nil && b.conn.IsConnected() {
		b.conn.Publish(b.noticeSubject(), text) // best effort: it is repeated
	}
}

// mostWaiting bounds the number of waiting workers that are remembered.
const mostWaiting = 1000

// waiters are the workers that reported that they wait.
type waiters struct {
	mu   sync.Mutex
	list map[string]*waiter
}

type waiter struct {
	Waiting
	heard time.Time
}

// hear handles a notice.
func (c *Coordinator) hear(m *nats.Msg) {
	n, err := parseNotice(m.Data)
	if err != nil {
		c.SetAside(m.Subject, len(m.Data), err)
		return
	}
	if n.Job != "" {
		c.SetAside(n.Job, n.Bytes, errors.New(n.Why+" (found by "+n.Worker+")"))
		return
	}
	key, now := n.Worker+"\x00"+n.Nonce, time.Now()
	c.waiters.mu.Lock()
	old := c.waiters.list[key]
	fresh := n.Waits != "" && (old == nil || old.Why != n.Waits)
	switch {
	case n.Waits == "":
		delete(c.waiters.list, key)
	case old != nil:
		old.Why, old.heard = n.Waits, now
	case len(c.waiters.list) < mostWaiting:
		c.waiters.list[key] = &waiter{Waiting{n.Worker, n.Waits, now.UTC().Truncate(time.Millisecond)}, now}
	default:
		fresh = false
	}
	c.waiters.mu.Unlock()
	if fresh {
		c.b.opt.Logf("worker %s waits: %s", n.Worker, n.Waits)
	} else if n.Ended {
		c.b.opt.Logf("worker %s, which waited, has ended", n.Worker)
	} else if n.Waits == "" && old != nil {
		c.b.opt.Logf("worker %s continues", n.Worker)
	}
}

func parseNotice(b []byte) (notice, error) {
	var n notice
	if len(b) > 4*longestText {
		return n, errors.New("queue: a notice that is too long")
	}
	if err := json.Unmarshal(b, &n); err != nil {
		return n, err
	}
	if n.Worker == "" {
		return n, errors.New("queue: a notice without a sender")
	}
	n.Worker, n.Nonce = clean(n.Worker, longestName), clean(n.Nonce, longestName)
	n.Waits, n.Why, n.Job = clean(n.Waits, longestText/4), clean(n.Why, longestText/4), clean(n.Job, longestName)
	return n, nil
}

// Waiters returns the workers that wait, by name, without those that have been silent for Options.AckWait.
func (c *Coordinator) Waiters() []Waiting {
	c.waiters.mu.Lock()
	defer c.waiters.mu.Unlock()
	var list []Waiting
	for key, w := range c.waiters.list {
		if time.Since(w.heard) > c.b.opt.AckWait {
			delete(c.waiters.list, key)
			continue
		}
		list = append(list, w.Waiting)
	}
	sort.Slice(list, func(i, j int) bool {
		a, b := &list[i], &list[j]
		return cmp.Or(cmp.Compare(a.Worker, b.Worker), a.Since.Compare(b.Since)) < 0
	})
	return list
}

// Waits tells the coordinator why a worker that has not begun to work cannot begin; "" means that it can now.
func (b *Broker) Waits(worker, why string) { b.tell(notice{Worker: worker, Waits: why}) }
