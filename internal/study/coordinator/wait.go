package coordinator

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
)

// followEvery is the time between a second process's looks at the first one's progress.
const followEvery = 500 * time.Millisecond

// lockOrFollow takes the lab's lock, or waits for it while another process holds it. It returns no lock if nothing is left to do.
func (e *coordinator) lockOrFollow(ctx context.Context) (*queue.Lock, error) {
	var w waiting
	for {
		lock, err := queue.TakeLock(filepath.Join(e.lab.Dir(), "queue.lock"))
		var held *queue.HeldError
		if !errors.As(err, &held) {
			return lock, err
		}
		if now := time.Now(); w.due(now) {
			studies, _ := e.lab.Studies() // the message does without
			if line := w.line(held.Holder, studies, now); line != "" {
				e.o.Logf("%s", line)
			}
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(followEvery):
		}
		if err := e.load(); err != nil {
			return nil, err
		}
		e.tell(nil)
		if e.nothingLeft() {
			return nil, nil
		}
	}
}

// waiting is what a process says while another one coordinates the lab: at once what it waits for, and ever more rarely how far that is.
type waiting struct {
	began, next time.Time
	pause       time.Duration
	done        map[string]int // runs of each study that were done when it began to wait
	said        string
}

// Pauses between two sentences.
const (
	firstPause = 10 * time.Second
	mostPause  = 5 * time.Minute
)

func (w *waiting) due(now time.Time) bool { return !now.Before(w.next) }

// line is what there is to say now; "" if nothing is new.
func (w *waiting) line(holder string, studies []store.Study, now time.Time) string {
	first := w.began.IsZero()
	if first {
		w.began, w.pause, w.done = now, firstPause, map[string]int{}
		for _, s := range studies {
			w.done[s.Name] = s.Counts[store.Done]
		}
	} else {
		w.pause = min(2*w.pause, mostPause)
	}
	w.next = now.Add(w.pause)
	under := w.underWay(studies, now)
	switch {
	case first && under == "":
		return holder + " coordinates this lab; waiting for it (Ctrl-C stops waiting, not the runs)"
	case first:
		w.said = under
		return holder + " coordinates this lab for " + under + "; waiting for it (Ctrl-C stops waiting, not the runs)"
	case under == "" || under == w.said:
		return ""
	}
	w.said = under
	return "still waiting for " + under
}

// underWay names the studies whose runs are computed now, how far they are, and how long they take if they go on as since the waiting began; ""
// if none is seen.
func (w *waiting) underWay(studies []store.Study, now time.Time) string {
	var names []string
	for _, s := range studies {
		if s.Counts[store.Running] == 0 {
			continue
		}
		done := s.Counts[store.Done]
		text := fmt.Sprintf("%d of %d runs done", done, s.Runs)
		if since := done - w.done[s.Name]; since > 0 {
			left := now.Sub(w.began) / time.Duration(since) * time.Duration(s.Runs-done-s.Counts[store.Failed])
			text += fmt.Sprintf(", about %v left", left.Round(time.Second))
		}
		names = append(names, s.Name+" ("+text+")")
	}
	return format.List(names)
}
