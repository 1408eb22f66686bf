package serve

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// kept is a log that a test reads.
type kept struct {
	mu   sync.Mutex
	text strings.Builder
}

func (k *kept) log(format string, args ...any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	fmt.Fprintf(&k.text, format+"\n", args...)
}

func (k *kept) String() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.text.String()
}

// TestBrowsersThatDoNotReadHoldUpNobody asks for more large pages than are made at once and reads none: the next page comes all the
// same, and what was kept for them goes with them.
func TestBrowsersThatDoNotReadHoldUpNobody(t *testing.T) {
	s := startTest(t, Options{Lab: t.TempDir(), Stalled: 5 * time.Minute})
	s.busy = make(chan struct{}, 2)
	made := make(chan struct{}, 100)
	large := make([]byte, 16<<20) // more than sockets hold
	mux := http.NewServeMux()
	mux.Handle("/large", s.page(s.busy, func(w http.ResponseWriter, _ *http.Request) error { w.Write(large); made <- struct{}{}; return nil }))
	mux.Handle("/small", s.page(s.busy, func(w http.ResponseWriter, _ *http.Request) error { w.Write([]byte("words")); return nil }))
	server := httptest.NewServer(mux)
	defer server.Close()
	var deaf []net.Conn
	for range 3 {
		c, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		deaf = append(deaf, c)
		c.(*net.TCPConn).SetReadBuffer(1 << 10)
		fmt.Fprint(c, "GET /large HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
	}
	for i := range 3 {
		select {
		case <-made:
		case <-time.After(time.Minute):
			t.Fatalf("page %d waits for browsers that do not read", i+1)
		}
	}
	answer, err := (&http.Client{Timeout: time.Minute}).Get(server.URL + "/small")
	if err != nil {
		t.Fatal("a page waits for browsers that do not read:", err)
	}
	body, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if err != nil || string(body) != "words" {
		t.Errorf("the page is %q, %v", body, err)
	}
	for _, c := range deaf {
		c.Close()
	}
	for end := time.Now().Add(time.Minute); s.unsent.Load() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d bytes still wait for browsers that do not read", s.unsent.Load())
		}
	}
}

// TestAnswersOnTheirWayAreBounded refuses a page while too many others have not been taken.
func TestAnswersOnTheirWayAreBounded(t *testing.T) {
	s := startTest(t, Options{Lab: t.TempDir()})
	s.unsent.Add(mostUnsent)
	answer, body := get(t, http.DefaultClient, "GET", s.URL()+"measure", nil)
	if answer.StatusCode != 503 || answer.Header.Get("Retry-After") == "" || !strings.Contains(body, "slow to take") {
		t.Errorf("%d %s", answer.StatusCode, body)
	}
	s.unsent.Add(-mostUnsent)
	if answer, _ := get(t, http.DefaultClient, "GET", s.URL()+"measure", nil); answer.StatusCode != 200 {
		t.Errorf("afterwards: %d", answer.StatusCode)
	}
}

// TestAPanicIsAPage answers a fault of the program with a page that does not tell what it was; the log does, and the place is free.
func TestAPanicIsAPage(t *testing.T) {
	var log kept
	s := newServer(Options{Lab: t.TempDir(), Log: log.log}, &gate{})
	s.busy = make(chan struct{}, 1)
	page := s.page(s.busy, func(w http.ResponseWriter, _ *http.Request) error { w.Write([]byte("half a page")); panic("a secret") })
	for range 3 {
		answer := httptest.NewRecorder()
		page.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/x%0Ay", nil))
		if text := answer.Body.String(); answer.Code != 500 || strings.Contains(text, "secret") || strings.Contains(text, "half") || strings.Contains(text, ".go") {
			t.Errorf("%d %s", answer.Code, text)
		}
	}
	if text := log.String(); !strings.Contains(text, "a secret") || !strings.Contains(text, "responses_test.go") || !strings.Contains(text, `/x\ny`) {
		t.Errorf("the log is %s", text)
	}
}

// TestOneAddressDoesNotTakeAllStreams leaves event streams for others.
func TestOneAddressDoesNotTakeAllStreams(t *testing.T) {
	h := newHub(openLab(t.TempDir()), time.Second)
	var held []chan state
	for range maxStreamsEach {
		c, err := h.join("192.0.2.1")
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
	}
	if _, err := h.join("192.0.2.1"); err == nil {
		t.Errorf("an address has more than %d streams", maxStreamsEach)
	}
	if _, err := h.join("192.0.2.2"); err != nil {
		t.Error("another address has none:", err)
	}
	h.leave(held[0], "192.0.2.1")
	if _, err := h.join("192.0.2.1"); err != nil {
		t.Error("after one has ended:", err)
	}
}
