package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"collapse.example/collapse/internal/longtest"
)

// pythonPackage writes a Python package, of which a test sees some changes and not others.
func pythonPackage(t *testing.T) string {
	t.Helper()
	if exec.Command(interpreter(), "-c", "").Run() != nil {
		t.Skip("no python3")
	}
	t.Setenv("COLLAPSE_BINARY", "none") // the tests call no program
	root := t.TempDir()
	for name, text := range map[string]string{
		"beside.txt":           "3",
		"top/seen/__init__.py": "",
		"top/seen/below/__init__.py": `import functools, os


def larger(a, b, loose=False):
    """a or b."""
    return a >= b if loose else a > b


def unseen(a, b):
    return b - a


def forever(n):
    i = total = 0
    while True:
        if i == n:
            break
        total += i
        i += 1
    return total


class Reader:
    @functools.lru_cache()
    def read(self, path):
        @functools.wraps(open)
        def inner():
            with open(path) as f:
                return int(f.read())
        try:
            return inner()
        except FileNotFoundError:
            raise LookupError("é: no %s" % path, os.path.basename(p=path))


def spoken(n, sign=+1): return print("n", n, sep="", file=None) or n - 1
`,
		"top/tests/test_seen.py": `import os, subprocess, sys, unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)
from seen import below

READER = below.Reader()


class SeenTest(unittest.TestCase):
    def test_larger(self):
        self.assertTrue(below.larger(2, 1))
        self.assertFalse(below.larger(1, 2))

    def test_forever(self):
        self.assertEqual(below.forever(3), 3)

    def test_reader(self):
        self.assertEqual(READER.read(os.path.join(ROOT, os.pardir, "beside.txt")), 3)
        with self.assertRaises(LookupError):
            READER.read(ROOT + "/nothing")

    def test_in_another_process(self):
        code = "from seen import below; assert below.spoken(2) == 1"
        self.assertEqual(subprocess.call([sys.executable, "-c", code], env=dict(os.environ, PYTHONPATH=ROOT), stdout=subprocess.DEVNULL), 0)
`,
	} {
		put(t, root, name, text)
	}
	return root
}

// TestFatesOfPythonChanges: as TestFatesOfChanges; also what another process runs, what lies in packages below, and what files beside hold.
func TestFatesOfPythonChanges(t *testing.T) {
	longtest.Only(t)
	root := pythonPackage(t)
	all, err := pythonCandidates(root, "top/seen")
	if err != nil {
		t.Fatal(err)
	}
	picked, trials, err := preparePython(t.Context(), root, "top/seen", t.TempDir(), pick(all, 1, 1000))
	if err != nil {
		t.Fatal(err)
	}
	if err := try(t.Context(), trials, picked, effort{parallel: 4, grace: 3 * time.Second, apart: time.Minute, tell: tell}); err != nil {
		t.Fatal(err)
	}
	fates := map[string]fate{}
	for _, m := range picked {
		fates[m.kind+": "+m.old+" | "+m.new] = m.fate
		if got, want := len(m.reachedBy) > 0, m.fn != "unseen"; got != want {
			t.Errorf("a test comes to %s: %v", m.fn, got)
		}
	}
	for change, want := range map[string]fate{
		"comparison: a > b | a <= b":                                                     killed,
		"comparison: a > b | a >= b":                                                     survived, // no test compares equal numbers
		"boolean: False | True":                                                          survived,
		"condition: i == n | (False and (i == n))":                                       killed, // it never ends
		"arithmetic: total += i | total -= i":                                            killed,
		"statement: i += 1 | pass":                                                       killed,
		"arithmetic: b - a | b + a":                                                      survived,
		"return: inner() | None":                                                         killed,
		"failure: FileNotFoundError | ()":                                                killed,
		"arithmetic: n - 1 | n + 1":                                                      killed, // in another process
		`keyword: print("n", n, sep="", file=None) | print("n", n, file=None)`:           survived,
		`keyword: os.path.basename(p=path) | os.path.basename()`:                         killed,
		`failure: raise LookupError("é: no %s" % path, os.path.basename(p=path)) | pass`: killed,
	} {
		if got, there := fates[change]; !there || got != want {
			t.Errorf("%s: %v (made: %v), want %v", change, got, there, want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(root, "top/seen/below/__init__.py")); err != nil || len(text) == 0 {
		t.Errorf("the package itself was changed: %v", err)
	}
}

// TestPythonTestsThatFailAreNoMeasure: a test that fails without a change is an error, not a change that was noticed.
func TestPythonTestsThatFailAreNoMeasure(t *testing.T) {
	longtest.Only(t)
	root := pythonPackage(t)
	if err := os.WriteFile(filepath.Join(root, "beside.txt"), []byte("4"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, trials, err := preparePython(t.Context(), root, "top/seen", t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := try(t.Context(), trials, nil, effort{parallel: 1, grace: time.Second, tell: tell}); err == nil {
		t.Error("no error")
	}
}

// TestPackagesThatChanged: a Python package has changed with what lies below it, and with its tests.
func TestPackagesThatChanged(t *testing.T) {
	root := pythonPackage(t)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "all")
	k := &known{order: []string{"internal/store", "top/seen"}}
	for file, want := range map[string]int{"beside.txt": 0, "top/other.py": 0, "top/seen/below/__init__.py": 1, "top/tests/test_seen.py": 1} {
		before, _ := os.ReadFile(filepath.Join(root, file)) // top/other.py is new
		if err := os.WriteFile(filepath.Join(root, file), append(before, '\n'), 0o666); err != nil {
			t.Fatal(err)
		}
		git("add", ".")
		if got, err := k.packages(t.Context(), root, "HEAD"); err != nil || len(got) != want {
			t.Errorf("%s changed: %v, %v", file, got, err)
		}
		git("reset", "-q", "--hard")
	}
}
