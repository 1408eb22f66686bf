package queue

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// TestAServerKeepsItsWord: what is acknowledged is on the disk, and the server takes no connection of its own from the network.
func TestAServerKeepsItsWord(t *testing.T) {
	dir := t.TempDir()
	s := startServer(t, ServerOptions{Dir: dir})
	if c := s.s.JetStreamConfig(); !c.SyncAlways || c.MaxMemory != 64<<20 || !strings.HasPrefix(c.StoreDir, dir) {
		t.Errorf("%+v", c)
	}
	if s.URL() != "" || s.s.Addr() != nil || s.front != nil {
		t.Errorf("it listens at %q, %v", s.URL(), s.s.Addr())
	}
	must(t, s.CheckDisk())
	if _, err := os.Stat(filepath.Join(dir, "room")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the check leaves %v", err)
	}
	must(t, os.Mkdir(filepath.Join(dir, "room"), 0o777))
	if err := s.CheckDisk(); !errors.Is(err, syscall.EISDIR) || !strings.HasPrefix(err.Error(), "queue: the server's disk: ") {
		t.Errorf("a disk that cannot be written: %v", err)
	}
	for _, o := range []ServerOptions{{Listen: ":0"}, {Listen: ":0", Token: testToken, CertFile: filepath.Join(dir, "none"), KeyFile: filepath.Join(dir, "none")}} {
		o.Dir = t.TempDir()
		if _, err := StartServer(o); err == nil || o.CertFile != "" && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%+v: %v", o, err)
		}
		startServer(t, ServerOptions{Dir: o.Dir}) // the one before has ended
	}
}

// TestWhereAServerListens: on the host that is named, and without one on this machine alone.
func TestWhereAServerListens(t *testing.T) {
	for listen, want := range map[string]string{":0": "nats://127.0.0.1:", "0.0.0.0:0": "nats://0.0.0.0:", "127.0.0.2:0": "nats://127.0.0.2:"} {
		s, err := StartServer(ServerOptions{Dir: t.TempDir(), Listen: listen, Token: testToken})
		if err != nil && strings.HasPrefix(listen, "127.0.0.2") {
			continue // a system that has no other loopback address
		}
		must(t, err)
		if !strings.HasPrefix(strings.Replace(s.URL(), "[::]", "0.0.0.0", 1), want) {
			t.Errorf("%s is %s", listen, s.URL())
		}
		s.Close()
	}
}

// TestQueuesShareNothing: the server lets workers into the queue of its name alone.
func TestQueuesShareNothing(t *testing.T) {
	if r := newRoles("mine", testToken); r.name != "mine" || len(r.coordinator) != 64 {
		t.Errorf("%+v", r)
	}
	if r := newRoles("", testToken); r.name != "collapse" {
		t.Errorf("%+v", r)
	}
	may := workersMay("mine")
	for _, subject := range append(slices.Clone(may.Publish.Allow), may.Subscribe.Allow...) {
		if !strings.Contains(subject, "mine") && subject != "_INBOX.>" {
			t.Errorf("%s is of no queue", subject)
		}
	}
	if may.Publish.Deny != nil || may.Subscribe.Deny != nil || len(may.Publish.Allow) != 25 || len(may.Subscribe.Allow) != 3 {
		t.Errorf("%d subjects to write, %d to read", len(may.Publish.Allow), len(may.Subscribe.Allow))
	}
}

// halting is a listener whose first answers are errors.
type halting struct {
	net.Listener
	errs  []error
	conns chan net.Conn
}

