package kerneltest

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/edsrzf/mmap-go"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/internal/kernel/rows"
	"collapse.example/collapse/parallel"
)

// cutMemory returns the memory of a mapped file of n float32 numbers that has been cut to nothing.
func cutMemory(t *testing.T, n int) []float32 {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "cut"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(int64(4 * n)); err != nil {
		t.Fatal(err)
	}
	memory, err := mmap.Map(f, mmap.RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { memory.Unmap() })
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(memory))), n)
}

// summing sums rows of x, a part each, by the vector kernels; parts of the caller wait until a worker has begun one.
type summing struct {
	x       []float32
	d       int
	begun   chan struct{}
	parts   atomic.Int32
	workers bool // only workers read
	caller  uint64
}

func (s *summing) Run(part int) {
	s.parts.Add(1)
	sum := make([]float64, s.d)
	if s.workers && goroutine() == s.caller {
		<-s.begun
		return
	}
	if s.workers {
		defer close(s.begun)
	}
	rows.SumRows(sum, kernel.Dense(1, s.d, s.x[part*s.d:]), []int32{0}, nil)
}

// goroutine tells goroutines apart: it is the number that a stack begins with.
func goroutine() (id uint64) {
	var b [64]byte
	for _, c := range b[len("goroutine "):runtime.Stack(b[:], false)] {
		if c < '0' || c > '9' {
			return id
		}
		id = 10*id + uint64(c-'0')
	}
	return id
}

// fault returns what f panics with.
func fault(f func()) (r any) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { r = recover() }()
	f()
	return nil
}

func TestFaultOfAWorkerReachesTheCaller(t *testing.T) {
	team := parallel.NewTeam(2)
	defer team.Close()
	x := cutMemory(t, 2*4096)
	for range 20 { // the team lives on
		task := &summing{x: x, d: 4096, begun: make(chan struct{}), workers: true, caller: goroutine()}
		found, ok := fault(func() { team.Do(2, task) }).(*parallel.Fault)
		if !ok {
			t.Fatalf("the caller saw %v", found)
		}
		low, high := uintptr(unsafe.Pointer(&x[0])), uintptr(unsafe.Pointer(&x[len(x)-1]))
		var plain runtime.Error
		if a := found.Addr(); a < low || a > high || !errors.As(found, &plain) {
			t.Fatalf("fault at %#x, want %#x to %#x: %v", a, low, high, found)
		}
	}
	sum := &summing{x: make([]float32, 64*8), d: 8}
	team.Do(64, sum)
	if n := sum.parts.Load(); n != 64 {
		t.Errorf("after faults a job of 64 parts ran %d", n)
	}
}

// Every kernel that passes over features reads them from mapped files.
func TestFaultsInKernels(t *testing.T) {
	x := cutMemory(t, 64*64)
	y, z := make([]float64, 64*64), make([]float64, 64*64)
	single := make([]float32, 64*64)
	for name, f := range map[string]func(){
		"SumRows": func() { rows.SumRows(y[:64], kernel.Dense(64, 64, x), []int32{0, 5}, nil) },
		"Touch":   func() { memory.Touch(x) },
		"SubRow":  func() { rows.SubRow(y, x, z) },
		"Multiply": func() {
			gemm.Multiply(nil, gemm.NT, kernel.Dense(64, 64, x), kernel.Dense(64, 64, x), kernel.Dense(64, 64, single), gemm.Epilogue[float32]{})
		},
	} {
		if name == "Touch" && !strings.HasPrefix(isa.Name(), "avx") {
			continue // does nothing elsewhere
		}
		if err, ok := fault(f).(runtime.Error); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
