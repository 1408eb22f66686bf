package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"collapse/internal/queue"
)

// Health is what is wrong with a lab's queue and its workers, as the coordinator wrote it last.
type Health struct {
	Time time.Time `json:"time"`
	QueueHealth
}

// QueueHealth is what a Health says.
type QueueHealth struct {
	Unusable queue.Tally     `json:"unusable"`          // what came over the network and was set aside
	Waiting  []queue.Waiting `json:"waiting,omitempty"` // workers whose machines can do no run now
	Stuck    bool            `json:"stuck,omitempty"`   // runs are left, and every worker that is heard of waits
}

const (
	healthFile  = "queue.health"
	healthBytes = 1 << 20 // that are read of it
	healthEvery = time.Second
	freshFor    = time.Minute      // what is known of workers
	againEvery  = 20 * time.Second // it is written again while workers wait
)

// ReadHealth reads what the coordinator of a lab left in its folder. Workers that wait are known for a minute. A lab that never had a
// coordinator is well.
func ReadHealth(dir string) (Health, error) {
	var h Health
	path := filepath.Join(dir, healthFile)
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return h, fmt.Errorf("study: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > healthBytes {
		return h, fmt.Errorf("study: %s is not what a coordinator writes; remove it", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return h, fmt.Errorf("study: %w", err)
	}
	if err := json.Unmarshal(text, &h); err != nil {
		return Health{}, fmt.Errorf("study: %s is damaged; remove it: %w", path, err)
	}
	if age := time.Since(h.Time); age > freshFor || age < -freshFor {
		h.Waiting, h.Stuck = nil, false
	}
	return h, nil
}

func (h Health) write(dir string) error {
	text, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("study: %w", err)
	}
	path := filepath.Join(dir, healthFile)
	err = os.WriteFile(path+".tmp", append(text, '\n'), 0o666)
	if err == nil {
		err = os.Rename(path+".tmp", path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("study: %w", err), ignoreMissing(os.Remove(path+".tmp")))
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// watchHealth writes what is wrong where `study status` looks, says so when no worker can go on, and gives up claims whose workers
// have vanished together with their jobs.
func (e *engine) watchHealth(ctx context.Context) error {
	old, err := ReadHealth(e.lab.Dir())
	if err != nil {
		e.o.Logf("%v", err)
	}
	e.c.CountOn(old.Unusable)
	defer func() {
		if now := (Health{time.Now().UTC(), QueueHealth{Unusable: e.c.Unusable()}}); now.Unusable.Count > 0 || len(old.Waiting) > 0 {
			now.write(e.lab.Dir()) // the study ends: what cannot be written now says nothing new
		}
	}()
	dead, swept := deadClaims{}, time.Now()
	idle := 0 // looks in a row that found nobody at work and somebody waiting
	for look := time.NewTicker(healthEvery); ; {
		select {
		case <-ctx.Done():
			look.Stop()
			return context.Cause(ctx)
		case <-look.C:
		}
		now := Health{time.Now().UTC(), QueueHealth{Unusable: e.c.Unusable(), Waiting: e.c.Waiters()}}
		if idle++; !e.nobodyWorks() || len(now.Waiting) == 0 {
			idle = 0
		}
		now.Stuck = idle >= 3
		if now.Stuck && !old.Stuck {
			e.o.Logf("all known workers wait; the study continues when one of them can work, or another joins. %s: %s", now.Waiting[0].Worker, now.Waiting[0].Why)
		}
		if now.differs(old) {
			if err := now.write(e.lab.Dir()); err == nil {
				old = now
			}
		}
		if time.Since(swept) > orphansEvery {
			dead.sweep(ctx, e)
			swept = time.Now()
		}
	}
}

// differs says whether there is something new to write.
func (h Health) differs(old Health) bool {
	if len(h.Waiting) > 0 && h.Time.Sub(old.Time) > againEvery {
		return true
	}
	h.Time, old.Time = time.Time{}, time.Time{}
	a, errA := json.Marshal(h)
	b, errB := json.Marshal(old)
	return errA != nil || errB != nil || !bytes.Equal(a, b)
}

func (e *engine) nobodyWorks() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.open) > 0 && len(e.working) == 0
}
