package serve

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"
)

// mostUnsent bounds the total bytes of answers that browsers have not taken yet.
const mostUnsent = 256 << 20

// page limits how many pages are made at once, and turns errors and panics into pages. A page is complete before its first byte is
// sent, so a slow browser does not hold up other pages.
func (s *Server) page(lane chan struct{}, show func(w http.ResponseWriter, r *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := &answer{ResponseWriter: w, began: time.Now()}
		if s.make(lane, a, r, show) {
			s.send(a, r)
		}
	})
}

// make makes a page in its turn; false if the browser left first.
func (s *Server) make(lane chan struct{}, a *answer, r *http.Request, show func(w http.ResponseWriter, r *http.Request) error) bool {
	select {
	case lane <- struct{}{}:
		defer func() { <-lane }()
	case <-r.Context().Done():
		return false
	}
	s.show(a, r, show)
	return true
}

// show answers with what a handler writes, or with its error.
func (s *Server) show(w http.ResponseWriter, r *http.Request, show func(w http.ResponseWriter, r *http.Request) error) {
	if err := safely(func() error { return show(w, r) }); err != nil {
		if a, ok := w.(*answer); ok {
			a.status = 0
			a.body.Reset()
		}
		s.fail(w, r, statusOf(err), err)
	}
}

// panicError is a panic of a handler, with where it was.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.value, e.stack) }

// safely turns a panic into an error.
func safely(work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{p, debug.Stack()}
		}
	}()
	return work()
}

// answer holds a page until it is sent. Its header tells an open page how long to wait before it asks again; see waitAfter.
type answer struct {
	http.ResponseWriter
	began  time.Time
	status int
	body   bytes.Buffer
}

// waitHeader names the header that tells an open page how long to wait, in milliseconds.
const waitHeader = "Collapse-Wait"

// WriteHeader keeps the status.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
		a.Header().Set(waitHeader, strconv.FormatInt(waitAfter(time.Since(a.began), runtime.NumCPU()).Milliseconds(), 10))
	}
}

// Write keeps a part of the page.
func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// send sends a finished page. A browser that takes nothing for Options.Stalled is dropped.
func (s *Server) send(a *answer, r *http.Request) {
	size := int64(a.body.Len())
	defer s.unsent.Add(-size)
	if s.unsent.Add(size) > mostUnsent {
		a.Header().Set("Retry-After", "10")
		s.plain(a.ResponseWriter, http.StatusServiceUnavailable, "too many browsers are slow to take their pages; try again in a moment")
		return
	}
	a.WriteHeader(http.StatusOK) // for a page without a body
	a.ResponseWriter.WriteHeader(a.status)
	const piece = 64 << 10
	out := http.NewResponseController(a.ResponseWriter)
	for a.body.Len() > 0 {
		if err := out.SetWriteDeadline(time.Now().Add(s.opt.Stalled)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return
		}
		if _, err := a.ResponseWriter.Write(a.body.Next(piece)); err != nil {
			return // a browser that has left is not our error
		}
	}
}
