package serve

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"
)

// An answer that took 6 ms costs a share of .3 % of two processors in a second.
func TestWaitAfter(t *testing.T) {
	if got := waitAfter(6*time.Millisecond, 2); got != time.Second {
		t.Errorf("%v, wanted 1 s", got)
	}
}

// Every page and picture says how long to wait before the next, and streams are not touched.
func TestAnswersSayWhenToAskAgain(t *testing.T) {
	s := &Server{busy: make(chan struct{}, 1)}
	page := s.page(s.busy, func(w http.ResponseWriter, r *http.Request) error {
		time.Sleep(5 * time.Millisecond)
		_, err := w.Write([]byte("words"))
		return err
	})
	answer := httptest.NewRecorder()
	page.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/", nil))
	wait, err := strconv.Atoi(answer.Header().Get(waitHeader))
	if err != nil || wait < 1 || answer.Body.String() != "words" {
		t.Errorf("wait %q, body %q, %v", answer.Header().Get(waitHeader), answer.Body, err)
	}
}
