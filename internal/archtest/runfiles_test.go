package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// runFile is a name of something in a run's folder, as a literal of Go.
var runFile = regexp.MustCompile(`"[^" ]*\b(ckpt/|config\.toml|features\.npz|state\.json|(model|optim|classifier)\.safetensors)[^" ]*"|"(ckpt|\.fetched|\.gone)"`)

// TestOnePackageNamesTheFilesOfARun checks that no other package writes them down.
func TestOnePackageNamesTheFilesOfARun(t *testing.T) {
	files := 0
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && path == filepath.Join(root, "internal", "rundir") {
			if err == nil {
				err = fs.SkipDir
			}
			return err
		}
		forTests := strings.HasSuffix(path, "_test.go") || strings.HasSuffix(filepath.Dir(path), "test") // as is internal/study/studytest
		if e.IsDir() || !strings.HasSuffix(path, ".go") || forTests {
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		for i, line := range strings.Split(string(text), "\n") {
			if found := runFile.FindString(line); found != "" {
				t.Errorf("%s:%d: %s: internal/rundir names the files of a run", path, i+1, found)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 300 {
		t.Fatalf("only %d files were looked at: the paths in this test are out of date", files)
	}
}
