package script

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCodeIsKept: after the files have changed, runs start in a copy of the code with everything else beside it; a copy that somebody
// changed, and old ones, are not used.
func TestCodeIsKept(t *testing.T) {
	cache, folder := t.TempDir(), t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	write := func(name, text string) {
		t.Helper()
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o777))
		must(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666))
	}
	write("train.py", "old")
	write("models/net.py", "old net")
	write("models/notes.txt", "beside")
	write("data/x", "data")
	write("models/__pycache__/net.pyc", "compiled from the edited file")
	must(t, os.Chmod(filepath.Join(folder, "train.py"), 0o755))
	code, err := DigestCode(folder, []string{"train.py", "models/*.py"})
	must(t, err)
	s := Spec{Code: code}
	if got, err := s.codeIn(Options{Folder: folder}); err != nil || got != folder {
		t.Fatalf("unchanged code starts in %s, %v", got, err)
	}
	write("train.py", "new")
	if _, err := s.codeIn(Options{Folder: folder}); err == nil || !strings.Contains(err.Error(), "has changed") {
		t.Fatalf("changed code that was not kept: %v", err)
	}
	write("train.py", "old")
	old := filepath.Join(cache, "collapse", "code", strings.Repeat("a", 32))
	must(t, os.MkdirAll(old, 0o700))
	must(t, os.Chtimes(old, time.Time{}, time.Now().Add(-2*keptFor)))
	must(t, s.Keep(folder))
	must(t, s.Keep(folder))
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("an old copy stays: %v", err)
	}
	write("train.py", "new")
	write("models/net.py", "new net")
	said := ""
	kept, err := s.codeIn(Options{Folder: folder, Note: func(text string) { said = text }})
	must(t, err)
	for name, want := range map[string]string{"train.py": "old", "models/net.py": "old net", "models/notes.txt": "beside", "data/x": "data"} {
		if text, err := os.ReadFile(filepath.Join(kept, name)); err != nil || string(text) != want {
			t.Errorf("%s in the copy is %q, %v", name, text, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(kept, "models", "__pycache__")); !os.IsNotExist(err) {
		t.Errorf("the copy has what Python compiled from other files: %v", err)
	}
	if info, err := os.Stat(filepath.Join(kept, "train.py")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("the copy of a program cannot be started: %v, %v", info, err)
	}
	if !strings.Contains(said, "use the copy of then") {
		t.Errorf("said %q", said)
	}
	if err := s.Keep(folder); err == nil {
		t.Error("other code was kept under the digests of the old")
	}
	must(t, os.WriteFile(filepath.Join(kept, "train.py"), []byte("planted"), 0o666))
	if _, err := s.codeIn(Options{Folder: folder}); err == nil {
		t.Error("a copy that was changed is used")
	}
}

// TestDiffCode of hostile configurations: names that lead out of a copy are not followed, and there is a bound on how many are looked at.
func TestDiffCode(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	kept := filepath.Join(cache, "collapse", "code", strings.Repeat("a", 32))
	sum := func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
	for path, text := range map[string]string{filepath.Join(kept, "a.py"): "x = 1\n", filepath.Join(kept, "..", "secret"): "secret\n"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(cache, "collapse", "code", "secret"), filepath.Join(kept, "link")); err != nil {
		t.Fatal(err)
	}
	got := DiffCode(nil, map[string]string{"a.py": sum("x = 1\n"), "../secret": sum("secret\n"), "link": sum("secret\n")})
	if len(got) != 3 || got[0].Diff != "" || got[1].Diff != "--- a/a.py\n+++ b/a.py\n@@ -0,0 +1 @@\n+x = 1\n" || got[2].Diff != "" || got[0].Why == "" || got[2].Why == "" {
		t.Errorf("%+v", got)
	}
	many := map[string]string{}
	for i := range 1000 {
		many[fmt.Sprint(i)] = sum("none")
	}
	if got = DiffCode(many, nil); len(got) != mostDiffs || got[mostDiffs-1].Why != "951 more files differ" {
		t.Errorf("%d, %+v", len(got), got[len(got)-1])
	}
}

// TestCodeOfARun is what its folder lists, else what identifies it.
func TestCodeOfARun(t *testing.T) {
	dir, a, b := t.TempDir(), strings.Repeat("a", 64), strings.Repeat("b", 64)
	config := []byte(`{"trainer":{"code":{"x.py":"` + a + `"}}}`)
	if code, err := CodeOf(dir, config); err != nil || len(code) != 1 || code["x.py"] != a {
		t.Errorf("%v, %v", code, err)
	}
	must(t, os.WriteFile(filepath.Join(dir, "code.sha256"), []byte(b+"  x.py\nnonsense\n"+a+"  two words.py\n"), 0o666))
	if code, err := CodeOf(dir, config); err != nil || len(code) != 2 || code["x.py"] != b || code["two words.py"] != a {
		t.Errorf("%v, %v", code, err)
	}
	if _, err := CodeOf(t.TempDir(), []byte(`{"trainer":{"code":[1]}}`)); err == nil {
		t.Error("a list of numbers is no code")
	}
}
