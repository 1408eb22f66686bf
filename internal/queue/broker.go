package queue

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"collapse.example/collapse/internal/inputfile"
)

// Broker is a connection to a queue. It reconnects by itself after the server was away.
type Broker struct {
	opt  Options
	conn *nats.Conn
	js   jetstream.JetStream

	refused atomic.Bool  // a refusal was logged
	silence atomic.Int64 // Options.AckWait; a worker takes over the coordinator's

	mu   sync.Mutex
	back chan struct{} // closed, and replaced, when the connection is back
}

// Remote names the server of another process.
type Remote struct {
	URL    string // nats://host:port, tls://host:port; several separated by commas
	Token  string
	CAFile string // certificates to trust in addition to the system's
}

// CertificateError says that a file holds no certificate.
type CertificateError struct{ Path string }

func (e *CertificateError) Error() string {
	return fmt.Sprintf("queue: %s holds no certificate; want a file with -----BEGIN CERTIFICATE-----", e.Path)
}

// Connect connects to a server. It returns *TokenError if the server refuses the token, *CertificateError if Remote.CAFile holds no certificate.
func Connect(r Remote, opt Options) (*Broker, error) {
	var more []nats.Option
	if r.Token != "" {
		more = append(more, nats.Token(r.Token))
	}
	if r.CAFile != "" {
		pem, err := inputfile.Read(r.CAFile, inputfile.Bundle)
		if err != nil {
			return nil, fmt.Errorf("queue: certificates: %w", err)
		}
		if !x509.NewCertPool().AppendCertsFromPEM(pem) { // report it once, rather than at every attempt to connect
			return nil, &CertificateError{r.CAFile}
		}
		more = append(more, nats.RootCAs(r.CAFile))
	}
	b, err := connect(r.URL, opt, more...)
	if refused := (*TokenError)(nil); errors.As(err, &refused) {
		refused.None = r.Token == ""
	}
	return b, err
}

func connect(url string, opt Options, more ...nats.Option) (*Broker, error) {
	b := &Broker{opt: opt.withDefaults(), back: make(chan struct{})}
	b.silence.Store(int64(b.opt.AckWait))
	logf := b.opt.Logf
	conn, err := nats.Connect(url, append(more,
		nats.MaxReconnects(-1), nats.CustomReconnectDelay(b.reconnectDelay),
		nats.ReconnectHandler(func(*nats.Conn) { logf("the queue's server is back"); b.wake() }),
		nats.DisconnectErrHandler(func(c *nats.Conn, err error) {
			if err != nil && !c.IsClosed() {
				logf("the queue's server is unreachable (%v): what it was started for may have ended; runs under way go on", err)
			}
		}),
		nats.ErrorHandler(b.heedRefusal))...)
	if errors.Is(err, nats.ErrAuthorization) {
		return nil, &TokenError{URL: url}
	}
	if untrusted := (*tls.CertificateVerificationError)(nil); errors.As(err, &untrusted) {
		return nil, fmt.Errorf("queue: the certificate of %s: %w", url, err)
	}
	if err != nil {
		return nil, fmt.Errorf("queue: no server at %s: %w", url, err)
	}
	if b.conn = conn; opt.Name != "" && strings.ContainsAny(opt.Name, ".*> \t") {
		panic("queue: a name with characters of NATS subjects")
	}
	if b.js, err = jetstream.New(conn); err != nil {
		conn.Close()
		return nil, fmt.Errorf("queue: %w", err)
	}
	return b, nil
}

// reconnectDelay is the pause between two attempts to find the server again, at most 0.7 s. A lease that does not change for half of
// AckWait is taken over: when the server is back, the lease's holder must be back long before that.
func (b *Broker) reconnectDelay(int) time.Duration {
	d := min(500*time.Millisecond, time.Duration(b.silence.Load())/30)
	return d + rand.N(d*2/5+1)
}

// heedRefusal logs, once, that the server does not allow something: on a cluster with too few permissions nothing else would tell.
func (b *Broker) heedRefusal(_ *nats.Conn, _ *nats.Subscription, err error) {
	if errors.Is(err, nats.ErrPermissionViolation) && b.refused.CompareAndSwap(false, true) {
		b.opt.Logf("the queue's server refuses (docs/internal/queue.md lists what must be allowed): %s", clean(err.Error(), longestText))
	}
}

