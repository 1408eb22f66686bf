package serve

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// Bounds of uploads under way. Their bodies are read to disk before anything is measured, so a slow upload costs only a connection
// and the space of what has arrived; nothing waits for it.
const (
	mostUploads     = 64 // bodies arriving, waiting or being measured
	mostUploadsEach = 16 // of one address
	uploadsOnDisk   = 4  // times Options.MaxUpload is the disk space of all uploads
	uploadRate      = 32 << 10
	retryUpload     = 10 * time.Second
)

// busyError says that the request may be tried again later.
type busyError struct {
	error
	retry time.Duration
}

func (e busyError) Unwrap() error { return e.error }

func tryAgain(retry time.Duration, format string, args ...any) error {
	return statusError{http.StatusServiceUnavailable, busyError{fmt.Errorf(format, args...), retry}}
}

var errSlow = errors.New("the upload is too slow")

// uploads counts uploads under way.
type uploads struct {
	mostBytes int64

	mu    sync.Mutex
	each  map[string]int // by address
	count int
	bytes int64 // on disk
}

// uploading is one of them.
type uploading struct {
	of      *uploads
	address string
	folder  *folder
	bytes   int64
}

// begin admits an upload and makes its folder; end releases both.
func (u *uploads) begin(r *http.Request) (*uploading, error) {
	address := addressOf(r)
	err := u.admit(address)
	if err != nil {
		return nil, err
	}
	up := &uploading{of: u, address: address}
	if up.folder, err = newFolder(); err != nil {
		up.end()
		return nil, err
	}
	return up, nil
}

// addressOf is the address that a request comes from, without its port.
func addressOf(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return host
	}
	return r.RemoteAddr
}

func (u *uploads) admit(address string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.count >= mostUploads:
		return tryAgain(retryUpload, "%d uploads are under way, the most the server accepts; try again in a moment", u.count)
	case u.each[address] >= mostUploadsEach:
		return tryAgain(retryUpload, "%d uploads from your address are under way, the most the server accepts; try again in a moment", mostUploadsEach)
	}
	u.count++
	u.each[address]++
	return nil
}

// take counts bytes that are about to be written.
func (up *uploading) take(n int64) error {
	u := up.of
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.bytes+n > u.mostBytes {
		return tryAgain(retryUpload, "running uploads fill the server's space for them; try again in a moment")
	}
	u.bytes += n
	up.bytes += n
	return nil
}

// end removes the uploaded files. Its error is one of removing them.
func (up *uploading) end() (err error) {
	if up.folder != nil {
		err = up.folder.remove()
	}
	u := up.of
	u.mu.Lock()
	defer u.mu.Unlock()
	u.count--
	u.bytes -= up.bytes
	if u.each[up.address]--; u.each[up.address] == 0 {
		delete(u.each, up.address)
	}
	return err
}

// body reads a request's body, which must arrive at uploadRate on average, give or take UploadPatience, and within
// UploadTime.
type body struct {
	io.Reader
	out      *http.ResponseController
	patience time.Duration
	began    time.Time
	last     time.Time // when all of it must have arrived
	got      int64
}

func (b *body) Read(p []byte) (int, error) {
	until := b.began.Add(b.patience + time.Duration(float64(b.got)/uploadRate*float64(time.Second)))
	if until.After(b.last) {
		until = b.last
	}
	if err := b.out.SetReadDeadline(until); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	n, err := b.Reader.Read(p)
	b.got += int64(n)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = errSlow
	}
	return n, err
}

// arrived lifts the deadline: if it passed while the files are measured, it would look as if the browser had left.
func (b *body) arrived() error {
	if err := b.out.SetReadDeadline(time.Time{}); !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// refuse soon drops a browser whose upload is not read to the end.
func (b *body) refuse() {
	b.out.SetReadDeadline(time.Now().Add(time.Second)) // if unsupported, the server's own deadline applies
}
