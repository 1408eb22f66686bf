package data

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// site serves one file, in all the ways that servers have.
type site struct {
	*httptest.Server
	content  []byte
	noRange  bool // answers every request with the whole file
	cutAfter int  // bytes of a body after which the connection breaks; 0: never
	cuts     int  // how often that happens; <0: always
	status   int  // answered instead of anything else, `statuses` times (<0: always)
	statuses int
	stall    chan struct{} // when set, bodies wait for it after cutAfter bytes

	mu     sync.Mutex
	ranges []string // Range headers as they came
}

func newSite(t *testing.T, content []byte) *site {
	s := &site{content: content}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.ranges = append(s.ranges, r.Header.Get("Range"))
	cut, fail := s.cutAfter > 0 && s.cuts != 0, s.statuses != 0
	if cut {
		s.cuts--
	}
	if fail {
		s.statuses--
	}
	s.mu.Unlock()
	switch {
	case r.URL.Path == "/moved":
		http.Redirect(w, r, "/file", http.StatusFound)
	case fail:
		w.WriteHeader(s.status)
	case cut:
		s.cutShort(w, r)
	case s.noRange:
		w.Write(s.content)
	default:
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.content))
	}
}

// cutShort sends the beginning of what was asked for and breaks the connection.
func (s *site) cutShort(w http.ResponseWriter, r *http.Request) {
	start := 0
	if h := r.Header.Get("Range"); h != "" && !s.noRange {
		fmt.Sscanf(h, "bytes=%d-", &start)
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start, len(s.content)-1, len(s.content)))
		w.Header().Set("Content-Length", fmt.Sprint(len(s.content)-start))
		w.WriteHeader(http.StatusPartialContent)
	} else {
		w.Header().Set("Content-Length", fmt.Sprint(len(s.content)))
	}
	w.Write(s.content[start:min(start+s.cutAfter, len(s.content))])
	w.(http.Flusher).Flush()
	if s.stall != nil {
		select {
		case <-s.stall:
		case <-r.Context().Done():
		}
	}
	panic(http.ErrAbortHandler)
}

func sumOf(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// quickly makes downloads give up soon.
func quickly(t *testing.T) {
	stall, retry := stallAfter, retryAfter
	stallAfter, retryAfter = 200*time.Millisecond, time.Millisecond
	t.Cleanup(func() { stallAfter, retryAfter = stall, retry })
}

// remoteSet is a set of one file with the given content.
func remoteSet(content []byte, urls ...string) *Info {
	return &Info{Name: "here", Origin: "a test", dirs: []string{"here"},
		Remote: []RemoteFile{{Name: "file.bin", URLs: urls, Size: int64(len(content)), SHA256: sumOf(content), Source: "a test"}}}
}

func someBytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * i >> 7)
	}
	return b
}

// arrived fails unless the file is in its place and nothing else is in the folder.
func arrived(t *testing.T, root string, content []byte) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, "here", "file.bin"))
	if err != nil || !bytes.Equal(b, content) {
		t.Fatalf("%d bytes, want %d (%v)", len(b), len(content), err)
	}
	if left, _ := os.ReadDir(filepath.Join(root, "here")); len(left) != 1 {
		t.Fatalf("left behind: %v", left)
	}
}

func TestGet(t *testing.T) {
	quickly(t)
	content := someBytes(300_000)
	for what, c := range map[string]struct {
		set    func(*site)
		part   []byte // there from an earlier call
		path   string
		ranges []string
	}{
		"at once":                {ranges: []string{""}},
		"redirected":             {path: "/moved", ranges: []string{"", ""}},
		"interrupted twice":      {set: func(s *site) { s.cutAfter, s.cuts = 100_000, 2 }, ranges: []string{"", "bytes=100000-", "bytes=200000-"}},
		"interrupted, no ranges": {set: func(s *site) { s.cutAfter, s.cuts, s.noRange = 100_000, 1, true }, ranges: []string{"", "bytes=100000-"}},
		"stalled":                {set: func(s *site) { s.cutAfter, s.cuts, s.stall = 50_000, 1, make(chan struct{}) }, ranges: []string{"", "bytes=50000-"}},
		"busy":                   {set: func(s *site) { s.status, s.statuses = 503, 2 }, ranges: []string{"", "", ""}},
		"continued":              {part: content[:1234], ranges: []string{"bytes=1234-"}},
		"complete but unchecked": {part: content},
		"part of another file":   {part: make([]byte, 1234), ranges: []string{"bytes=1234-", ""}},
		"whole of another file":  {part: make([]byte, 300_000), ranges: []string{""}},
		"part too long":          {part: make([]byte, 300_001), ranges: []string{""}},
	} {
		t.Run(what, func(t *testing.T) {
			s := newSite(t, content)
			if c.set != nil {
				c.set(s)
			}
			root := t.TempDir()
			if c.part != nil {
				os.MkdirAll(filepath.Join(root, "here"), 0o755)
				write(t, filepath.Join(root, "here", "file.bin.part"), c.part)
			}
			var last Transfer
			got, err := getAll(t.Context(), remoteSet(content, s.URL+c.path), GetOptions{Root: root, Progress: func(f Transfer) { last = f }})
			if err != nil {
				t.Fatal(err)
			}
			arrived(t, root, content)
			if len(got) != 1 || got[0].State != Fetched || got[0].URL != s.URL+c.path || !slices.Equal(s.ranges, c.ranges) {
				t.Errorf("%+v, ranges asked %q, want %q", got, s.ranges, c.ranges)
			}
			if want := (Transfer{"file.bin", 300_000, 300_000}); last != want && len(c.ranges) > 0 {
				t.Errorf("last progress %+v", last)
			}
			if got, err = getAll(t.Context(), remoteSet(content, "http://nowhere.invalid"), GetOptions{Root: root}); err != nil || got[0].State != Already {
				t.Errorf("a second call: %+v, %v", got, err)
			}
		})
	}
}

