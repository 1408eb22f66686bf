package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// ofMeasures is an index into a map of measures, or a field or result that is one.
var ofMeasures = regexp.MustCompile(`\b(Measures|NonnegReport)(\[|\s+map\[string\]float64)`)

// TestMeasuresAreAskedFor: outside package measure the value of a measure comes with whether there is one (measure.Values), since a map
// gives zero for what was not measured.
func TestMeasuresAreAskedFor(t *testing.T) {
	files := 0
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(path, filepath.Join("..", "..")+string(filepath.Separator)))
		if e.IsDir() && (strings.HasPrefix(e.Name(), ".") && e.Name() != ".." || rel == "measure" || rel == "examples") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(text), "\n") {
			if found := ofMeasures.FindString(line); found != "" {
				t.Errorf("%s:%d: %s: use measure.Values", rel, i+1, found)
			}
		}
		return nil
	})
	if err != nil || files < 500 {
		t.Fatalf("%d files were looked at: %v", files, err)
	}
}
