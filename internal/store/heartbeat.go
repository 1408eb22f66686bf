package store

import (
	"database/sql"
	"errors"
	"sync"
	"time"
)

// KeepBeating sends a heartbeat every sixth of Options.Stale until the lease is lost or given up, or until stop is called. stop
// waits for a heartbeat under way and may be called twice.
//
// A heartbeat that fails for another reason, because the disk is full or the lab is busy, is tried again at the next; the run's own
// writes report such errors.
func (c *Lease) KeepBeating() (stop func()) {
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(c.lab.beatEvery())
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-c.lost:
				return
			case <-tick.C:
				if !c.beatIfHeld() {
					return
				}
			}
		}
	}()
	var once sync.Once
	return func() { once.Do(func() { close(quit) }); <-ended }
}

// beatEvery is the time between two heartbeats: a few may be late before a lease looks dead.
func (l *Lab) beatEvery() time.Duration { return l.stale / 6 }

// beatIfHeld returns false when the lease is no longer held.
func (c *Lease) beatIfHeld() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.givenUp {
		return false
	}
	return !errors.Is(c.fenced(func(*sql.Tx) error { return nil }), ErrLost)
}
