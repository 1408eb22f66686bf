package queue

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"collapse.example/collapse/internal/descriptors"
	"collapse.example/collapse/internal/inputfile"
)

// front connects other machines with a server that only its own process reaches. The server itself would take as many connections as
// the system gives, and close those too many afterwards: strangers would leave no descriptors for files. Here others wait in the
// system's list until one of theirs ends; the server ends those that do not log in.
type front struct {
	listener net.Listener
	config   *tls.Config // nil: connections are not encrypted
	inside   func() (net.Conn, error)
	log      errorLog
	places   chan struct{} // one is taken for each connection

	mu     sync.Mutex
	open   map[net.Conn]bool // nil once the front is closed
	served sync.WaitGroup
}

// handshakeTime is how long the encryption of a connection may take to be set up.
const handshakeTime = 5 * time.Second

// newFront listens on "host:port", or on this machine alone if the host is empty.
func newFront(address string, config *tls.Config, inside func() (net.Conn, error), log errorLog) (*front, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("queue: --listen %q: wanted host:port, such as 0.0.0.0:4333: %w", address, err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("queue: --listen %q: is the address free? %w", address, err)
	}
	f := &front{listener: l, config: config, inside: inside, log: log, places: make(chan struct{}, descriptors.Share(2)), open: map[net.Conn]bool{}}
	f.served.Go(f.accept)
	return f, nil
}

// keyPair is the configuration of a server that proves itself with a certificate.
func keyPair(certFile, keyFile string) (*tls.Config, error) {
	for _, path := range []string{certFile, keyFile} {
		if err := inputfile.Check(path, inputfile.Bundle); err != nil {
			return nil, fmt.Errorf("queue: certificate: %w", err)
		}
	}
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("queue: certificate: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// url is the address for others.
func (f *front) url() string {
	if f.config != nil {
		return "tls://" + f.listener.Addr().String()
	}
	return "nats://" + f.listener.Addr().String()
}

// accept serves connections until close. A shortage of descriptors passes.
func (f *front) accept() {
	for {
		f.places <- struct{}{}
		c, err := f.listener.Accept()
		switch {
		case err == nil:
			f.served.Go(func() {
				defer func() { <-f.places }()
				f.serve(c)
			})
		case errors.Is(err, net.ErrClosed):
			return
		default:
			<-f.places
			f.log.logf("the queue takes no connection from outside for a moment: %v", err)
			time.Sleep(100 * time.Millisecond)
		}
	}
}

// serve passes on what the two ends of a connection say until one of them has ended.
func (f *front) serve(c net.Conn) {
	if !f.enter(c) {
		return
	}
	defer f.leave(c)
	in, err := f.inside()
	if err != nil { // the server is about to end
		return
	}
	defer in.Close()
	from, out, err := f.greet(c, in)
	if err != nil { // a stranger's fault, or it went away
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer in.Close()
		io.Copy(in, out)
	}()
	to := &outward{Conn: out}
	io.Copy(to, from)
	c.Close()
	<-done
	if to.refused {
		f.log.refused(c.RemoteAddr())
	}
}

// outward gives up on a peer that takes nothing for as long as the server would wait for it, and notes whether the server's last words turned
// it away.
type outward struct {
	net.Conn
	refused bool
}

func (t *outward) Write(b []byte) (int, error) {
	t.refused = bytes.HasSuffix(b, []byte("-ERR 'Authorization Violation'\r\n"))
	t.SetWriteDeadline(time.Now().Add(server.DEFAULT_FLUSH_DEADLINE))
	return t.Conn.Write(b)
}

// greet passes on the server's first line. On an encrypted connection it says that encryption is required, and sets that up. It
// returns what remains of the server's words, and the connection for all others.
func (f *front) greet(c, in net.Conn) (io.Reader, net.Conn, error) {
	from := bufio.NewReader(in)
	if f.config == nil {
		return from, c, nil
	}
	c.SetDeadline(time.Now().Add(handshakeTime))
	line, err := from.ReadString('\n')
	if err != nil {
		return nil, nil, err
	}
	var info map[string]any
	if err := json.Unmarshal([]byte(strings.TrimPrefix(line, "INFO ")), &info); err != nil {
		return nil, nil, err
	}
	info["tls_required"] = true
	text, err := json.Marshal(info)
	if err != nil {
		return nil, nil, err
	}
	if _, err := fmt.Fprintf(c, "INFO %s\r\n", text); err != nil {
		return nil, nil, err
	}
	secure := tls.Server(c, f.config)
	if err := secure.Handshake(); err != nil {
		return nil, nil, err
	}
	return from, secure, c.SetDeadline(time.Time{})
}

func (f *front) enter(c net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == nil {
		c.Close()
		return false
	}
	f.open[c] = true
	return true
}

func (f *front) leave(c net.Conn) {
	c.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, c)
}

// close ends all connections, and waits until they have ended. The server behind must have ended before.
func (f *front) close() {
	f.listener.Close()
	f.mu.Lock()
	for c := range f.open {
		c.Close()
	}
	f.open = nil
	f.mu.Unlock()
	f.served.Wait()
}