func TestGetFails(t *testing.T) {
	quickly(t)
	content := someBytes(10_000)
	for what, c := range map[string]struct {
		set    func(*site)
		want   []string
		asked  int
		remain bool // a .part stays
	}{
		"another file":   {set: func(s *site) { s.content = slices.Repeat([]byte{7}, 10_000) }, want: []string{"what it serves has 10000 bytes and SHA-256", sumOf(content)}, asked: 1},
		"a longer file":  {set: func(s *site) { s.content = someBytes(10_001) }, want: []string{"more than 10000 bytes"}, asked: 1, remain: true},
		"a shorter file": {set: func(s *site) { s.content = content[:9_000] }, want: []string{"answers 416"}, asked: 2, remain: true},
		"no file":        {set: func(s *site) { s.status, s.statuses = 404, -1 }, want: []string{"answers 404 Not Found"}, asked: 1},
		"always busy":    {set: func(s *site) { s.status, s.statuses = 503, -1 }, want: []string{"answers 503", "after 4 attempts"}, asked: 4},
		"never a byte":   {set: func(s *site) { s.cutAfter, s.cuts, s.noRange = 1, -1, true }, want: []string{"after 4 attempts"}, asked: 5, remain: true},
	} {
		t.Run(what, func(t *testing.T) {
			s := newSite(t, content)
			c.set(s)
			root := t.TempDir()
			_, err := getAll(t.Context(), remoteSet(content, s.URL), GetOptions{Root: root})
			var failed *DownloadError
			if !errors.As(err, &failed) {
				t.Fatalf("got %v, want a *DownloadError", err)
			}
			for _, want := range append(c.want, s.URL, "fetch "+s.URL+" (10000 bytes, SHA-256 "+sumOf(content)+") on another machine and put it into "+filepath.Join(root, "here")) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			if len(s.ranges) != c.asked {
				t.Errorf("asked %d times, want %d: %q", len(s.ranges), c.asked, s.ranges)
			}
			if _, err := os.Stat(filepath.Join(root, "here", "file.bin")); err == nil {
				t.Error("a file came to its place")
			}
			if _, err := os.Stat(filepath.Join(root, "here", "file.bin.part")); (err == nil) != c.remain {
				t.Errorf("part: %v", err)
			}
		})
	}
}

// A second address is asked when the first fails, and a mirror before both.
func TestGetAddresses(t *testing.T) {
	quickly(t)
	content := someBytes(5_000)
	bad, good, mirror := newSite(t, []byte("no")), newSite(t, content), newSite(t, content)
	root := t.TempDir()
	got, err := getAll(t.Context(), remoteSet(content, "http://127.0.0.1:1/file", bad.URL, good.URL), GetOptions{Root: root})
	if err != nil || got[0].URL != good.URL {
		t.Fatalf("%+v, %v", got, err)
	}
	arrived(t, root, content)
	root = t.TempDir()
	got, err = getAll(t.Context(), remoteSet(content, good.URL), GetOptions{Root: root, Mirror: mirror.URL + "/"})
	if err != nil || got[0].URL != mirror.URL+"/file.bin" || len(mirror.ranges) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	_, err = getAll(t.Context(), remoteSet(content, "ftp://example.org/file"), GetOptions{Root: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "not an http address") {
		t.Error(err)
	}
}

// Ctrl-C leaves what was received, and says that the same command goes on.
func TestGetStops(t *testing.T) {
	content := someBytes(300_000)
	s := newSite(t, content)
	s.cutAfter, s.cuts, s.stall = 100_000, 1, make(chan struct{})
	root := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := getAll(ctx, remoteSet(content, s.URL), GetOptions{Root: root, Progress: func(Transfer) { cancel() }})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "continues where it stopped") {
		t.Fatal(err)
	}
	if _, err := getAll(t.Context(), remoteSet(content, s.URL), GetOptions{Root: root}); err != nil {
		t.Fatal(err)
	}
	arrived(t, root, content)
	if last := s.ranges[len(s.ranges)-1]; !strings.HasPrefix(last, "bytes=") {
		t.Errorf("started again: %q", s.ranges)
	}
}

