// Package serve is the live laboratory page: a web server over one lab that shows studies, runs, comparisons, measurements of
// dropped files and theory, while other processes keep writing the lab.
//
// It only reads the lab. Every page is rendered here and complete without scripts; scripts make its figures interactive and keep
// them current through one stream of events. Packages figure, theoryfig and chart define the pictures; this package defines
// none.
//
// Read serve.go for the life of a server, auth_token.go and auth_request.go for who may ask for what, hub.go for how changes reach
// browsers, and the *page.go files for what is shown.
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/descriptors"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/store"
)

// Options say what to serve and to whom.
type Options struct {
	Lab         string   // directory of the lab, which may be created later
	Listen      string   // host:port; "" is 127.0.0.1:8642. Port 0 takes a free one
	Base        string   // path below which a proxy serves it, such as /collapse; ""
	Hosts       []string // further names that a proxy passes on; a token is then needed
	Token       string   // what a browser must show; "" makes one if the address is not a loopback one
	Control     Control  // what a page may do to runs; nil: nothing
	Searches    Searches // reads what a search of settings has found; nil: none is drawn
	Connections int      // open at a time; 0 is a quarter of what the process may have open
	MaxUpload   int64    // bytes of a measured file; 0 is 256 MiB
	Log         func(format string, args ...any)

	Poll    time.Duration // between looks at the lab; 0 is 250 ms
	Beat    time.Duration // between signs of life on an event stream; 0 is 15 s
	Stalled time.Duration // after which a browser that does not read is dropped; 0 is 10 s

	MeasureLimit   time.Duration // for one measurement; 0 is a minute
	UploadPatience time.Duration // by which an upload may lag behind uploadRate; 0 is 10 s
	UploadTime     time.Duration // within which an upload must arrive; 0 is 5 minutes
}

// Searches is what the searches of a study have found so far; nothing if the study is a grid.
type Searches func(lab *store.Reader, study string) ([]judge.Search, error)

// Control carries out what a page with Options.Control may ask for. Errors are shown on the page.
type Control interface {
	Run(ctx context.Context, do Action, hash string) error
	Study(ctx context.Context, do Action, name string) error
	Describe(hash string, as Description) error
	Remark(study, remark string) error
}

// Description is what a page says about a run: a field that is nil is left as it is.
type Description struct {
	Label      *string // "" removes it
	Tag, Untag *string
}

// Action is what a page can ask for.
type Action string

// The actions: stop a running or waiting run, resume a stopped one, retry a failed one.
const (
	Cancel Action = "cancel"
	Resume Action = "resume"
	Retry  Action = "retry"
)

// DefaultListen is where a server listens unless told otherwise.
const DefaultListen = "127.0.0.1:8642"

const defaultUpload = 256 << 20

// Server is a running server. Its zero value is not usable: see Start.
type Server struct {
	opt      Options
	base     base
	gate     *gate
	lab      *lab
	hub      *hub
	cache    *cache
	shown    *shown
	studies  studies
	verdicts verdicts
	answers  answers
	busy     chan struct{} // one place per page made at once
	aside    chan struct{} // the same for pages that read no lab: a lab that answers slowly keeps none of them waiting
	heavy    chan struct{} // one per theory solution
	unsent   atomic.Int64  // bytes of answers on their way

	uploads   uploads
	measuring chan struct{} // one place per measurement
	headlines headlines
	memory    *arrayfile.Budget // of all measurements
	working   sync.WaitGroup    // measurements, until they have stopped

	door    *door
	http    *http.Server
	cancel  context.CancelFunc
	ended   sync.WaitGroup
	failure error // of Serve; read after ended
}

