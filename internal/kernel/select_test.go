package kernel

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// TestMain lets the test binary answer for a process started with another environment.
func TestMain(m *testing.M) {
	if os.Getenv("KERNEL_TEST_PRINT") != "" {
		fmt.Printf("%s|%v\n", Name(), Err())
		return
	}
	os.Exit(m.Run())
}

func TestKernelFromEnvironment(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ask := func(value string) (name, problem string) {
		cmd := exec.Command(self)
		cmd.Env = append(slices.DeleteFunc(os.Environ(), func(s string) bool {
			return strings.HasPrefix(s, "COLLAPSE_KERNEL=")
		}), "COLLAPSE_KERNEL="+value, "KERNEL_TEST_PRINT=1")
		out, err := cmd.Output()
		if err != nil {
			t.Skipf("cannot start this test binary again: %v", err)
		}
		name, problem, _ = strings.Cut(strings.TrimSpace(string(out)), "|")
		return name, problem
	}
	names := Available()
	best := names[len(names)-1]
	for _, name := range names {
		if got, problem := ask(name); got != name || problem != "<nil>" {
			t.Errorf("COLLAPSE_KERNEL=%s: kernel %s, error %s", name, got, problem)
		}
	}
	if got, problem := ask(""); got != best || problem != "<nil>" {
		t.Errorf("no COLLAPSE_KERNEL: kernel %s, error %s; want %s", got, problem, best)
	}
	got, problem := ask("avx1024")
	if got != best || !strings.Contains(problem, "avx1024") || !strings.Contains(problem, strings.Join(names, ", ")) {
		t.Errorf("COLLAPSE_KERNEL=avx1024: kernel %s, error %q", got, problem)
	}
}

func TestUse(t *testing.T) {
	if names := Available(); names[0] != "generic" || !slices.Contains(names, Name()) {
		t.Fatalf("available %v, in use %s", names, Name())
	}
	used := Name()
	if err := Use("abacus"); err == nil || Name() != used {
		t.Fatalf("Use of an unknown kernel: error %v, kernel %s", err, Name())
	}
}

func TestAlloc(t *testing.T) {
	for _, n := range []int{0, 1, 15, 16, 17, 1000, hugePage / 8, hugePage/4 + 1, hugePage} {
		testAlloc[float32](t, n)
		testAlloc[float64](t, n)
	}
	defer func() {
		if recover() == nil {
			t.Error("a negative length did not panic")
		}
	}()
	Alloc[float32](-1)
}

func testAlloc[T Float](t *testing.T, n int) {
	t.Helper()
	x := Alloc[T](n)
	if len(x) != n || cap(x) != n {
		t.Fatalf("Alloc(%d): length %d, capacity %d", n, len(x), cap(x))
	}
	if address := uintptr(unsafe.Pointer(unsafe.SliceData(x))); address%64 != 0 {
		t.Fatalf("Alloc(%d): address %#x is not a multiple of 64", n, address)
	}
	for i, v := range x {
		if v != 0 {
			t.Fatalf("Alloc(%d): element %d is %v", n, i, v)
		}
	}
}
