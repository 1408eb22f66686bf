package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// module writes a module with one package, of which a test sees some changes and not others.
func module(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module example.org/seen\n\ngo 1.25\n",
		"mutants": "floor seen 50 1\nsame seen/seen.go | b - a | b + a | never called\n",
		"seen/seen.go": `package seen

func Larger(a, b int) bool { return a > b }

func Unseen(a, b int) int { return b - a }

func Forever(n int) (sum int) {
outer:
	for i := 0; ; i++ {
		for range 2 {
			if i == n {
				break outer
			}
			sum += i
		}
	}
	return sum
}

func Both() (int, error) { return 1, nil }
`,
		"seen/seen_test.go": `package seen

import "testing"

func TestLarger(t *testing.T) {
	if !Larger(2, 1) || Larger(1, 2) {
		t.Fatal()
	}
}

func TestForever(t *testing.T) {
	if got := Forever(3); got != 6 {
		t.Fatal(got)
	}
}
`,
	} {
		put(t, root, name, text)
	}
	return root
}

// TestFatesOfChanges: a change that a test notices is killed, also one that never ends; one that no test could notice survives, and says so.
func TestFatesOfChanges(t *testing.T) {
	root := module(t)
	known, err := readKnown(filepath.Join(root, "mutants"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := candidates(root, "seen")
	if err != nil {
		t.Fatal(err)
	}
	b := builder{root: root, pkg: "seen", work: t.TempDir()}
	picked, err := b.build(t.Context(), numbered(pick(known.unknown(all), 1, 100)))
	if err != nil {
		t.Fatal(err)
	}
	if err := try(t.Context(), &b, picked, effort{parallel: 2, grace: time.Second, apart: time.Second, tell: tell}); err != nil {
		t.Fatal(err)
	}
	fates := map[string]fate{}
	for _, m := range picked {
		fates[m.old+" | "+m.new] = m.fate
		if got, want := len(m.reachedBy) > 0, m.fn != "Unseen" && m.fn != "Both"; got != want {
			t.Errorf("a test comes to %s: %v", m.fn, got)
		}
	}
	for change, want := range map[string]fate{
		"a > b | a <= b":             killed,
		"a > b | a >= b":             survived, // no test compares equal numbers
		"i == n | i != n":            killed,
		"i == n | false && (i == n)": killed, // it never ends
		"sum += i | sum -= i":        killed,
		"sum += i | ;":               killed,
		"1 | (1+1)":                  survived,
		"b - a | b + a":              untried, // the list says that it changes nothing
	} {
		if fates[change] != want {
			t.Errorf("%s: %v, want %v", change, fates[change], want)
		}
	}
}

// TestTheChoiceStaysWhileOtherFunctionsChange: one more function takes at most the last places, and a seed always chooses the same.
func TestTheChoiceStaysWhileOtherFunctionsChange(t *testing.T) {
	choose := func(seed int64, more ...*mutant) (list []string) {
		var all []*mutant
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			all = append(all, &mutant{file: "x.go", fn: name, kind: "k" + name, old: "1", new: "2"}, &mutant{file: "x.go", fn: name, kind: "l" + name, old: "3", new: "4"})
		}
		for _, m := range pick(append(all, more...), seed, 8) {
			list = append(list, m.fn+m.old)
		}
		return list
	}
	first := choose(1)
	if again := choose(1); !slices.Equal(first, again) {
		t.Errorf("%v, then %v", first, again)
	}
	if other := choose(2); slices.Equal(first, other) {
		t.Error("two seeds choose the same, in the same order")
	}
	with := choose(1, &mutant{file: "x.go", fn: "new", kind: "n", old: "5", new: "6"})
	with = slices.DeleteFunc(with, func(s string) bool { return s == "new5" })
	if !slices.Equal(with, first[:len(with)]) || len(with) < len(first)-1 {
		t.Errorf("%v without the new function, %v with it", first, with)
	}
}

// TestReportKnowsTheFloor: a score at its floor is enough, one below is not, and what was not tried counts for neither side.
func TestReportKnowsTheFloor(t *testing.T) {
	list := []*mutant{{fate: killed}, {fate: killed}, {fate: killed}, {fate: survived}, {fate: untried}}
	for percent, want := range map[float64]bool{75: false, 75.1: true, 0: false} {
		if report("p", 1, floor{percent: percent}, list) != want {
			t.Errorf("75 %% with a floor of %g", percent)
		}
	}
}

// TestRefusalsThatNoTestReaches: of four errors that a package makes, two are reached; a function literal within a branch counts for itself.
func TestRefusalsThatNoTestReaches(t *testing.T) {
	root := module(t)
	for name, text := range map[string]string{
		"seen/refuse.go": `package seen

import (
	"errors"
	"fmt"
)

type MineError struct{}

func (*MineError) Error() string { return "mine" }

func Refuse(n int) error {
	switch n {
	case 1:
		return fmt.Errorf("one %d", n)
	case 2:
		return &MineError{}
	case 3:
		later := func() error { return errors.New("later") }
		_ = later
		return errors.New("three")
	}
	return nil
}
`,
		"seen/refuse_test.go": `package seen

import "testing"

func TestRefuse(t *testing.T) {
	if Refuse(1) == nil || Refuse(3) == nil {
		t.Fatal()
	}
}
`,
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	all, err := refusals(root, "seen")
	if err != nil || len(all) != 4 {
		t.Fatalf("%v, %v", all, err)
	}
	text, err := profile(t.Context(), root, "seen", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, r := range unreached(all, text) {
		left = append(left, r.text)
	}
	if !slices.Equal(left, []string{"MineError{}", `errors.New("later")`}) {
		t.Errorf("not reached: %q", left)
	}
	for allowed, want := range map[int]bool{1: true, 2: false} {
		more, err := refuse(t.Context(), options{root: root}, &known{refusals: map[string]int{"seen": allowed}, refusing: []string{"seen"}}, nil, t.TempDir())
		if err != nil || more != want {
			t.Errorf("two where %d are allowed: more %v, %v", allowed, more, err)
		}
	}
}

// TestTheListIsChecked: a line that nobody could mean is an error with its number, not left out.
func TestTheListIsChecked(t *testing.T) {
	for _, line := range []string{"flor p 90 1", "floor p 90", "floor p 101 1", "floor p NaN 1", "floor p -1 1", "floor p 90 x", "refusals p", "refusals p x", "refusals p -1", "same f | a | b", "same f | a | b | "} {
		file := filepath.Join(t.TempDir(), "list")
		if err := os.WriteFile(file, []byte("# a list\n"+line+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := readKnown(file); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// put writes a file below root.
func put(t *testing.T, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
