package serve

import (
	"container/list"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

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
	key     string
	run     judge.Run
	numbers int
}

func newCache() *cache { return &cache{byKey: map[string]*list.Element{}, order: list.New()} }

// sameAttempt reports whether no rows of a run can have changed since it was read, except by later epochs of the same attempt.
func sameAttempt(read, now store.Run) bool {
	return read.Generation == now.Generation && read.Status == now.Status && read.HasEpochs == now.HasEpochs && slices.Equal(read.Tags, now.Tags) &&
		read.Finished.Equal(now.Finished) && read.Label == now.Label
}

// load returns a run with all its values, or its outline. Its features are read on demand and not cached.
func (c *cache) load(r *store.Reader, row store.Run) (judge.Run, error) {
	run, err := c.values(r, row)
	run.FeaturesIn(r.RunDir(row.Hash))
	return run, err
}

// values returns a run without features. For a run that has grown, only the new epochs are read.
func (c *cache) values(r *store.Reader, row store.Run) (judge.Run, error) {
	if old, known := c.get(row.Hash, row); known {
		return old, nil
	}
	c.growing.Lock()
	defer c.growing.Unlock()
	if old, known := c.get(row.Hash, row); known { // another request was first
		return old, nil
	}
	if old, known := c.earlier(row.Hash, row); known && old.LastStep() > 0 {
		values, err := r.Since(row.Hash, old.LastStep(), nil)
		if err != nil {
			return judge.Run{}, err
		}
		run := old.Grown(row, values)
		c.put(row.Hash, run)
		return run, nil
	}
	values, every, err := r.Outline(row.Hash)
	if err != nil {
		return judge.Run{}, err
	}
	return c.made(row.Hash, row, values, every)
}

// newest returns runs with the last value of each of some measures.
func (c *cache) newest(r *store.Reader, rows []store.Run, measures []string) ([]judge.Run, error) {
	out := make([]judge.Run, len(rows))
	var lack []int
	var hashes []string
	for i, row := range rows {
		run, known := c.get(newestOf(row, measures), row)
		if !known {
			lack, hashes = append(lack, i), append(hashes, row.Hash)
		}
		out[i] = run
	}
	err := atATime(len(lack), func(from, to int) error {
		values, err := r.NewestEach(hashes[from:to], measures)
		for at := 0; at < len(values) && err == nil; at++ {
			i := lack[from+at]
			out[i], err = c.made(newestOf(rows[i], measures), rows[i], values[at], 1)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].FeaturesIn(r.RunDir(out[i].Hash))
	}
	return out, nil
}

// atATime does n things, a thousand at a time, on all processors.
func atATime(n int, do func(from, to int) error) error {
	const many = 1000
	errs := make([]error, (n+many-1)/many)
	var next atomic.Int64
	var working sync.WaitGroup
	for range min(len(errs), runtime.GOMAXPROCS(0)) {
		working.Go(func() {
			for i := int(next.Add(1) - 1); i < len(errs); i = int(next.Add(1) - 1) {
				errs[i] = do(i*many, min((i+1)*many, n))
			}
		})
	}
	working.Wait()
	return errors.Join(errs...)
}

// newestOf is the key of a run with the last values of some measures alone.
func newestOf(row store.Run, measures []string) string {
	return row.Hash + " newest " + strings.Join(measures, " ")
}

// made makes and keeps a run.
func (c *cache) made(key string, row store.Run, values []store.Value, every int64) (judge.Run, error) {
	run, err := judge.NewRun(row, values)
	run.Every = every
	if err == nil {
		c.put(key, run)
	}
	return run, err
}

// get returns a run that was read since its last epoch.
func (c *cache) get(key string, row store.Run) (judge.Run, bool) {
	run, known := c.earlier(key, row)
	return run, known && run.LastEpoch >= row.LastEpoch
}

// earlier returns a run as last read, if nothing but later epochs can have come since.
func (c *cache) earlier(key string, row store.Run) (judge.Run, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok || !sameAttempt(e.Value.(*cached).run.Run, row) {
		return judge.Run{}, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*cached).run, true
}

func (c *cache) put(key string, run judge.Run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[key]; ok {
		c.drop(e)
	}
	one := &cached{key, run, run.Points() + 20}
	c.byKey[key] = c.order.PushFront(one)
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
