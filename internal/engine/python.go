package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Python starts engines from a Python package. Several goroutines may use it.
type Python struct {
	Interpreter string // what --python names; "": see candidates
	Files       fs.FS  // the package, as in a folder of Python's path
	Version     string // of Files; a single word
	Limits      Limits

	mu    sync.Mutex
	works *candidate // the one that started successfully
}

// candidate is an interpreter that may have PyTorch.
type candidate struct {
	args []string
	from string // which setting named it
}

// MissingError says that no interpreter has PyTorch.
type MissingError struct {
	Tried []string // each with what was wrong
}

func (e *MissingError) Error() string {
	return "engine: run.engine = torch needs a Python with PyTorch 1.13 or newer, and there is none:\n  " + strings.Join(e.Tried, "\n  ") +
		"\ninstall it (python3 -m pip install torch, see https://pytorch.org/get-started/locally), or name a Python that has it with --python or COLLAPSE_PYTHON," +
		" which may be a command such as `uv run --with torch python`"
}

// Launch starts an engine with the first interpreter that works. If none does, the error is a *MissingError.
func (p *Python) Launch(ctx context.Context) (*Process, error) {
	p.mu.Lock()
	works := p.works
	p.mu.Unlock()
	if works != nil {
		return p.start(ctx, *works)
	}
	list, missing := p.candidates()
	for _, c := range list {
		process, err := p.start(ctx, c)
		if err == nil {
			p.mu.Lock()
			p.works = &c
			p.mu.Unlock()
			return process, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		var own *Error
		if !errors.As(err, &own) {
			return nil, err
		}
		missing.Tried = append(missing.Tried, fmt.Sprintf("%s (%s): %s", strings.Join(c.args, " "), c.from, firstWords(own)))
	}
	return nil, missing
}

// firstWords shortens an error: no engine name, and only the last line of its stderr.
func firstWords(e *Error) string {
	if e.Stderr == "" || e.Kind != Failed {
		return e.Message
	}
	return e.Message + ": " + e.Stderr[strings.LastIndexByte(e.Stderr, '\n')+1:]
}

// candidates lists the interpreters that exist, and reports which do not. If the user named one, it is the only candidate.
func (p *Python) candidates() ([]candidate, *MissingError) {
	missing := &MissingError{}
	named := func(text, from string) []candidate {
		args := strings.Fields(text)
		if _, err := os.Stat(text); err == nil {
			args = []string{text} // a path with spaces
		}
		if len(args) == 0 {
			return nil
		}
		path, err := exec.LookPath(args[0])
		if err == nil {
			path, err = filepath.Abs(path) // it starts in another folder
		}
		if err != nil {
			missing.Tried = append(missing.Tried, fmt.Sprintf("%s (%s): %v", text, from, err))
			return nil
		}
		return []candidate{{append([]string{path}, args[1:]...), from}}
	}
	for _, s := range []struct{ text, from string }{{p.Interpreter, "--python"}, {os.Getenv("COLLAPSE_PYTHON"), "COLLAPSE_PYTHON"}} {
		if s.text != "" {
			return named(s.text, s.from), missing
		}
	}
	var list []candidate
	if env := os.Getenv("VIRTUAL_ENV"); env != "" {
		below := filepath.Join("bin", "python")
		if runtime.GOOS == "windows" {
			below = filepath.Join("Scripts", "python.exe")
		}
		list = named(filepath.Join(env, below), "VIRTUAL_ENV")
	}
	for _, name := range []string{"python3", "python"} {
		if found := named(name, "PATH"); found != nil {
			return append(list, found...), missing
		}
	}
	return list, missing
}

func (p *Python) start(ctx context.Context, c candidate) (*Process, error) {
	dir, remove, err := unpack(p.Files)
	if err != nil {
		return nil, fmt.Errorf("engine: unpacking the package for Python: %w", err)
	}
	process, err := Start(ctx, Command{Args: append(append([]string(nil), c.args...), "-u", "-m", "collapse.engine"), Env: environment(dir), Dir: dir, Ended: remove}, p.Limits)
	if err == nil && p.Version != "" && process.Hello.Version != p.Version {
		process.Kill()
		return nil, &Error{Kind: Refused, Engine: c.args[0], Message: fmt.Sprintf("it runs another package collapse, %.40q, than this program's, %q", process.Hello.Version, p.Version)}
	}
	return process, err
}

// spinning are the variables that say how OpenMP's threads wait for work, and what they are set to unless the user has set one: a few
// microseconds (GNU), a millisecond (Intel), and then they sleep. Without, they would spin on cores that other runs compute on; asleep at
// once, they would make the steps of small networks several times as long.
var spinning = [][2]string{{"GOMP_SPINCOUNT", "1000"}, {"KMP_BLOCKTIME", "1"}, {"OMP_WAIT_POLICY", ""}}

// environment is that of this program, with the package first in Python's path. cuBLAS gives the same bits every time only with a
// workspace of fixed size.
func environment(dir string) []string {
	path := dir
	if old := os.Getenv("PYTHONPATH"); old != "" {
		path += string(os.PathListSeparator) + old
	}
	env := os.Environ()
	if !slices.ContainsFunc(spinning, func(v [2]string) bool { return os.Getenv(v[0]) != "" }) {
		for _, v := range spinning[:2] {
			env = append(env, v[0]+"="+v[1])
		}
	}
	return append(env, "PYTHONPATH="+path, "PYTHONUNBUFFERED=1", "PYTHONIOENCODING=utf-8", "CUBLAS_WORKSPACE_CONFIG=:4096:8")
}
