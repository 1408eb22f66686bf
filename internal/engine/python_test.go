//go:build unix

package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"collapse.example/collapse/internal/longtest"
)

// Interpreters that replace Python in these tests: they know no Python, and print what an engine would.
const (
	torchless = `echo '{"error": {"kind": "refused", "message": "'$0' has No module named torch; install torch (pip install torch), or name another Python"}}'; exit 1`
	wordless  = `echo "Traceback: something else is missing" >&2; exit 3`
	working   = `echo '{"hello": {"protocol": "collapse-engine 1", "engine": "torch", "version": "v1", "torch": "2.0", "devices": [{"name": "cpu", "title": "CPU"}]}}'; cat > /dev/null`
)

// interpreter writes one into a folder.
func interpreter(t *testing.T, dir, name, script string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(dir, 0o777), os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o777)); err != nil {
		t.Fatal(err)
	}
	return path
}

// python starts engines of a package of one file.
func python(t *testing.T, named string) *Python {
	t.Helper()
	return &Python{Interpreter: named, Files: fstest.MapFS{"collapse/engine/__init__.py": {Data: []byte("content")}}, Version: "v1"}
}

// alone is an environment in which nothing names a Python, and PATH has the given folder and the system's.
func alone(t *testing.T, path string) {
	t.Helper()
	t.Setenv("COLLAPSE_PYTHON", "")
	t.Setenv("VIRTUAL_ENV", "")
	t.Setenv("PATH", path)
}

