package serve

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/longtest"
)

// slowly begins an upload on a connection of its own and stays there in the midst of a file.
func slowly(t *testing.T, s *Server) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(time.Minute))
	fmt.Fprint(c, "POST /measure HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 9999999\r\n\r\n"+
		"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x.npz\"\r\n\r\nand no more")
	return c
}

// uploadsUnderWay waits until so many uploads are.
func uploadsUnderWay(t *testing.T, s *Server, want int) {
	t.Helper()
	got := -1
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		s.uploads.mu.Lock()
		got = s.uploads.count
		s.uploads.mu.Unlock()
		if got == want {
			return
		}
	}
	t.Fatalf("%d uploads are under way, want %d", got, want)
}

// TestSlowUploadsHoldUpNobody keeps as many uploads waiting in their midst as one address may have but one: every page answers, and
// so does a measurement of somebody else. One more is refused until one of them has gone.
func TestSlowUploadsHoldUpNobody(t *testing.T) {
	lab := demoLab(t)
	tmp := ownTemp(t)
	s := startTest(t, Options{Lab: lab, UploadPatience: 5 * time.Minute})
	var slow []net.Conn
	for range mostUploadsEach - 1 {
		slow = append(slow, slowly(t, s))
	}
	uploadsUnderWay(t, s, len(slow))
	hurried := &http.Client{Timeout: time.Minute}
	for _, path := range []string{"", "theory", "measure", "compare", "study?tag=demo"} {
		if answer, _ := get(t, hurried, "GET", s.URL()+path, nil); answer.StatusCode != 200 {
			t.Errorf("/%s beside slow uploads: %d", path, answer.StatusCode)
		}
	}
	if answer, body := upload(t, s, map[string][]byte{"mine.npz": featureFile(t)}); answer.StatusCode != 200 || !strings.Contains(body, "90 samples") {
		t.Errorf("an upload beside slow ones: %d", answer.StatusCode)
	}
	uploadsUnderWay(t, s, len(slow))
	slow = append(slow, slowly(t, s))
	uploadsUnderWay(t, s, mostUploadsEach)
	answer, body := upload(t, s, map[string][]byte{"mine.npz": featureFile(t)})
	if wait, err := strconv.Atoi(answer.Header.Get("Retry-After")); answer.StatusCode != 503 || err != nil || wait < 1 || !strings.Contains(body, "under way") {
		t.Errorf("one upload too many: %d, Retry-After %q: %s", answer.StatusCode, answer.Header.Get("Retry-After"), body)
	}
	for _, c := range slow {
		c.Close()
	}
	uploadsUnderWay(t, s, 0)
	if answer, _ := upload(t, s, map[string][]byte{"mine.npz": featureFile(t)}); answer.StatusCode != 200 {
		t.Errorf("after the slow uploads have gone: %d", answer.StatusCode)
	}
	uploadsUnderWay(t, s, 0)
	if s.uploads.bytes != 0 || len(s.uploads.each) != 0 {
		t.Errorf("after all uploads %d bytes and %d addresses are counted", s.uploads.bytes, len(s.uploads.each))
	}
	nothingLeft(t, tmp)
}

// TestUploadsOfManyAddresses are bounded all together.
func TestUploadsOfManyAddresses(t *testing.T) {
	u := &uploads{each: map[string]int{}}
	for i := range mostUploads {
		if err := u.admit(fmt.Sprint("address ", i)); err != nil {
			t.Fatalf("upload %d: %v", i+1, err)
		}
	}
	err := u.admit("another address")
	if statusOf(err) != http.StatusServiceUnavailable || !strings.Contains(err.Error(), "the most the server accepts") {
		t.Errorf("one upload too many: %v", err)
	}
	if u.count != mostUploads || len(u.each) != mostUploads {
		t.Errorf("%d uploads of %d addresses are counted, want %d", u.count, len(u.each), mostUploads)
	}
}

