package coordinator

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/wire"
	"collapse.example/collapse/internal/train"
)

// TestHealthIsReadAsItWasWritten, with news of workers counting only for a minute.
func TestHealthIsReadAsItWasWritten(t *testing.T) {
	dir := t.TempDir()
	if h, err := ReadHealth(dir); err != nil || !h.Time.IsZero() {
		t.Errorf("before there was a coordinator: %+v, %v", h, err)
	}
	now := Health{time.Now().UTC(), QueueHealth{Unusable: queue.Tally{Count: 3}, Waiting: []queue.Waiting{{Worker: "w", Why: "disk full"}}, Stuck: true}}
	for age, known := range map[time.Duration]bool{0: true, freshFor / 2: true, freshFor + time.Second: false, -freshFor - time.Second: false} {
		h := now
		h.Time = now.Time.Add(-age)
		must(t, h.write(dir))
		got, err := ReadHealth(dir)
		if err != nil || got.Unusable.Count != 3 || got.Stuck != known || (len(got.Waiting) == 1) != known {
			t.Errorf("after %v: %+v, %v", age, got, err)
		}
	}
	path := filepath.Join(dir, healthFile)
	for name, text := range map[string]string{"damage": "{", "a list": "[]", "too much": "{" + strings.Repeat(" ", healthBytes) + "}"} {
		must(t, os.WriteFile(path, []byte(text), 0o666))
		if _, err := ReadHealth(dir); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, errors.Join(os.Remove(path), os.Mkdir(path, 0o777)))
	if _, err := ReadHealth(dir); err == nil || !strings.Contains(err.Error(), "not what a coordinator writes") {
		t.Errorf("a folder: %v", err)
	}
	same, later, stuck := now, now, now
	same.Time, later.Time, stuck.Stuck = now.Time.Add(time.Second), now.Time.Add(againEvery+time.Second), false
	if same.differs(now) || !later.differs(now) || !stuck.differs(now) {
		t.Error("what is written again is not what is new")
	}
}

// TestHealthIsWatched has the only worker wait: the file says so, and it is logged once, until somebody works. The next coordinator
// continues the count of what was set aside.
func TestHealthIsWatched(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	configs := []train.Config{tiny()}
	lab := saved(t, configs)
	item := itemsOf(t, configs)[0]
	e, log := coordinating(t, lab, item)
	until := func(what string, holds func(Health) bool) {
		t.Helper()
		h, err := ReadHealth(lab.Dir())
		for start := time.Now(); !holds(h) || err != nil; h, err = ReadHealth(lab.Dir()) {
			if time.Since(start) > 60*time.Second {
				t.Fatalf("%s: %+v, %v", what, h, err)
			}
			e.broker.Waits("w", "disk full") // as it does with every beat
			time.Sleep(20 * time.Millisecond)
		}
	}
	watch := func() (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go e.c.Guard(ctx)
		go func() { defer close(ended); e.watchHealth(ctx) }()
		return func() { cancel(); <-ended }
	}
	stop := watch()
	e.c.SetAside("a message", 1, errors.New("useless"))
	until("nobody works", func(h Health) bool {
		return h.Stuck && len(h.Waiting) == 1 && h.Waiting[0].Why == "disk full" && h.Unusable.Count == 1
	})
	e.c.SetAside("a second message", 1, errors.New("useless"))
	until("a later look", func(h Health) bool { return h.Stuck && h.Unusable.Count == 2 })
	until("somebody works", func(h Health) bool {
		e.progress(item.Hash, "another", study.Progress{}) // again and again: a worker that is not heard of works no more
		return !h.Stuck && len(h.Waiting) == 1 && len(h.Silent) == 0
	})
	until("it has gone", func(h Health) bool { return h.Stuck && len(h.Silent) == 1 && h.Silent[0].Worker == "another" })
	stop()
	if h, err := ReadHealth(lab.Dir()); err != nil || len(h.Waiting) != 0 || h.Unusable.Count != 2 {
		t.Errorf("after the study: %+v, %v", h, err)
	}
	if told := strings.Count(log.Text(), "all known workers wait"); told != 2 {
		t.Errorf("told %d times that nobody can go on", told)
	}
	var err error
	e.c, err = e.broker.Coordinate(t.Context(), "this lab")
	must(t, err)
	stop = watch()
	e.c.SetAside("another", 1, errors.New("useless"))
	until("the next coordinator", func(h Health) bool { return h.Unusable.Count == 3 })
	stop()
}

// TestStaleMessagesAreDropped: once a later attempt has begun, nothing of an earlier one counts, not even its beginning.
func TestStaleMessagesAreDropped(t *testing.T) {
	t.Parallel()
	configs := []train.Config{stepByStep()}
	item := itemsOf(t, configs)[0]
	lab, whole := saved(t, configs), directly(t, configs)
	e, _ := coordinating(t, lab, item)
	now, before := sentBy{t, item.Hash, 12}, sentBy{t, item.Hash, 11}
	must(t, e.apply(t.Context(), append([]queue.Message{now.data(wire.Begin{Rows: 1}.Encode())}, now.rows(whole, 1, 20)...)))
	stale := append([]queue.Message{before.data(wire.Begin{Rows: 1}.Encode())}, before.rows(whole, 21, 30)...)
	must(t, e.apply(t.Context(), append(stale, before.done(filesFrom(t, whole, item.Hash, func(string) bool { return true })))))
	must(t, e.apply(t.Context(), before.rows(whole, 21, 30)))
	if run, err := lab.Run(item.Hash); err != nil || run.LastEpoch != 20 {
		t.Errorf("at epoch %d, %v", run.LastEpoch, err)
	}
	must(t, e.apply(t.Context(), now.rows(whole, 21, 80)))
	if a, b := steady(t, lab, item.Hash), steady(t, whole, item.Hash); a != b {
		t.Errorf("the rows differ, first\n%s", firstDifference(a, b))
	}
}
