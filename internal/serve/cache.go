package serve

import (
	"container/list"
	"fmt"
	"sync"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/store"
)

// maxCached bounds how many numbers the cache of runs holds, about 50 bytes each.
const maxCached = 1 << 20

// cache keeps loaded runs: an unchanged run is not read again, however many pages show it. Cached runs are never modified.
type cache struct {
	mu    sync.Mutex
	byKey map[string]*list.Element
	order *list.List // of *cached, most recently used first
	total int

	growing sync.Mutex // held while a run grows, so that each cached form grows once
}

type cached struct {
	key, stamp string
	run        judge.Run
	numbers    int
}

func newCache() *cache { return &cache{byKey: map[string]*list.Element{}, order: list.New()} }

// stamp changes when a run's rows may have changed, except by later epochs of the same attempt.
func stamp(r store.Run) string {
	return fmt.Sprintf("%d %s %v %v %d %q", r.Generation, r.Status, r.HasEpochs, r.Tags, r.Finished.UnixMilli(), r.Label)
}

// load returns a run with all its values, or with the last values of some measures. Its features are read on demand and not cached.
func (c *cache) load(r *store.Reader, row store.Run, measures []string) (judge.Run, error) {
	run, err := c.values(r, row, measures)
	run.FeaturesIn(r.RunDir(row.Hash))
	return run, err
}

// values returns a run without features: all its values (for a run that has grown, only the new epochs are read), or the last value of each
// of some measures.
func (c *cache) values(r *store.Reader, row store.Run, measures []string) (judge.Run, error) {
	key, now := row.Hash, stamp(row)
	if measures != nil {
		key += " some"
	}
	if old, known := c.get(key, now); known && old.LastEpoch >= row.LastEpoch {
		return old, nil
	}
	c.growing.Lock()
	defer c.growing.Unlock()
	old, known := c.get(key, now)
	switch {
	case known && old.LastEpoch >= row.LastEpoch: // another request was first
		return old, nil
	case known && measures == nil && old.LastStep() > 0:
		values, err := r.Since(row.Hash, old.LastStep(), nil)
		if err != nil {
			return judge.Run{}, err
		}
		run := old.Grown(row, values)
		c.put(&cached{key, now, run, run.Points() + 20})
		return run, nil
	}
	var values []store.Value
	var err error
	if measures == nil {
		values, err = r.Values(row.Hash)
	} else {
		values, err = r.Newest(row.Hash, measures)
	}
	if err != nil {
		return judge.Run{}, err
	}
	run, err := judge.NewRun(row, values)
	if err != nil {
		return judge.Run{}, err
	}
	c.put(&cached{key, now, run, run.Points() + 20})
	return run, nil
}

// get returns a run as last read, if nothing but later epochs can have come since.
func (c *cache) get(key, stamp string) (judge.Run, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok || e.Value.(*cached).stamp != stamp {
		return judge.Run{}, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*cached).run, true
}

func (c *cache) put(one *cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[one.key]; ok {
		c.drop(e)
	}
	c.byKey[one.key] = c.order.PushFront(one)
	c.total += one.numbers
	for c.total > maxCached && c.order.Len() > 1 {
		c.drop(c.order.Back())
	}
}

func (c *cache) drop(e *list.Element) {
	one := c.order.Remove(e).(*cached)
	delete(c.byKey, one.key)
	c.total -= one.numbers
}
