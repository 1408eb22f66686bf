package serve

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// TestMemoryOfMeasurementsIsBounded: the limit grows with the measurements under way and goes with the last; one of the user's stays.
func TestMemoryOfMeasurementsIsBounded(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	var c ceiling
	limit := func() int64 { return debug.SetMemoryLimit(-1) }
	c.enter()
	one := limit()
	c.enter()
	two := limit()
	c.leave()
	if again := limit(); one < measureMemory || one > 2*measureMemory || two-one != measureMemory || again != one {
		t.Errorf("limits of one, two and one measurement: %d, %d, %d", one, two, again)
	}
	c.leave()
	if none := limit(); none != math.MaxInt64 {
		t.Errorf("the limit stays at %d", none)
	}
	debug.SetMemoryLimit(5 << 30)
	c.enter()
	if given := limit(); given != 5<<30 {
		t.Errorf("a limit of the user's became %d", given)
	}
	c.leave()
}

// TestTheLastMeasurementIsCollected: what it left behind is gone when the limit is, and does not set the collector's next goal.
func TestTheLastMeasurementIsCollected(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	const size = 256 << 20
	var c ceiling
	c.enter()
	working := make([]byte, size)
	runtime.GC()
	if heapLive() < size {
		t.Fatalf("%d bytes live while the measurement holds %d", heapLive(), size)
	}
	runtime.KeepAlive(working)
	c.leave()
	if live := heapLive(); live > size/2 {
		t.Errorf("%d bytes count as live after the measurement", live)
	}
}

// TestUploadsAreMeasuredUnderTheLimit watches the limit while files are measured.
func TestUploadsAreMeasuredUnderTheLimit(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	ownTemp(t)
	s := startTest(t, Options{Lab: t.TempDir()})
	long, done := pairedFile(t, 60_000), make(chan int)
	go func() {
		answer, _ := upload(t, s, map[string][]byte{"long.npz": long})
		done <- answer.StatusCode
	}()
	bounded := false
	for tick := time.NewTicker(time.Millisecond); ; {
		select {
		case status := <-done:
			if !bounded || status != 200 || debug.SetMemoryLimit(-1) != math.MaxInt64 {
				t.Errorf("bounded while measuring: %v; answer %d; a limit of %d afterwards", bounded, status, debug.SetMemoryLimit(-1))
			}
			return
		case <-tick.C:
			bounded = bounded || debug.SetMemoryLimit(-1) != math.MaxInt64
		}
	}
}
