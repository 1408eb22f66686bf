package serve

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestIdleConnectionsKeepNobodyOut opens more connections than the server may have; each of those that say nothing gives way to the
// next one, and a stream of events that was admitted does not.
func TestIdleConnectionsKeepNobodyOut(t *testing.T) {
	s := startTest(t, Options{Lab: t.TempDir(), Connections: 4})
	at := s.Addr().String()
	stream, err := http.Get("http://" + at + "/events?page=runs")
	if err != nil || stream.StatusCode != http.StatusOK {
		t.Fatal(stream, err)
	}
	defer stream.Body.Close()
	for range 40 {
		c, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	r, err := (&http.Client{Timeout: 20 * time.Second}).Get("http://" + at + "/theory")
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatal(r, err)
	}
	r.Body.Close()
	s.door.mu.Lock()
	open, busy := len(s.door.open), 0
	for _, g := range s.door.open {
		busy += g.busy
	}
	s.door.mu.Unlock()
	if open > 4 || busy == 0 {
		t.Errorf("%d connections are open, %d with a request; want at most 4, and the stream", open, busy)
	}
	line := make([]byte, 5)
	if n, err := stream.Body.Read(line); err != nil || strings.TrimSpace(string(line[:n])) == "" {
		t.Errorf("the stream was cut off: %q, %v", line[:n], err)
	}
}

// TestRequestsAwaitAConnection takes the only connection with a stream; a request waits until the stream ends.
func TestRequestsAwaitAConnection(t *testing.T) {
	s := startTest(t, Options{Lab: t.TempDir(), Connections: 1})
	url := "http://" + s.Addr().String()
	stream, err := http.Get(url + "/events?page=runs")
	if err != nil || stream.StatusCode != http.StatusOK {
		t.Fatal(stream, err)
	}
	time.AfterFunc(300*time.Millisecond, func() { stream.Body.Close() })
	start := time.Now()
	r, err := (&http.Client{Timeout: 20 * time.Second}).Get(url + "/theory")
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatal(r, err)
	}
	r.Body.Close()
	if waited := time.Since(start); waited < 250*time.Millisecond {
		t.Errorf("the only connection was taken, but a request waited only %v", waited)
	}
}

// TestAwaitEnds tells a door that has no room that its patience, or the server, is at its end.
func TestAwaitEnds(t *testing.T) {
	for _, end := range []string{"patience", "server"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		d := newDoor(l, 0)
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if end == "patience" {
			d.patience = time.Millisecond
		} else { // not before the connection is there
			time.AfterFunc(time.Millisecond, func() { d.Close() })
		}
		start := time.Now()
		if d.await(c) || time.Since(start) > doorPatience/2 {
			t.Errorf("%s at its end: admitted, or late: %v", end, time.Since(start))
		}
		c.Close()
		d.Close()
	}
}
