package bench

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// resident tracks the memory of this process that is not a mapped file.
type resident struct {
	done chan struct{}
	wait sync.WaitGroup
	peak float64 // MB
}

// watchResident starts tracking; the operating system reports mapped files separately.
func watchResident(int) *resident {
	r := &resident{done: make(chan struct{})}
	r.wait.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			r.peak = max(r.peak, anonymousMB())
			select {
			case <-r.done:
				return
			case <-tick.C:
			}
		}
	})
	return r
}

// stop returns the peak in MB (2²⁰ bytes).
func (r *resident) stop() float64 {
	close(r.done)
	r.wait.Wait()
	return r.peak
}

// anonymousMB reads the resident anonymous memory, in MB.
func anonymousMB() float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kib, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
			if err != nil {
				return 0
			}
			return kib / 1024
		}
	}
	return 0
}
