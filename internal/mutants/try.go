package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"collapse.example/collapse/internal/process"
)

// A change that makes tests this many times slower has been noticed.
const slower = 5

func packageName(dir string) (string, error) {
	p, err := build.ImportDir(dir, 0)
	if err != nil {
		return "", err
	}
	return p.Name, nil
}

// test is one test of the package, or example, or target of fuzzing with its corpus.
type test struct {
	name    string
	took    time.Duration
	reached map[string]bool
}

// trials are how tests of a package run: each alone without a change, to learn how long it takes and to which functions it comes; and some
// with a change.
type trials interface {
	clean(ctx context.Context, parallel int) ([]test, error)
	with(ctx context.Context, m *mutant, names []string, limit time.Duration) error
}

// effort is what trying changes may take.
type effort struct {
	parallel int
	grace    time.Duration // added to the time that tests of a change may take
	budget   time.Duration // no change is tried after it; 0: no limit
	apart    time.Duration // tests that take longer run one by one, each in a process of its own
	tell     func(m *mutant)
}

// try runs, for each change, the tests that come to its function, the quickest first. It tells of each change that was tried.
func try(ctx context.Context, t trials, picked []*mutant, e effort) error {
	begin := time.Now()
	tests, err := t.clean(ctx, e.parallel)
	if err != nil {
		return err
	}
	slices.SortStableFunc(tests, func(x, y test) int { return cmp.Compare(x.took, y.took) })
	for _, m := range picked {
		for i := range tests {
			if tests[i].reached[m.where()] {
				m.reachedBy = append(m.reachedBy, i)
			}
		}
	}
	each(e.parallel, len(picked), func(i int) {
		if ctx.Err() == nil && (e.budget == 0 || time.Since(begin) < e.budget) {
			picked[i].fate = tryOne(ctx, t, picked[i], tests, e)
			e.tell(picked[i])
		}
	})
	return ctx.Err()
}

func tryOne(ctx context.Context, t trials, m *mutant, tests []test, e effort) fate {
	// First all quick ones in one process, then the others one by one.
	var quick []string
	var quickTook time.Duration
	var slow []test
	for _, i := range m.reachedBy {
		if tests[i].took < e.apart {
			quick = append(quick, tests[i].name)
			quickTook += tests[i].took
		} else {
			slow = append(slow, tests[i])
		}
	}
	if len(quick) > 0 {
		m.killedBy = t.with(ctx, m, quick, slower*quickTook+e.grace)
	}
	for _, s := range slow {
		if m.killedBy == nil {
			m.killedBy = t.with(ctx, m, []string{s.name}, slower*s.took+e.grace)
		}
	}
	if m.killedBy != nil {
		return killed
	}
	return survived
}

func (b *builder) clean(ctx context.Context, parallel int) ([]test, error) {
	cmd := exec.CommandContext(ctx, b.binary(), "-test.list", "^(Test|Fuzz|Example)")
	cmd.Dir = filepath.Join(b.root, b.pkg)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("listing its tests: %w", err)
	}
	names := strings.Fields(string(out))
	tests, errs := make([]test, len(names)), make([]error, len(names))
	each(parallel, len(names), func(i int) {
		reached := filepath.Join(b.work, "reached."+names[i])
		begin := time.Now()
		err := b.run(ctx, 0, reached, names[i:i+1], 10*time.Minute)
		tests[i] = test{name: names[i], took: time.Since(begin), reached: map[string]bool{}}
		if err != nil {
			errs[i] = fmt.Errorf("%s fails alone, without a change: %w", names[i], err)
		}
		lines, _ := os.ReadFile(reached) // none: it came to no function that changes
		for line := range strings.Lines(string(lines)) {
			tests[i].reached[strings.TrimSpace(line)] = true
		}
	})
	return tests, errors.Join(errs...)
}

func (b *builder) with(ctx context.Context, m *mutant, names []string, limit time.Duration) error {
	return b.run(ctx, m.id, "", names, limit)
}

func (b *builder) run(ctx context.Context, id int, reached string, names []string, limit time.Duration) error {
	cmd := exec.Command(b.binary(), "-test.failfast", "-test.timeout=0", "-test.run", "^("+strings.Join(names, "|")+")$")
	cmd.Dir = filepath.Join(b.root, b.pkg)
	cmd.Env = []string{"MUTANT=" + strconv.Itoa(id), "MUTANT_REACHED=" + reached}
	return runTests(ctx, cmd, b.work, limit)
}

// runTests runs tests, with more variables of the environment and a folder for temporary files of its own. Their children do not outlive them.
func runTests(ctx context.Context, cmd *exec.Cmd, work string, limit time.Duration) error {
	temp, err := os.MkdirTemp(work, "tmp")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	cmd.Env = append(append(os.Environ(), "TMPDIR="+temp), cmd.Env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 2 * time.Second
	child, err := process.Start(cmd)
	if err != nil {
		return err
	}
	select {
	case <-child.Ended():
	case <-ctx.Done():
		child.Stop(0)
		return context.Cause(ctx)
	case <-time.After(limit):
		child.Stop(0)
		return fmt.Errorf("not done after %s", limit)
	}
	if err := child.Err(); err != nil {
		return fmt.Errorf("%w\n%s", err, out.Bytes())
	}
	return nil
}

// each calls f for 0 … n-1, a few side by side.
func each(parallel, n int, f func(i int)) {
	var group sync.WaitGroup
	next := make(chan int)
	for range max(parallel, 1) {
		group.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	group.Wait()
}
