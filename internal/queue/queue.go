// Package queue hands out jobs to workers on any number of machines, with exactly one result each, over NATS JetStream. It does not
// know what a job computes: payloads and results are bytes.
//
// The rules that keep results right when processes die, sleep or lose the network:
//
//   - A job is in the queue at most once (one subject per job; a second message is refused), and is
//     delivered again when its worker has been silent for Options.AckWait.
//   - The worker on a job holds its lease, a key-value entry. Each lease has a generation, the
//     revision of the write that made it, so a later lease has a higher one. Heartbeats and saved state
//     are updates of that entry that name the revision they replace: a worker that lost its lease
//     changes nothing.
//   - Results are messages in one ordered stream, each with its generation. A reader drops a message
//     whose generation is below one that it has met earlier in the stream for the same job. The same
//     stream therefore always gives the same result, and can be read again from its start (Replay).
//   - A worker leaves a job that it has ended only when the server confirms that it is out of the queue. If the worker dies before
//     that, the job is done again, and ends again with a higher generation.
//   - No decision compares the clocks of two machines.
//   - Nothing that comes over the network ends a coordinator or a worker: what cannot be used is counted, set aside and logged
//     (Coordinator.SetAside), and a client with only a worker's token cannot change anything that a worker does not have to change.
//   - Trouble with a machine does not count as an attempt of a job (Unfit): its worker reports that it waits (Coordinator.Waiters).
//
// See server.go for the embedded server, coordinator.go for the side that submits and collects,
// worker.go for the side that computes, lease.go for leases, blobs.go for what does not fit into a message, untrusted.go for
// parsing what comes from the network, roles.go for permissions.
package queue

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Priority orders jobs: all waiting jobs of a lower number go first.
type Priority int

// The priorities of a job.
const (
	High Priority = iota
	Normal
	Low
	priorities // their number
)

// MaxMessage is the largest payload, result or saved state, in bytes. Anything larger goes into a blob.
const MaxMessage = 512 << 10

// Job is one piece of work.
type Job struct {
	ID       string // letters, digits, '-' and '_'; equal IDs mean the same work
	Kind     string // what the payload is, for the worker
	Priority Priority
	Payload  []byte // at most MaxMessage
	State    []byte // what a worker continues from: what Task.SetState saved last, or what the job came with, at most 4 KiB; nil: nothing
	Folder   string // of the job's blobs, inside the folder that coordinator and workers share; valid as an ID; "": none
}

// Type says what a message is about.
type Type string

// The types of message.
const (
	Data    Type = "data"    // Task.Send
	Done    Type = "done"    // the job is finished; nothing follows
	Failed  Type = "failed"  // the job cannot be done; nothing follows
	Trouble Type = "trouble" // this attempt failed for reasons outside the job, which is tried again
	GaveUp  Type = "gave up" // the last allowed attempt failed; nothing follows
)

// Message is one result as the coordinator sees it.
type Message struct {
	Job        string
	Type       Type
	Generation uint64
	Sequence   uint64 // place in the stream
	Worker     string
	Attempt    int    // from 1
	Error      string // Failed, Trouble, GaveUp: what went wrong
	Data       []byte
}

// Lease says which worker has a job.
type Lease struct {
	Job        string
	Generation uint64
	Held       bool // false: given up or failed, waiting for the next worker
	Worker     string
	Attempt    int
	State      []byte // what Task.SetState saved last
	Progress   []byte // as the worker's last heartbeat carried it
	Revision   uint64 // of its entry, which every heartbeat changes
}

// Options are the same for all users of a queue. The zero value is right for programs.
type Options struct {
	Name    string // prefix of streams and buckets; default "collapse"
	Version string // of the program, with its build; workers of another one are refused

	// AckWait is the silence after which a job is given to another worker; default 15 s. Workers send
	// a heartbeat every third of it, and a worker that finds a job leased watches the lease for half of it.
	AckWait     time.Duration
	MaxAttempts int           // attempts without saved progress before a job is given up; default 5
	Backoff     time.Duration // before the second attempt, doubled for each one after, at most 5 min; default 2 s

	// Logf logs what the user may want to know: lost connections, failed attempts. Default: no log.
	Logf func(format string, args ...any)
}

