package coordinator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/rundir"
)

// Health is what is wrong with a lab's queue and its workers, as the coordinator last wrote it.
type Health struct {
	Time time.Time `json:"time"`
	QueueHealth
}

// QueueHealth is the content of a Health.
type QueueHealth struct {
	Unusable queue.Tally     `json:"unusable"`          // messages from the network that were set aside
	Waiting  []queue.Waiting `json:"waiting,omitempty"` // workers whose machines can do no run at the moment
	Silent   []Silent        `json:"silent,omitempty"`  // workers that are not heard of any more
	Idle     []string        `json:"idle,omitempty"`    // runs that their workers have given back, and that the lab still has as running
	Stuck    bool            `json:"stuck,omitempty"`   // runs are left, and every known worker waits
}

// Silent is a worker elsewhere that has a run and is not heard of. The run is another's that asks, or its own again if it is heard before.
type Silent struct {
	Worker string    `json:"worker"`
	Run    string    `json:"run"`
	Since  time.Time `json:"since"`
}

const (
	healthFile  = "queue.health"
	healthBytes = 1 << 20 // that are read at most
	healthEvery = time.Second
	freshFor    = time.Minute      // how long news of workers counts
	againEvery  = 20 * time.Second // rewritten this often while workers wait
)

// ReadHealth reads what the coordinator of a lab left in its folder. Waiting workers are forgotten after a minute. A lab that never
// had a coordinator is healthy.
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
		h.Waiting, h.Silent, h.Idle, h.Stuck = nil, nil, nil, false
	}
	return h, nil
}

func (h Health) write(dir string) error {
	text, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("study: %w", err)
	}
	path := filepath.Join(dir, healthFile)
	err = rundir.ReplaceFile(rundir.System{}, path, func(to io.Writer) error {
		_, err := to.Write(append(text, '\n'))
		return err
	})
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

// watchHealth writes problems to where `study status` looks, logs when no worker can continue, and gives up leases whose workers
// have vanished together with their jobs.
func (e *coordinator) watchHealth(ctx context.Context) error {
	old, err := ReadHealth(e.lab.Dir())
	if err != nil {
		e.o.Logf("%v", err)
	}
	e.c.CountOn(old.Unusable)
	defer func() {
		if now := (Health{time.Now().UTC(), QueueHealth{Unusable: e.c.Unusable()}}); now.Unusable.Count > 0 || len(old.Waiting)+len(old.Silent)+len(old.Idle) > 0 {
			now.write(e.lab.Dir()) // the study ends: not worth an error
		}
	}()
	dead, swept := deadLeases{}, time.Now()
	idle := 0 // consecutive looks at which nobody worked and somebody waited
	for look := time.NewTicker(healthEvery); ; {
		select {
		case <-ctx.Done():
			look.Stop()
			return context.Cause(ctx)
		case <-look.C:
		}
		now := Health{time.Now().UTC(), QueueHealth{Unusable: e.c.Unusable(), Waiting: e.c.Waiters(), Silent: e.silent(), Idle: e.givenBack()}}
		for _, s := range now.Silent {
			if !slices.Contains(old.Silent, s) {
				e.o.Logf("run %.12s: worker %s has been silent for %v; the run waits for another, or for this one", s.Run, s.Worker, e.c.AckWait())
			}
		}
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
		if time.Since(swept) > e.orphansEvery() {
			dead.sweep(ctx, e)
			swept = time.Now()
		}
	}
}

// givenBack are the runs of workers elsewhere that nobody computes now. While results are applied nothing is known.
func (e *coordinator) givenBack() (list []string) {
	if !e.remoteMu.TryLock() {
		return nil
	}
	defer e.remoteMu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	for hash := range e.remote {
		if o := e.open[hash]; o != nil && o.worker == "" {
			list = append(list, hash)
		}
	}
	slices.Sort(list)
	return list[:min(len(list), mostIdle)]
}

// mostIdle bounds the runs that are named.
const mostIdle = 1000

// differs reports whether there is something new to write.
func (h Health) differs(old Health) bool {
	if len(h.Waiting)+len(h.Silent)+len(h.Idle) > 0 && h.Time.Sub(old.Time) > againEvery {
		return true
	}
	h.Time, old.Time = time.Time{}, time.Time{}
	a, errA := json.Marshal(h)
	b, errB := json.Marshal(old)
	return errA != nil || errB != nil || !bytes.Equal(a, b)
}

func (e *coordinator) nobodyWorks() bool {
	silent := len(e.silent())
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.open) > 0 && len(e.working) == silent
}
