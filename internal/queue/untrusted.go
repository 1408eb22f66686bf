package queue

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/nats-io/nats.go"
)

// Whatever comes from the network is parsed here. Nothing in it is trusted: whatever is invalid is an error, which the reader counts
// and sets aside; texts are bounded and contain nothing that a terminal or a log would interpret as a command.
const (
	longestID    = 128
	longestName  = 200     // bytes of a worker's name
	longestText  = 4 << 10 // bytes of an error
	mostAttempts = 1 << 20
	mostProgress = 16 << 10
)

// validID reports whether id can be the ID of a job: it is a single token of a subject.
func validID(id string) bool {
	for _, c := range []byte(id) {
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '-', c == '_':
		default:
			return false
		}
	}
	return id != "" && len(id) <= longestID
}

// checkID returns an error for an ID that no job can have: a lab that somebody else has written may name such a run.
func checkID(id string) error {
	if !validID(id) {
		return fmt.Errorf("queue: no job can be called %q: wanted letters, digits, '-' and '_' only, and at most %d of them", clean(id, longestName), longestID)
	}
	return nil
}

// clean returns a text as valid UTF-8 on one line, without control characters, cut to at most the given number of bytes.
func clean(text string, most int) string {
	const cut = " …"
	long := len(text) > most
	if long {
		text = text[:most-len(cut)+1]
	}
	text = strings.Map(func(c rune) rune {
		if c == utf8.RuneError || unicode.IsControl(c) || unicode.Is(unicode.Cf, c) {
			return '?'
		}
		return c
	}, strings.ToValidUTF8(text, "?"))
	if !long {
		return text
	}
	_, last := utf8.DecodeLastRuneInString(text) // may have been cut in two
	return text[:len(text)-last] + cut
}

// parseMessage reads a result.
func parseMessage(prefix, subject string, h nats.Header, data []byte, sequence uint64) (Message, error) {
	id, found := strings.CutPrefix(subject, prefix)
	if !found || !validID(id) {
		return Message{}, fmt.Errorf("queue: %q names no job", clean(subject, longestName))
	}
	m := Message{Job: id, Type: Type(h.Get(headType)), Worker: clean(h.Get(headWorker), longestName), Error: clean(h.Get(headError), longestText),
		Data: data, Sequence: sequence}
	switch m.Type {
	case Data, Done, Failed, Trouble, GaveUp:
	default:
		return Message{}, fmt.Errorf("queue: a result of type %q", clean(string(m.Type), longestName))
	}
	generation, err := strconv.ParseUint(h.Get(headGeneration), 10, 64)
	if err != nil || generation == 0 || generation > math.MaxInt64 {
		return Message{}, fmt.Errorf("queue: a result of generation %q", clean(h.Get(headGeneration), longestName))
	}
	attempt, err := strconv.Atoi(h.Get(headAttempt))
	if err != nil || attempt < 1 || attempt > mostAttempts {
		return Message{}, fmt.Errorf("queue: a result of attempt %q", clean(h.Get(headAttempt), longestName))
	}
	m.Generation, m.Attempt = generation, attempt
	return m, nil
}

// parseJob reads the subject of a job.
func parseJob(prefix, subject string) (p Priority, id string, err error) {
	rest, found := strings.CutPrefix(subject, prefix)
	name, id, two := strings.Cut(rest, ".")
	for p := range priorities {
		if found && two && name == "p"+strconv.Itoa(int(p)) && validID(id) {
			return p, id, nil
		}
	}
	return 0, "", fmt.Errorf("queue: %q names no job", clean(subject, longestName))
}

// parseLease reads the lease that a write with the given revision made.
func parseLease(b []byte, revision uint64) (leaseValue, error) {
	var v leaseValue
	if err := json.Unmarshal(b, &v); err != nil {
		return leaseValue{}, fmt.Errorf("queue: an unreadable lease: %w", err)
	}
	switch {
	case v.Generation > revision:
		return leaseValue{}, fmt.Errorf("queue: a lease of generation %d in a write of revision %d", v.Generation, revision)
	case v.Attempt < 0 || v.Attempt > mostAttempts:
		return leaseValue{}, fmt.Errorf("queue: a lease for attempt %d", v.Attempt)
	case v.Worker == "" || v.Nonce == "":
		return leaseValue{}, errors.New("queue: a lease without an owner")
	case len(v.Progress) > mostProgress || len(v.State) > MaxMessage:
		return leaseValue{}, fmt.Errorf("queue: a lease with %d bytes of progress and a state of %d", len(v.Progress), len(v.State))
	}
	v.Worker = clean(v.Worker, longestName)
	return v, nil
}

// infoError says that a queue's description cannot be read.
type infoError struct{ cause error }

func (e *infoError) Error() string {
	return "queue: the queue's description cannot be read; a coordinator that starts writes it again: " + e.cause.Error()
}

func (e *infoError) Unwrap() error { return e.cause }

// parseInfo reads a queue's description; the error is *infoError if it is invalid.
func parseInfo(b []byte) (*info, error) {
	i := &info{}
	if err := json.Unmarshal(b, i); err != nil {
		return nil, &infoError{err}
	}
	i.Version, i.Owner = clean(i.Version, longestName), clean(i.Owner, longestText)
	switch {
	case i.Protocol < 1 || i.Protocol != protocol && i.Version == "":
		return nil, &infoError{fmt.Errorf("protocol %d of version %q", i.Protocol, i.Version)}
	case i.Protocol == protocol && (i.AckWait < time.Millisecond || i.AckWait > time.Hour):
		return nil, &infoError{fmt.Errorf("workers count as dead after %v", i.AckWait)}
	}
	return i, nil
}

// Clean returns a text from the network as valid UTF-8 on one line, without control characters, cut to at most the given number of bytes.
func Clean(text string, most int) string { return clean(text, most) }
