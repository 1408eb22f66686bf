package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestOneWriter checks that packages that write what a user names, or print what others name, do it through outfile and safetext.
func TestOneWriter(t *testing.T) {
	files := 0
	for _, rule := range []struct {
		pkg, instead string
		forbidden    *regexp.Regexp
	}{
		{"cli", "safetext.Fprintf, a.printf or a.notef", regexp.MustCompile(`\bfmt\.(Fprintf|Printf|Print|Println)\(`)},
		{"cli", "outfile", regexp.MustCompile(`\bos\.(Create|CreateTemp|WriteFile|Rename|OpenFile)\(`)},
		{"judge", "outfile", regexp.MustCompile(`\bos\.(Create|CreateTemp|WriteFile|Rename|OpenFile)\(`)},
		{"measurement", "outfile", regexp.MustCompile(`\bos\.(Create|CreateTemp|WriteFile|Rename|OpenFile)\(`)},
		{"figure", "outfile", regexp.MustCompile(`\bos\.(Create|CreateTemp|WriteFile|Rename|OpenFile)\(`)},
		{"page", "outfile", regexp.MustCompile(`\bos\.(Create|CreateTemp|WriteFile|Rename|OpenFile|Mkdir|MkdirAll|Remove|RemoveAll)\(`)},
		{"results", "outfile", regexp.MustCompile(`\bos\.(Create|CreateTemp|WriteFile|Rename|OpenFile|Mkdir|MkdirAll|Remove|RemoveAll)\(`)},
		{"study/export", "outfile", regexp.MustCompile(`\bos\.(Create|CreateTemp|WriteFile|Rename|OpenFile|Mkdir|MkdirAll|Remove|RemoveAll)\(`)},
	} {
		names, err := filepath.Glob(filepath.Join("..", rule.pkg, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			files++
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(string(text), "\n") {
				if found := rule.forbidden.FindString(line); found != "" {
					t.Errorf("%s:%d: %s…): use %s, which docs/internal/architecture.md asks for", name, i+1, found, rule.instead)
				}
			}
		}
	}
	if files < 100 {
		t.Fatalf("only %d files were looked at: the names in this test are out of date", files)
	}
}