// Close ends the connection.
func (b *Broker) Close() { b.conn.Close() }

func (b *Broker) wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.back)
	b.back = make(chan struct{})
}

// reconnected returns a channel that is closed when the connection is back.
func (b *Broker) reconnected() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.back
}

// pause waits for d or until the server is back; it returns the cause if ctx ends.
func (b *Broker) pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
	case <-b.reconnected():
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// exchangeTime is how long to wait for an answer of the server. A cluster that lost a server may take longer to agree on which one
// answers.
const exchangeTime = 5 * time.Second

// outlast repeats an exchange with the server for as long as the server is away.
func (b *Broker) outlast(ctx context.Context, exchange func(context.Context) error) error {
	for {
		bounded, cancel := context.WithTimeout(ctx, exchangeTime)
		err := exchange(bounded)
		cancel()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !isAway(err) {
			return err
		}
		if err := b.pause(ctx, time.Second); err != nil {
			return err
		}
	}
}

// streamInfo asks the server for the state of a stream, through a handle of its own: calling Info on a handle that goroutines share is a data race.
func streamInfo(ctx context.Context, js jetstream.StreamManager, name string, of ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	s, err := js.Stream(ctx, name)
	if err != nil {
		return nil, err
	}
	if len(of) == 0 {
		return s.CachedInfo(), nil // just received
	}
	return s.Info(ctx, of...)
}

// isAway reports whether an exchange failed because no server answers.
func isAway(err error) bool {
	var refused *jetstream.APIError
	if errors.As(err, &refused) {
		return refused.Code == 503 // no leader, not ready yet
	}
	for _, e := range []error{context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders, nats.ErrDisconnected, nats.ErrConnectionReconnecting,
		jetstream.ErrNoStreamResponse} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// Names of streams, subjects and keys.
func (b *Broker) jobStream() string    { return b.opt.Name + "-jobs" }
func (b *Broker) resultStream() string { return b.opt.Name + "-results" }
func (b *Broker) leaseBucket() string  { return b.opt.Name + "-claims" }
func (b *Broker) leaseStream() string  { return "KV_" + b.leaseBucket() } // the stream underneath the bucket
func (b *Broker) leaseSubject(id string) string {
	return "$KV." + b.leaseBucket() + "." + leasePrefix + id
}
func (b *Broker) blobBucket() string { return b.opt.Name + "-blobs" }
func (b *Broker) jobSubject(p, id string) string {
	return b.jobPrefix() + p + "." + id
}
func (b *Broker) jobPrefix() string              { return b.opt.Name + ".job." }
func (b *Broker) resultPrefix() string           { return b.opt.Name + ".res." }
func (b *Broker) resultSubject(id string) string { return b.resultPrefix() + id }
func (b *Broker) controlSubject() string         { return b.opt.Name + ".stop" } // payload: the ID of a job
func (b *Broker) wakeSubject() string            { return b.opt.Name + ".wake" }

const (
	leasePrefix = "claim."
	infoKey     = "info"
)

// info describes a queue.
type info struct {
	Protocol int           `json:"protocol"` // 1
	Version  string        `json:"version"`
	Owner    string        `json:"owner"`
	AckWait  time.Duration `json:"ack_wait"`
}

const protocol = 1

// readInfo returns the queue's description, nil if the queue has not been made yet.
func (b *Broker) readInfo(ctx context.Context) (*info, error) {
	kv, err := b.js.KeyValue(ctx, b.leaseBucket())
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	e, err := kv.Get(ctx, infoKey)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	i, err := parseInfo(e.Value())
	if err != nil {
		return nil, err
	}
	if i.Protocol != protocol {
		return nil, &VersionError{Coordinator: i.Version, Here: b.opt.Version}
	}
	return i, nil
}

// Headers of messages.
const (
	headKind       = "Kind"
	headState      = "State" // in base64
	headVersion    = "Version"
	headFolder     = "Folder"
	headType       = "Type"
	headGeneration = "Generation"
	headWorker     = "Worker"
	headAttempt    = "Attempt"
	headError      = "Error"
)
