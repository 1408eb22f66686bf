package store

import "testing"

// open opens a lab that is closed when the test ends.
func open(t testing.TB, dir string) *Lab { return openAt(t, dir, Options{}) }

func openAt(t testing.TB, dir string, opt Options) *Lab {
	t.Helper()
	l, err := Open(dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// spec is a run that n distinguishes from others.
func spec(n int) Spec {
	return Spec{Kind: Train, Config: map[string]any{"seed": n}, Program: Program{Version: "1", Kernel: "generic", GOOS: "linux", GOARCH: "amd64"}}
}
