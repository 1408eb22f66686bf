package data

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"collapse.example/collapse/internal/inputfile"
)

// Limits after which a download gives up an address. They are variables so that tests need not wait.
var (
	stallAfter = 30 * time.Second // without a byte, after which a connection is given up
	retryAfter = time.Second      // doubled after every consecutive attempt without data
)

// retries is how many consecutive attempts may bring no data.
const retries = 4

// errFinal marks errors that another attempt at the same address cannot fix.
var errFinal = errors.New("not tried again")

// download completes the .part file from the first address that can, and checks it. It returns the address.
func (g *getter) download(ctx context.Context, part string) (string, error) {
	addresses := g.file.URLs
	if g.Mirror != "" {
		addresses = append([]string{strings.TrimSuffix(g.Mirror, "/") + "/" + g.file.Name}, addresses...)
	}
	var all error
	for _, address := range addresses {
		err := g.from(ctx, address, part)
		if err == nil {
			return address, nil
		}
		all = errors.Join(all, fmt.Errorf("%s: %w", address, err))
		var disk *diskError
		if ctx.Err() != nil || errors.As(err, &disk) {
			break
		}
	}
	return "", all
}

// from fetches from one address until the file is complete, then compares its checksum. A resumed file with a wrong checksum
// is fetched once more from the start, because the existing piece may have belonged to another file.
func (g *getter) from(ctx context.Context, address, part string) error {
	for again := true; ; again = false {
		continued := partSize(part) > 0
		if err := g.complete(ctx, address, part); err != nil {
			return err
		}
		sum, size, err := fileSum(part)
		if err != nil {
			return &diskError{err}
		}
		if sum == g.file.SHA256 && size == g.file.Size {
			return nil
		}
		if err := os.Remove(part); err != nil {
			return &diskError{err}
		}
		if !continued || !again {
			return fmt.Errorf("what it serves has %d bytes and SHA-256 %s; want %d and %s (%s)", size, sum, g.file.Size, g.file.SHA256, g.file.Source)
		}
	}
}

// complete makes attempts until all bytes have arrived.
func (g *getter) complete(ctx context.Context, address, part string) error {
	wait := retryAfter
	for failures := 0; ; {
		before := partSize(part)
		err := g.attempt(ctx, address, part)
		var disk *diskError
		if err == nil || errors.Is(err, errFinal) || errors.As(err, &disk) || ctx.Err() != nil {
			return err
		}
		if partSize(part) > before {
			failures, wait = 0, retryAfter
			continue
		}
		if failures++; failures == retries {
			return fmt.Errorf("%w (after %d attempts)", err, failures)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
			wait *= 2
		}
	}
}

// attempt requests what is missing and appends it.
func (g *getter) attempt(ctx context.Context, address, part string) error {
	have := partSize(part)
	if have > g.file.Size {
		if err := os.Remove(part); err != nil {
			return &diskError{err}
		}
		have = 0
	}
	if have == g.file.Size {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watchdog := time.AfterFunc(stallAfter, func() { cancel(errStalled) })
	defer watchdog.Stop()
	err := g.receive(ctx, address, part, have, watchdog)
	if err != nil && errors.Is(context.Cause(ctx), errStalled) {
		return errStalled
	}
	return err
}

func (g *getter) receive(ctx context.Context, address, part string, have int64, watchdog *time.Timer) error {
	response, err := g.request(ctx, address, have)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	start, err := startOf(response, have)
	if err != nil {
		return err
	}
	return g.store(part, start, &watchedReader{response.Body, watchdog})
}

func (g *getter) request(ctx context.Context, address string, have int64) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil || request.URL.Scheme != "http" && request.URL.Scheme != "https" {
		return nil, fmt.Errorf("not an http address (%w)", errFinal)
	}
	request.Header.Set("Accept-Encoding", "identity") // a .gz is wanted as it is
	if have > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	client := g.Client
	if client == nil {
		client = http.DefaultClient
	}
	return client.Do(request)
}

// startOf is the byte at which the answer's body begins: a server that knows no ranges sends the file from its start.
func startOf(r *http.Response, have int64) (int64, error) {
	switch {
	case r.StatusCode == http.StatusOK:
		return 0, nil
	case r.StatusCode == http.StatusPartialContent && strings.HasPrefix(r.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", have)):
		return have, nil
	case r.StatusCode == http.StatusPartialContent:
		return 0, fmt.Errorf("asked for bytes from %d on, the server sends %q (%w)", have, r.Header.Get("Content-Range"), errFinal)
	case r.StatusCode >= 500 || r.StatusCode == http.StatusTooManyRequests:
		return 0, fmt.Errorf("the server answers %s", r.Status)
	}
	return 0, fmt.Errorf("the server answers %s (%w)", r.Status, errFinal)
}

// store writes the body into the .part file from a byte on. More bytes than the file has are an error.
func (g *getter) store(part string, start int64, body io.Reader) error {
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return &diskError{err}
	}
	defer f.Close()
	if partSize(part) > start {
		if err := f.Truncate(start); err != nil {
			return &diskError{err}
		}
	}
	if _, err := f.Seek(start, io.SeekStart); err != nil {
		return &diskError{err}
	}
	w := &progressWriter{f: f, done: start, total: g.file.Size, file: g.file.Name, tell: g.Progress}
	n, err := io.Copy(w, io.LimitReader(body, g.file.Size-start))
	if err != nil {
		return err
	}
	if start+n < g.file.Size {
		return fmt.Errorf("the connection ended after %d of %d bytes", start+n, g.file.Size)
	}
	if more, _ := io.ReadFull(body, make([]byte, 1)); more > 0 {
		if err := f.Truncate(0); err != nil {
			return &diskError{err}
		}
		return fmt.Errorf("it serves more than %d bytes: another file (%w)", g.file.Size, errFinal)
	}
	if err := f.Sync(); err != nil {
		return &diskError{err}
	}
	if err := f.Close(); err != nil {
		return &diskError{err}
	}
	w.last()
	return nil
}

// diskError is an error that another address cannot fix.
type diskError struct{ err error }

func (e *diskError) Error() string { return e.err.Error() }
func (e *diskError) Unwrap() error { return e.err }

// progressWriter reports a file's progress at most ten times a second.
type progressWriter struct {
	f           *os.File
	done, total int64
	file        string
	tell        func(Transfer)
	told        time.Time
}

func (w *progressWriter) Write(p []byte) (int, error) {
	n, err := w.f.Write(p)
	w.done += int64(n)
	if err != nil {
		return n, &diskError{err}
	}
	if now := time.Now(); w.tell != nil && now.Sub(w.told) > 100*time.Millisecond {
		w.told = now
		w.tell(Transfer{w.file, w.done, w.total})
	}
	return n, nil
}

func (w *progressWriter) last() {
	if w.tell != nil {
		w.tell(Transfer{w.file, w.done, w.total})
	}
}

var errStalled = errors.New("the server stopped sending")

// watchedReader puts the watchdog off with every read.
type watchedReader struct {
	r        io.Reader
	watchdog *time.Timer
}

func (w *watchedReader) Read(p []byte) (int, error) {
	w.watchdog.Reset(stallAfter)
	return w.r.Read(p)
}

// partSize is 0 for a file that does not exist.
func partSize(path string) int64 {
	st, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return st.Size()
}

// fileSum returns a file's SHA-256 in hex, and its size.
func fileSum(path string) (sum string, size int64, err error) {
	f, err := inputfile.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), size, err
}