func (h *halting) Accept() (net.Conn, error) {
	if len(h.errs) > 0 {
		err := h.errs[0]
		h.errs = h.errs[1:]
		return nil, err
	}
	c, more := <-h.conns
	if !more {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (h *halting) Close() error { close(h.conns); return nil }

// newHalting is a front in memory, with as many places as are given.
func newHalting(places int, inside func() (net.Conn, error), errs ...error) (*front, *halting, *[]string) {
	h := &halting{errs: errs, conns: make(chan net.Conn, 10)}
	var logs []string
	f := &front{listener: h, inside: inside, log: newErrorLog(func(format string, _ ...any) { logs = append(logs, format) }), places: make(chan struct{}, places), open: map[net.Conn]bool{}}
	f.served.Go(f.accept)
	return f, h, &logs
}

// TestAFrontOfFewPlaces serves as many as there are places, the others after them; a shortage of descriptors passes.
func TestAFrontOfFewPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var servers []net.Conn
		began := time.Now()
		f, h, logs := newHalting(1, func() (net.Conn, error) {
			client, server := net.Pipe()
			servers = append(servers, server)
			return client, nil
		}, syscall.EMFILE, syscall.EMFILE)
		var guests []net.Conn
		for range 2 {
			guest, c := net.Pipe()
			guests = append(guests, guest)
			h.conns <- c
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if len(servers) != 1 || len(*logs) != 2 || !strings.Contains((*logs)[0], "takes no connection from outside for a moment") {
			t.Errorf("%d of 2 are served with one place, logged %q", len(servers), *logs)
		}
		go servers[0].Write([]byte("hello"))
		got := make([]byte, 5)
		_, err := io.ReadFull(guests[0], got)
		if err != nil || string(got) != "hello" {
			t.Errorf("%q, %v", got, err)
		}
		go guests[0].Write([]byte("there"))
		if _, err := io.ReadFull(servers[0], got); err != nil || string(got) != "there" {
			t.Errorf("%q, %v", got, err)
		}
		guests[0].Close() // the place is free
		synctest.Wait()
		if _, err := servers[0].Read(got); err != io.EOF {
			t.Errorf("the server's end stays open: %v", err)
		}
		if len(servers) != 2 || len(f.open) != 1 {
			t.Fatalf("%d are served, %d are open", len(servers), len(f.open))
		}
		servers[1].Close() // as a server does with one that does not log in
		if _, err := guests[1].Read(got); err != io.EOF {
			t.Errorf("the guest's end stays open: %v", err)
		}
		synctest.Wait()
		if len(f.open) != 0 || len(f.places) != 1 {
			t.Errorf("%d are open, %d places are taken: one waits for the next", len(f.open), len(f.places))
		}
		guest, c := net.Pipe()
		h.conns <- c
		synctest.Wait()
		go func() { synctest.Wait(); servers[2].Close() }()
		f.close()
		if _, err := guest.Read(got); err != io.EOF || f.enter(c) || time.Since(began) > 2*time.Second {
			t.Errorf("after its end: %v", err)
		}
	})
}

// TestAFrontWithoutAServer closes the connection at once.
func TestAFrontWithoutAServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h, _ := newHalting(1, func() (net.Conn, error) { return nil, errServer })
		guest, c := net.Pipe()
		h.conns <- c
		if _, err := guest.Read(make([]byte, 1)); err != io.EOF {
			t.Error(err)
		}
		synctest.Wait()
		if len(f.open) != 0 {
			t.Errorf("%d are open", len(f.open))
		}
		f.close()
	})
}

// TestEncryptionIsRequiredFirst: the server's first line says so before anything else passes; one that is none ends the connection.
func TestEncryptionIsRequiredFirst(t *testing.T) {
	cert, key := certificate(t)
	config, err := keyPair(cert, key)
	must(t, err)
	if len(config.Certificates) != 1 || config.MinVersion != tls.VersionTLS12 {
		t.Errorf("%+v", config)
	}
	for _, missing := range [][2]string{{cert + "x", key}, {cert, key + "x"}} {
		if _, err := keyPair(missing[0], missing[1]); !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "queue: certificate: ") {
			t.Error(err)
		}
	}
	greet := func(line string, guest func(c net.Conn)) (string, error) {
		f := &front{config: config}
		outside, c := net.Pipe()
		in, server := net.Pipe()
		go func() { io.WriteString(server, line); server.Close() }()
		go func() { guest(outside); outside.Close() }()
		from, _, err := f.greet(c, in)
		if err != nil {
			return "", err
		}
		rest, err := io.ReadAll(from)
		return string(rest), err
	}
	var heard string
	rest, err := greet("INFO {\"port\":1,\"tls_required\":false}\r\nPING\r\n", func(c net.Conn) {
		r := bufio.NewReader(c)
		heard, _ = r.ReadString('\n')
		secure := tls.Client(c, &tls.Config{InsecureSkipVerify: true})
		secure.Handshake()
		io.Copy(io.Discard, secure)
	})
	if heard != "INFO {\"port\":1,\"tls_required\":true}\r\n" || rest != "PING\r\n" || err != nil {
		t.Errorf("the guest is told %q, what remains is %q, %v", heard, rest, err)
	}
	for line, want := range map[string]string{"INFO x\r\n": "invalid character", "INFO {": "EOF", "": "EOF", "INFO {}\r\n": "closed pipe"} {
		_, err := greet(line, func(net.Conn) {})
		says(t, line, err, want)
	}
	_, err = greet("INFO {}\r\n", func(c net.Conn) { bufio.NewReader(c).ReadString('\n'); io.WriteString(c, "CONNECT {}\r\n and so on") })
	if err == nil {
		t.Error("one that does not encrypt is let in")
	}
}

