package cli

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/demo"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study/coordinator"
	"collapse.example/collapse/internal/train"
)

// evil clears a screen, sets a title, forges a line and turns the rest around.
const evil = "=cmd\x1b[2J\x1b]0;x\x07\r\ncollapse: all is well\u202e\u009b31m"

// tame reports what a terminal would obey in an output.
func tame(t *testing.T, what, output string) {
	t.Helper()
	if !utf8.ValidString(output) {
		t.Errorf("%s: not UTF-8: %q", what, output)
	}
	for _, line := range strings.Split(output, "\n") {
		if strings.HasPrefix(line, "collapse: all is well") || strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }) {
			t.Errorf("%s prints %q", what, line)
		}
	}
}

// evilLab is a lab with a finished and a failed run in a study, whatever can be named named badly.
func evilLab(t *testing.T) (dir, hash string) {
	t.Helper()
	dir = t.TempDir()
	lab := openLab(t, dir)
	defer lab.Close()
	var members []store.Member
	for n := range 2 {
		s := store.Spec{Kind: "measure", Config: map[string]any{"n": n, "what": evil}, Label: evil, Program: store.Program{Version: evil, CPU: evil}}
		members = append(members, store.Member{Spec: s, Note: evil, Payload: evil})
	}
	if err := lab.SaveStudy("study", evil, evil, members); err != nil {
		t.Fatal(err)
	}
	bad, err := json.Marshal(evil)
	if err != nil {
		t.Fatal(err)
	}
	if err := lab.SaveStudy("asks", "", fmt.Sprintf("[trainer]\n[[claim]]\nid = %[1]s\nsays = %[1]s\nkind = \"less\"\nearly = true\nleft = 'final(\"no\")'\nright = '0'\n", bad), members); err != nil {
		t.Fatal(err)
	}
	for n, m := range members {
		c, _, err := lab.Lease(m.Spec)
		if err != nil {
			t.Fatal(err)
		}
		rows := []store.Value{{Key: store.Key{Series: "epoch", Split: evil, Layer: evil, Measure: evil}, Step: 1, Value: -2.5},
			{Key: store.Key{Series: "epoch", Split: "train", Measure: "-1"}, Step: 1, Missing: evil}}
		end := c.Finish
		if n == 1 {
			end = func() error { return c.Fail(errors.New(evil)) }
		}
		if err := errors.Join(c.AppendEpoch(1, rows), end()); err != nil {
			t.Fatal(err)
		}
		hash = c.Hash
	}
	return dir, hash
}

func TestTerminalsOnlyShowNames(t *testing.T) {
	lab, hash := evilLab(t)
	for _, args := range [][]string{{"runs", "list"}, {"runs", "show", hash}, {"study", "list"}, {"study", "status", "study"}, {"study", "judge", "study"}, {"study", "judge", "asks"}, {"study", "retry", evil}, {"runs", "show", evil},
		{"report", hash, "--out", t.TempDir() + "/" + evil}, {"measure", evil}, {evil}, {"train", "--set", evil}, {"dilation", "--fit", evil}, {"landscape", "--classifier", evil},
		{"reproduce", evil}, {"data", "get", evil}, {"export", evil}} {
		var out, errs strings.Builder
		run(t.Context(), append([]string{"--lab", lab}, args...), &out, &errs)
		if out.Len()+errs.Len() == 0 {
			t.Errorf("%q says nothing", args)
		}
		tame(t, strings.Join(args[:min(2, len(args))], " ")+": standard output", out.String())
		tame(t, strings.Join(args[:min(2, len(args))], " ")+": standard error", errs.String())
	}
	if out, _ := called(t, exitOK, "--lab", lab, "--json", "runs", "show", hash); !strings.Contains(out, `\u001b[2J`) {
		t.Errorf("JSON is not exact: %s", out)
	}
}

