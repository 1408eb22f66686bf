package main

import (
	"os"
	"path/filepath"
	"testing"

	"collapse.example/collapse/internal/longtest"
)

// TestTheDigestOfSources changes with everything that any platform's program is compiled from, and with nothing else.
func TestTheDigestOfSources(t *testing.T) {
	longtest.Only(t)
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	digest := func() string {
		t.Helper()
		d, err := sourcesOf(t.Context(), dir)
		if err != nil || len(d) != 64 {
			t.Fatal(d, err)
		}
		return d
	}
	write("go.mod", "module collapse\n")
	write("go.sum", "")
	write("cmd/collapse/main.go", "package main\n\nimport _ \"embed\"\n\n//go:embed words\nvar words string\n\nfunc main() { other() }\n")
	write("cmd/collapse/words", "a")
	write("cmd/collapse/other.go", "//go:build !windows\n\npackage main\n\nfunc other() {}\n")
	write("cmd/collapse/other_windows.go", "package main\n\nfunc other() {}\n")
	last := digest()
	for name, text := range map[string]string{"cmd/collapse/main_test.go": "package main\n", "README.md": "a", "unused/unused.go": "package unused\n"} {
		if write(name, text); digest() != last {
			t.Errorf("%s changes the digest", name)
		}
	}
	for name, text := range map[string]string{"cmd/collapse/words": "b", "cmd/collapse/other_windows.go": "package main\n\nfunc other() { println() }\n", "go.sum": "\n"} {
		now := last
		write(name, text)
		if last = digest(); last == now {
			t.Errorf("%s does not change the digest", name)
		}
	}
}