// TestTokensAtTheirLimit: sixteen characters are enough, with whatever white space around them.
func TestTokensAtTheirLimit(t *testing.T) {
	for text, want := range map[string]string{strings.Repeat("x", 16): strings.Repeat("x", 16), " " + strings.Repeat("x", 17) + "\r\n": strings.Repeat("x", 17), strings.Repeat("x", 15): "", strings.Repeat("x", 15) + " ": "",
		"0123456789\t0123456789": "", "0123456789\r0123456789": ""} {
		got, err := parseToken("file", []byte(text))
		if got != want || (err == nil) != (want != "") || err != nil && err.Error() != "queue: file holds no token: wanted one line of at least 16 characters" {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if a, b := newToken(), newToken(); a == b || len(a) != 64 {
		t.Errorf("%s, %s", a, b)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "token")
	made, err := TokenFile(path, true)
	must(t, err)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != made+"\n" {
		t.Errorf("%q, %v", text, err)
	}
	if err := writeToken(path, "another"); !errors.Is(err, os.ErrExist) {
		t.Errorf("over another: %v", err)
	}
	if _, err := TokenFile(dir, true); err == nil || !strings.HasPrefix(err.Error(), "queue: the token: ") {
		t.Errorf("a folder: %v", err)
	}
	if digest([]byte(" x\n")) != digest([]byte("x")) || digest([]byte("x")) == digest([]byte("y")) {
		t.Error("a digest is of the token alone")
	}
}

// TestALockTellsItsHolder: the text is that of the last holder alone.
func TestALockTellsItsHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queue.lock")
	must(t, os.WriteFile(path, bytes.Repeat([]byte("x"), 5000), 0o666))
	l, err := TakeLock(path)
	must(t, err)
	defer l.Release()
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(text), "process ") || strings.Contains(string(text), "x x") || len(text) > 500 {
		t.Errorf("%q, %v", text, err)
	}
	must(t, os.WriteFile(path, bytes.Repeat([]byte("x"), 5000), 0o666))
	var held *HeldError
	if _, err := TakeLock(path); !errors.As(err, &held) || held.Path != path || len(held.Holder) != 1000 {
		t.Errorf("%d bytes of its holder, %v", len(held.Holder), err)
	}
	closed, err := os.Open(path)
	must(t, errors.Join(err, closed.Close()))
	if err := lockFile(closed); !errors.Is(err, syscall.EBADF) {
		t.Errorf("a file that is closed: %v", err)
	}
	if _, err := TakeLock(filepath.Join(path, "x")); err == nil || !strings.HasPrefix(err.Error(), "queue: ") {
		t.Error(err)
	}
}

// TestALabInAFolderThatIsGone has no name, and so no token.
func TestALabInAFolderThatIsGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	must(t, os.Mkdir(dir, 0o777))
	t.Chdir(dir)
	if err := os.Remove(dir); err != nil {
		t.Skip(err)
	}
	_, path, replaced, err := LabToken("lab")
	if err == nil || path != filepath.Join("lab", "queue.token") || replaced {
		t.Fatalf("%s, %v, %v", path, replaced, err)
	}
	says(t, "a lab without a place", err, "; name a file for it with --token-file")
}
