package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/screen"
	"collapse.example/collapse/measure"
)

// The first screen groups the commands, leaves out what few call, and fits 80 columns; the longer help has every command.
func TestFirstScreenOfHelp(t *testing.T) {
	t.Setenv("COLUMNS", "80")
	first, _ := called(t, exitOK, "--help")
	whole, _ := called(t, exitOK, "help")
	at := -1
	for _, group := range []string{"Start:", "Measure:", "Train:", "Theory:", "Papers:", "Lab:", "Developers:", "Flags:"} {
		next := strings.Index(first, "\n"+group+"\n")
		if next <= at || !strings.Contains(whole, "\n"+group+"\n") {
			t.Errorf("%s stands at %d, behind %d", group, next, at)
		}
		at = next
	}
	if n := strings.Count(first, "\n"); n > 70 {
		t.Errorf("the first screen has %d lines", n)
	}
	lists := func(text, command string) bool { return strings.Contains(text, "\n  "+command+"  ") }
	for _, leaf := range tree(t).Model.Leaves(true) {
		if leaf.Hidden {
			continue
		}
		top := strings.Fields(leaf.Path())[0]
		if !lists(whole, leaf.Path()) {
			t.Errorf("the whole help lacks %s", leaf.Path())
		}
		if hidden := slices.Contains(notFirst, top); lists(first, top) == hidden {
			t.Errorf("%s is on the first screen: %v", top, !hidden)
		}
	}
	for line := range strings.Lines(first) {
		if n := utf8.RuneCountInString(line); n > 81 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	if again, _ := called(t, exitOK, "help"); again != whole {
		t.Error("the first screen has changed the whole help")
	}
}

// --quiet leaves the result alone, --verbose adds what it was computed with; both at once are refused.
func TestQuietAndVerbose(t *testing.T) {
	lab := t.TempDir()
	args := []string{"--lab", lab, "train", "--data", "glyphs", "--classes", "4", "--epochs", "2", "--width", "8", "--depth", "1", "--set", "data.pipeline=plain", "--set", "data.samples_per_class=20", "--set", "data.test_samples_per_class=10"}
	usual, said := called(t, exitOK, args...)
	hash := regexp.MustCompile(`[0-9a-f]{64}`)
	if said == "" || !strings.Contains(usual, "\nrun  ") || hash.MatchString(usual) || strings.Contains(usual, "checkpoint") {
		t.Errorf("usually:\n%s%s", usual, said)
	}
	for _, p := range measure.Properties() {
		if !strings.Contains(usual, "\n"+p.Name+"  "+p.Short) {
			t.Errorf("train says no %s:\n%s", p.Name, usual)
		}
	}
	loud, _ := called(t, exitOK, append([]string{"-v"}, args...)...)
	if !hash.MatchString(loud) || !strings.Contains(loud, "checkpoint") {
		t.Errorf("with -v:\n%s", loud)
	}
	quiet, said := called(t, exitOK, append([]string{"-q"}, args...)...)
	if said != "" || strings.Contains(quiet, "\nrun") || !strings.HasPrefix(usual, quiet) || !strings.Contains(quiet, "NC4") {
		t.Errorf("with -q:\n%s%s", quiet, said)
	}
	if _, said := called(t, exitUsage, "-q", "-v", "version"); !strings.Contains(said, "--quiet") {
		t.Errorf("both: %s", said)
	}
	if _, said := called(t, exitUsage, "-q", "measure"); !strings.Contains(said, "nothing to measure") {
		t.Errorf("a quiet failure says %q", said)
	}
}

// One word for one number: what train calls memorization is what pages and the registry call so.
func TestOneMemorization(t *testing.T) {
	key := judge.MemoryForms[0].Key
	if !slices.Contains(finalRows(), finalRow{key, "memorization"}) {
		t.Errorf("train's memorization is not the pages', %s: %v", key, finalRows())
	}
	for _, d := range measure.Definitions() {
		if (d.Name == "memorization") != (d.Key == key) {
			t.Errorf("%s is called %s", d.Key, d.Name)
		}
	}
}

// What solve computes with is behind -v; text has one notation of numbers.
func TestSolveKeepsDetails(t *testing.T) {
	args := []string{"solve", "ce", "--k", "3", "--d", "3", "--n", "2", "--lw", "0.01", "--lh", "0.01"}
	usual, _ := called(t, exitOK, args...)
	loud, _ := called(t, exitOK, append(args, "-v")...)
	for _, detail := range []string{"kappa", "balance", "residual", "nc2_w "} {
		if strings.Contains(usual, detail) || !strings.Contains(loud, detail) {
			t.Errorf("%s is no detail:\n%s\n%s", detail, usual, loud)
		}
	}
	if !strings.Contains(usual, "f* = 0.148331747") || !strings.Contains(usual, "NC2  class means to a simplex ETF") || !strings.Contains(usual, "global (proved)") {
		t.Errorf("solve says\n%s", usual)
	}
	if found := regexp.MustCompile(`\de[-+]?\d`).FindString(usual + loud); found != "" {
		t.Errorf("another notation: %q in\n%s", found, loud)
	}
}

func TestVerdictMarks(t *testing.T) {
	a := &app{}
	if got := a.verdictMark(judge.Holds) + a.verdictMark(judge.CannotTell); got != "" {
		t.Errorf("a pipe gets %q", got)
	}
	a.screen = screen.Screen{Marks: true}
	if got := a.verdictMark(judge.Holds) + a.verdictMark(judge.Fails) + a.verdictMark(judge.Partly); got != "✓ ✗   " {
		t.Errorf("a terminal gets %q", got)
	}
}
