package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// TestAFolderOfBlobs: what is stored, listed, removed and cleared, and which folders stay.
func TestAFolderOfBlobs(t *testing.T) {
	above := t.TempDir()
	dir := filepath.Join(above, "x", "blobs")
	blobs := Folder(dir)
	if FolderLeft(dir) {
		t.Error("there is none yet")
	}
	if _, err := blobs.Put(t.Context(), "a", strings.NewReader("")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("into no folder: %v", err)
	}
	must(t, errors.Join(blobs.Remove(t.Context(), "a"), blobs.Clear(t.Context()), MakeFolder(dir), MakeFolder(dir)))
	if !FolderLeft(dir) {
		t.Error("there is one")
	}
	put := func(name, text string) Blob {
		b, err := blobs.Put(t.Context(), name, strings.NewReader(text))
		must(t, err)
		return b
	}
	one := put("job/g1/ckpt", "one")
	if one != (Blob{"job/g1/ckpt", "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed", 3}) {
		t.Errorf("%+v", one)
	}
	put("job/g2/ckpt", "two")
	put("job/g1/ckpt", "one") // again
	broken := io.MultiReader(strings.NewReader("half"), failingRead{})
	if b, err := blobs.Put(t.Context(), "job/g3/ckpt", broken); !errors.Is(err, errServer) {
		t.Errorf("half a blob: %+v, %v", b, err)
	}
	names, err := blobs.List(t.Context())
	if err != nil || !slices.Equal(names, []string{"job/g1/ckpt", "job/g2/ckpt"}) {
		t.Errorf("%q, %v", names, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "job", "g1", "ckpt")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errFound)
	if names, err := blobs.List(ended); !errors.Is(err, errFound) {
		t.Errorf("a context that ended: %q, %v", names, err)
	}
	must(t, blobs.Remove(t.Context(), "job/g1/ckpt", "job/g1/none", "job/g3/none"))
	for name, there := range map[string]bool{"job/g1": false, "job/g2": true, "job/g3": false} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, blobs.Remove(t.Context(), "job/g2/ckpt"))
	if list, err := os.ReadDir(dir); err != nil || len(list) != 0 {
		t.Errorf("empty folders stay: %v, %v", list, err)
	}
	put("job/g2/ckpt", "two")
	if err := blobs.Remove(t.Context(), "job/g2"); err == nil || !strings.HasPrefix(err.Error(), "queue: ") {
		t.Errorf("a folder that is not empty: %v", err)
	}
	must(t, os.MkdirAll(folder(dir).trash(), 0o777))
	must(t, os.WriteFile(filepath.Join(folder(dir).trash(), "x"), nil, 0o666)) // an earlier Clear was interrupted
	must(t, blobs.Clear(t.Context()))
	if list, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(list) != 0 || FolderLeft(dir) {
		t.Errorf("what is left of it: %v, %v", list, err)
	}
	must(t, os.MkdirAll(folder(dir).trash(), 0o777))
	if !FolderLeft(dir) {
		t.Error("an interrupted Clear has left something")
	}
}

// failingRead is a reader that fails.
type failingRead struct{}

func (failingRead) Read([]byte) (int, error) { return 0, errServer }

// TestACopyOfABlob ends one byte after its size, and is refused unless it is what was stored.
func TestACopyOfABlob(t *testing.T) {
	good := sumOf(t, "x", "content")
	var got bytes.Buffer
	if err := good.copy(&got, strings.NewReader("content")); err != nil || got.String() != "content" {
		t.Errorf("%q, %v", &got, err)
	}
	empty := sumOf(t, "x", "")
	must(t, empty.copy(io.Discard, strings.NewReader("")))
	r := strings.NewReader("content, and much more")
	says(t, "too much", good.copy(io.Discard, r), "queue: x has 8 bytes with digest ")
	if left := r.Len(); left != len(", and much more")-1 {
		t.Errorf("%d bytes are left", left)
	}
	says(t, "too little", good.copy(io.Discard, strings.NewReader("conten")), "x has 6 bytes with digest ")
	says(t, "another", good.copy(io.Discard, strings.NewReader("CONTENT")), ", wanted 7 with ed7002b439e9")
	if err := good.copy(io.Discard, failingRead{}); !errors.Is(err, errServer) || !strings.HasPrefix(err.Error(), "queue: reading x: ") {
		t.Error(err)
	}
}

