package cli

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// finishedStudy is a lab whose study tiny is done, with the study's file.
func finishedStudy(t *testing.T) (file, lab string) {
	t.Helper()
	file, lab = studyFile(t)
	called(t, 0, "--lab", lab, "study", "run", file, "--seeds", "1")
	return file, lab
}

// studyCommands are all calls that look at a study of the lab, and all that change one.
func studyCommands(file string) (look, change []string) {
	return []string{"status tiny", "list", "report tiny --out " + filepath.Join(filepath.Dir(file), "page"), "export tiny", "run " + file + " --dry-run"},
		[]string{"run " + file, "run tiny", "resume tiny", "cancel tiny", "retry tiny"}
}

func studyCall(lab, command string) []string {
	return append([]string{"--lab", lab, "study"}, strings.Fields(command)...)
}

func TestALabOfANewerVersionIsRefusedByEveryStudyCommand(t *testing.T) {
	file, lab := finishedStudy(t)
	path := filepath.Join(lab, "lab.sqlite")
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("PRAGMA user_version = 999"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	look, change := studyCommands(file)
	for _, command := range append(look, change...) {
		if _, errs := called(t, 1, studyCall(lab, command)...); !strings.Contains(errs, "was made by a newer collapse (schema 999") || !strings.Contains(errs, "use that version") {
			t.Errorf("study %s: %s", command, errs)
		}
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the lab's file was changed: %v", err)
	}
}
