package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/store"
)

// controlled is a study that runs while a page with buttons shows it.
type controlled struct {
	t    *testing.T
	lab  *store.Reader
	url  string
	runs []store.StudyRun

	browser http.Client // with the cookie, once it has opened the link
}

// open follows the link that serve prints.
func (c *controlled) open(link string) {
	c.t.Helper()
	c.browser.Jar, _ = cookiejar.New(nil) // which has no errors
	answer, err := c.browser.Get(link)
	if err != nil || answer.StatusCode != http.StatusOK {
		c.t.Fatalf("%s: %v, %v", link, answer, err)
	}
	answer.Body.Close()
	c.url, _, _ = strings.Cut(link, "?")
}

// press sends a form of a page as a browser does, if the page has it, and returns the answer's status.
func (c *controlled) press(page, action string) int {
	c.t.Helper()
	answer, err := c.browser.Get(c.url + page)
	if err != nil {
		c.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		c.t.Fatalf("/%s: %d, %v", page, answer.StatusCode, err)
	}
	form := regexp.MustCompile(`<form method="post" action="/([^"]*/` + action + `[^"]*)"`).FindSubmatch(text)
	if form == nil {
		c.t.Fatalf("/%s has no button for %s", page, action)
	}
	return c.post(string(form[1]), strings.TrimSuffix(c.url, "/"))
}

func (c *controlled) post(path, origin string) int {
	c.t.Helper()
	req, err := http.NewRequest(http.MethodPost, c.url+path, strings.NewReader(""))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Origin", origin)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if c.browser.Jar != nil {
		for _, cookie := range c.browser.Jar.Cookies(req.URL) {
			req.AddCookie(cookie)
		}
	}
	answer, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		c.t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

// until waits for a run of the study, by its place, to be as wanted.
func (c *controlled) until(i int, what string, wanted func(store.Run) bool) store.Run {
	c.t.Helper()
	var run store.Run
	for start := time.Now(); time.Since(start) < 2*time.Minute; time.Sleep(5 * time.Millisecond) {
		var err error
		if run, err = c.lab.Run(c.runs[i].Hash); err != nil {
			c.t.Fatal(err)
		}
		if wanted(run) {
			return run
		}
	}
	c.t.Fatalf("run %d is never %s: it is %s %q at epoch %d, claimed %d times", i, what, run.Status, run.Error, run.LastEpoch, run.Generation)
	return run
}

func is(status store.Status, generation int64) func(store.Run) bool {
	return func(r store.Run) bool { return r.Status == status && r.Generation == generation }
}

// controlledEpochs is how long a run takes: several times as long as the page and the coordinator take to act on a button, however
// busy the machine is, for the run and they wait for the same processors.
func controlledEpochs() int64 { return longtest.Of[int64](240, 1500) }

// startControlled starts a study of three runs, two at a time: one that fails, two that take a while. It returns once all are known.
func startControlled(t *testing.T) (c *controlled, labDir string, ended chan int) {
	t.Helper()
	file, labDir := studyFile(t)
	long := strings.NewReplacer("run.epochs = 2", fmt.Sprint("run.epochs = ", controlledEpochs()), `loss.kind = ["ce", "mse"]`, "optim.lr = [1e38, 0.01, 0.02]", "seeds = 2", "seeds = 1").Replace(tinyStudy)
	if err := os.WriteFile(file, []byte(long), 0o666); err != nil {
		t.Fatal(err)
	}
	ended = make(chan int, 1)
	go func() {
		ended <- run(t.Context(), []string{"--lab", labDir, "--threads", "2", "study", "run", file, "--workers", "2"}, io.Discard, io.Discard)
	}()
	c = &controlled{t: t}
	for start := time.Now(); len(c.runs) < 3; time.Sleep(10 * time.Millisecond) {
		if time.Since(start) > 20*time.Second {
			t.Fatal("the study does not begin")
		}
		if _, err := os.Stat(filepath.Join(labDir, "lab.sqlite")); err != nil {
			continue
		}
		if c.lab == nil {
			c.lab, _ = store.OpenReader(labDir) // it may be in the making
		}
		if c.lab != nil {
			c.runs, _ = c.lab.StudyRuns("tiny")
		}
	}
	t.Cleanup(func() { c.lab.Close() })
	return c, labDir, ended
}

