package cli

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func change(t *testing.T, lab, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(lab, "lab.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(query); errors.Join(err, db.Close()) != nil {
		t.Fatal(err)
	}
}

func TestRunsCheckFindsAndRepairs(t *testing.T) {
	_, lab := finishedStudy(t)
	out, _ := called(t, 0, "--lab", lab, "runs", "check")
	if !strings.Contains(out, "checked 2 runs; wrong: 0 runs") {
		t.Errorf("of a whole lab: %s", out)
	}
	change(t, lab, "DELETE FROM value WHERE step = 1 AND run = 1")
	out, errs := called(t, 1, "--lab", lab, "runs", "check")
	for _, want := range []string{"rows of epochs 1 are missing", "collapse study resume tiny", "collapse runs check --repair"} {
		if !strings.Contains(out+errs, want) {
			t.Errorf("%q is not in\n%s%s", want, out, errs)
		}
	}
	var found checked
	out, _ = called(t, 1, "--lab", lab, "--json", "runs", "check")
	decodeOnly(t, out, &found)
	if found.Checked != 2 || len(found.Runs) != 1 || found.Repaired || len(found.Runs[0].Wrong) != 1 || found.Runs[0].Again != "collapse study resume tiny" {
		t.Errorf("%+v", found)
	}
	hash := found.Runs[0].Run
	out, _ = called(t, 0, "--lab", lab, "--json", "runs", "check", "--repair", hash[:10])
	found = checked{}
	decodeOnly(t, out, &found)
	if !found.Repaired || len(found.Runs) != 1 || !slices.Contains(found.Runs[0].Did, "open again, from checkpoint 1") {
		t.Errorf("%+v", found)
	}
	called(t, 0, "--lab", lab, "study", "resume", "tiny")
	out, _ = called(t, 0, "--lab", lab, "runs", "check")
	if !strings.Contains(out, "checked 2 runs; wrong: 0 runs") {
		t.Errorf("computed again: %s", out)
	}
	if _, errs := called(t, 1, "--lab", lab, "runs", "check", "fffffffffffff"); !strings.Contains(errs, "has no run") {
		t.Errorf("of an unknown run: %s", errs)
	}
}

// TestInfiniteValuesPrintAsJSON shows and exports a run with values that JSON does not know, as earlier versions stored them.
func TestInfiniteValuesPrintAsJSON(t *testing.T) {
	_, lab := finishedStudy(t)
	change(t, lab, "UPDATE value SET value = 9e999 WHERE value IS NOT NULL AND run = 1")
	var list []runRow
	out, _ := called(t, 0, "--lab", lab, "--json", "runs", "list")
	decodeOnly(t, out, &list)
	change(t, lab, "UPDATE value SET value = -9e999 WHERE value IS NOT NULL")
	for _, run := range list {
		var shown struct{ Values []lastValue }
		out, _ := called(t, 0, "--lab", lab, "--json", "runs", "show", run.Run)
		decodeOnly(t, out, &shown)
		if len(shown.Values) < 10 || slices.ContainsFunc(shown.Values, func(v lastValue) bool { return v.Value != nil || v.Missing == "" }) {
			t.Errorf("%+v", shown.Values)
		}
	}
	var table any
	out, _ = called(t, 0, "--lab", lab, "export", "--json")
	decodeOnly(t, out, &table)
	if strings.Contains(out, "Inf") {
		t.Error("the export has infinite values")
	}
}

func TestLabCopy(t *testing.T) {
	_, lab := finishedStudy(t)
	dest := filepath.Join(t.TempDir(), "new", "copy")
	out, _ := called(t, 0, "--lab", lab, "lab", "copy", dest)
	if !strings.Contains(out, "copied 2 runs, 0 of them unfinished") {
		t.Errorf("%s", out)
	}
	called(t, 0, "--lab", dest, "runs", "check")
	a, _ := called(t, 0, "--lab", lab, "export", "tiny")
	if b, _ := called(t, 0, "--lab", dest, "export", "tiny"); a != b || len(a) < 1000 {
		t.Errorf("the copy's table has %d bytes, the original's %d", len(b), len(a))
	}
	if _, errs := called(t, 1, "--lab", lab, "lab", "copy", dest); !strings.Contains(errs, "is not empty") {
		t.Errorf("over a lab: %s", errs)
	}
	if _, errs := called(t, 1, "--lab", filepath.Join(dest, "none"), "lab", "copy", filepath.Join(dest, "x")); !strings.Contains(errs, "there is no lab") {
		t.Errorf("of no lab: %s", errs)
	}
	if _, err := os.Stat(filepath.Join(dest, "x")); !os.IsNotExist(err) {
		t.Errorf("of no lab: %v", err)
	}
}