func (o Options) withDefaults() Options {
	o.Name, o.AckWait = cmp.Or(o.Name, "collapse"), cmp.Or(o.AckWait, 15*time.Second)
	o.MaxAttempts, o.Backoff = cmp.Or(o.MaxAttempts, 5), cmp.Or(o.Backoff, 2*time.Second)
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
	return o
}

// beat is the time between heartbeats.
func (o Options) beat() time.Duration { return o.AckWait / 3 }

// watch is how long a worker watches a lease that it finds held.
func (o Options) watch() time.Duration { return o.AckWait / 2 }

// backoff is the wait after the given attempt, counted from 1.
func (o Options) backoff(attempt int) time.Duration {
	const most = 5 * time.Minute
	d := o.Backoff
	for range attempt - 1 {
		if d *= 2; d >= most {
			return most
		}
	}
	return min(d, most)
}

// ErrLost ends a task whose lease is now held by another worker, or whose job was cancelled.
var ErrLost = errors.New("queue: the job was cancelled or given to another worker")

// failure marks an error as the job's own: another attempt would end the same way.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// Fail marks an error as the job's own, so that it is not tried again.
func Fail(err error) error { return failure{err} }

// IsFailure reports whether err was marked by Fail.
func IsFailure(err error) bool {
	var f failure
	return errors.As(err, &f)
}

// postponed marks an error as nobody's fault.
type postponed struct{ error }

func (p postponed) Unwrap() error { return p.error }

// unfit marks an error as a problem with the machine.
type unfit struct{ error }

func (u unfit) Unwrap() error { return u.error }

// Unfit marks an error as trouble with this machine, such as a full disk, that says nothing about the job: it does not count as an
// attempt, the job is given back at once, and the worker asks for no more until the problem may be gone (WorkerOptions.Ready).
func Unfit(err error) error { return unfit{err} }

// IsUnfit reports whether err was marked by Unfit.
func IsUnfit(err error) bool {
	var u unfit
	return errors.As(err, &u)
}

// Postpone marks an error as a reason to come back later that does not count as an attempt: something
// the job needs is in use.
func Postpone(err error) error { return postponed{err} }

// VersionError is returned to a worker whose program differs from the coordinator's.
type VersionError struct{ Coordinator, Here string }

func (e *VersionError) Error() string {
	return fmt.Sprintf("queue: the coordinator is collapse %s and this worker collapse %s; results of one study must come from one build: install %s here",
		e.Coordinator, e.Here, e.Coordinator)
}

// OwnerError is returned when a queue of an existing cluster belongs to another lab.
type OwnerError struct{ Name, Owner string }

func (e *OwnerError) Error() string {
	return fmt.Sprintf("queue: queue %q of this NATS cluster belongs to %s; choose another name with --queue", e.Name, e.Owner)
}

// TokenError is returned when a server refuses the token, or asks for one.
type TokenError struct {
	URL  string
	None bool // no token was given
}

func (e *TokenError) Error() string {
	if e.None {
		return fmt.Sprintf("queue: %s asks for a token; pass --token-file with a copy of the coordinator's (queue.token in its lab)", e.URL)
	}
	return fmt.Sprintf("queue: %s refuses the token; --token-file must name a copy of the coordinator's (queue.token in its lab)", e.URL)
}

// HeldError is returned when another process coordinates the lab.
type HeldError struct {
	Path   string // of the lock
	Holder string // what the lock says about its holder
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("queue: %s is held by %s, which coordinates this lab's studies; wait for it, or stop it", e.Path, e.Holder)
}

// TooLargeError is returned for a message above MaxMessage.
type TooLargeError struct {
	What  string
	Bytes int
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("queue: %s has %d bytes, at most %d fit a message; use a blob", e.What, e.Bytes, MaxMessage)
}

func checkSize(what string, b []byte) error {
	if len(b) > MaxMessage {
		return &TooLargeError{What: what, Bytes: len(b)}
	}
	return nil
}