// TestThePageControlsALiveStudy presses the buttons of a page with --control while another process's coordinator is at work.
func TestThePageControlsALiveStudy(t *testing.T) {
	longtest.Only(t)
	c, labDir, ended := startControlled(t)
	code := serveUntil(t, func(s serving) {
		c.open(s.URL)
		c.until(0, "failed", is(store.Failed, 1))
		c.until(1, "under way", func(r store.Run) bool { return r.Status == store.Running && r.LastEpoch > 3 })
		if got := c.post("run/"+c.runs[1].Hash+"/cancel", "http://evil.example"); got != http.StatusForbidden {
			t.Errorf("a page of another site cancels: %d", got)
		}
		if r := c.until(1, "untouched", func(store.Run) bool { return true }); r.Status != store.Running {
			t.Errorf("refused, but the run is %s", r.Status)
		}
		if got := c.press("run/"+c.runs[1].Hash, "cancel"); got != http.StatusSeeOther {
			t.Fatalf("cancel: %d", got)
		}
		cancelled := c.until(1, "cancelled", store.Run.Cancelled)
		if got := c.press("run/"+c.runs[0].Hash, "retry"); got != http.StatusSeeOther {
			t.Errorf("retry: %d", got)
		}
		c.until(0, "tried again", is(store.Failed, 2))
		if r := c.until(1, "left alone", func(store.Run) bool { return true }); !r.Cancelled() || r.LastEpoch != cancelled.LastEpoch || r.Generation != 1 {
			t.Errorf("the cancelled run is %s at epoch %d, it was at %d", r.Status, r.LastEpoch, cancelled.LastEpoch)
		}
		if got := c.press("run/"+c.runs[1].Hash, "resume"); got != http.StatusSeeOther {
			t.Errorf("resume: %d", got)
		}
		c.until(1, "under way again", is(store.Running, 2))
		if got := c.press("study?study=tiny", "cancel"); got != http.StatusSeeOther { // its coordinator ends
			t.Errorf("cancel the study: %d", got)
		}
		if code := <-ended; code != exitFailed { // for the one that failed
			t.Errorf("the cancelled study ends with code %d", code)
		}
		if got := c.press("study?study=tiny", "resume"); got != http.StatusSeeOther { // this process goes on with it
			t.Errorf("resume the study: %d", got)
		}
		c.until(1, "done", func(r store.Run) bool { return r.Status == store.Done && r.LastEpoch == controlledEpochs() })
		c.until(2, "done", func(r store.Run) bool { return r.Status == store.Done && r.LastEpoch == controlledEpochs() })
	}, "--control", "--listen", "127.0.0.1:0", "--lab", labDir)
	if code != exitOK {
		t.Errorf("the page ends with code %d", code)
	}
}

// TestAPageWithoutControlChangesNothing posts what the buttons would post to a page that has none.
func TestAPageWithoutControlChangesNothing(t *testing.T) {
	longtest.Only(t)
	c, labDir, ended := startControlled(t)
	serveUntil(t, func(s serving) {
		c.url = s.URL
		failed := c.until(0, "failed", is(store.Failed, 1))
		c.until(1, "under way", func(r store.Run) bool { return r.Status == store.Running && r.LastEpoch > 3 })
		before, err := c.lab.StudyRevision()
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"run/" + c.runs[1].Hash + "/cancel", "run/" + c.runs[0].Hash + "/retry", "run/" + c.runs[2].Hash + "/resume",
			"study/cancel?study=tiny", "study/retry?study=tiny", "study/resume?study=tiny"} {
			if got := c.post(path, strings.TrimSuffix(c.url, "/")); got != http.StatusMethodNotAllowed && got != http.StatusNotFound {
				t.Errorf("%s: %d", path, got)
			}
		}
		for _, page := range []string{"run/" + c.runs[1].Hash, "study?study=tiny"} {
			answer, err := http.Get(c.url + page)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(answer.Body)
			answer.Body.Close()
			if err != nil || strings.Contains(string(text), `method="post"`) || !strings.Contains(string(text), "read only") {
				t.Errorf("/%s has buttons, %v", page, err)
			}
		}
		time.Sleep(600 * time.Millisecond) // two looks of the coordinator
		after, err := c.lab.StudyRevision()
		study, err2 := c.lab.Study("tiny")
		if err != nil || err2 != nil || after != before || study.Cancelled {
			t.Errorf("the study was changed: revision %s after %s, %+v, %v %v", after, before, study, err, err2)
		}
		if r := c.until(0, "looked at", func(store.Run) bool { return true }); r.Status != store.Failed || r.Generation != failed.Generation {
			t.Errorf("the failed run was changed: %s, claimed %d times", r.Status, r.Generation)
		}
		c.until(1, "done", is(store.Done, 1))
	}, "--listen", "127.0.0.1:0", "--lab", labDir)
	lab := openLab(t, labDir)
	defer lab.Close()
	if err := lab.CancelStudy("tiny"); err != nil {
		t.Error(err)
	}
	<-ended
}

// TestAPageThatControlsAsksForAToken also on a loopback address, which other users of the machine reach.
func TestAPageThatControlsAsksForAToken(t *testing.T) {
	code := serveUntil(t, func(s serving) {
		c := &controlled{t: t}
		if c.url = s.URL[:strings.LastIndex(s.URL, "/")+1]; !s.Token || !strings.Contains(s.URL, "?token=") {
			t.Errorf("%+v has no token", s)
		}
		if got := c.post("study/cancel?study=x", strings.TrimSuffix(c.url, "/")); got != http.StatusUnauthorized {
			t.Errorf("without the token: %d", got)
		}
		c.open(s.URL)
		if got := c.post("study/cancel?study=x", strings.TrimSuffix(c.url, "/")); got != http.StatusConflict { // there is no such study
			t.Errorf("with the token: %d", got)
		}
	}, "--control", "--listen", "127.0.0.1:0", "--lab", t.TempDir())
	if code != exitOK {
		t.Errorf("the page ends with code %d", code)
	}
}
