package queue

import (
	"math/bits"
	"slices"
	"sync"
	"time"
)

// SetAside is something that arrived over the network and could not be used.
type SetAside struct {
	Time  time.Time `json:"time"`
	What  string    `json:"what"` // where it was: the subject of a message, the key of a lease
	Why   string    `json:"why"`
	Bytes int       `json:"bytes"`
}

// Tally counts what was set aside and keeps the last few.
type Tally struct {
	Count uint64     `json:"count"`
	Last  []SetAside `json:"last,omitempty"`
}

const (
	keptAside   = 5  // that a Tally keeps
	loggedAside = 10 // logged one by one; after that at each power of two
)

// deadLetters is the coordinator's Tally.
type deadLetters struct {
	mu    sync.Mutex
	tally Tally
	here  uint64 // counted by this process
	seen  uint64 // results up to this sequence are counted
}

// SetAside counts and logs something that cannot be used. A flood of it is logged only now and then.
func (c *Coordinator) SetAside(what string, size int, why error) {
	d := &c.aside
	d.mu.Lock()
	a := SetAside{Time: time.Now().UTC().Truncate(time.Millisecond), What: clean(what, longestName), Why: clean(why.Error(), longestText/8), Bytes: size}
	d.tally.Count++
	d.here++
	d.tally.Last = append(d.tally.Last, a)
	d.tally.Last = d.tally.Last[max(0, len(d.tally.Last)-keptAside):]
	here := d.here
	d.mu.Unlock()
	if here <= loggedAside || bits.OnesCount64(here) == 1 {
		c.b.opt.Logf("set aside: %s with %d bytes cannot be used (%s); %d so far", a.What, a.Bytes, a.Why, here)
	}
}

// asideResult is SetAside for a result, which may be delivered again.
func (c *Coordinator) asideResult(subject string, size int, sequence uint64, why error) {
	c.aside.mu.Lock()
	again := sequence <= c.aside.seen
	c.aside.seen = max(c.aside.seen, sequence)
	c.aside.mu.Unlock()
	if !again {
		c.SetAside(subject, size, why)
	}
}

// Unusable returns what has been set aside so far.
func (c *Coordinator) Unusable() Tally {
	c.aside.mu.Lock()
	defer c.aside.mu.Unlock()
	return Tally{Count: c.aside.tally.Count, Last: slices.Clone(c.aside.tally.Last)}
}

// CountOn continues the count of an earlier coordinator.
func (c *Coordinator) CountOn(t Tally) {
	c.aside.mu.Lock()
	defer c.aside.mu.Unlock()
	c.aside.tally.Count += t.Count
	all := append(slices.Clone(t.Last), c.aside.tally.Last...)
	c.aside.tally.Last = all[max(0, len(all)-keptAside):]
}