func refused(t *testing.T, p *Python, words ...string) {
	t.Helper()
	_, err := p.Launch(t.Context())
	var missing *MissingError
	if !errors.As(err, &missing) {
		t.Fatalf("%v", err)
	}
	for _, want := range append(words, "PyTorch 1.13 or newer", "python3 -m pip install torch", "--python", "COLLAPSE_PYTHON") {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}

// TestNoTorch: the message lists what was tried, what was wrong with each, and what to do.
func TestNoTorch(t *testing.T) {
	bin := t.TempDir()
	alone(t, bin)
	refused(t, python(t, ""), "python3 (PATH): exec")
	without := interpreter(t, bin, "python3", torchless)
	refused(t, python(t, ""), without+" (PATH): ", "No module named torch")
	refused(t, python(t, filepath.Join(bin, "python9")), "python9 (--python): ", "no such file")
	env := t.TempDir()
	other := interpreter(t, filepath.Join(env, "bin"), "python", wordless)
	t.Setenv("VIRTUAL_ENV", env)
	refused(t, python(t, ""), other+" (VIRTUAL_ENV): it ended before it answered (exit status 3): Traceback: something else is missing", without+" (PATH): ")
	t.Setenv("COLLAPSE_PYTHON", without+" -X dev")
	refused(t, python(t, ""), without+" -X dev (COLLAPSE_PYTHON): ")
}

// TestPythonThatHasTorch: a Python without it is skipped in favour of one that has it, and only that one is asked from then on.
func TestPythonThatHasTorch(t *testing.T) {
	bin, env := t.TempDir(), t.TempDir()
	alone(t, bin+":/usr/bin:/bin")
	interpreter(t, bin, "python3", working)
	asked := filepath.Join(env, "asked")
	interpreter(t, filepath.Join(env, "bin"), "python", "echo x >> "+asked+"; "+torchless)
	t.Setenv("VIRTUAL_ENV", env)
	p := python(t, "")
	for range 2 {
		process, err := p.Launch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		process.Close()
	}
	if text, err := os.ReadFile(asked); string(text) != "x\n" {
		t.Errorf("the other was asked %q, %v", text, err)
	}
}

// TestThreadsSoonSleepWhileTheyWait: OpenMP is told so, unless the user has told it something else.
func TestThreadsSoonSleepWhileTheyWait(t *testing.T) {
	dir := t.TempDir()
	alone(t, "/usr/bin:/bin")
	p := python(t, interpreter(t, dir, "python3", "echo $OMP_WAIT_POLICY $GOMP_SPINCOUNT $KMP_BLOCKTIME > "+dir+"/policy; "+working))
	waits := func(want string) {
		t.Helper()
		process, err := p.Launch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		process.Close()
		if text, err := os.ReadFile(dir + "/policy"); string(text) != want+"\n" {
			t.Errorf("%q, %v; want %q", text, err, want)
		}
	}
	for _, name := range []string{"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"} {
		t.Setenv(name, "7")
		waits("7")
		os.Unsetenv(name) // Setenv above puts back what was there
	}
	waits("1000 1")
}

// TestAnotherPackageIsRefused: a Python that finds another package of the same name first would compute something else.
func TestAnotherPackageIsRefused(t *testing.T) {
	alone(t, "/usr/bin:/bin")
	refused(t, python(t, interpreter(t, t.TempDir(), "python3", strings.Replace(working, "v1", "v0", 1))), `it runs another package collapse, "v0", than this program's, "v1"`)
}

// TestNothingPlantedIsRun: the package lies in a folder of its own, with nothing beside it, that nobody else can enter and that goes
// with the engine. What somebody has put where it used to be unpacked, or among the folders of temporary files, is not read.
func TestNothingPlantedIsRun(t *testing.T) {
	alone(t, "/usr/bin:/bin")
	temporary, cache, note := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "note")
	t.Setenv("TMPDIR", temporary)
	t.Setenv("XDG_CACHE_HOME", cache)
	for _, dir := range []string{filepath.Join(cache, "collapse", "python-v1", "collapse", "engine"), filepath.Join(temporary, folderName+"v1")} {
		if err := errors.Join(os.MkdirAll(dir, 0o777), os.WriteFile(filepath.Join(dir, "numpy.py"), nil, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	p := python(t, interpreter(t, t.TempDir(), "python3", "(pwd; echo $PYTHONPATH; stat -c %a .; find . -type f) > "+note+"; "+working))
	t.Setenv("PYTHONPATH", "")
	process, err := p.Launch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(note)
	lines := strings.Fields(string(text))
	if err != nil || len(lines) != 4 || lines[0] != lines[1] || filepath.Dir(lines[0]) != temporary || lines[2] != "700" || lines[3] != "./collapse/engine/__init__.py" {
		t.Errorf("%q, %v", lines, err)
	}
	if other, err := p.Launch(t.Context()); err != nil { // its sweep leaves the folder of the first, which lives
		t.Error(err)
	} else {
		other.Close()
	}
	if _, err := os.Stat(lines[0]); err != nil {
		t.Error(err)
	}
	process.Close()
	if left, err := os.ReadDir(temporary); err != nil || len(left) != 0 { // the planted one, which no living program holds, is swept
		t.Errorf("%v is left, %v", left, err)
	}
}

// TestWhatAnEngineStartsEndsWithIt: for example the workers of a data loader.
func TestWhatAnEngineStartsEndsWithIt(t *testing.T) {
	longtest.Only(t)
	alone(t, "/usr/bin:/bin")
	for name, end := range map[string]func(*Process){"close": (*Process).Close, "kill": (*Process).Kill} {
		dir := t.TempDir()
		note := filepath.Join(dir, "pid")
		process, err := python(t, interpreter(t, dir, "python3", "sleep 1000 & echo $! > "+note+"; "+working)).Launch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(note)
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		end(process)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		for alive(pid) && ctx.Err() == nil {
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
		if alive(pid) {
			t.Errorf("%s: process %d lives", name, pid)
		}
	}
}

// alive reports whether a process runs; one that has ended without anyone waiting for it does not.
func alive(pid int) bool {
	if text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil {
		state := string(text[strings.LastIndexByte(string(text), ')')+2:])
		return state[0] != 'Z' && state[0] != 'X'
	}
	return syscall.Kill(pid, 0) == nil
}
