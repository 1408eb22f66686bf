package serve

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/internal/store"
)

// mostHeadlines bounds how many runs' headlines are kept.
const mostHeadlines = 1000

// headlines keeps those of finished runs, by run and attempt: "" where features cannot be measured.
type headlines struct {
	mu    sync.Mutex
	known map[string]string
}

func (f *headlines) get(key string) (words string, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	words, ok = f.known[key]
	return words, ok
}

func (f *headlines) put(key, words string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil || len(f.known) >= mostHeadlines {
		f.known = map[string]string{}
	}
	f.known[key] = words
}

// runHeadline answers with the headline of a run, which `collapse train` ends with; with nothing before it has ended, or without features. Its
// page asks for it, since measuring the features of a large run takes a while.
func (s *Server) runHeadline(w http.ResponseWriter, r *http.Request) error {
	row, dir, err := s.find(r.PathValue("hash"))
	if err != nil {
		return err
	}
	if row.Status != store.Done {
		s.write(w, http.StatusOK, "finding", "")
		return nil
	}
	key := fmt.Sprint(row.Hash, row.Generation, row.Finished.UnixMilli())
	words, known := s.headlines.get(key)
	if !known {
		if words, err = s.measureRun(r.Context(), dir); err != nil {
			return err
		}
		s.headlines.put(key, words)
	}
	s.write(w, http.StatusOK, "finding", words)
	return nil
}

// measureRun measures the features of a run when a place is free. It is an error only if there was no time: other features have no headline.
func (s *Server) measureRun(asked context.Context, dir string) (words string, err error) {
	if err := take(asked, s.measuring); err != nil {
		return "", err
	}
	defer func() { <-s.measuring }()
	ctx, cancel := context.WithTimeoutCause(asked, s.opt.MeasureLimit, errTooLong)
	defer cancel()
	memory.enter()
	defer memory.leave()
	part := s.memory.Part(uploadMemory)
	defer part.Release()
	err = safely(func() (err error) {
		words, err = measurement.HeadlineOfRun(ctx, dir, part)
		return err
	})
	if ctx.Err() != nil {
		return "", statusError{http.StatusServiceUnavailable, context.Cause(ctx)}
	}
	if err != nil {
		return "", nil // the page says why there are no features
	}
	return words, nil
}
