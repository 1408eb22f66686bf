package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// events streams states as server-sent events until the browser leaves or stops reading, or the server ends.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	address := addressOf(r)
	queue, err := s.hub.join(address)
	if err != nil {
		s.fail(w, r, http.StatusServiceUnavailable, err)
		return
	}
	defer s.hub.leave(queue, address)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
	out := http.NewResponseController(w)
	// The deadline of the request would end the stream.
	if err := out.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return
	}
	if !s.sendEvent(w, out, "retry: 1000\n\n") {
		return
	}
	beat := time.NewTicker(s.opt.Beat)
	defer beat.Stop()
	for {
		text := ": still here\n\n"
		select {
		case <-r.Context().Done():
			return
		case <-beat.C:
		case st := <-queue:
			body, err := json.Marshal(st)
			if err != nil {
				return
			}
			text = fmt.Sprintf("id: %d\ndata: %s\n\n", st.Version, body)
		}
		if !s.sendEvent(w, out, text) {
			return
		}
	}
}

// sendEvent reports whether a browser took the text. One that never reads fills the socket; the deadline frees the stream.
func (s *Server) sendEvent(w io.Writer, out *http.ResponseController, text string) bool {
	if err := out.SetWriteDeadline(time.Now().Add(s.opt.Stalled)); err != nil {
		return false
	}
	if _, err := io.WriteString(w, text); err != nil {
		return false
	}
	return out.Flush() == nil
}