// TestUploadsWithoutAFolder are not counted: there is no room for temporary files.
func TestUploadsWithoutAFolder(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "none")
	t.Setenv("TMPDIR", nowhere)
	t.Setenv("TMP", nowhere) // on Windows
	u := &uploads{each: map[string]int{}}
	if _, err := u.begin(httptest.NewRequest(http.MethodPost, "/measure", nil)); err == nil {
		t.Error("an upload has no folder and begins")
	}
	if u.count != 0 || len(u.each) != 0 {
		t.Errorf("%d uploads of %d addresses are counted", u.count, len(u.each))
	}
}

// TestUploadsThatDoNotArriveAreLetGo stops in the midst of an upload, and drips: both are answered and forgotten.
func TestUploadsThatDoNotArriveAreLetGo(t *testing.T) {
	longtest.Only(t)
	tmp := ownTemp(t)
	type attempt struct {
		s    *Server
		conn net.Conn
	}
	under := map[string]attempt{} // side by side: the server takes a second to let go
	for name, c := range map[string]struct {
		opt  Options
		drip bool
	}{
		"stands still":   {Options{UploadPatience: 50 * time.Millisecond}, false},
		"drips":          {Options{UploadPatience: 50 * time.Millisecond}, true},
		"takes too long": {Options{UploadPatience: time.Hour, UploadTime: 50 * time.Millisecond}, true},
	} {
		c.opt.Lab = t.TempDir()
		s := startTest(t, c.opt)
		conn := slowly(t, s)
		if c.drip {
			go func() {
				for tick := time.NewTicker(time.Millisecond); ; <-tick.C {
					if _, err := conn.Write([]byte("x")); err != nil {
						return
					}
				}
			}()
		}
		under[name] = attempt{s, conn}
	}
	for name, a := range under {
		answer, err := http.ReadResponse(bufio.NewReader(a.conn), nil)
		if err != nil {
			t.Fatal(name, err)
		}
		body, _ := io.ReadAll(answer.Body) // the connection may end under it
		if answer.StatusCode != http.StatusRequestTimeout || !strings.Contains(string(body), "too slowly") {
			t.Errorf("%s: %d %s", name, answer.StatusCode, body)
		}
	}
	for _, a := range under {
		a.conn.Close()
		uploadsUnderWay(t, a.s, 0)
	}
	nothingLeft(t, tmp)
}

// TestUploadsShareTheDisk fills the space of all uploads with some that do not end: the next one is told to come again.
func TestUploadsShareTheDisk(t *testing.T) {
	ownTemp(t)
	good := featureFile(t)
	s := startTest(t, Options{Lab: t.TempDir(), MaxUpload: int64(len(good)) + 1000, UploadPatience: time.Minute})
	for i := range uploadsOnDisk {
		c := slowly(t, s)
		if _, err := c.Write(make([]byte, len(good)+850)); err != nil {
			t.Fatal(err)
		}
		uploadsUnderWay(t, s, i+1)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		s.uploads.mu.Lock()
		left := s.uploads.mostBytes - s.uploads.bytes
		s.uploads.mu.Unlock()
		if left < int64(len(good)) && left >= 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d bytes are left", left)
		}
	}
	if answer, body := upload(t, s, map[string][]byte{"mine.npz": good}); answer.StatusCode != 503 || answer.Header.Get("Retry-After") == "" || !strings.Contains(body, "space") {
		t.Errorf("%d: %s", answer.StatusCode, body)
	}
}

