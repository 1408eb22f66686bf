// Command mutants measures what tests see: it makes small changes to a package, a condition left out, a comparison turned, an error dropped,
// and runs the package's own tests on each. A change that no test notices survives, and is printed.
//
// All changes of a package are compiled into one test binary, and a variable of the environment says which is in force: that takes seconds
// where a build for each would take an hour. Of Python, each change is written into a copy of the package. scripts/mutants.sh calls it.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

type options struct {
	root, list, since string
	n, parallel       int
	seeds             []int64
	budget            time.Duration
	refusals, verbose bool
}

// Added to the time that tests of a change may take. Importing PyTorch takes seconds, on a busy machine many.
const grace, pythonGrace = 5 * time.Second, time.Minute

func main() {
	var o options
	flag.StringVar(&o.root, "root", ".", "checkout")
	flag.StringVar(&o.list, "list", "scripts/mutants.txt", "floors and known equivalents, below the checkout")
	flag.StringVar(&o.since, "since", "", "without packages: those of the list that changed since this commit, instead of all")
	flag.IntVar(&o.n, "n", 60, "changes of each package")
	flag.IntVar(&o.parallel, "parallel", 2, "changes tried side by side")
	flag.Func("seed", "which changes; of several seeds, with commas, each has its own score (default: the seed that the list names, or 1)", o.seed)
	flag.DurationVar(&o.budget, "budget", 0, "no change is tried after this time (default: no limit)")
	flag.BoolVar(&o.refusals, "refusals", false, "instead: the errors that a package makes and to which no test of its own comes")
	flag.BoolVar(&o.verbose, "v", false, "each change when it was tried, and what the tests said of it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	low, err := measure(ctx, o, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	if low {
		os.Exit(1)
	}
}

// measure goes through packages and reports whether one is below its floor.
func measure(ctx context.Context, o options, packages []string) (low bool, err error) {
	if o.root, err = filepath.Abs(o.root); err != nil {
		return false, err
	}
	known, err := readKnown(filepath.Join(o.root, o.list))
	if err != nil {
		return false, err
	}
	work, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(work)
	if o.refusals {
		return refuse(ctx, o, known, packages, work)
	}
	if len(packages) == 0 {
		if packages, err = known.packages(ctx, o.root, o.since); err != nil {
			return false, err
		}
	}
	begin := time.Now()
	for i, pkg := range packages {
		if o.budget > 0 && time.Since(begin) > o.budget {
			fmt.Printf("not measured within %s: %v\n", o.budget, packages[i:])
			break
		}
		o := o
		if o.budget > 0 { // what is left is shared by the packages that are left
			o.budget = (o.budget - time.Since(begin)) / time.Duration(len(packages)-i)
		}
		below, err := measurePackage(ctx, o, known, filepath.ToSlash(filepath.Clean(pkg)), work)
		if err != nil {
			return false, fmt.Errorf("%s: %w", pkg, err)
		}
		low = low || below
	}
	return low, ctx.Err()
}

func measurePackage(ctx context.Context, o options, known *known, pkg, work string) (below bool, err error) {
	f := known.floors[pkg]
	seeds := o.seeds
	if len(seeds) == 0 {
		seeds = []int64{max(f.seed, 1)}
	}
	work, err = os.MkdirTemp(work, "package")
	if err != nil {
		return false, err
	}
	list, prepare, grace := candidates, prepareGo, grace
	if isPython(o.root, pkg) {
		list, prepare, grace = pythonCandidates, preparePython, pythonGrace
	}
	all, err := list(o.root, pkg)
	if err != nil {
		return false, err
	}
	all = known.unknown(all)
	chosen := make([][]*mutant, len(seeds))
	for i, seed := range seeds {
		chosen[i] = pick(all, seed, o.n*5/4) // some do not compile
	}
	made, trials, err := prepare(ctx, o.root, pkg, work, numbered(united(chosen...)))
	if err != nil {
		return false, err
	}
	for i, seed := range seeds {
		chosen[i] = slices.DeleteFunc(chosen[i], func(m *mutant) bool { return !slices.Contains(made, m) })
		chosen[i] = chosen[i][:min(o.n, len(chosen[i]))]
		fmt.Printf("%s, seed %d: %d changes of %d\n", pkg, seed, len(chosen[i]), len(all))
	}
	e := effort{parallel: o.parallel, grace: grace, budget: o.budget, tell: func(*mutant) {}, apart: time.Second}
	if isPython(o.root, pkg) {
		e.apart = math.MaxInt64 // since importing what they need takes longer than most of them
	}
	if o.verbose {
		e.tell = tell
	}
	if err := try(ctx, trials, united(chosen...), e); err != nil {
		return false, err
	}
	for i, seed := range seeds {
		below = report(pkg, seed, f, chosen[i]) || below
	}
	return below, nil
}

// seed reads seeds of the command line.
func (o *options) seed(text string) error {
	for word := range strings.SplitSeq(text, ",") {
		seed, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return err
		}
		o.seeds = append(o.seeds, seed)
	}
	return nil
}

// numbered gives changes their numbers.
func numbered(list []*mutant) []*mutant {
	for i, m := range list {
		m.id = i + 1
	}
	return list
}

// united are the changes of some lists, each once.
func united(lists ...[]*mutant) (all []*mutant) {
	there := map[*mutant]bool{}
	for _, m := range slices.Concat(lists...) {
		if !there[m] {
			there[m] = true
			all = append(all, m)
		}
	}
	return all
}

// tell prints a change that was tried, and what tests said of it.
func tell(m *mutant) {
	said := "survived"
	if m.fate == killed {
		said = "killed: " + m.killedBy.Error()
	}
	fmt.Printf("  %d. %s:%d %s: %s | %s: %s\n", m.id, m.file, m.line, m.fn, m.old, m.new, said)
}

// report prints what survived and the score, and says whether that is below the floor.
func report(pkg string, seed int64, f floor, picked []*mutant) bool {
	noticed, tried := 0, 0
	for _, m := range picked {
		switch m.fate {
		case killed:
			noticed++
			tried++
		case survived:
			tried++
			how := "survived"
			if len(m.reachedBy) == 0 {
				how = "no test comes here"
			}
			fmt.Printf("  %s:%d %s: %s | %s (%s)\n", m.file, m.line, m.fn, m.old, m.new, how)
		}
	}
	if tried == 0 {
		fmt.Printf("%s: nothing tried\n", pkg)
		return false
	}
	score := 100 * float64(noticed) / float64(tried)
	fmt.Printf("%s, seed %d: %d of %d killed, %.0f %%", pkg, seed, noticed, tried, score)
	if tried < len(picked) {
		fmt.Printf("; %d not tried in the time there was", len(picked)-tried)
	}
	below := score < f.percent
	if below {
		fmt.Printf("; BELOW ITS FLOOR of %g %%", f.percent)
	}
	fmt.Println()
	return below
}
