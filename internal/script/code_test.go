package script

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func filesIn(t *testing.T, names ...string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for _, name := range names {
		must(t, os.MkdirAll(filepath.Join(folder, filepath.Dir(name)), 0o777))
		must(t, os.WriteFile(filepath.Join(folder, name), []byte(name), 0o666))
	}
	return folder
}

// TestPatterns: ** stands for any folders, none included, and at its end for all files below; a folder is told.
func TestPatterns(t *testing.T) {
	folder := filesIn(t, "a.py", "pack/b.py", "pack/deep/c.py", "pack/deep/d.txt", "other/e.py")
	for pattern, want := range map[string]string{"pack/**/*.py": "pack/b.py pack/deep/c.py", "**/*.py": "a.py other/e.py pack/b.py pack/deep/c.py", "pack/**": "pack/b.py pack/deep/c.py pack/deep/d.txt",
		"pack/*.py": "pack/b.py", "pack/**/deep/**": "pack/deep/c.py pack/deep/d.txt", "./pack/../pack/b.*": "pack/b.py", filepath.Join(folder, "pack", "**", "*.txt"): filepath.Join(folder, "pack", "deep", "d.txt")} {
		names, err := expand(folder, pattern)
		slices.Sort(names)
		if got := filepath.ToSlash(strings.Join(names, " ")); err != nil || got != filepath.ToSlash(want) {
			t.Errorf("%s: %q, %v; wanted %s", pattern, got, err, want)
		}
	}
	for _, pattern := range []string{"../../*.py", "../../**/a.py"} {
		names, err := expand(filepath.Join(folder, "pack", "deep"), pattern)
		if err != nil || len(names) != 1 || filepath.ToSlash(names[0]) != "../../a.py" {
			t.Errorf("%s: %q, %v", pattern, names, err)
		}
	}
	for pattern, want := range map[string]string{"pack": "names a folder; wanted files, such as \"pack/*\"", "none/**": "names no file", "pack/**/*.go": "names no file", "**/**/**/a": "at most twice", "[": "syntax error"} {
		if names, err := expand(folder, pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v; wanted %s", pattern, names, err, want)
		}
	}
}

// TestAFolderOfTooManyFiles is not read to its end.
func TestAFolderOfTooManyFiles(t *testing.T) {
	folder := filesIn(t, "a/1.py", "a/2.py") // four entries with the folders
	if names, err := below(folder, "**/*.py", 4); err != nil || len(names) != 2 {
		t.Errorf("%q, %v", names, err)
	}
	if names, err := below(folder, "**/*.py", 3); err == nil || !strings.Contains(err.Error(), "more than 3 files and folders lie there") {
		t.Errorf("%q, %v", names, err)
	}
}

// TestAScriptThatFailsOnOtherData: that its data have changed comes first, and what the script made of them does not count.
func TestAScriptThatFailsOnOtherData(t *testing.T) {
	folder := filesIn(t, "data.csv")
	data, err := DigestData(folder, []string{"data.csv"})
	must(t, err)
	j := job{spec: Spec{Data: data, Inputs: []string{"data.csv"}}, opts: Options{Folder: folder}, code: folder}
	failure := failed("no column label")
	if err := j.unlessCodeChanged(failure); err != failure {
		t.Errorf("with its data: %v", err)
	}
	must(t, os.WriteFile(filepath.Join(folder, "data.csv"), []byte("other"), 0o666))
	var wrong *DataError
	if err := j.unlessCodeChanged(failure); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "does not count: ") || !strings.HasSuffix(err.Error(), "no column label") {
		t.Errorf("with other data: %v", err)
	}
}

// TestDataThatAreNotThoseOfTheRun are told, also where only their content differs; those that have not changed are read once.
func TestDataThatAreNotThoseOfTheRun(t *testing.T) {
	folder := filesIn(t, "conf/a.yaml", "conf/b.yaml")
	old := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(filepath.Join(folder, "conf/a.yaml"), old, old))
	data, err := DigestData(folder, []string{"conf/*"})
	must(t, err)
	s := Spec{Data: data, Inputs: []string{"conf/*"}}
	must(t, s.checkData(folder))
	must(t, Spec{Data: data}.checkData(t.TempDir())) // of an earlier version, which names no files
	var wrong *DataError
	for what, change := range map[string]func(){
		"another content":  func() { must(t, os.WriteFile(filepath.Join(folder, "conf/a.yaml"), []byte("conf/x.yaml"), 0o666)) },
		"another again":    func() { must(t, os.WriteFile(filepath.Join(folder, "conf/a.yaml"), []byte("conf/y.yaml"), 0o666)) },
		"one file more":    func() { must(t, os.WriteFile(filepath.Join(folder, "conf/c.yaml"), nil, 0o666)) },
		"one file is gone": func() { must(t, os.Remove(filepath.Join(folder, "conf/b.yaml"))) },
		"none is there":    func() { must(t, os.RemoveAll(filepath.Join(folder, "conf"))) },
	} {
		change()
		if err := s.checkData(folder); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", what, err)
		}
		must(t, os.MkdirAll(filepath.Join(folder, "conf"), 0o777))
		must(t, os.RemoveAll(filepath.Join(folder, "conf/c.yaml")))
		for _, name := range []string{"conf/a.yaml", "conf/b.yaml"} {
			must(t, os.WriteFile(filepath.Join(folder, name), []byte(name), 0o666))
		}
		if err := s.checkData(folder); err != nil {
			t.Errorf("as they were, after %s: %v", what, err)
		}
	}
}