// TestAStoreOfBlobs: a name that is taken is not written over, what is removed leaves nothing, and Clear leaves nothing at all.
func TestAStoreOfBlobs(t *testing.T) {
	s, _, b := local(t, quick(t))
	_, js := everywhere(t, s)
	blobs, err := b.Objects(soon(t))
	must(t, err)
	messages := func() uint64 {
		stream, err := js.Stream(soon(t), "OBJ_collapse-blobs")
		must(t, err)
		return stream.CachedInfo().State.Msgs
	}
	first, err := blobs.Put(soon(t), "job/x", strings.NewReader(strings.Repeat("one", 100_000)))
	must(t, err)
	second, err := blobs.Put(soon(t), "job/x", strings.NewReader("two"))
	must(t, err)
	if first.Name != "job/x" || !strings.HasPrefix(second.Name, "job/x~") || first.Bytes != 300_000 || second.Bytes != 3 {
		t.Errorf("%+v, %+v", first, second)
	}
	var got strings.Builder
	must(t, errors.Join(blobs.Get(soon(t), first, io.Discard), blobs.Get(soon(t), second, &got)))
	if got.String() != "two" || messages() != 4+2 { // three parts of 128 KiB and one, and their entries
		t.Errorf("%q, %d messages", &got, messages())
	}
	if _, err := blobs.Put(soon(t), "job/broken", failingRead{}); err == nil || !strings.HasPrefix(err.Error(), "queue: storing job/broken: ") {
		t.Error(err)
	}
	must(t, errors.Join(blobs.Remove(soon(t)), blobs.Remove(soon(t), "job/none", "job/x")))
	names, err := blobs.List(soon(t))
	if err != nil || !slices.Equal(names, []string{second.Name}) || messages() != 2 {
		t.Errorf("%q and %d messages, %v", names, messages(), err)
	}
	must(t, blobs.Clear(soon(t)))
	if messages() != 0 {
		t.Errorf("%d messages are left", messages())
	}
}

// TestWhyABlobIsRefused: each damaged entry has its own reason.
func TestWhyABlobIsRefused(t *testing.T) {
	for _, test := range []struct {
		name  string
		info  jetstream.ObjectInfo
		err   error
		parts uint64
		bytes int64
		says  string
	}{
		{"a link", jetstream.ObjectInfo{ObjectMeta: jetstream.ObjectMeta{Opts: &jetstream.ObjectMetaOptions{Link: &jetstream.ObjectLink{}}}, NUID: "n"}, nil, 0, 0, "x is a link, wanted a blob"},
		{"no parts", jetstream.ObjectInfo{NUID: ">"}, nil, 0, 0, "x has no parts"},
		{"less than nothing", jetstream.ObjectInfo{NUID: "n", Size: 1<<64 - 1}, nil, 0, -1, "x has 18446744073709551615 bytes, wanted -1"},
		{"another size", jetstream.ObjectInfo{NUID: "n", Size: 6}, nil, 0, 5, "x has 6 bytes, wanted 5"},
		{"a part too few", jetstream.ObjectInfo{NUID: "n", Size: 5, Chunks: 3}, nil, 2, 5, "x has 2 of its 3 parts"},
		{"a part too many", jetstream.ObjectInfo{NUID: "n", Size: 5, Chunks: 1}, nil, 2, 5, "x has 2 of its 1 parts"},
		{"all", jetstream.ObjectInfo{NUID: "n", Size: 5, Chunks: 2, ObjectMeta: jetstream.ObjectMeta{Opts: &jetstream.ObjectMetaOptions{}}}, nil, 2, 5, ""},
		{"a refusal", jetstream.ObjectInfo{}, errServer, 2, 5, "fetching x: the server does not like it"},
	} {
		o := objects{s: entryOf{info: &test.info, err: test.err}, js: partsOf{parts: test.parts}, bucket: "b"}
		err := o.whole(t.Context(), Blob{Name: "x", Bytes: test.bytes})
		if test.says == "" && err != nil {
			t.Errorf("%s: %v", test.name, err)
		} else if test.says != "" {
			says(t, test.name, err, "queue: "+test.says)
			says(t, test.name, o.Get(t.Context(), Blob{Name: "x", Bytes: test.bytes}, io.Discard), "queue: "+test.says)
		}
	}
}

// entryOf is a store with one entry, whose parts partsOf counts.
type entryOf struct {
	jetstream.ObjectStore
	info *jetstream.ObjectInfo
	err  error
}

func (e entryOf) GetInfo(context.Context, string, ...jetstream.GetObjectInfoOpt) (*jetstream.ObjectInfo, error) {
	return e.info, e.err
}

type partsOf struct {
	jetstream.JetStream
	parts uint64
}

func (p partsOf) Stream(context.Context, string) (jetstream.Stream, error) {
	return partsStream{parts: p.parts}, nil
}

type partsStream struct {
	jetstream.Stream
	parts uint64
}

func (p partsStream) Info(context.Context, ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	return &jetstream.StreamInfo{State: jetstream.StreamState{Subjects: map[string]uint64{"$O.b.C.n": p.parts}}}, nil
}

