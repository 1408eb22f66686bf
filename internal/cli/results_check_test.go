package cli

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"collapse.example/collapse/internal/results"
)

// TestResultsAreMadeAgainFromTheirRows: everything that the folder of the papers' own size says follows from the rows beside it, where no images are;
// a number that somebody changed is named.
func TestResultsAreMadeAgainFromTheirRows(t *testing.T) {
	t.Setenv("COLLAPSE_DATA", "")
	dir := filepath.Join(t.TempDir(), "paper")
	if err := os.CopyFS(dir, os.DirFS("../../docs/results/paper")); err != nil {
		t.Fatal(err)
	}
	out, _ := called(t, exitOK, "results", "--check", dir, "--json")
	var audit results.Audit
	if err := json.Unmarshal([]byte(out), &audit); err != nil {
		t.Fatal(err)
	}
	if audit.FromRows != 1 || audit.Numbers < 40 || len(audit.Different) != 0 {
		t.Errorf("%+v", audit)
	}
	name := filepath.Join(dir, "md-fig1.json")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	first := regexp.MustCompile(`"x":\[[0-9.]+`).FindString(string(text))
	if err := os.WriteFile(name, []byte(strings.Replace(string(text), first, `"x":[17`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	out, said := called(t, exitFailed, "results", "--check", dir)
	if !strings.Contains(out, "md-fig1: figures[0].panels[0].series[0].x[0] is 17; the rows give "+strings.TrimPrefix(first, `"x":[`)) || !strings.Contains(said, "1 difference") {
		t.Errorf("%s\n%s", out, said)
	}
	if err := os.RemoveAll(filepath.Join(dir, results.RowsName)); err != nil {
		t.Fatal(err)
	}
	if out, _ := called(t, exitOK, "results", "--check", dir); strings.Contains(out, "rows") {
		t.Errorf("without rows: %s", out)
	}
}

// TestResultsThatTheirRowsDoNotShow are told, each with its reason, and are no differences; claims are judged again from their seeds all the same.
func TestResultsThatTheirRowsDoNotShow(t *testing.T) {
	dir := t.TempDir()
	res, lab := filepath.Join(dir, "res"), filepath.Join(dir, "lab")
	if err := os.WriteFile(filepath.Join(dir, "grid.toml"), []byte(tinyGrid), 0o666); err != nil {
		t.Fatal(err)
	}
	reproduce := func(args ...string) {
		t.Helper()
		called(t, exitOK, append([]string{"--lab", lab, "-q", "reproduce", "grid", "--recipes", dir, "--data-dir", dir, "--results", res, "--out", filepath.Join(dir, "page")}, args...)...)
	}
	rows := filepath.Join(res, results.RowsName)
	copyRows := func() {
		t.Helper()
		if err := os.RemoveAll(rows); err != nil {
			t.Fatal(err)
		}
		called(t, exitOK, "--lab", lab, "-q", "lab", "copy", rows, "--numbers")
	}
	check := func(what, want string) {
		t.Helper()
		out, _ := called(t, exitOK, "results", "--check", res, "--json")
		var audit results.Audit
		if err := json.Unmarshal([]byte(out), &audit); err != nil {
			t.Fatal(err)
		}
		if want == "" && (audit.FromRows != 1 || audit.Numbers < 5 || len(audit.NoRows) != 0) ||
			want != "" && (audit.FromRows != 0 || len(audit.NoRows) != 1 || !strings.Contains(audit.NoRows[0].String(), want)) {
			t.Errorf("%s: %+v; wanted %q", what, audit, want)
		}
	}
	reproduce("--budget", "1ns")
	copyRows()
	check("none finished", "the lab has none of its runs")
	reproduce("--seeds", "2")
	check("fewer rows", "the lab has none of its runs")
	copyRows()
	check("all", "")
	reproduce("--seeds", "3", "--budget", "1ns")
	check("a part", "")
	reproduce()
	check("two seeds of three", "the lab has 4 runs of it that are finished, and there were 6")
	reproduce("--seeds", "1", "--set", "optim.lr=[0.1,1e30]")
	copyRows()
	check("failed runs", "2 runs failed, of which a copy of numbers has nothing")

	name := filepath.Join(res, "grid.json")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct{ from, to, want string }{
		"no choice":         {`"choice":`, `"choices":`, "what was asked for is not kept"},
		"no recipes":        {`"recipes":"`, `"recipes":"/none`, "/none"},
		"no such setting":   {`"optim.lr=[`, `"optim.rate=[`, "optim.rate"},
		"more than a grid":  {`"seeds":1`, `"seeds":99999999`, "more than 100000 runs"},
		"fewer than no run": {`"seeds":1`, `"seeds":-1`, "-1 seeds"},
	} {
		changed := strings.Replace(string(text), c.from, c.to, 1)
		if changed == string(text) {
			t.Fatalf("%s: the file lacks %s", what, c.from)
		}
		if err := os.WriteFile(name, []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
		check(what, c.want)
	}
}

// TestLabsBesideResultsThatAreNone: an empty one is told and stays empty; what is no folder is no lab.
func TestLabsBesideResultsThatAreNone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "paper")
	if err := os.CopyFS(dir, os.DirFS("../../docs/results/paper")); err != nil {
		t.Fatal(err)
	}
	rows := filepath.Join(dir, results.RowsName)
	if err := errors.Join(os.RemoveAll(rows), os.Mkdir(rows, 0o755)); err != nil {
		t.Fatal(err)
	}
	if _, said := called(t, exitFailed, "results", "--check", dir); !strings.Contains(said, "there is no lab in") {
		t.Errorf("a folder without one: %s", said)
	}
	if err := os.WriteFile(filepath.Join(rows, "lab.sqlite"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, said := called(t, exitFailed, "results", "--check", dir); !strings.Contains(said, "is an empty lab") {
		t.Errorf("an empty one: %s", said)
	}
	if left, err := os.ReadDir(rows); err != nil || len(left) != 1 {
		t.Errorf("looking at it has left %v, %v", left, err)
	}
	if err := errors.Join(os.RemoveAll(rows), os.WriteFile(rows, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	if out, _ := called(t, exitOK, "results", "--check", dir); strings.Contains(out, "rows") {
		t.Errorf("a file: %s", out)
	}
}