// newServer makes a server without a listener; host is the address at which it will be reached.
func newServer(opt Options, gate *gate) *Server {
	if opt.Log == nil {
		opt.Log = func(string, ...any) {}
	}
	opt.MaxUpload = cmp.Or(opt.MaxUpload, defaultUpload)
	opt.Poll = cmp.Or(opt.Poll, 250*time.Millisecond)
	opt.Beat = cmp.Or(opt.Beat, 15*time.Second)
	opt.Stalled = cmp.Or(opt.Stalled, 10*time.Second)
	opt.MeasureLimit = cmp.Or(opt.MeasureLimit, time.Minute)
	opt.UploadPatience = cmp.Or(opt.UploadPatience, 10*time.Second)
	opt.UploadTime = cmp.Or(opt.UploadTime, 5*time.Minute)
	s := &Server{opt: opt, base: base(opt.Base), gate: gate, lab: openLab(opt.Lab), cache: newCache(), shown: newShown(time.Now), verdicts: verdicts{known: map[string]keptVerdicts{}},
		busy: make(chan struct{}, 4*runtime.GOMAXPROCS(0)), aside: make(chan struct{}, 4*runtime.GOMAXPROCS(0)), heavy: make(chan struct{}, runtime.GOMAXPROCS(0)),
		uploads: uploads{mostBytes: uploadsOnDisk * opt.MaxUpload, each: map[string]int{}}, measuring: make(chan struct{}, max(4, runtime.GOMAXPROCS(0))),
		memory: arrayfile.NewBudget(uploadsMemory)}
	s.memory.Advice = "`collapse measure` on the command line allows more"
	s.hub = newHub(s.lab, opt.Poll)
	return s
}

// Start listens and serves until Close. An address that is not a loopback one gets a token; see URL.
func Start(opt Options) (*Server, error) {
	opt.Listen = cmp.Or(opt.Listen, DefaultListen)
	listener, err := net.Listen("tcp", opt.Listen)
	if err != nil {
		return nil, fmt.Errorf("serve: %w; choose another --listen (port 0 takes a free one)", err)
	}
	if err := base(opt.Base).check(); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	gate, err := newGate(opt.Listen, listener.Addr().(*net.TCPAddr), opt.Token, opt.Hosts)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	s := newServer(opt, gate)
	s.door = newDoor(listener, cmp.Or(opt.Connections, descriptors.Share(4)))
	s.hub.most = min(maxStreams, max(1, s.door.most/2)) // pages need connections, too
	sweepFolders()
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.http = &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       time.Minute,     // uploads set their own
		WriteTimeout:      5 * time.Minute, // event streams set their own
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext:       s.door.know,
		ConnState:         s.door.left,
		ErrorLog:          log.New(logWriter(s.opt.Log), "", 0),
	}
	s.ended.Go(func() { s.hub.run(ctx) })
	s.ended.Go(func() {
		if err := s.http.Serve(s.door); !errors.Is(err, http.ErrServerClosed) {
			s.failure = fmt.Errorf("serve: %w", err)
		}
	})
	return s, nil
}

// logWriter turns lines of the HTTP server's log into calls.
type logWriter func(format string, args ...any)

func (w logWriter) Write(p []byte) (int, error) {
	w("%v", errors.New(strings.TrimSpace(string(p)))) // an error may have several lines, such as a stack
	return len(p), nil
}

// URL is what a browser on this machine opens, with the token if one is needed.
func (s *Server) URL() string { return s.gate.url(s.opt.Base) }

// NeedsToken reports whether browsers must show a token.
func (s *Server) NeedsToken() bool { return s.gate.token != "" }

// Reachable reports whether other machines can reach the server, which has no TLS.
func (s *Server) Reachable() bool { return !s.gate.addr.IP.IsLoopback() }

// Addr is where the server listens.
func (s *Server) Addr() net.Addr { return s.door.Addr() }

// Close ends event streams, lets requests finish for a second, interrupts those that still read the lab, and closes it. It takes less than
// two seconds.
func (s *Server) Close() error {
	s.cancel()
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	err := s.http.Shutdown(ctx)
	s.lab.interrupt()
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	s.ended.Wait()
	s.finish(time.Second / 2)
	return errors.Join(err, s.failure, s.lab.close())
}