// TestProgressOnlyShowsNames feeds progress with what workers may report.
func TestProgressOnlyShowsNames(t *testing.T) {
	var b strings.Builder
	p := &coordinatorProgress{w: &b}
	p.event(coordinator.Event{Snapshot: coordinator.Snapshot{Runs: 2, Done: 1}, Ended: &coordinator.Ended{Note: evil, Text: evil}})
	p.event(coordinator.Event{Snapshot: coordinator.Snapshot{Runs: 2, Done: 1, Failed: 1}, Ended: &coordinator.Ended{Note: evil, Text: evil, Failed: true}})
	p.logf("run %.12s: attempt %d on %s broke: %s (%v)", "abc", 1, evil, evil, errors.New(evil))
	p.close()
	s := newStudyProgress(&b, []train.Config{{}})
	s.Done(0, demo.Outcome{Err: errors.New(evil)})
	s.close()
	(&trainProgress{w: &b}).Note(evil)
	drawn := newBar(io.Discard, 1, evil)
	drawn.set(1, "%s: %v", evil, errors.New(evil))
	tame(t, "a bar", drawn.text.Load().(string))
	drawn.close()
	tame(t, "progress", b.String())
	if n := strings.Count(b.String(), `\x1b[2J`); n != 9 {
		t.Errorf("names are shown %d times, want 9:\n%s", n, b.String())
	}
}

// evilFeatures is a file whose name, array names and labels are bad.
func evilFeatures(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "=f\x1b[2J\ncollapse: all is well\u202e.npz")
	h := make([]float64, 12*3)
	for i := range h {
		h[i] = float64(i%7) + float64(i%3*(i/9))
	}
	labels := make([]int64, 12)
	for i := range labels {
		labels[i] = int64(i%2)*2 - 1
	}
	var b bytes.Buffer
	err := arrayfile.WriteNPZ(&b, []arrayfile.Array{arrayfile.Of("=l\x1b[2J\u202e1", []int{12, 3}, h), arrayfile.Of("=l\x1b[2J\u202e2", []int{12, 3}, h),
		arrayfile.Of("labels", []int{12}, labels)})
	if err == nil {
		err = os.WriteFile(path, b.Bytes(), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMeasurePrintsNamesAsText(t *testing.T) {
	path := evilFeatures(t)
	for _, args := range [][]string{{"--features-key", "=l\x1b[2J\u202e1"}, {"--layers", "=l*"}, {"--layers", "none*"}, {"--ignore-label=-1", "--layers==l*"}} {
		var out, errs strings.Builder
		if code := run(t.Context(), append([]string{"measure", path}, args...), &out, &errs); code != exitOK && args[1] != "none*" {
			t.Fatalf("%q: %s", args, errs.String())
		}
		tame(t, "measure", out.String())
		tame(t, "measure", errs.String())
		if !strings.Contains(out.String()+errs.String(), `\x1b[2J`) {
			t.Errorf("%q names nothing:\n%s%s", args, out.String(), errs.String())
		}
	}
	stdout, _ := called(t, exitOK, "measure", path, "--layers", "=l*", "--csv", "-")
	rows := noFormulas(t, stdout)
	classes := map[string]bool{}
	for _, row := range rows[1:] {
		classes[row[1]] = true
		if row[0] != "'=l\x1b[2J\u202e1" && row[0] != "'=l\x1b[2J\u202e2" {
			t.Fatalf("layer %q", row[0])
		}
	}
	if !classes["-1"] || !classes["1"] {
		t.Errorf("labels that are numbers have changed: %v", classes)
	}
}

// noFormulas reads a CSV text none of whose cells a spreadsheet would compute.
func noFormulas(t *testing.T, text string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		for _, cell := range row {
			if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) && strings.Trim(cell, "+-.0123456789e") != "" {
				t.Errorf("a spreadsheet computes the cell %q", cell)
			}
		}
	}
	return rows
}

func TestExportHasNoFormulas(t *testing.T) {
	lab, _ := evilLab(t)
	stdout, _ := called(t, exitOK, "--lab", lab, "export", "study")
	rows := noFormulas(t, stdout)
	if len(rows) != 5 {
		t.Fatalf("%d rows, want 5", len(rows))
	}
	found := false
	for _, row := range rows[1:] {
		found = found || row[10] == "-2.5" && row[9] == "'"+strings.ReplaceAll(evil, "\r\n", "\n") // the reader's line feed
	}
	if !found {
		t.Errorf("no row has the number -2.5 and the measure as a text: %q", rows)
	}
}