// TestOneLabHasOneToken, however its folder is named; what replaces a foreign one is on the disk before it counts.
func TestOneLabHasOneToken(t *testing.T) {
	config := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	t.Setenv("HOME", config)
	lab, link := filepath.Join(t.TempDir(), "lab"), filepath.Join(t.TempDir(), "link")
	must(t, errors.Join(os.Mkdir(lab, 0o777), os.Symlink(lab, link)))
	first, path, replaced, err := LabToken(lab)
	if err != nil || replaced || path != filepath.Join(lab, "queue.token") {
		t.Errorf("%s, %v, %v", path, replaced, err)
	}
	if again, _, replaced, err := LabToken(link); err != nil || replaced || again != first {
		t.Errorf("through a link: another token: %v, %v, %v", again != first, replaced, err)
	}
	record, err := tokenRecord(lab)
	must(t, err)
	if text, err := os.ReadFile(record); err != nil || strings.TrimSpace(string(text)) != digest([]byte(first)) {
		t.Errorf("%q, %v", text, err)
	}
	must(t, os.WriteFile(path, []byte(first+"x"), 0o600)) // as long, and another
	if second, _, replaced, err := LabToken(lab); err != nil || !replaced || second == first {
		t.Errorf("a changed one is taken, %v, %v", replaced, err)
	}
	short := []byte("short")
	must(t, errors.Join(os.WriteFile(path, short, 0o600), os.WriteFile(record, []byte(digest(short)), 0o600)))
	_, _, _, err = LabToken(lab)
	says(t, "a short one of the user's own", err, "holds no token")
}

// TestAConnectionThatBreaks is told when it breaks and when it is back, and whoever waits is woken; the end that was asked for is not told.
func TestAConnectionThatBreaks(t *testing.T) {
	dir := t.TempDir()
	s := startServer(t, ServerOptions{Dir: dir, Listen: "127.0.0.1:0", Token: testToken})
	address := strings.TrimPrefix(s.URL(), "nats://")
	var mu sync.Mutex
	var logs []string
	logged := func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(logs)
	}
	until := func(n int) {
		t.Helper()
		for over := time.Now().Add(left(t)); len(logged()) < n; time.Sleep(time.Millisecond) {
			if time.Now().After(over) {
				t.Fatalf("logged %q", logged())
			}
		}
	}
	b, err := Connect(Remote{URL: s.URL(), Token: testToken}, Options{AckWait: 300 * time.Millisecond, Logf: func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		logs = append(logs, fmt.Sprintf(format, args...))
	}})
	must(t, err)
	back := b.reconnected()
	s.Close()
	until(1)
	startServer(t, ServerOptions{Dir: dir, Listen: address, Token: testToken})
	next(t, "the server", back)
	until(2)
	b.Close()
	if got := logged(); len(got) != 2 || !strings.HasPrefix(got[0], "the queue's server is unreachable (") || got[1] != "the queue's server is back" {
		t.Errorf("%q", got)
	}
	_, err = Connect(Remote{URL: "nats://127.0.0.1:1"}, Options{})
	says(t, "nobody", err, "queue: no server at nats://127.0.0.1:1: ")
	_, err = Connect(Remote{URL: "nats://127.0.0.1:1", CAFile: filepath.Join(dir, "none")}, Options{})
	if !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "queue: certificates: ") {
		t.Error(err)
	}
}

// TestHowManyServersKeepACopy: three of a cluster, and the one of a smaller one.
func TestHowManyServersKeepACopy(t *testing.T) {
	s := startServer(t, ServerOptions{Listen: "127.0.0.1:0", Token: testToken})
	for others, want := range map[string]int{"": 1, ",nats://127.0.0.1:1": 1, ",nats://127.0.0.1:1,nats://127.0.0.1:2": 3, ",nats://127.0.0.1:1,nats://127.0.0.1:2,nats://127.0.0.1:3": 3} {
		b, err := Connect(Remote{URL: s.URL() + others, Token: testToken}, Options{})
		must(t, err)
		if got := b.replicas(); got != want {
			t.Errorf("%s: %d copies, want %d", others, got, want)
		}
		b.Close()
	}
}

// TestOnlyWhatWasReadIsRemoved: a lease that was written since stays.
func TestOnlyWhatWasReadIsRemoved(t *testing.T) {
	_, c, _ := local(t, quick(t))
	key := leasePrefix + "one"
	must(t, second(c.kv.Put(soon(t), key, []byte("x"))))
	read, err := c.kv.Get(soon(t), key)
	must(t, err)
	must(t, second(c.kv.Put(soon(t), key, leaseValue{Worker: "w", Nonce: "n", Held: true}.encode())))
	must(t, c.dropLease(soon(t), read, errServer))
	if leases, err := c.Leases(soon(t)); err != nil || len(leases) != 1 {
		t.Fatalf("%+v, %v", leases, err)
	}
	read, err = c.kv.Get(soon(t), key)
	must(t, err)
	must(t, c.dropLease(soon(t), read, errServer))
	if _, err := c.kv.Get(soon(t), key); !errors.Is(err, jetstream.ErrKeyNotFound) {
		t.Errorf("it stays: %v", err)
	}
}
