//go:build unix

package cli

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/longtest"
)

// TestServeStandsAFlood opens many times more connections than a server may have files open, silent ones, half requests and whole ones that
// nobody reads the answer of: pages are there meanwhile and when they have gone, and a signal ends the server.
func TestServeStandsAFlood(t *testing.T) {
	longtest.Only(t) // it starts the program
	lab := baseLab(t)
	cmd, _, stderr := played("--lab", lab, "serve", "--listen", "127.0.0.1:0")
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `ulimit -n 64; exec "$0" "$@"`}, cmd.Args...)
	cmd.Args[3] = os.Args[0]
	cmd.Stdout = nil
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%q, %v: %s", line, err, stderr)
	}
	url := strings.TrimSpace(line)
	run := filepath.Base(onlyRun(t, lab))
	gone := flood(strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/"), longtest.Of(300, 2000), run)
	pagesAnswer(t, url, "", "run/"+run, "compare", "theory")
	gone()
	pagesAnswer(t, url, "", "run/"+run, "compare", "theory")
	endsAtOnce(t, cmd)
}

func pagesAnswer(t *testing.T, url string, pages ...string) {
	t.Helper()
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, page := range pages {
		answer, err := client.Get(url + page)
		if err != nil {
			t.Errorf("/%s: %v", page, err)
			continue
		}
		_, err = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK || err != nil {
			t.Errorf("/%s: %s, %v", page, answer.Status, err)
		}
	}
}

// onlyRun is the folder of a lab's only run.
func onlyRun(t *testing.T, lab string) string {
	t.Helper()
	runs, err := filepath.Glob(filepath.Join(lab, "runs", "*"))
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	return runs[0]
}

// flood opens connections one after the other, and keeps those that the server leaves open.
func flood(address string, strangers int, run string) (gone func()) {
	requests := []string{"", "GET /ru", "GET /run/" + run + " HTTP/1.1\r\nHost: " + address + "\r\n\r\n"}
	var open []net.Conn
	for i := range strangers {
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			continue
		}
		_, _ = io.WriteString(c, requests[i%len(requests)]) // it may be closed already
		open = append(open, c)
	}
	return func() {
		for _, c := range open {
			c.Close()
		}
	}
}

// endsAtOnce sends a process a signal, which must end it.
func endsAtOnce(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	late := time.AfterFunc(hostileSignal, func() { _ = cmd.Process.Kill() })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if !late.Stop() {
		t.Errorf("%v does not end within %v", cmd.Args, hostileSignal)
	}
}
