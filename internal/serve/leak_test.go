package serve

import (
	"bufio"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/store"
)

// openFiles counts the process's file descriptors by what they are; ok is false where the system does not show them. SQLite keeps and
// drops handles of the lab as it likes: those are left out while it is open.
func openFiles(lab string) (all int, other map[string]int, ok bool) {
	entries, err := os.ReadDir("/proc/self/fd")
	other = map[string]int{}
	for _, e := range entries {
		what, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err != nil {
			continue // the one of this look
		}
		all++
		kind, _, _ := strings.Cut(what, ":[") // socket, pipe
		if !strings.HasPrefix(what, lab) {
			other[kind]++
		}
	}
	return all, other, err == nil
}

// breaks are ways in which a connection goes wrong; each leaves it as a hasty or hostile browser would.
var breaks = []func(c net.Conn){
	func(c net.Conn) {}, // says nothing
	func(c net.Conn) { fmt.Fprint(c, "GET / HT") },
	func(c net.Conn) { fmt.Fprint(c, "\x16\x03\x01 not a request\r\n\r\n") },
	func(c net.Conn) { fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/html\r\n\r\n") }, // does not read the answer
	func(c net.Conn) { fmt.Fprint(c, "GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") },                // nor the stream
	func(c net.Conn) {
		fmt.Fprint(c, "GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
		bufio.NewReader(c).ReadString('\n') // goes when the stream has begun
	},
	func(c net.Conn) {
		fmt.Fprint(c, "POST /measure HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 99999\r\n\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x.npz\"\r\n\r\nand no more")
	},
	func(c net.Conn) { fmt.Fprint(c, "GET /events HTTP/1.1\r\nHost: evil.example\r\n\r\n") },
	func(c net.Conn) { c.(*net.TCPConn).SetLinger(0) }, // resets
	func(c net.Conn) {
		c.(*net.TCPConn).SetLinger(0)
		fmt.Fprint(c, "GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
	},
}

func TestBrokenConnectionsLeaveNothing(t *testing.T) {
	longtest.Only(t)
	dir := demoLab(t)
	tmp := ownTemp(t)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	once, err := Start(Options{Lab: dir, Listen: "127.0.0.1:0"}) // what the process opens once, it has opened
	if err != nil {
		t.Fatal(err)
	}
	if err := once.Close(); err != nil {
		t.Fatal(err)
	}
	filesBefore, _, _ := openFiles(dir)
	s, err := Start(Options{Lab: dir, Listen: "127.0.0.1:0", Poll: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	get(t, client, "GET", s.URL(), nil)
	if _, err := ofLab(s.lab, func(*store.Reader) (version, error) { return s.lab.version() }); err != nil { // the first who asks opens what watches the lab
		t.Fatal(err)
	}
	breakSome(t, s, 80) // the lab keeps two idle connections, which pages side by side open
	settled := func() int {
		for range 100 {
			time.Sleep(50 * time.Millisecond)
			if s.hub.listeners() == 0 && len(s.busy) == 0 {
				break
			}
		}
		time.Sleep(300 * time.Millisecond)
		return runtime.NumGoroutine()
	}
	goroutines := settled()
	_, openBefore, _ := openFiles(dir)
	const connections = 1000
	breakSome(t, s, connections)
	after := 0
	for range 40 { // the last handlers may still be on their way out
		if after = settled(); after <= goroutines {
			break
		}
	}
	const pools = 2 // connections to the lab that the first two pages which read it at once open, each with a goroutine
	if after > goroutines+pools {
		stack := make([]byte, 1<<16)
		t.Errorf("after %d broken connections: %d goroutines, %d before\n%s", connections, after, goroutines, stack[:runtime.Stack(stack, true)])
	}
	if _, open, ok := openFiles(dir); ok && !maps.Equal(open, openBefore) {
		t.Errorf("after %d broken connections these files are open: %v; before: %v", connections, open, openBefore)
	}
	if answer, _ := get(t, client, "GET", s.URL(), nil); answer.StatusCode != 200 {
		t.Errorf("afterwards the page answers %d", answer.StatusCode)
	}
	nothingLeft(t, tmp)
	// SQLite may keep a handle ready while the lab is open, so files are counted when it is closed.
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	filesAfter := 0
	for range 40 {
		if filesAfter, _, _ = openFiles(dir); filesAfter <= filesBefore {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if filesAfter > filesBefore {
		t.Errorf("after %d broken connections %d files are open, %d before the server", connections, filesAfter, filesBefore)
	}
}

// breakSome makes so many connections, forty at a time, and breaks each in the next way.
func breakSome(t *testing.T, s *Server, n int) {
	var held []net.Conn
	for i := range n {
		c, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		c.SetDeadline(time.Now().Add(10 * time.Second))
		breaks[i%len(breaks)](c)
		if held = append(held, c); len(held) == 40 || i == n-1 {
			for _, c := range held {
				c.Close()
			}
			held = held[:0]
		}
	}
}

// TestABrowserThatNeverReadsIsLetGo floods a stream whose other end reads nothing, while another reads on: the first is dropped, the
// second sees the newest state, and telling never waits.
func TestABrowserThatNeverReadsIsLetGo(t *testing.T) {
	s := startTest(t, Options{Lab: demoLab(t), Stalled: 300 * time.Millisecond})
	deaf, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	deaf.(*net.TCPConn).SetReadBuffer(1 << 10)
	fmt.Fprint(deaf, "GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
	answer, err := http.Get(s.URL() + "events")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := make(chan string, 1<<16)
	go func() {
		r := bufio.NewReader(answer.Body)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			lines <- line
		}
	}()
	for start := time.Now(); s.hub.listeners() < 2; time.Sleep(time.Millisecond) {
		if time.Since(start) > 5*time.Second {
			t.Fatal("the streams did not begin")
		}
	}
	big := strings.Repeat("x", 1<<20)
	longest := time.Duration(0)
	for start := time.Now(); s.hub.listeners() > 1; time.Sleep(time.Millisecond) {
		if time.Since(start) > 20*time.Second {
			t.Fatal("a browser that does not read still has its stream")
		}
		began := time.Now()
		s.hub.mu.Lock()
		s.hub.now.Lost = big
		s.hub.tell()
		s.hub.mu.Unlock()
		longest = max(longest, time.Since(began))
	}
	if longest > time.Second {
		t.Errorf("telling took %v: it waited for a browser", longest)
	}
	s.hub.mu.Lock()
	s.hub.now.Lost = "the newest"
	s.hub.tell()
	s.hub.mu.Unlock()
	for end := time.After(time.Minute); ; {
		select {
		case line := <-lines:
			if strings.Contains(line, "the newest") {
				return
			}
		case <-end:
			t.Fatal("the browser that reads did not see the newest state")
		}
	}
}
