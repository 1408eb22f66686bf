package serve

import (
	"net/http"
	"testing"
	"time"

	"collapse.example/collapse/internal/store"
)

// TestPagesBesideTheLabHaveALaneOfTheirOwn has as many pages under way as may be, which all wait for the lab. Those that read no lab answer.
func TestPagesBesideTheLabHaveALaneOfTheirOwn(t *testing.T) {
	s := startTest(t, Options{Lab: t.TempDir()})
	for range cap(s.busy) {
		s.busy <- struct{}{}
	}
	client := &http.Client{Timeout: 20 * time.Second}
	for _, path := range []string{"/words", "/measure", "/theory"} {
		answer, err := client.Get("http://" + s.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", path, answer.Status)
		}
	}
	for range cap(s.busy) {
		<-s.busy
	}
}

// TestCloseInterruptsReading has a task that reads the lab until that fails.
func TestCloseInterruptsReading(t *testing.T) {
	dir := t.TempDir()
	l, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Start(Options{Lab: dir, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	reading, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- s.lab.read(func(r *store.Reader) error {
			close(reading)
			for {
				if _, err := r.List(store.Filter{}); err != nil {
					return err
				}
			}
		})
	}()
	<-reading
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the server waits for a task that reads")
	}
	if err := <-ended; err == nil {
		t.Error("reading went on")
	}
}
