package isa

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
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

// A table is filled when its package starts and whenever the set changes.
func TestFill(t *testing.T) {
	before, used := fills, Name()
	defer func() { fills = before }()
	var seen []string
	Fill(func(set Set) { seen = append(seen, set.String()) })
	want := []string{used}
	for _, name := range append(Available(), used) {
		if err := Use(name); err != nil {
			t.Fatal(err)
		}
		want = append(want, name)
	}
	if err := Use("abacus"); err == nil || !slices.Equal(seen, want) {
		t.Errorf("filled for %v, want %v; error %v", seen, want, err)
	}
}
