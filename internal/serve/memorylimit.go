package serve

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// measureMemory is the memory of a measurement: more is collected at once, as in `collapse measure` for small files.
const measureMemory = 768 << 20

// ceiling bounds the memory of the process while files are measured, unless GOMEMLIMIT does: what was live before, plus measureMemory per
// measurement. Between measurements there is no bound: the process may be training.
type ceiling struct {
	mu     sync.Mutex
	inside int
	before int64 // the limit without measurements
	lived  int64 // bytes live before the first measurement
}

// memory is one for all servers of the process, as the limit is.
var memory ceiling

// enter raises the limit for one more measurement; leave lowers it.
func (c *ceiling) enter() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inside == 0 {
		c.before, c.lived = debug.SetMemoryLimit(-1), heapLive()
	}
	c.inside++
	c.set()
}

func (c *ceiling) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inside--
	c.set()
}

func (c *ceiling) set() {
	switch {
	case c.before != math.MaxInt64:
	case c.inside == 0:
		runtime.GC() // without a limit, the heap could double before the measurement's garbage is collected
		debug.SetMemoryLimit(c.before)
	default:
		debug.SetMemoryLimit(c.lived + int64(c.inside)*measureMemory)
	}
}

// heapLive returns the bytes that the last collection found in use.
func heapLive() int64 {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if live[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(live[0].Value.Uint64())
}
