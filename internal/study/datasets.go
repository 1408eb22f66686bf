package study

import (
	"slices"
	"sync"

	"collapse.example/collapse/data"
)

// setCache hands out data sets that are already open. Runs of a study share them, often one per seed; nobody writes to a set.
type setCache struct {
	mu    sync.Mutex
	sets  map[setKey]*data.Set
	used  []setKey // most recently used last
	bytes int
	most  int // bytes; both splits of one data set stay in any case
}

type setKey struct {
	source data.Source
	split  data.Split
}

// trainSets holds the data sets that training runs open.
var trainSets = &setCache{sets: map[setKey]*data.Set{}, most: 1 << 30}

func (c *setCache) open(source data.Source, split data.Split) (*data.Set, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held(source, split)
}

// held returns a set that is open, or opens it. Subsets are taken from the whole set, so that its files are read once for all seeds.
func (c *setCache) held(source data.Source, split data.Split) (*data.Set, error) {
	key := setKey{source, split}
	if s := c.sets[key]; s != nil {
		c.used = append(slices.DeleteFunc(c.used, func(k setKey) bool { return k == key }), key)
		return s, nil
	}
	s, err := c.fresh(source, split)
	if err != nil {
		return nil, err
	}
	c.sets[key], c.used = s, append(c.used, key)
	for c.bytes += size(s); c.bytes > c.most && len(c.used) > 2; c.used = c.used[1:] {
		c.bytes -= size(c.sets[c.used[0]])
		delete(c.sets, c.used[0])
	}
	return s, nil
}

func (c *setCache) fresh(source data.Source, split data.Split) (*data.Set, error) {
	whole, ok := source.Whole()
	if !ok || whole == source {
		return data.Open(source, split)
	}
	all, err := c.held(whole, split)
	if err != nil {
		return nil, err
	}
	return source.Subset(all)
}

// size is the memory of a set, in bytes.
func size(s *data.Set) int { return len(s.Pixels) + 9*s.N() }

// OpenSet opens a data set, or returns the one that an earlier run opened.
func OpenSet(source data.Source, split data.Split) (*data.Set, error) {
	return trainSets.open(source, split)
}
