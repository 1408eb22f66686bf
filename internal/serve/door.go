package serve

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// door bounds how many connections are open at a time. Where all are taken, a new one replaces the oldest that no admitted request
// uses: anybody can open connections and leave them idle, and these must neither use up the files that pages are read from, nor keep
// readers out. Where admitted requests use all, new ones wait in the system's list.
type door struct {
	net.Listener
	most     int
	patience time.Duration // for a request to end
	freed    chan struct{} // a connection may have become free
	closed   chan struct{}
	closing  sync.Once

	mu   sync.Mutex
	open map[net.Conn]*guest
}

// guest is one connection.
type guest struct {
	came time.Time
	busy int // admitted requests under way
}

func newDoor(l net.Listener, most int) *door {
	return &door{Listener: l, most: most, patience: doorPatience, freed: make(chan struct{}, 1), closed: make(chan struct{}), open: map[net.Conn]*guest{}}
}

// doorPatience is a few times what a page takes.
const doorPatience = 5 * time.Second

// Accept implements net.Listener.
func (d *door) Accept() (net.Conn, error) {
	for {
		c, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if d.await(c) {
			return c, nil
		}
		c.Close()
	}
}

// Close implements net.Listener.
func (d *door) Close() error {
	d.closing.Do(func() { close(d.closed) })
	return d.Listener.Close()
}

// await admits a connection, and reports whether there was room for it in time.
func (d *door) await(c net.Conn) bool {
	late := time.NewTimer(d.patience)
	defer late.Stop()
	for !d.admit(c) {
		select {
		case <-d.freed:
		case <-late.C:
			return false
		case <-d.closed:
			return false
		}
	}
	return true
}

func (d *door) admit(c net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.open) >= d.most && !d.evict() {
		return false
	}
	d.open[c] = &guest{came: time.Now()}
	return true
}

// evict closes the oldest connection without an admitted request. The caller holds d.mu.
func (d *door) evict() bool {
	var oldest net.Conn
	for c, g := range d.open {
		if g.busy == 0 && (oldest == nil || g.came.Before(d.open[oldest].came)) {
			oldest = c
		}
	}
	if oldest == nil {
		return false
	}
	delete(d.open, oldest)
	oldest.Close()
	return true
}

// left is the server's http.Server.ConnState.
func (d *door) left(c net.Conn, s http.ConnState) {
	if s == http.StateClosed || s == http.StateHijacked {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.open, c)
		d.free()
	}
}

// free tells one who awaits room that there may be some.
func (d *door) free() {
	select {
	case d.freed <- struct{}{}:
	default:
	}
}

type connKey struct{}

// know is the server's http.Server.ConnContext.
func (d *door) know(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// serving keeps the connection of an admitted request open until done is called.
func (d *door) serving(r *http.Request) (done func()) {
	c, _ := r.Context().Value(connKey{}).(net.Conn)
	d.add(c, 1)
	return func() { d.add(c, -1) }
}

func (d *door) add(c net.Conn, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if g := d.open[c]; g != nil { // else it was closed meanwhile
		g.busy += n
		if g.busy == 0 {
			d.free()
		}
	}
}
