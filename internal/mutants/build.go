package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// labelMark stands in the names of labels for the number of a change.
const labelMark = "_MUTANT_"

// builder makes one test binary of a package with all its changes, in a folder outside the checkout.
type builder struct {
	root, pkg, work string
}

func prepareGo(ctx context.Context, root, pkg, work string, picked []*mutant) ([]*mutant, trials, error) {
	b := &builder{root: root, pkg: pkg, work: work}
	picked, err := b.build(ctx, picked)
	return picked, b, err
}

func (b *builder) binary() string { return filepath.Join(b.work, "mutants.test") }

// build compiles the changes and returns those that compile.
func (b *builder) build(ctx context.Context, picked []*mutant) ([]*mutant, error) {
	for {
		lines, err := b.write(picked)
		if err != nil {
			return nil, err
		}
		// -e: all errors, not the first ten
		out, err := b.goCommand(ctx, "build", "-gcflags=-e", "-overlay", b.overlay(), "./"+b.pkg)
		if err == nil {
			break
		}
		left := withoutErrors(picked, lines, out)
		if len(left) == len(picked) {
			return nil, fmt.Errorf("it does not build: %w\n%s", err, out)
		}
		picked = left
	}
	if out, err := b.goCommand(ctx, "test", "-c", "-vet=off", "-overlay", b.overlay(), "-o", b.binary(), "./"+b.pkg); err != nil {
		return nil, fmt.Errorf("its tests do not build: %w\n%s", err, out)
	}
	return picked, nil
}

func (b *builder) overlay() string { return filepath.Join(b.work, "overlay.json") }

func (b *builder) goCommand(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = b.root
	return cmd.CombinedOutput()
}

// place says in which lines of a written file the copy of a function with a change lies.
type place struct {
	file     string
	from, to int
	m        *mutant
}

// write writes the package's files with their changes, and the overlay that puts them into its place.
func (b *builder) write(picked []*mutant) ([]place, error) {
	files := map[string][]*mutant{}
	for _, m := range picked {
		files[m.file] = append(files[m.file], m)
	}
	replaced := map[string]string{}
	var places []place
	for file, list := range files {
		src, err := os.ReadFile(filepath.Join(b.root, file))
		if err != nil {
			return nil, err
		}
		text, at := changed(src, list)
		places = append(places, at...)
		to := filepath.Join(b.work, filepath.Base(file))
		if err := os.WriteFile(to, text, 0o644); err != nil {
			return nil, err
		}
		replaced[filepath.Join(b.root, file)] = to
	}
	name, err := packageName(filepath.Join(b.root, b.pkg))
	if err != nil {
		return nil, err
	}
	helper := filepath.Join(b.work, "zz_mutants.go")
	replaced[filepath.Join(b.root, b.pkg, "zz_mutants.go")] = helper
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(helper, []byte("package "+name+helperText), 0o644); err != nil {
		return nil, err
	}
	return places, os.WriteFile(b.overlay(), overlay, 0o644)
}

// changed is a file with copies of its functions before their bodies, each behind the number of its change.
func changed(src []byte, list []*mutant) (out []byte, places []place) {
	slices.SortFunc(list, func(a, b *mutant) int { return cmp.Or(cmp.Compare(a.body.from, b.body.from), cmp.Compare(a.id, b.id)) })
	at := 0
	line := func() int { return bytes.Count(out, []byte("\n")) + 1 }
	for _, m := range list {
		if m.body.from > at {
			out = append(out, src[at:m.body.from]...)
			at = m.body.from
			out = fmt.Appendf(out, "\nzzReached(%d, %q)\n", m.id, m.where())
		}
		from := line()
		out = fmt.Appendf(out, "\nif zzMutant == %d {\n", m.id)
		body := applied(src, m.body, append([]edit{m.edit}, m.labels...))
		out = append(out, bytes.ReplaceAll(body, []byte(labelMark), fmt.Appendf(nil, "%s%d", labelMark, m.id))...)
		if !m.results {
			out = append(out, "\nreturn\n"...)
		}
		out = append(out, "\n}\n"...)
		places = append(places, place{filepath.Base(m.file), from, line(), m})
	}
	return append(out, src[at:]...), places
}

// applied is a part of a file after some edits. An edit inside another is left out.
func applied(src []byte, part span, edits []edit) (out []byte) {
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	at := part.from
	for _, e := range edits {
		if e.from >= at {
			out = append(append(out, src[at:e.from]...), e.text...)
			at = e.to
		}
	}
	return append(out, src[at:part.to]...)
}

var compileError = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):`)

// withoutErrors leaves out the changes that a compiler complains about.
func withoutErrors(picked []*mutant, places []place, out []byte) []*mutant {
	bad := map[*mutant]bool{}
	for _, found := range compileError.FindAllSubmatch(out, -1) {
		line, _ := strconv.Atoi(string(found[2]))
		for _, p := range places {
			if p.file == filepath.Base(string(found[1])) && line >= p.from && line <= p.to {
				bad[p.m] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(picked), func(m *mutant) bool { return bad[m] })
}

// helperText is what the copies call: the number of the change in force, and a file of the functions that a run came to.
const helperText = `

import (
	"os"
	"strconv"
	"sync/atomic"
)

var (
	zzMutant, _ = strconv.Atoi(os.Getenv("MUTANT"))
	zzFile      = zzOpen()
	zzSeen      [1 << 16]atomic.Bool // by the number of a function's first change; tests may count allocations
)

// zzOpen opens the file at the beginning: a test may let later calls fail.
func zzOpen() *os.File {
	name := os.Getenv("MUTANT_REACHED")
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		panic(err)
	}
	return f
}

func zzReached(n int, name string) {
	if zzFile != nil && zzSeen[n].CompareAndSwap(false, true) {
		zzFile.WriteString(name + "\n")
	}
}
`
