package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"
)

// requester is a program that keeps `collapse measure --requests` beside it.
type requester struct {
	t     *testing.T
	in    io.WriteCloser
	out   *bufio.Reader
	ended chan error
}

func newRequester(t *testing.T) *requester {
	in, request := io.Pipe()
	answer, out := io.Pipe()
	r := &requester{t, request, bufio.NewReader(answer), make(chan error, 1)}
	go func() {
		err := (&measureCmd{}).answerRequests(&app{ctx: t.Context(), stdout: out}, in)
		out.Close()
		r.ended <- err
	}()
	t.Cleanup(func() { request.Close() })
	return r
}

func (r *requester) ask(line string) (a measureAnswer) {
	r.t.Helper()
	if _, err := io.WriteString(r.in, line+"\n"); err != nil {
		r.t.Fatal(err)
	}
	text, err := r.out.ReadBytes('\n')
	if err != nil {
		r.t.Fatal(err)
	}
	if err := json.Unmarshal(text, &a); err != nil {
		r.t.Fatalf("%v in the answer %q", err, text)
	}
	return a
}

// TestRequestsAreAnsweredAsCallsAre asks for what a call of its own gives, also after requests that fail.
func TestRequestsAreAnsweredAsCallsAre(t *testing.T) {
	path := twoClasses(t)
	code, want, _ := call(t, "measure", "--json", path, "--null", "2")
	if code != exitOK {
		t.Fatal("the call alone ends with code", code)
	}
	request, _ := json.Marshal(measureRequest{[]string{path, "--null", "2"}})
	r := newRequester(t)
	for range 2 {
		var compact bytes.Buffer
		if err := json.Compact(&compact, []byte(want)); err != nil {
			t.Fatal(err)
		}
		if a := r.ask(string(request)); a.Exit != exitOK || a.Said != "" || string(a.Document) != compact.String() {
			t.Errorf("exit code %d, said %q, document %s; want %s", a.Exit, a.Said, a.Document, compact.String())
		}
		for line, said := range map[string]string{
			`{"arguments": ["nowhere.npz"]}`: "nowhere.npz", `{"arguments": ["--nulll", "3"]}`: "--null",
			`{"arguments": ["-"]}`: "standard input holds requests", `{"arguments": ["--requests=true"]}`: "standard input holds requests",
			`nonsense`: "a request must be a line",
		} {
			if a := r.ask(line); a.Exit == exitOK || a.Document != nil || !strings.Contains(a.Said, said) {
				t.Errorf("%s: exit code %d, said %q, document %s; want words on %q", line, a.Exit, a.Said, a.Document, said)
			}
		}
	}
}

// TestRequestsEndWithStandardInput closes it between requests and while the answer to one is awaited.
func TestRequestsEndWithStandardInput(t *testing.T) {
	for _, last := range []string{"", `{"arguments": ["--features", "` + twoClasses(t) + `", "--null", "1000"]}` + "\n"} {
		r := newRequester(t)
		go io.Copy(io.Discard, r.out)
		io.WriteString(r.in, last)
		r.in.Close()
		select {
		case err := <-r.ended:
			if err != nil {
				t.Errorf("after %q: %v", last, err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("after %q it goes on without standard input", last)
		}
	}
	r := newRequester(t)
	go io.WriteString(r.in, strings.Repeat("x", longestRequest+1))
	if err := <-r.ended; err == nil || !strings.Contains(err.Error(), "is longer than") {
		t.Errorf("a request without end: %v", err)
	}
}

func TestRequestsTakeNothingElse(t *testing.T) {
	if _, said := called(t, exitUsage, "measure", "--requests", "--null", "3"); !strings.Contains(said, "--null has no effect here") {
		t.Errorf("--requests with --null: %q", said)
	}
}