// pairedFile has two samples, a number each, of each of k classes. Of 19,900 classes, the most whose pairs are compared unasked, it is the
// small file that takes longest to measure.
func pairedFile(t *testing.T, k int) []byte {
	t.Helper()
	h, y := make([]float32, 2*k), make([]int64, 2*k)
	for i := range h {
		h[i], y[i] = float32(i%k)+float32(i/k)/3, int64(i%k)
	}
	var b bytes.Buffer
	if err := arrayfile.WriteNPZ(&b, []arrayfile.Array{arrayfile.Of("features", []int{2 * k, 1}, h), arrayfile.Of("labels", []int{2 * k}, y)}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestMeasuringStops ends measurements that take many seconds of processor time: by the limit of time, by the browser's leaving, and by the
// server's end. What they take after that is counted in processor time, too, which what else the machine does hardly changes.
func TestMeasuringStops(t *testing.T) {
	longtest.Only(t)
	tmp := ownTemp(t)
	long := pairedFile(t, 19_900)
	s := startTest(t, Options{Lab: t.TempDir(), MeasureLimit: 100 * time.Millisecond})
	answer, body := upload(t, s, map[string][]byte{"long.npz": long})
	if answer.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, "longer than 100ms") || strings.Contains(body, "--") {
		t.Errorf("beyond the limit: %d %s", answer.StatusCode, body)
	}
	stopsSoon(t, s, "beyond the limit")

	s = startTest(t, Options{Lab: t.TempDir(), MeasureLimit: time.Hour})
	underWay(t, s, long, 0.2).Close()
	stopsSoon(t, s, "after the browser has left")
	if n := len(s.measuring); n != 0 {
		t.Errorf("%d places are taken after the browser has left", n)
	}
	defer underWay(t, s, long, 0.6).Close() // so long shows that what stopped before would have gone on for longer than soon
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	stopsSoon(t, s, "after the server's end")
	nothingLeft(t, tmp)
}

// stopsSoon waits until no upload is under way, which must not take 0.3 s of processor time.
func stopsSoon(t *testing.T, s *Server, when string) {
	t.Helper()
	before := ownTime()
	uploadsUnderWay(t, s, 0)
	if took := ownTime() - before; took > 0.3 {
		t.Errorf("%s the work goes on for %.2f s of processor time", when, took)
	}
}

// underWay uploads a file on a connection of its own and returns when its measurement has taken so many seconds of processor time.
func underWay(t *testing.T, s *Server, file []byte, seconds float64) net.Conn {
	t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("file", "long.npz")
	if err != nil {
		t.Fatal(err)
	}
	part.Write(file)
	w.Close()
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "POST /measure HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", w.FormDataContentType(), form.Len())
	c.Write(form.Bytes())
	began := 0.0
	for end := time.Now().Add(time.Minute); began == 0 || ownTime() < began+seconds; time.Sleep(time.Millisecond) {
		switch measuring := len(s.measuring) > 0; {
		case measuring && began == 0:
			began = ownTime()
		case !measuring && began > 0:
			t.Fatalf("the measurement takes less than %g s: nothing is tested", seconds)
		case time.Now().After(end):
			t.Fatal("the measurement does not begin, or hardly goes on")
		}
	}
	return c
}

