package bench

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"github.com/edsrzf/mmap-go"

	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/parallel"
)

const (
	readPart   = 1 << 23 // bytes that a thread reads at a time
	readPasses = 15      // more than for the loops: other users of the machine slow down memory more than registers
)

// readTask sums a mapping of float32 ones, readPart bytes per part. Each of the kernel's interleaved sums stays below 2²⁴, so the
// sums are exact.
type readTask struct {
	values []float32
	ones   atomic.Int64
}

// Run sums one part.
func (r *readTask) Run(part int) {
	const n = readPart / 4
	r.ones.Add(int64(memory.Sum(r.values[part*n : min((part+1)*n, len(r.values))])))
}

// readRate returns how fast the team reads a mapped file of size bytes, a multiple of readPart, in 10⁹ bytes per second: the best of
// a few passes, the first of which only loads the pages.
func readRate(tm *parallel.Team, size int) (rate float64, err error) {
	f, err := temporary()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, discard(f)) }()
	if err := writeOnes(f, size); err != nil {
		return 0, err
	}
	mapping, err := mmap.Map(f, mmap.RDONLY, 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, mapping.Unmap()) }()
	task := &readTask{values: unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(mapping))), len(mapping)/4)}
	for pass := range 1 + readPasses {
		task.ones.Store(0)
		took := timed(func() { tm.Do(size/readPart, task) })
		if got := task.ones.Load(); got != int64(size/4) {
			return 0, fmt.Errorf("the file holds %d ones, read were %d", size/4, got)
		}
		if pass > 0 {
			rate = max(rate, giga(float64(size), took))
		}
	}
	return rate, nil
}

// writeOnes fills a file with size bytes of float32 ones.
func writeOnes(f *os.File, size int) error {
	ones := make([]float32, readPart/4)
	for i := range ones {
		ones[i] = 1
	}
	block := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(ones))), readPart)
	for range size / readPart {
		if _, err := f.Write(block); err != nil {
			return err
		}
	}
	return nil
}
