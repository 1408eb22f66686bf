package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
)

// floor is the score that a package's tests must reach, measured with this seed.
type floor struct {
	percent float64
	seed    int64
}

// known is what a checkout's list says: a floor for each package, how many refusals no test reaches, and changes that change nothing a caller could see.
type known struct {
	floors map[string]floor
	order  []string
	same   map[string]bool // file | old | new

	refusals map[string]int // how many of a package no test need reach
	refusing []string       // those packages, in the list's order
}

// readKnown reads the list. A line is `floor PACKAGE PERCENT SEED`, `refusals PACKAGE N` or `same FILE | OLD | NEW | REASON`; # begins a comment.
func readKnown(file string) (*known, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	k := &known{floors: map[string]floor{}, same: map[string]bool{}, refusals: map[string]int{}}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		if err := k.line(strings.TrimSpace(line)); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", file, n, err)
		}
	}
	return k, nil
}

func (k *known) line(line string) error {
	kind, rest, _ := strings.Cut(line, " ")
	switch {
	case line == "" || strings.HasPrefix(line, "#"):
		return nil
	case kind == "floor":
		words := strings.Fields(rest)
		if len(words) != 3 {
			return fmt.Errorf("wanted floor PACKAGE PERCENT SEED")
		}
		percent, err := strconv.ParseFloat(words[1], 64)
		if err != nil || !(percent >= 0 && percent <= 100) {
			return fmt.Errorf("%q is no percentage", words[1])
		}
		seed, err := strconv.ParseInt(words[2], 10, 64)
		if err != nil {
			return err
		}
		k.floors[words[0]] = floor{percent, seed}
		k.order = append(k.order, words[0])
		return nil
	case kind == "refusals":
		pkg, number, _ := strings.Cut(strings.TrimSpace(rest), " ")
		n, err := strconv.ParseUint(strings.TrimSpace(number), 10, 16)
		if err != nil {
			return fmt.Errorf("wanted refusals PACKAGE N: %w", err)
		}
		k.refusals[pkg] = int(n)
		k.refusing = append(k.refusing, pkg)
		return nil
	case kind == "same":
		parts := strings.Split(rest, " | ")
		if len(parts) != 4 || strings.TrimSpace(parts[3]) == "" {
			return fmt.Errorf("wanted same FILE | OLD | NEW | REASON")
		}
		k.same[strings.Join(parts[:3], " | ")] = true
		return nil
	}
	return fmt.Errorf("%q is neither floor nor refusals nor same", kind)
}

// unknown leaves out changes that are known to change nothing.
func (k *known) unknown(all []*mutant) []*mutant {
	return slices.DeleteFunc(all, func(m *mutant) bool { return k.same[m.file+" | "+m.old+" | "+m.new] })
}

// packages are those of the list, in its order; only those with changed files if a commit is named.
func (k *known) packages(ctx context.Context, root, since string) ([]string, error) {
	if since == "" {
		return k.order, nil
	}
	cmd := exec.CommandContext(ctx, "git", "diff", "--name-only", since, "--", "*.go", "*.py")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git diff %s: %w", since, err)
	}
	changed := map[string]bool{}
	for file := range strings.Lines(string(out)) {
		changed[path.Dir(strings.TrimSpace(file))] = true
	}
	return slices.DeleteFunc(slices.Clone(k.order), func(pkg string) bool {
		if isPython(root, pkg) { // its own packages and its tests are part of it
			return !slices.ContainsFunc(slices.Collect(maps.Keys(changed)), func(dir string) bool {
				return strings.HasPrefix(dir+"/", pkg+"/") || dir == testsOf(pkg)
			})
		}
		return !changed[pkg]
	}), nil
}
