package queue

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"collapse.example/collapse/internal/jail"
)

// ServerOptions describe an embedded server.
type ServerOptions struct {
	Dir    string // its files; only one server at a time: take the lab's Lock first
	Listen string // "host:port" opens it to other machines, ":port" to this one; "": this process only
	Token  string // that workers must present; required to listen
	Queue  string // Options.Name of the queue that workers may take part in; default "collapse"

	// CertFile and KeyFile turn on TLS for connections from outside.
	CertFile, KeyFile string

	Logf func(format string, args ...any) // receives the server's errors
}

// Server is NATS with JetStream inside this process. Every message is on disk before it is acknowledged.
type Server struct {
	s     *server.Server
	dir   string
	roles *roles
	front *front // nil: only this process reaches the server
}

// StartServer starts a server on the files in o.Dir, including those of an earlier one. No link there may lead out of it.
func StartServer(o ServerOptions) (*Server, error) {
	if err := jail.Check(o.Dir); err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	opts := &server.Options{
		ServerName: "collapse", DontListen: true, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: o.Dir, SyncAlways: true, JetStreamMaxMemory: 64 << 20,
	}
	if o.CertFile != "" { // logging in comes after the handshake
		opts.AuthTimeout = (handshakeTime + server.AUTH_TIMEOUT).Seconds()
	}
	who := newRoles(o.Queue, o.Token)
	opts.CustomClientAuthentication = who
	s, err := server.NewServer(opts)
	if err != nil {
		return nil, fmt.Errorf("queue: the server: %w", err)
	}
	log := newErrorLog(o.Logf)
	s.SetLoggerV2(log, false, false, false)
	s.Start()
	if !s.ReadyForConnections(20 * time.Second) {
		s.Shutdown()
		return nil, fmt.Errorf("queue: the server did not start (files in %s): is the folder writable?", o.Dir)
	}
	q := &Server{s: s, dir: o.Dir, roles: who}
	if err := q.listen(o, log); err != nil {
		q.Close()
		return nil, err
	}
	return q, nil
}

// listen opens the server to the network if the options say where.
func (s *Server) listen(o ServerOptions, log errorLog) (err error) {
	if o.Listen == "" {
		return nil
	}
	if o.Token == "" {
		return errors.New("queue: a server that listens needs a token")
	}
	var config *tls.Config
	if o.CertFile != "" {
		if config, err = keyPair(o.CertFile, o.KeyFile); err != nil {
			return err
		}
	}
	s.front, err = newFront(o.Listen, config, s.s.InProcessConn, log)
	return err
}

// URL is the address where others reach the server, "" if it does not listen.
func (s *Server) URL() string {
	if s.front == nil {
		return ""
	}
	return s.front.url()
}

// room is the space that must be free on the server's disk to continue.
const room = MaxMessage

// CheckDisk returns an error that is syscall.ENOSPC if the server's disk is about to be full. The server itself reports that only to
// clients that send to it, and these keep waiting.
func (s *Server) CheckDisk() error {
	path := filepath.Join(s.dir, "room")
	err := os.WriteFile(path, make([]byte, room), 0o666) // removed before it is written to the disk
	if err != nil {
		err = fmt.Errorf("queue: the server's disk: %w", err)
	}
	return errors.Join(err, os.Remove(path))
}

// Close stops the server. What it has acknowledged is on disk.
func (s *Server) Close() {
	s.s.Shutdown()
	s.s.WaitForShutdown()
	if s.front != nil {
		s.front.close()
	}
}

// Connect connects within the process, with all permissions.
func (s *Server) Connect(opt Options) (*Broker, error) {
	return connect(nats.DefaultURL, opt, nats.InProcessServer(s.s), nats.Token(s.roles.coordinator))
}

// errorLog passes on a server's errors, those of one kind at most once in errorsEvery: strangers can cause many.
type errorLog struct {
	logf func(format string, args ...any)

	mu   *sync.Mutex
	said map[string]time.Time // by kind
}

const (
	errorsEvery = time.Minute
	mostKinds   = 100 // that are remembered
)

func newErrorLog(logf func(format string, args ...any)) errorLog {
	if logf == nil {
		logf = func(string, ...any) {}
	}
	return errorLog{logf: logf, mu: new(sync.Mutex), said: map[string]time.Time{}}
}

func (l errorLog) Noticef(string, ...any)         {}
func (l errorLog) Debugf(string, ...any)          {}
func (l errorLog) Tracef(string, ...any)          {}
func (l errorLog) Warnf(string, ...any)           {}
func (l errorLog) Fatalf(format string, v ...any) { l.Errorf(format, v...) }

func (l errorLog) Errorf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	if strings.Contains(text, " - "+server.ErrAuthentication.Error()) { // the front knows whose
		return
	}
	if l.due(format[strings.LastIndex(format, " - ")+1:]) { // what stands before is a client's address
		l.logf("queue server: %s", text)
	}
}

// refused says who was turned away.
func (l errorLog) refused(who net.Addr) {
	if l.due("refused") {
		l.logf("a client at %s is turned away: it gave no token, or another than queue.token in this lab", who)
	}
}

// due reports whether an error of a kind is to be logged now.
func (l errorLog) due(kind string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.said[kind]) < errorsEvery {
		return false
	}
	if len(l.said) >= mostKinds {
		clear(l.said)
	}
	l.said[kind] = time.Now()
	return true
}