// What is in the way is never replaced; what the disk refuses is said, and no other address is asked.
func TestGetDisk(t *testing.T) {
	quickly(t)
	content := someBytes(10_000)
	s := newSite(t, content)
	here := func(prepare func(dir string)) string {
		root := t.TempDir()
		os.MkdirAll(filepath.Join(root, "here"), 0o755)
		prepare(filepath.Join(root, "here"))
		return root
	}
	for what, c := range map[string]struct {
		root string
		want string
	}{
		"another file": {here(func(d string) { write(t, filepath.Join(d, "file.bin"), []byte("mine")) }), "is not the official file: it has 4 bytes"},
		"same size":    {here(func(d string) { write(t, filepath.Join(d, "file.bin"), make([]byte, 10_000)) }), "is not the official file: it has 10000 bytes"},
		"a folder":     {here(func(d string) { os.Mkdir(filepath.Join(d, "file.bin"), 0o755) }), "is a directory"},
		"part a folder": {here(func(d string) {
			os.MkdirAll(filepath.Join(d, "file.bin.part", "x"), 0o755)
		}), "directory"},
		"full": {here(func(d string) { os.Symlink("/dev/full", filepath.Join(d, "file.bin.part")) }), "no space left"},
	} {
		if what == "full" {
			if _, err := os.Stat("/dev/full"); err != nil {
				continue // not on this system
			}
		}
		asked := len(s.ranges)
		_, err := getAll(t.Context(), remoteSet(content, s.URL, s.URL), GetOptions{Root: c.root})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", what, err, c.want)
		}
		if n := len(s.ranges) - asked; n > 1 {
			t.Errorf("%s: asked %d times", what, n)
		}
	}
	root := t.TempDir()
	write(t, filepath.Join(root, "here"), nil)
	if _, err := getAll(t.Context(), remoteSet(content, s.URL), GetOptions{Root: root}); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("root: %v", err)
	}
}

func TestGetTwoAtOnce(t *testing.T) {
	content := someBytes(300_000)
	s := newSite(t, content)
	s.cutAfter, s.cuts, s.stall = 100_000, 1, make(chan struct{})
	root := t.TempDir()
	begun, done := make(chan struct{}), make(chan error)
	var once sync.Once
	go func() {
		_, err := getAll(t.Context(), remoteSet(content, s.URL), GetOptions{Root: root, Progress: func(Transfer) { once.Do(func() { close(begun) }) }})
		done <- err
	}()
	<-begun
	if _, err := getAll(t.Context(), remoteSet(content, s.URL), GetOptions{Root: root}); err == nil || !strings.Contains(err.Error(), "another process is downloading") {
		t.Errorf("a second download: %v", err)
	}
	close(s.stall)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	arrived(t, root, content)
}

// tarball packs files with the given names.
func tarball(t *testing.T, files map[string][]byte, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, name := range names {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name])), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		w.Write(files[name])
	}
	w.Close()
	z.Close()
	return b.Bytes()
}

func archiveSet(content []byte, url string, members ...member) *Info {
	info := remoteSet(content, url)
	info.Remote[0].Name, info.Remote[0].members = "file.tar.gz", members
	return info
}

