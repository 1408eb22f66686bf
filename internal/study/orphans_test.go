package study

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"collapse/internal/queue"
	"collapse/internal/version"
	"collapse/train"
)

// TestAClaimWithoutAJobIsGivenUp: the queue says that somebody computes a run, but there is no job of it and nobody will report. Without
// help the study would wait for ever.
func TestAClaimWithoutAJobIsGivenUp(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: a claim must be silent for a while")
	}
	configs := []train.Config{tiny()}
	lab := saved(t, configs)
	hash := itemsOf(t, configs)[0].Hash
	url := openServer(t)
	opt := quickQueue()
	opt.Version, opt.Logf = version.Version, t.Logf
	b, err := queue.Connect(queue.Remote{URL: url}, opt)
	must(t, err)
	owner, err := ownerOf(lab)
	must(t, err)
	_, err = b.Coordinate(t.Context(), owner)
	must(t, err)
	b.Close()
	conn, err := nats.Connect(url)
	must(t, err)
	defer conn.Close()
	must(t, conn.Publish("$KV.collapse-claims.claim."+hash, []byte(`{"worker":"ghost","nonce":"n","held":true,"attempt":1}`)))
	must(t, conn.Flush())
	o := options(t, 0)
	o.Remote = &queue.Remote{URL: url}
	ended := make(chan error, 1)
	go func() {
		s, err := Execute(t.Context(), lab, []string{"s"}, o)
		if err == nil && s != (Summary{Runs: 1, Done: 1}) {
			err = fmt.Errorf("%+v", s)
		}
		ended <- err
	}()
	startWorker(t, url, WorkerOptions{})
	select {
	case err := <-ended:
		must(t, err)
	case <-time.After(2 * time.Minute):
		t.Fatal("the study waits for a worker that does not exist")
	}
}

// TestFilesWithHolesAreRefused: a small archive may say that a file is of any size.
func TestFilesWithHolesAreRefused(t *testing.T) {
	const whole = 1 << 33 // of which 4 bytes are there
	raw := sparseArchive(t, whole)
	dir := filepath.Join(t.TempDir(), "out")
	if err := unpack(bytes.NewReader(raw), dir); err == nil {
		info, _ := os.Stat(filepath.Join(dir, "holes"))
		t.Errorf("%d bytes of archive make a file of %d", len(raw), info.Size())
	}
}

// sparseArchive writes, by hand, a file in GNU's sparse format 0.1 for PAX: the library reads it and does not write it.
func sparseArchive(t *testing.T, size int64) []byte {
	t.Helper()
	record := func(key, value string) string {
		n := len(key) + len(value) + 3
		for len(fmt.Sprint(n))+len(key)+len(value)+3 != n {
			n = len(fmt.Sprint(n)) + len(key) + len(value) + 3
		}
		return fmt.Sprintf("%d %s=%s\n", n, key, value)
	}
	records := record("GNU.sparse.size", fmt.Sprint(size)) + record("GNU.sparse.numblocks", "1") +
		record("GNU.sparse.map", fmt.Sprintf("%d,4", size-4)) + record("GNU.sparse.name", "holes")
	header := func(kind byte, name string, n int) []byte {
		h := make([]byte, 512)
		copy(h, name)
		copy(h[100:], "0000644\x000000000\x000000000\x00")
		copy(h[124:], fmt.Sprintf("%011o\x00", n))
		copy(h[136:], "00000000000\x00")
		copy(h[148:], "        ")
		h[156] = kind
		copy(h[257:], "ustar\x0000")
		sum := 0
		for _, c := range h {
			sum += int(c)
		}
		copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
		return h
	}
	pad := func(b []byte) []byte { return append(b, make([]byte, (512-len(b)%512)%512)...) }
	var out []byte
	out = append(out, header('x', "x", len(records))...)
	out = append(out, pad([]byte(records))...)
	out = append(out, header('0', "holes", 4)...)
	out = append(out, pad([]byte("data"))...)
	return append(out, make([]byte, 1024)...)
}
