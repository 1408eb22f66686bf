package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
)

//go:embed python_changes.py
var pythonChanges string

//go:embed python_tests.py
var pythonTests []byte

//go:embed zz_reached.py
var pythonReached []byte

// isPython reports whether a folder is a package of Python.
func isPython(root, pkg string) bool {
	_, err := os.Stat(filepath.Join(root, pkg, "__init__.py"))
	return err == nil
}

// testsOf is the folder of a Python package's tests, beside it.
func testsOf(pkg string) string { return path.Join(path.Dir(pkg), "tests") }

// interpreter is a Python, one that has PyTorch if there is one.
func interpreter() string {
	for _, python := range []string{"/usr/bin/python3", "python3"} {
		// Asking where PyTorch is takes a hundredth of the time of importing it.
		if exec.Command(python, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)").Run() == nil {
			return python
		}
	}
	return "python3"
}

// pythonCandidates are all changes that could be made to a package of Python and what lies below it.
func pythonCandidates(root, pkg string) ([]*mutant, error) {
	cmd := exec.Command(interpreter(), "-c", pythonChanges, root, pkg)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	type place struct {
		From, To int
		Text     string
	}
	var list []struct {
		place
		File, Fn, Kind, Old, New string
		Line                     int
		Entry                    place
	}
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, err
	}
	var all []*mutant
	for _, x := range list {
		all = append(all, &mutant{
			file: x.File, fn: x.Fn, line: x.Line, kind: x.Kind, old: x.Old, new: x.New,
			edit: edit{x.From, x.To, x.Text}, entry: edit{x.Entry.From, x.Entry.To, x.Entry.Text},
		})
	}
	return all, nil
}

// pythonTrials runs the tests of a Python package in copies of the checkout: all but the top folder of the package is linked.
type pythonTrials struct {
	root, pkg, work, python string
	env                     []string
	picked                  []*mutant
	copies                  chan string // those that no run uses
}

func preparePython(ctx context.Context, root, pkg, work string, picked []*mutant) ([]*mutant, trials, error) {
	p := &pythonTrials{root: root, pkg: pkg, work: work, python: interpreter(), picked: picked}
	// Two texts of the same length within a second would share their byte code.
	p.env = []string{"PYTHONDONTWRITEBYTECODE=1"}
	if os.Getenv("COLLAPSE_BINARY") == "" {
		program := filepath.Join(work, "collapse")
		cmd := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/collapse")
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, nil, fmt.Errorf("the program does not build: %w\n%s", err, out)
		}
		p.env = append(p.env, "COLLAPSE_BINARY="+program)
	}
	return picked, p, os.WriteFile(p.runner(), pythonTests, 0o666)
}

func (p *pythonTrials) runner() string { return filepath.Join(p.work, "python_tests.py") }

// copied makes a copy of the checkout.
func (p *pythonTrials) copied(name string) (string, error) {
	to := filepath.Join(p.work, name)
	top, _, _ := strings.Cut(p.pkg, "/")
	entries, err := os.ReadDir(p.root)
	if err != nil {
		return "", err
	}
	if err := os.Mkdir(to, 0o777); err != nil {
		return "", err
	}
	for _, e := range entries {
		if e.Name() != top {
			if err := os.Symlink(filepath.Join(p.root, e.Name()), filepath.Join(to, e.Name())); err != nil {
				return "", err
			}
		}
	}
	if err := os.CopyFS(filepath.Join(to, top), os.DirFS(filepath.Join(p.root, top))); err != nil {
		return "", err
	}
	return to, filepath.WalkDir(filepath.Join(to, top), func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.Name() != "__pycache__" {
			return err
		}
		return cmp.Or(os.RemoveAll(name), fs.SkipDir)
	})
}

// clean learns with a package whose functions say that a run came. Tests that take less than a second run again with all others of their file:
// what only the first of a process calls counts for each of them.
func (p *pythonTrials) clean(ctx context.Context, parallel int) ([]test, error) {
	if err := p.makeCopies(parallel); err != nil {
		return nil, err
	}
	dir, err := p.telling()
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, testsOf(p.pkg), "test_*.py"))
	if err != nil {
		return nil, err
	}
	found, errs := make([][]test, len(files)), make([]error, len(files))
	each(parallel, len(files), func(i int) { found[i], errs[i] = p.learn(ctx, dir, files[i]) })
	var all []test
	for _, list := range found {
		all = append(all, list...)
	}
	return all, errors.Join(errs...)
}

func (p *pythonTrials) makeCopies(n int) error {
	p.copies = make(chan string, max(n, 1))
	for i := range cap(p.copies) {
		dir, err := p.copied(fmt.Sprint("copy", i))
		if err != nil {
			return err
		}
		p.copies <- dir
	}
	return nil
}

// telling is a copy whose functions say that a run came.
func (p *pythonTrials) telling() (string, error) {
	dir, err := p.copied("telling")
	if err != nil {
		return "", err
	}
	entries := map[string]map[edit]bool{}
	for _, m := range p.picked {
		if entries[m.file] == nil {
			entries[m.file] = map[edit]bool{}
		}
		entries[m.file][m.entry] = true
	}
	for file, set := range entries {
		var list []edit
		for e := range set {
			list = append(list, e)
		}
		if err := p.write(dir, file, list); err != nil {
			return "", err
		}
	}
	return dir, os.WriteFile(filepath.Join(dir, p.pkg, "zz_reached.py"), pythonReached, 0o666)
}

// write puts a file with some edits into a copy.
func (p *pythonTrials) write(dir, file string, edits []edit) error {
	src, err := os.ReadFile(filepath.Join(p.root, file))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, file), applied(src, span{0, len(src)}, edits), 0o666)
}

func (p *pythonTrials) learn(ctx context.Context, dir, file string) ([]test, error) {
	module := strings.TrimSuffix(filepath.Base(file), ".py")
	out := filepath.Join(p.work, "reached."+module)
	if err := p.run(ctx, dir, 20*time.Minute, "learn", filepath.Dir(file), module, out); err != nil {
		return nil, fmt.Errorf("%s: %w", module, err)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	var found struct {
		Loading []string
		Tests   []struct {
			Name    string
			Took    float64
			Reached []string
		}
	}
	if err := json.Unmarshal(text, &found); err != nil {
		return nil, err
	}
	together := map[string]bool{}
	var tests []test
	for _, x := range found.Tests {
		t := test{name: x.Name, took: time.Duration(x.Took * float64(time.Second)), reached: map[string]bool{}}
		if t.took < time.Second {
			t.reached = together
		}
		for _, where := range append(x.Reached, found.Loading...) {
			t.reached[where] = true
		}
		tests = append(tests, t)
	}
	return tests, nil
}

func (p *pythonTrials) with(ctx context.Context, m *mutant, names []string, limit time.Duration) (err error) {
	dir := <-p.copies
	defer func() { p.copies <- dir }()
	list := filepath.Join(dir, "zz_names")
	if err := errors.Join(p.write(dir, m.file, []edit{m.edit}), os.WriteFile(list, []byte(strings.Join(names, "\n")), 0o666)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.write(dir, m.file, nil)) }()
	return p.run(ctx, dir, limit, "run", filepath.Join(dir, testsOf(p.pkg)), list)
}

func (p *pythonTrials) run(ctx context.Context, dir string, limit time.Duration, args ...string) error {
	cmd := exec.Command(p.python, append([]string{p.runner()}, args...)...)
	cmd.Dir, cmd.Env = dir, p.env
	return runTests(ctx, cmd, p.work, limit)
}
