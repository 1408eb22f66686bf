package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/longtest"
)

// TestMeasurementsShareTheMemory: while others hold it an upload is told to come again, and each gives back what it took.
func TestMeasurementsShareTheMemory(t *testing.T) {
	ownTemp(t)
	s := startTest(t, Options{Lab: t.TempDir()})
	const room = 1 << 20
	s.memory = arrayfile.NewBudget(room)
	mine := map[string][]byte{"mine.npz": featureFile(t)}
	others := s.memory.Part(room)
	if err := others.Take(room); err != nil {
		t.Fatal(err)
	}
	if answer, body := upload(t, s, mine); answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" || !strings.Contains(body, "use all the memory") {
		t.Errorf("beside others: %d: %s", answer.StatusCode, body)
	}
	others.Release()
	if answer, _ := upload(t, s, mine); answer.StatusCode != http.StatusOK {
		t.Errorf("after the others: %d", answer.StatusCode)
	}
	uploadsUnderWay(t, s, 0)
	if used := s.memory.Used(); used != 0 {
		t.Errorf("%d bytes are counted after the last measurement", used)
	}
}

// TestMeasurementsLeaveNothing counts threads' goroutines and open files after many of them, some of files that cannot be measured.
func TestMeasurementsLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	s := newServer(Options{Lab: dir}, nil)
	defer s.lab.close()
	good, bad := filepath.Join(dir, "0", "good.npz"), filepath.Join(dir, "0", "bad.npz")
	for _, err := range []error{os.Mkdir(filepath.Dir(good), 0o700), os.WriteFile(good, featureFile(t), 0o600), os.WriteFile(bad, featureFile(t)[:900], 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	some := func() {
		for range 10 {
			if _, err := s.measureFiles(t.Context(), []string{good}, arrayNames{}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.measureFiles(t.Context(), []string{good, bad}, arrayNames{}); err == nil {
				t.Fatal("half a file was measured")
			}
		}
	}
	some() // what is made once stays
	threads := runtime.NumGoroutine()
	files, _, _ := openFiles(dir)
	some()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) { // goroutines end a moment after they were told to
		left := runtime.NumGoroutine() - threads
		if left < 10 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d goroutines are left of 20 measurements", left)
		}
	}
	if used := s.memory.Used(); used != 0 {
		t.Errorf("%d bytes are counted after 20 measurements", used)
	}
	if now, _, _ := openFiles(dir); now >= files+10 {
		t.Errorf("%d files are open after 20 measurements, %d before", now, files)
	}
}

// TestNothingIsOpenedForWhoHasLeft: a measurement whose request has ended finds out before it reads its files.
func TestNothingIsOpenedForWhoHasLeft(t *testing.T) {
	s := newServer(Options{Lab: t.TempDir()}, nil)
	defer s.lab.close()
	path := filepath.Join(t.TempDir(), "x.npz")
	if err := os.WriteFile(path, []byte("no features"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.measureFiles(ctx, []string{path}, arrayNames{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was cancelled", err)
	}
}

// TestWhoLeavesTheQueue: an upload whose browser leaves while it waits for a place is forgotten.
func TestWhoLeavesTheQueue(t *testing.T) {
	tmp := ownTemp(t)
	s := newServer(Options{Lab: t.TempDir()}, nil)
	defer s.lab.close()
	for range cap(s.measuring) {
		s.measuring <- struct{}{}
	}
	up, err := s.uploads.begin(httptest.NewRequest(http.MethodPost, "/measure", nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := up.take(1000); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.measureTimely(ctx, up, nil, arrayNames{}); !errors.Is(err, context.Canceled) || statusOf(err) != http.StatusServiceUnavailable {
		t.Errorf("%v, want that it was cancelled", err)
	}
	if u := &s.uploads; u.count != 0 || u.bytes != 0 || len(u.each) != 0 || len(s.measuring) != cap(s.measuring) {
		t.Errorf("%d uploads of %d addresses and %d bytes are counted, %d of %d places are taken", u.count, len(u.each), u.bytes, len(s.measuring), cap(s.measuring))
	}
	nothingLeft(t, tmp)
}

// TestRefusedUploadsAreNotWaitedFor: who is refused hears so, even if the rest of a short body never comes.
func TestRefusedUploadsAreNotWaitedFor(t *testing.T) {
	longtest.Only(t)
	ownTemp(t)
	s := startTest(t, Options{Lab: t.TempDir(), UploadPatience: 5 * time.Minute})
	ask := func(kind string) int {
		c, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(30 * time.Second))
		fmt.Fprintf(c, "POST /measure HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: %s\r\nContent-Length: 1000\r\n\r\nand no more", kind)
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	if got := ask("text/plain"); got != http.StatusBadRequest {
		t.Errorf("no form: %d", got)
	}
	for range mostUploadsEach {
		if err := s.uploads.admit("127.0.0.1"); err != nil {
			t.Fatal(err)
		}
	}
	if got := ask("multipart/form-data; boundary=b"); got != http.StatusServiceUnavailable {
		t.Errorf("one upload too many: %d", got)
	}
}
