package serve

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"collapse.example/collapse/internal/store"
)

// state is what browsers are told: complete each time, so a browser that missed some states has lost nothing.
type state struct {
	Version uint64            `json:"version"`        // grows with every change
	List    uint64            `json:"list"`           // grows when runs appear, go, or change their status
	Lost    string            `json:"lost,omitempty"` // why the lab cannot be read
	Runs    map[string]moment `json:"runs"`           // those running, and those that ended lately
}

// moment is the progress of a run.
type moment struct {
	Status store.Status `json:"status"`
	Epoch  int64        `json:"epoch"`
}

// remembered bounds how many ended runs a state names.
const remembered = 64

// maxStreams bounds the event streams of all browsers, maxStreamsEach those of one address.
const (
	maxStreams     = 256
	maxStreamsEach = 128
)

var errTooMany = errors.New("too many event streams are open; close some pages")

// hub watches the lab for all browsers. Each browser has a queue of length one, the newest state.
type hub struct {
	lab  *lab
	poll time.Duration
	most int // browsers

	mu      sync.Mutex
	clients map[chan state]bool
	each    map[string]int // by address
	now     state
	ended   []string // of now.Runs, oldest first

	watch  *store.Watch // watch and opened belong to run's goroutine
	opened int          // which reader watch is of
	last   store.Progress
}

func newHub(l *lab, poll time.Duration) *hub {
	return &hub{lab: l, poll: poll, clients: map[chan state]bool{}, each: map[string]int{}, most: maxStreams, now: state{Runs: map[string]moment{}}}
}

// join adds a browser, whose channel holds the current state at once.
func (h *hub) join(address string) (chan state, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.clients) >= h.most || h.each[address] >= maxStreamsEach {
		return nil, errTooMany
	}
	h.each[address]++
	c := make(chan state, 1)
	c <- h.now
	h.clients[c] = true
	return c, nil
}

func (h *hub) leave(c chan state, address string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.each[address]--; h.each[address] == 0 {
		delete(h.each, address)
	}
	delete(h.clients, c)
}

// run polls until ctx ends. It does nothing while no browser listens.
func (h *hub) run(ctx context.Context) {
	tick := time.NewTicker(h.poll)
	defer tick.Stop()
	defer h.unwatch()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if h.listeners() == 0 {
			h.unwatch()
			continue
		}
		h.look()
	}
}

func (h *hub) listeners() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.clients)
}

func (h *hub) unwatch() {
	if h.watch != nil {
		h.watch.Close() // it holds only a connection
		h.watch = nil
	}
}

// look checks whether the lab has changed and tells all browsers.
func (h *hub) look() {
	var progress store.Progress
	changed := false
	err := h.lab.read(func(r *store.Reader) (err error) {
		if h.watch != nil && h.opened != h.lab.opened {
			h.unwatch()
		}
		if h.watch == nil {
			if h.watch, err = r.Watch(); err != nil {
				return err
			}
			h.opened, changed = h.lab.opened, true
		}
		again, err := h.watch.Changed()
		if err != nil || !changed && !again {
			return err
		}
		changed = true
		progress, err = r.Progress(h.following())
		return err
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case err != nil:
		h.unwatch()
		if h.now.Lost != err.Error() {
			h.now.Lost = err.Error()
			h.tell()
		}
	case changed: // always true after a loss, since the watch is gone
		h.now.Lost = ""
		h.merge(progress)
		h.tell()
	}
}

// following are the runs last seen running: once one is not, how it ended is news.
func (h *hub) following() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for hash, m := range h.now.Runs {
		if m.Status == store.Running {
			out = append(out, hash)
		}
	}
	return out
}

// merge updates the state from the lab. The caller holds mu.
func (h *hub) merge(p store.Progress) {
	list := h.last.Runs != p.Runs || h.last.Newest != p.Newest
	h.last = p
	next := make(map[string]moment, len(p.Active)+len(h.ended))
	for _, hash := range h.ended {
		next[hash] = h.now.Runs[hash]
	}
	for _, r := range p.Active {
		before, known := h.now.Runs[r.Hash]
		m := moment{Status: r.Status, Epoch: r.LastEpoch}
		list = list || !known || before.Status != m.Status
		next[r.Hash] = m
		h.ended = slices.DeleteFunc(h.ended, func(s string) bool { return s == r.Hash })
		if m.Status != store.Running {
			h.ended = append(h.ended, r.Hash)
		}
	}
	for len(h.ended) > remembered {
		delete(next, h.ended[0])
		h.ended = h.ended[1:]
	}
	h.now.Runs = next
	if list {
		h.now.List++
	}
}

// tell puts the state into every queue, in place of an older one. The caller holds mu.
func (h *hub) tell() {
	h.now.Version++
	for c := range h.clients {
		select {
		case <-c:
		default:
		}
		c <- h.now
	}
}