// TestUploadFoldersOfDeadProcessesAreSwept kills a process in the midst of an upload. The next server removes what it left, and leaves
// alone the folder of one that lives, and what is not a folder of an upload.
func TestUploadFoldersOfDeadProcessesAreSwept(t *testing.T) {
	tmp := ownTemp(t)
	child := exec.Command(os.Args[0], "-test.run=^TestServeUntilKilled$")
	child.Env = append(os.Environ(), "COLLAPSE_TEST_SERVE="+t.TempDir())
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Process.Kill()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", strings.TrimSpace(address))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "POST /measure HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 9999999\r\n\r\n"+
		"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x.npz\"\r\n\r\nand no more")
	folders := func() []string {
		found, err := filepath.Glob(filepath.Join(tmp, folderName+"*", "0", "x.npz"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	for end := time.Now().Add(time.Minute); len(folders()) != 1; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the upload does not begin")
		}
	}
	other := filepath.Join(tmp, folderName+"else") // of a moment ago, without a lock
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	startTest(t, Options{Lab: t.TempDir()})
	if len(folders()) != 1 {
		t.Error("a second server has removed what the first one is receiving")
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	child.Wait()
	if len(folders()) != 1 {
		t.Fatal("the kill left no folder: nothing is tested")
	}
	startTest(t, Options{Lab: t.TempDir()})
	if left := folders(); len(left) != 0 {
		t.Errorf("a killed server's uploads are still there: %v", left)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error("a folder that may be in the making was removed:", err)
	}
	old := time.Now().Add(-2 * oldFolder)
	if err := os.Chtimes(other, old, old); err != nil {
		t.Fatal(err)
	}
	startTest(t, Options{Lab: t.TempDir()})
	nothingLeft(t, tmp)
}

// TestServeUntilKilled is the other process of TestUploadFoldersOfDeadProcessesAreSwept.
func TestServeUntilKilled(t *testing.T) {
	lab := os.Getenv("COLLAPSE_TEST_SERVE")
	if lab == "" {
		t.Skip("run by TestUploadFoldersOfDeadProcessesAreSwept")
	}
	s := startTest(t, Options{Lab: lab, UploadPatience: 5 * time.Minute})
	fmt.Println(s.Addr())
	time.Sleep(5 * time.Minute)
}

// TestTroubleWithTheDiskIsSaid puts errors of a disk into words that name no folder, and counts parts and names.
func TestTroubleWithTheDiskIsSaid(t *testing.T) {
	var log []string
	s := &Server{opt: Options{Log: func(format string, args ...any) { log = append(log, fmt.Sprintf(format, args...)) }}}
	for cause, want := range map[error]int{syscall.ENOSPC: http.StatusInsufficientStorage, syscall.EIO: http.StatusServiceUnavailable} {
		err := s.uploadError(&os.PathError{Op: "write", Path: "/secret/folder/x", Err: cause})
		if statusOf(err) != want || strings.Contains(err.Error(), "secret") || !strings.Contains(log[len(log)-1], "secret") {
			t.Errorf("%v: %d %v; the log says %q", cause, statusOf(err), err, log)
		}
	}
	ownTemp(t)
	served := startTest(t, Options{Lab: t.TempDir()})
	for name, file := range map[string]string{"a line": "a\nb.npz", "an escape": "a\x1b[2Jb.npz", "a turn of direction": "a\u202eb.npz", "no text": "a\xff.npz"} {
		var form bytes.Buffer
		form.WriteString("--b\r\nContent-Disposition: form-data; name=\"file\"; filename*=UTF-8''" + strings.NewReplacer("\n", "%0A", "\x1b", "%1B", "\u202e", "%E2%80%AE", "\xff", "%FF").Replace(file) + "\r\n\r\n")
		form.Write(featureFile(t))
		form.WriteString("\r\n--b--\r\n")
		answer, err := http.Post(served.URL()+"measure", "multipart/form-data; boundary=b", &form)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != 400 {
			t.Errorf("a name with %s: %d", name, answer.StatusCode)
		}
	}
	many := "x" + strings.Repeat("\r\n--b\r\nContent-Disposition: form-data; name=\"field\"\r\n\r\nx", 1000) + "\r\n--b--\r\n"
	answer, err := http.Post(served.URL()+"measure", "multipart/form-data; boundary=b", strings.NewReader(many))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if answer.StatusCode != 400 || err != nil || !strings.Contains(string(body), "parts") {
		t.Errorf("a thousand parts: %d %s %v", answer.StatusCode, body, err)
	}
}

// TestBodiesThatWillArrive are read at their own pace: the deadline grows with what has come.
func TestBodiesThatWillArrive(t *testing.T) {
	began := time.Now()
	var set []time.Time
	b := &body{Reader: strings.NewReader(strings.Repeat("x", 4*uploadRate)), out: http.NewResponseController(deadlines{&set}), patience: 10 * time.Second, began: began, last: began.Add(12 * time.Second)}
	buf := make([]byte, uploadRate)
	for range 4 {
		if _, err := b.Read(buf); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.arrived(); err != nil {
		t.Fatal(err)
	}
	for i, want := range []time.Duration{10, 11, 12, 12} {
		if got := set[i].Sub(began); got != want*time.Second {
			t.Errorf("read %d: the deadline is after %v, want %v", i, got, want*time.Second)
		}
	}
	if !set[4].IsZero() {
		t.Error("a deadline is left while the files are measured")
	}
}

// deadlines is a connection that only remembers its deadlines.
type deadlines struct{ set *[]time.Time }

func (d deadlines) Header() http.Header                { return http.Header{} }
func (d deadlines) Write([]byte) (int, error)          { return 0, errors.ErrUnsupported }
func (d deadlines) WriteHeader(int)                    {}
func (d deadlines) SetReadDeadline(at time.Time) error { *d.set = append(*d.set, at); return nil }