func TestGetArchive(t *testing.T) {
	files := map[string][]byte{"top/a.bin": someBytes(5000), "top/b.bin": someBytes(70_000), "top/readme.html": []byte("text")}
	content := tarball(t, files, "top/readme.html", "top/b.bin", "top/a.bin")
	s := newSite(t, content)
	root := t.TempDir()
	info := archiveSet(content, s.URL, member{"a.bin", 5000}, member{"b.bin", 70_000})
	for i, state := range []GotState{Fetched, Already} {
		got, err := getAll(t.Context(), info, GetOptions{Root: root})
		if err != nil || got[0].State != state || !slices.Equal(got[0].Members, []string{"a.bin", "b.bin"}) {
			t.Fatalf("call %d: %+v, %v", i, got, err)
		}
	}
	entries, err := os.ReadDir(filepath.Join(root, "here"))
	if err != nil || len(entries) != 2 {
		t.Fatalf("%v, %v", entries, err)
	}
	for _, name := range []string{"a.bin", "b.bin"} {
		if b, err := os.ReadFile(filepath.Join(root, "here", name)); err != nil || !bytes.Equal(b, files["top/"+name]) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.Truncate(filepath.Join(root, "here", "a.bin"), 10); err != nil {
		t.Fatal(err)
	}
	if _, err := getAll(t.Context(), info, GetOptions{Root: root}); err == nil || !strings.Contains(err.Error(), "it has 10 bytes, want 5000") {
		t.Errorf("a cut file: %v", err)
	}
}

// Archives whose checksum is right and whose content is not what it should be: nothing comes to its place.
func TestUnpackRefuses(t *testing.T) {
	files := map[string][]byte{"../a.bin": someBytes(500), "top/a.bin": someBytes(499), "x": make([]byte, 4<<20)}
	good := tarball(t, files, "../a.bin")
	for what, c := range map[string]struct {
		archive []byte
		want    string
	}{
		"missing":   {tarball(t, files), "1 of the wanted files not found"},
		"size":      {tarball(t, files, "top/a.bin"), "top/a.bin has 499 bytes; want 500"},
		"bomb":      {tarball(t, files, "x", "../a.bin"), "longer than the archive"},
		"no gzip":   {[]byte("text of an error page"), "corrupt"},
		"cut":       {good[:len(good)-30], "unexpected EOF"},
		"cut early": {good[:15], "1 of the wanted files not found"},
		"no tar":    {gzipped(bytes.Repeat([]byte("x"), 1024)), "invalid tar header"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "archive.part")
		write(t, path, c.archive)
		if err := unpack(path, dir, []member{{"a.bin", 500}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", what, err, c.want)
		}
		if left, _ := os.ReadDir(dir); len(left) != 1 {
			t.Errorf("%s: left behind %v", what, left)
		}
	}
	dir := filepath.Join(t.TempDir(), "inner")
	os.Mkdir(dir, 0o755)
	path := filepath.Join(dir, "archive.part")
	write(t, path, good)
	if err := unpack(path, dir, []member{{"a.bin", 500}}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a.bin")); err != nil {
		t.Error("a name with .. was used as a path")
	}
}

func TestGetNames(t *testing.T) {
	t.Setenv(RootVariable, "")
	var hand *ByHandError
	for name, want := range map[string]string{"glyphs": "built in", "mini-imagenet": "mini-imagenet-cache", "folder": "train/ and test/"} {
		if _, err := Get(t.Context(), name, GetOptions{Root: t.TempDir()}); !errors.As(err, &hand) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var unknown *UnknownError
	if _, err := Get(t.Context(), "mnits", GetOptions{}); !errors.As(err, &unknown) {
		t.Error(err)
	}
	if _, err := Get(t.Context(), "mnist", GetOptions{}); !errors.Is(err, ErrNoRoot) {
		t.Error(err)
	}
}

// TestRemoteFiles: each file of the list is told apart by a whole checksum, has an address that ends in its name, and says whence
// its checksum is. What an archive holds is what its set reads.
func TestRemoteFiles(t *testing.T) {
	seen := map[string]bool{}
	for _, info := range registry {
		for _, f := range info.Remote {
			if b, err := hex.DecodeString(f.SHA256); err != nil || len(b) != 32 || seen[f.SHA256] || f.Size < 1000 || f.Source == "" || f.Verified {
				t.Errorf("%+v", f)
			}
			seen[f.SHA256] = true
			for _, u := range f.URLs {
				if !strings.HasSuffix(u, "/"+f.Name) {
					t.Errorf("%s is fetched from %s", f.Name, u)
				}
			}
			for _, m := range f.members {
				if record := int64(3073); m.size%record != 0 && m.size%(record+1) != 0 {
					t.Errorf("%s of %s has %d bytes", m.name, f.Name, m.size)
				}
			}
		}
		for split := range info.files {
			for _, want := range info.files[split] {
				held := slices.ContainsFunc(info.Remote, func(f RemoteFile) bool {
					return strings.TrimSuffix(f.Name, ".gz") == want || slices.ContainsFunc(f.members, func(m member) bool { return m.name == want })
				})
				if len(info.Remote) > 0 && !held {
					t.Errorf("%s: nothing downloads %s", info.Name, want)
				}
			}
		}
	}
}

// TestUnpackedBytesAreBounded: twice the wanted files and a MiB, wherever in the archive they are.
func TestUnpackedBytesAreBounded(t *testing.T) {
	const size = 200_000
	for junk, refused := range map[int]bool{1<<20 + size - 4096: false, 1<<20 + size + 4096: true} { // and headers
		dir := t.TempDir()
		path := filepath.Join(dir, "archive.part")
		write(t, path, tarball(t, map[string][]byte{"junk": make([]byte, junk), "a.bin": someBytes(size)}, "junk", "a.bin"))
		err := unpack(path, dir, []member{{"a.bin", size}})
		if refused != (err != nil) {
			t.Errorf("%d bytes before a file of %d: %v", junk, size, err)
		}
	}
}
